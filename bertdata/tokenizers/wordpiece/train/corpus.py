"""Word counts as the WordPiece trainer has them: of BERT's words, rare characters taken out."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bertdata.errors import InputError
from bertdata.text_arrays import offsets_of, text_of
from bertdata.tokenizers.training.merging.corpus import Corpus, WordCounts, chunks, read_counts

_POINTS = 0x110000
_NUMBER = ord("#")


def read_corpus(word_counts: WordCounts, limit_alphabet: int) -> Corpus:
    """Return the words that occur, of the `limit_alphabet` most frequent characters (on ties the lower code point).

    Raises as `read_counts` does, and InputError where a word holds white space or ##.

    >>> corpus = read_corpus({"of": 2, "oft": 1, "no": 0}, 2)
    >>> corpus.points.tolist(), corpus.lengths.tolist(), corpus.counts.tolist(), corpus.characters, corpus.continuing
    ([111, 102, 111, 102], [2, 2], [2, 1], ['f', 'o'], ['f'])
    """
    words, counts, lengths = read_counts(word_counts, pc.utf8_length)
    points, inside = np.empty(int(lengths.sum()), np.int32), np.ones(int(lengths.sum()), np.bool_)
    frequency = np.zeros(_POINTS, np.int64)
    for run, here in chunks(lengths):
        points[here] = _code_points(words[run])
        word_of = np.repeat(np.arange(run.start, run.stop, dtype=np.int32), lengths[run])
        _refuse_doubled(points[here], word_of, words)
        frequency += np.bincount(points[here], counts[word_of], _POINTS).astype(np.int64)
        inside[here.start + np.cumsum(lengths[run]) - lengths[run]] = False
    seen = np.flatnonzero(frequency)
    for point in seen.tolist():
        if chr(point).isspace():
            raise InputError(f"a word holds white space (U+{point:04X}); words are what BERT's pre-tokenizer gives")
    in_alphabet = np.zeros(_POINTS, np.bool_)
    in_alphabet[seen[np.lexsort((seen, -frequency[seen]))[:limit_alphabet]]] = True
    if len(seen) > limit_alphabet:
        points, inside, lengths = _without_others(points, inside, lengths, in_alphabet)
        counts, lengths = counts[lengths > 0], lengths[lengths > 0]
    follows = np.zeros(_POINTS, np.bool_)
    for _, here in chunks(lengths):
        follows[points[here][inside[here]]] = True
    characters = [chr(point) for point in np.flatnonzero(in_alphabet).tolist()]
    return Corpus(
        points, inside, lengths, counts, characters, [chr(point) for point in np.flatnonzero(follows).tolist()]
    )


def _refuse_doubled(points: NDArray[np.int32], word_of: NDArray[np.int32], words: pa.Array) -> None:
    """Raise InputError where two # follow one another in a word."""
    doubled = (points[1:] == _NUMBER) & (points[:-1] == _NUMBER) & (word_of[1:] == word_of[:-1])
    if doubled.any():
        word = words[int(word_of[int(doubled.argmax())])].as_py()
        raise InputError(f"the word {word!r} holds ##; words are what BERT's pre-tokenizer gives, # by itself")


def _without_others(
    points: NDArray[np.int32], inside: NDArray[np.bool_], lengths: NDArray[np.int64], in_alphabet: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.bool_], NDArray[np.int64]]:
    """Take the characters out of words that are not kept; what is left is moved to the front of the same arrays."""
    lengths_left, end = np.zeros_like(lengths), 0
    for run, here in chunks(lengths):
        stay = in_alphabet[points[here]]
        word_of = np.repeat(np.arange(run.stop - run.start), lengths[run])
        lengths_left[run] = np.bincount(word_of[stay], minlength=run.stop - run.start)
        moved = points[here][stay], inside[here][stay]
        begin, end = end, end + len(moved[0])
        points[begin:end], inside[begin:end] = moved
    return points[:end], inside[:end], lengths_left


def _code_points(words: pa.Array) -> NDArray[np.int32]:
    offsets = offsets_of(words)
    data = text_of(words)[offsets[0] : offsets[-1]]
    if not (data & 0x80).any():
        return data.astype(np.int32)
    return np.frombuffer(data.tobytes().decode("utf-8").encode("utf-32-le"), np.uint32).astype(np.int32)
