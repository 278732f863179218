"""Split texts into words: the kernel, and the table of the chunks that it leaves to the reference.

Chunks in the table are kept from call to call, up to a bound, for they recur; what is found never depends on them.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.curation.words.kernel import PRIME, SEED, count_sentences, split_texts
from bertdata.curation.words.reference import chunk_tokens, inner_pairs, split_chunk, word_spans
from bertdata.curation.words.tables import character_bits, exceptions
from bertdata.kernels.jit import plain
from bertdata.kernels.mixer import mix

MOST_CHUNKS, MOST_BYTES = 1 << 19, 32 << 20
"""How many chunks, and how many of their bytes, are kept: about 70 MB."""
_SLOTS = 1 << 16
_MISSING = _JOINED = 1 << 14
_WORD = np.uint64(0xFFFFFFFFFFFFFFFF)


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
    data, offsets = utf8(texts)
    size = int(offsets[-1] - offsets[0])
    begins, ends = (np.empty(size + 1, np.int32) for _ in range(2))
    borders, depends = np.empty(len(texts) + 1, np.int64), np.empty(len(texts), np.bool_)
    joined, missing = np.empty((_JOINED + 1, 5), np.int64), np.empty((_MISSING, 2), np.int64)
    with _LOCK:
        table = _CHUNKS
        table.make_room()
        while True:
            misses = split_texts(
                *(data, offsets, _known(), table.slots, table.keys, table.entries, table.pool, table.lengths),
                *(begins, ends, borders, depends, joined, missing),
            )
            if not misses:
                break
            table.add({data[begin:end].tobytes() for begin, end in missing[:misses].tolist()})
    found = Words(data, offsets, begins, ends, borders)
    for text, begin, end, first, last in joined[: joined[-1, 0]].tolist():
        depends[text] |= _neighbours_matter(found, text, (begin, end), (first, last))
    return _with_reference(found, depends) if depends.any() else found


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
    words = split(texts)
    counts = np.empty(len(texts), np.int64)
    count_sentences(words.data, words.offsets, words.begins, words.ends, words.borders, character_bits(), counts)
    return counts


def _neighbours_matter(words: Words, text: int, chunk: tuple[int, int], places: tuple[int, int]) -> bool:
    """Return whether an exception may reach from a chunk over the blank before it or after it."""
    (begin, end), (first, last) = chunk, places
    tokens = chunk_tokens(words.data[begin:end].tobytes().decode())

    def within(one: int, two: int) -> bool:
        left, right = (words.data[words.begins[at] : words.ends[at]].tobytes().decode() for at in (one, two))
        pair = (left, tokens[0]) if two == first else (tokens[-1], right)
        return pair in inner_pairs()

    before = first > words.borders[text] and words.ends[first - 1] == begin - 1 and within(first - 1, first)
    return before or bool(last < words.borders[text + 1] and words.begins[last] == end + 1 and within(last - 1, last))


def _with_reference(words: Words, depends: NDArray[np.bool_]) -> Words:
    """Return words with those of some texts as the reference finds them."""
    begins, ends, counts = [], [], np.diff(words.borders)
    for text, slow in enumerate(depends.tolist()):
        first, last = words.borders[text], words.borders[text + 1]
        found = (words.begins[first:last], words.ends[first:last])
        if slow:
            start = words.offsets[text]
            string = words.data[start : words.offsets[text + 1]].tobytes().decode()
            spans = np.array(word_spans(string), np.int64).reshape(-1, 2)
            sizes = np.fromiter((len(one.encode()) for one in string), np.int64, len(string))
            place = np.concatenate([[0], np.cumsum(sizes)]) + start
            found = tuple(place[spans].T.astype(np.int32))
        counts[text] = len(found[0])
        begins.append(found[0])
        ends.append(found[1])
    borders = np.concatenate([[0], np.cumsum(counts)])
    return Words(words.data, words.offsets, np.concatenate(begins), np.concatenate(ends), borders)


class _Chunks:
    """A table of chunks with the lengths of their tokens in bytes, by open addressing, half of its places free."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.slots, self.keys = np.full(_SLOTS, -1, np.int32), np.zeros(_SLOTS, np.uint64)
        self.entries, self.pool = np.zeros((1024, 5), np.int64), np.zeros(1 << 16, np.uint8)
        self.lengths = np.zeros(1 << 12, np.int32)
        self.count = self.held = self.tokens = 0

    def make_room(self) -> None:
        """Empty the table where it holds more than is kept."""
        if self.count > MOST_CHUNKS or self.held > MOST_BYTES:
            self.clear()

    def add(self, chunks: set[bytes]) -> None:
        """Enter chunks that are not in the table."""
        while 2 * (self.count + len(chunks)) > len(self.slots):
            self._widen()
        for chunk in sorted(chunks):
            text = chunk.decode()
            characters, depends = split_chunk(text)
            sizes, begin = [], 0
            for length in characters:
                sizes.append(len(text[begin : begin + length].encode()))
                begin += length
            self.entries = _room(self.entries, self.count + 1)
            self.pool = _room(self.pool, self.held + len(chunk))
            self.lengths = _room(self.lengths, self.tokens + len(sizes))
            self.pool[self.held : self.held + len(chunk)] = np.frombuffer(chunk, np.uint8)
            self.lengths[self.tokens : self.tokens + len(sizes)] = sizes
            row = (self.held, self.held + len(chunk), self.tokens, self.tokens + len(sizes), depends)
            self.entries[self.count] = row
            self._place(self.count, _hash(chunk))
            self.count, self.held, self.tokens = self.count + 1, row[1], row[3]

    def _place(self, entry: int, key: int) -> None:
        place = key % len(self.slots)
        while self.slots[place] >= 0:
            place = (place + 1) % len(self.slots)
        self.slots[place], self.keys[place] = entry, key

    def _widen(self) -> None:
        held = [(int(entry), int(self.keys[place])) for place, entry in enumerate(self.slots.tolist()) if entry >= 0]
        self.slots, self.keys = np.full(2 * len(self.slots), -1, np.int32), np.zeros(2 * len(self.slots), np.uint64)
        for entry, key in held:
            self._place(entry, key)


def _room(values: NDArray[Any], size: int) -> NDArray[Any]:
    """Return an array with room for so many values, itself or one twice as large."""
    if size <= len(values):
        return values
    grown = np.zeros((max(size, 2 * len(values)), *values.shape[1:]), values.dtype)
    grown[: len(values)] = values
    return grown


def _hash(chunk: bytes) -> int:
    """Return what `kernel.hash_bytes` makes of some bytes."""
    found = int(SEED)
    for byte in chunk:
        found = (found ^ byte) * int(PRIME) & int(_WORD)
    with np.errstate(over="ignore"):
        return int(plain(mix)(np.uint64(found)))


@cache
def _known() -> NDArray[np.uint64]:
    """Return the hashes of the exceptions of letters alone, with a period or without, in a table."""
    letters = {text.rstrip(".") for text in exceptions()}
    found = np.zeros(1 << 13, np.uint64)
    for text in sorted(one for one in letters if one.isascii() and one.isalpha()):
        place = (key := _hash(text.encode())) % len(found)
        while found[place]:
            place = (place + 1) % len(found)
        found[place] = key
    return found


_CHUNKS, _LOCK = _Chunks(), threading.Lock()
