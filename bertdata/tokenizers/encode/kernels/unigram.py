"""Unigram (Kudo 2018): the ids of words by the best path through the pieces of the vocabulary (Viterbi)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import always_inlined, inlined, kernel
from bertdata.kernels.simd import WHITESPACE
from bertdata.kernels.utf8 import decode
from bertdata.tokenizers.encode.kernels import word_cache
from bertdata.tokenizers.encode.kernels.double_array import BASE, LABEL, TAKEN, TO_BASE, TO_ID
from bertdata.tokenizers.encode.kernels.id_cache import MAX_IDS, Cache, put_ids
from bertdata.tokenizers.encode.kernels.word_cache import NewWords, is_new

NOT_ASKED, KEPT, BLANK, REFERENCE = range(4)
"""What is known of a code point: nothing yet; what it becomes; it ends a word; the normalizer must be asked."""
BODY_SHIFT, SIZE_SHIFT = 8, 2
MARK = "\u2581".encode()
_MARK = (MARK[0], MARK[1], MARK[2])
_QUOTES = (ord("'"), ord("`"))
_NO_START, _ASK = -1, -1
_U = np.uint64
_0 = _U(0)


class Pieces(NamedTuple):
    """The vocabulary: a double array of its pieces and the score of each.

    settings: score and id of an unknown character, and whether white space at the edges of a word is as that inside it.
    """

    cells: NDArray[np.uint64]
    scores: NDArray[np.float64]
    settings: NDArray[np.float64]


class Characters(NamedTuple):
    """What the normalizer makes of a code point: from the lowest bit, 2 of KEPT or another, 6 of bytes, 24 of place."""

    codes: NDArray[np.uint32]
    bodies: NDArray[np.uint8]


class Path(NamedTuple):
    """Room for a word: its normalized bytes, and the best path that ends before each of them."""

    word: NDArray[np.uint8]
    scores: NDArray[np.float64]
    starts: NDArray[np.int64]
    ids: NDArray[np.int64]


@inlined
def _normalize(data: Any, i: Any, end: Any, codes: Any, bodies: Any, word: Any) -> Any:
    """Write U+2581 and a word's normalized characters; returns how many bytes, where it goes on, whether after a BLANK.

    There are -1 bytes where a character must be asked for. '' and `` are replaced in most files, so they are, too.
    """
    for j in range(len(_MARK)):
        word[j] = _MARK[j]
    n: Any = len(_MARK)
    start = i
    while i < end:
        point, size = decode(data, i, end)
        code: Any = REFERENCE
        if point >= 0:
            code = np.int64(codes[point])
        if code & 3 == BLANK:
            return n, i + size, True
        place, length = code >> BODY_SHIFT, code >> SIZE_SHIFT & 63
        repeated = size == 1 and i > start and data[i] == data[i - 1] and point in _QUOTES
        if code & 3 != KEPT or n + length > len(word) or repeated:
            return _ASK, i, False
        for j in range(length):
            word[n + j] = bodies[place + j]
        n += length
        i += size
    return n, i, False


@always_inlined
def best_path(pieces: Pieces, path: Path, n: Any, out: Any) -> Any:
    """Write the ids of the best path through `n` bytes of `path.word`; returns how many. Unknown ones are fused."""
    word, scores, starts, ids = path
    for j in range(n + 1):
        starts[j] = _NO_START
    scores[0] = 0.0
    root = pieces.cells[0] >> TO_BASE & BASE
    start: Any = 0
    while start < n:
        here = scores[start]
        byte = word[start]
        size: Any = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
        base, at = root, start
        while at < n:
            label = _U(word[at])
            cell = pieces.cells[base ^ label]
            if cell & LABEL != label | TAKEN:
                break
            at += 1
            if cell >> TO_ID != _0:
                token = np.int64(cell >> TO_ID) - 1
                score = pieces.scores[token] + here
                if starts[at] == _NO_START or score > scores[at]:
                    scores[at], starts[at], ids[at] = score, start, token
            base = cell >> TO_BASE & BASE
        score = pieces.settings[0] + here
        at = start + size
        if starts[at] == _NO_START or score > scores[at]:
            scores[at], starts[at], ids[at] = score, start, np.int64(pieces.settings[1])
        start += size
    unknown = np.int64(pieces.settings[1])
    count: Any = 0
    at = n
    fused = False
    while at > 0:
        if ids[at] != unknown or not fused:
            out[count] = ids[at]
            count += 1
        fused = ids[at] == unknown
        at = starts[at]
    for j in range(count // 2):
        out[j], out[count - 1 - j] = out[count - 1 - j], out[j]
    return count


@always_inlined
def _encode(
    text: Any, start: Any, end: Any, pieces: Pieces, characters: Characters, path: Path, ids: Any
) -> Any:  # fmt: skip
    """Write the ids of a word with the white space before it; returns how many, -1 to ask the normalizer."""
    i: Any = start
    if text[i] in WHITESPACE:
        i += 1
    count: Any = 0
    while i < end:
        size, i, ends_blank = _normalize(text, i, end, characters.codes, characters.bodies, path.word)
        if size < 0 or (ends_blank and pieces.settings[2] == 0 and (size == len(_MARK) or i == end)):
            return _ASK
        if size > len(_MARK):
            count += best_path(pieces, path, size, ids[count:])
    return count


class Model(NamedTuple):
    """The vocabulary, and room for all that the longest word of a cache becomes: ids of the output's type."""

    pieces: Pieces
    characters: Characters
    path: Path
    ids: NDArray[Any]


@inlined
def _give_ids(cache: Any, entry: Any, text: Any, start: Any, end: Any, model: Any) -> Any:
    """Give a new word its ids; returns whether it could, without asking the normalizer."""
    count = _encode(text, start, end, model.pieces, model.characters, model.path, model.ids)
    could = 0 <= count <= MAX_IDS
    if could:
        put_ids(cache, entry, model.ids, 0, count, False)
    return could


@kernel
def write_known(
    text: Any, begin: int, positions: Any, n_words: int, offsets: Any, row: int, stop: int, cache: Cache,
    out: Any, written: int, word_starts: Any, ends: Any, left: Any, longs: Any, window: Any, model: Model,
) -> Any:  # fmt: skip
    """Write the ids of words, as `word_cache.write_known`."""
    return word_cache.write_known(
        text, begin, positions, n_words, offsets, row, stop, cache,
        out, written, word_starts, ends, left, longs, window, _give_ids, model,
    )  # fmt: skip


@kernel
def encode_left(cache: Cache, new: NewWords, model: Model, asked: Any) -> Any:
    """Give ids to new words that are left; returns how many in `asked`, some more than once, it could not."""
    n_asked: Any = 0
    for k in range(len(new.left)):
        entry, word = new.left[k, 1], new.left[k, 2]
        if is_new(cache, entry, new.first):
            start, end = np.int64(new.positions[word]), np.int64(new.positions[word + 1])
            if not _give_ids(cache, entry, new.text, new.begin + start, new.begin + end, model):
                asked[n_asked] = entry
                n_asked += 1
    return n_asked


@kernel
def encode_word(text: Any, start: int, end: int, pieces: Pieces, characters: Characters, path: Path, ids: Any) -> Any:
    """Write the ids of a word of a text; returns how many, -1 where the normalizer must be asked."""
    return _encode(text, start, end, pieces, characters, path, ids)
