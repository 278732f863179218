"""Word counts as the WordPiece trainer has them: of BERT's words, rare characters taken out."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bertdata.errors import InputError
from bertdata.text_arrays import offsets_of, text_of
from bertdata.tokenizers.training.merging.corpus import Corpus, WordCounts, read_counts

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
    points = _code_points(words)
    word_here = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)
    doubled = (points[1:] == _NUMBER) & (points[:-1] == _NUMBER) & (word_here[1:] == word_here[:-1])
    if doubled.any():
        word = words[int(word_here[int(doubled.argmax())])].as_py()
        raise InputError(f"the word {word!r} holds ##; words are what BERT's pre-tokenizer gives, # by itself")
    frequency = np.bincount(points, counts[word_here], _POINTS)
    seen = np.flatnonzero(frequency)
    for point in seen.tolist():
        if chr(point).isspace():
            raise InputError(f"a word holds white space (U+{point:04X}); words are what BERT's pre-tokenizer gives")
    kept = np.zeros(_POINTS, np.bool_)
    kept[seen[np.lexsort((seen, -frequency[seen]))[:limit_alphabet]]] = True
    inside = np.ones(len(points), np.bool_)
    inside[np.cumsum(lengths) - lengths] = False
    if len(seen) > limit_alphabet:
        here = kept[points]
        points, inside, word_here = points[here], inside[here], word_here[here]
        lengths = np.bincount(word_here, minlength=len(lengths))
        counts, lengths = counts[lengths > 0], lengths[lengths > 0]
    continuing = np.flatnonzero(np.bincount(points[inside], minlength=1))
    characters = [chr(point) for point in np.flatnonzero(kept).tolist()]
    return Corpus(points, inside, lengths, counts, characters, [chr(point) for point in continuing.tolist()])


def _code_points(words: pa.Array) -> NDArray[np.int32]:
    offsets = offsets_of(words)
    data = text_of(words)[offsets[0] : offsets[-1]]
    if not (data & 0x80).any():
        return data.astype(np.int32)
    return np.frombuffer(data.tobytes().decode("utf-8").encode("utf-32-le"), np.uint32).astype(np.int32)
