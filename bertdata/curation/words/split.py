"""Split texts into words: the kernel, and the reference for the chunks that it leaves.

What the reference makes of short chunks is kept, for they recur; what is found never depends on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.curation.words.reference import Span, chunk_tokens, inner_pairs, split_chunk, word_spans
from bertdata.curation.words.tables import character_bits

_KEPT, _LONGEST_KEPT = 1 << 16, 256
"""How many chunks are kept, and the bytes of the longest of them: about 30 MB."""
_LEFT = 1 << 14
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Words:
    """The words of texts: word w is data[begins[w] : ends[w]], text t has those from borders[t] to borders[t + 1].

    data: uint8, the UTF-8 bytes; offsets: int32 (texts + 1,), where each text begins in them.
    """

    data: NDArray[np.uint8]
    offsets: NDArray[np.int32]
    begins: NDArray[np.int32]
    ends: NDArray[np.int32]
    borders: NDArray[np.int64]

    def of(self, text: int) -> list[str]:
        """Return the words of one text."""
        places = range(self.borders[text], self.borders[text + 1])
        return [self.data[self.begins[place] : self.ends[place]].tobytes().decode() for place in places]


def split(texts: pa.StringArray) -> Words:
    """Return the words of texts, as `reference.words` finds them.

    >>> split(pa.array(["Tea (green).", "It's 5km."])).of(1)
    ['It', "'s", '5', 'km', '.']
    """
    from bertdata.curation.words.chunk_rules import rules
    from bertdata.curation.words.kernel import split_texts

    data, offsets = utf8(texts)
    size = int(offsets[-1] - offsets[0])
    longest = int(np.diff(offsets).max(initial=0)) + 1
    begins, ends = (np.empty(size + 1, np.int32) for _ in range(2))
    codes, places, after = (np.empty(longest, np.int32) for _ in range(3))
    borders, unsplit = np.empty(len(texts) + 1, np.int64), np.empty((_LEFT, 4), np.int64)
    count = split_texts(rules(), data, offsets, codes, places, after, begins, ends, borders, unsplit)
    if count > len(unsplit):
        unsplit = np.empty((count, 4), np.int64)
        split_texts(rules(), data, offsets, codes, places, after, begins, ends, borders, unsplit)
    words = Words(data, offsets, begins[: borders[-1]], ends[: borders[-1]], borders)
    return _with_left(words, unsplit[:count]) if count else words


def utf8(texts: pa.StringArray) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Return the bytes of texts and where each begins in them, int32 (N + 1,)."""
    buffers = texts.buffers()
    offsets = np.zeros(1, np.int32)
    if buffers[1] is not None:
        offsets = np.frombuffer(buffers[1], np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return np.frombuffer(buffers[2] or b"", np.uint8), offsets


def sentence_counts(texts: pa.StringArray) -> NDArray[np.int64]:
    """Return how many sentences spaCy's sentencizer finds in each text, of one without words 1.

    >>> sentence_counts(pa.array(["One. Two! (three?) Four", "No end", ""])).tolist()
    [4, 1, 1]
    """
    from bertdata.curation.words.kernel import count_sentences

    words = split(texts)
    counts = np.empty(len(texts), np.int64)
    count_sentences(words.data, words.offsets, words.begins, words.ends, words.borders, character_bits(), counts)
    return counts


def _with_left(words: Words, unsplit: Rows) -> Words:
    """Return words with those of the chunks that the kernel left."""
    begins, ends, counts, depending = [], [], [], []
    for text, begin, end, _ in unsplit.tolist():
        sizes, depends = _sizes_of(words.data[begin:end].tobytes())
        if depends:
            depending.append((text, begin, end))
        counts.append(len(sizes))
        borders_within = [begin, *(begin + size for size in accumulate(sizes))]
        begins += borders_within[:-1]
        ends += borders_within[1:]
    places = np.repeat(unsplit[:, 3], counts)
    chunks_before = np.searchsorted(unsplit[:, 0], np.arange(len(words.borders)))
    borders = words.borders + np.concatenate([[0], np.cumsum(counts)])[chunks_before]
    merged = Words(
        words.data, words.offsets, np.insert(words.begins, places, begins), np.insert(words.ends, places, ends), borders
    )
    return _with_clusters(merged, depending) if depending else merged


def _sizes_of(chunk: bytes) -> tuple[tuple[int, ...], bool]:
    """Return how many bytes each token of a chunk has, and whether they depend on what is beside it."""
    return _kept_sizes(chunk) if len(chunk) <= _LONGEST_KEPT else _kept_sizes.__wrapped__(chunk)


@lru_cache(_KEPT)
def _kept_sizes(chunk: bytes) -> tuple[tuple[int, ...], bool]:
    text = chunk.decode()
    lengths, depends = split_chunk(text)
    ends = np.cumsum(lengths).tolist()
    return tuple(len(text[end - length : end].encode()) for length, end in zip(lengths, ends, strict=True)), depends


def _with_clusters(words: Words, chunks: list[tuple[int, int, int]]) -> Words:
    """Return words with those as the reference finds them of chunks, in order, that depend on what is beside them."""
    begins, ends, counts, place = [], [], np.diff(words.borders), 0
    for text, begin, end in chunks:
        if place and begin < words.ends[place - 1]:
            continue
        first, last = _cluster(words, text, begin, end)
        start, stop = int(words.begins[first]), int(words.ends[last - 1])
        string = words.data[start:stop].tobytes().decode()
        sizes = np.fromiter((len(character.encode()) for character in string), np.int64, len(string))
        spans = (np.concatenate([[0], np.cumsum(sizes)]) + start)[np.array(word_spans(string))].astype(np.int32)
        begins += [words.begins[place:first], spans[:, 0]]
        ends += [words.ends[place:first], spans[:, 1]]
        counts[text] += len(spans) - (last - first)
        place = last
    begins.append(words.begins[place:])
    ends.append(words.ends[place:])
    borders = np.concatenate([[0], np.cumsum(counts)])
    return Words(words.data, words.offsets, np.concatenate(begins), np.concatenate(ends), borders)


def _cluster(words: Words, text: int, begin: int, end: int) -> Span:
    """Return the first of the words of a chunk and of those beside it that an exception may reach, and their end.

    Words without a gap are of one chunk. An exception reaches over a single blank, and only from and to tokens that
    are side by side within it.
    """
    first, last = (int(place) for place in np.searchsorted(words.begins, np.array([begin, end], np.int32)))

    def tokens(start: int, stop: int) -> list[str]:
        return chunk_tokens(words.data[words.begins[start] : words.ends[stop - 1]].tobytes().decode())

    left, right = (token := tokens(first, last))[0], token[-1]
    while first > words.borders[text] and words.ends[first - 1] == words.begins[first] - 1:
        start = first - 1
        while start > words.borders[text] and words.ends[start - 1] == words.begins[start]:
            start -= 1
        neighbours = tokens(start, first)
        if (neighbours[-1], left) not in inner_pairs():
            break
        first, left = start, neighbours[0]
    while last < words.borders[text + 1] and words.begins[last] == words.ends[last - 1] + 1:
        stop = last + 1
        while stop < words.borders[text + 1] and words.ends[stop - 1] == words.begins[stop]:
            stop += 1
        neighbours = tokens(last, stop)
        if (right, neighbours[0]) not in inner_pairs():
            break
        last, right = stop, neighbours[-1]
    return first, last
