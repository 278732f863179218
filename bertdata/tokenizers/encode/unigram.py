"""Unigram for the encoder: what the normalizer makes of characters, and words that are normalized as a whole."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
import regex
from numpy.typing import NDArray

from bertdata.text_arrays import array_of, column_of, offsets_of
from bertdata.tokenizers.encode.kernels import unigram as kernel
from bertdata.tokenizers.encode.kernels.bitmaps import new_characters
from bertdata.tokenizers.encode.kernels.id_cache import MAX_KEY
from bertdata.tokenizers.encode.kernels.word_cache import NewWords
from bertdata.tokenizers.encode.tables import double_array
from bertdata.tokenizers.encode.unigram_paths import UnigramPaths, UnigramReference
from bertdata.tokenizers.encode.word_cache import Answer, WordCache
from bertdata.tokenizers.json_format import METASPACE
from bertdata.tokenizers.unigram_pieces import UNKNOWN_PENALTY

_POINTS, _BODY_BYTES, _MOST_BYTES = 0x110000, 1 << 20, 63
_GROWTH = 4
"""Normalized bytes of a long word for each byte; where it takes more, it is normalized as a whole."""
_COMMON = re.compile(rf"\n{METASPACE}([A-Za-z]{{1,15}}|[0-9]{{1,4}})(?=\n)")
"""Words that are common, each on a line with the mark of a space before it."""
_WHITESPACE = " \t\n\r"
_WHITE = regex.compile(r"a\p{White_Space}a")
"""White space that is left between two letters, as U+1680 is by form NFKD: WhitespaceSplit cuts there, and Strip takes
it away at the edges of a text."""
_ALONE = regex.compile(r"(?V1)[[\p{L}\p{N}\p{P}\p{S}\p{Z}]&&[\p{GCB=Other}\p{GCB=LV}\p{GCB=LVT}]&&\p{ccc=0}]")
"""Characters that make no grapheme with others, so that the normalizer takes each by itself."""


def is_alone(character: str) -> bool:
    """Tell whether a character makes no grapheme with others, so that words with it are normalized by characters."""
    return _ALONE.match(character) is not None


_JOINS_AFTER = regex.compile(r"(?V1)[\p{GCB=Prepend}\p{Cn}]$")
"""Characters that may make a grapheme with the space after them."""


def pieces_of(names: Sequence[str], scores: NDArray[np.float64], unknown: int, *, split: bool) -> kernel.Pieces:
    """Return a vocabulary, pieces and their scores in the order of ids, as the kernels have it."""
    keys = array_of(names)
    numbers = np.flatnonzero(np.diff(offsets_of(keys)))
    cells = double_array(keys.take(column_of(numbers)), numbers)
    return kernel.Pieces(cells, scores, np.array([scores.min() - UNKNOWN_PENALTY, unknown, split]))


def joins_unknown(pieces: kernel.Pieces) -> bool:
    """Tell whether a piece of several unknown characters is always better than these, as where scores are below 0.

    Where it is not, `tokenizers` joins the characters, and takes the piece all the same.
    """
    return bool(pieces.settings[0] < 0)


class UnigramModel:
    """Unigram with the mark U+2581 before each word, as SentencePiece has it.

    names, scores: the pieces in the order of their ids. reference: what has the normalizer and the pre-tokenizer.
    split: whether the pre-tokenizer cuts at white space before it sets the marks; if not, white space at the edges of a
    text is not as that inside it.
    """

    write_known = staticmethod(kernel.write_known)

    def __init__(
        self, names: Sequence[str], scores: NDArray[np.float64], unknown: int, reference: Any, dtype: type[Any],
        *, split: bool,
    ) -> None:  # fmt: skip
        self._pieces = pieces_of(names, scores, unknown, split=split)
        self._characters = kernel.Characters(np.zeros(_POINTS, np.uint32), np.zeros(_BODY_BYTES, np.uint8))
        self._asked = np.zeros(_POINTS, np.uint8)
        self._used, self._split, self.dtype = 0, split, dtype
        self.reference = UnigramReference(reference, UnigramPaths(self._pieces, np.zeros(0, np.int64)))
        self._new, self._lock = np.zeros(1 << 8, np.int64), Lock()
        self.whole: dict[bytes, int] = {}
        words = _COMMON.findall("\n".join(["", *names, ""]))
        folded = self.reference.normalizer.normalize_str("A") == "a"
        self.common = [f" {word}".encode() for word in (*words, *(map(str.capitalize, words) if folded else ()))]
        for character in map(chr, range(128)):
            self._add(character)

    def encode_left(self, cache: WordCache, new: NewWords) -> None:
        """Give ids to new words that are left, one by one where the kernel cannot."""
        self._learn(new.text, new.begin, new.end)
        asked = np.empty(len(new.left), np.int64)
        n = kernel.encode_left(cache.arrays, new, self.arrays(), asked)
        for entry in dict.fromkeys(asked[:n].tolist()):
            cache.give(entry, self.ask(cache.bytes_of(entry)))

    def arrays(self) -> kernel.Model:
        """Return what the kernels need, with room that no other call has."""
        size = MAX_KEY * _MOST_BYTES
        return kernel.Model(self._pieces, self._characters, self._path(size), np.empty(size, self.dtype))

    def encode_long(self, text: Any, start: int, end: int) -> Answer:
        """Return the ids of a word of a text."""
        self._learn(text, start, end)
        size = _GROWTH * (end - start)
        ids = np.empty(size, self.dtype)
        n = kernel.encode_word(text, start, end, self._pieces, self._characters, self._path(size), ids)
        return Answer(ids[:n]) if n >= 0 else self.ask(text[start:end].tobytes())

    def ask(self, word: bytes) -> Answer:
        """Return the ids of a word, with the white space before it, as the normalizer makes it.

        Another word follows it, and goes before it where it is not the first of a text.
        """
        text = word.decode()
        inner = text.lstrip(_WHITESPACE)
        if not inner:
            return Answer([])
        before, after = [] if text == inner else self._context, self._context
        within = f"a{text}" if before else text
        words = self.reference.words(f"{within} a")
        stop = len(words) - len(after)
        apart = words[: len(before)] == before and words[stop:] == after and stop >= len(before)
        if not apart or _JOINS_AFTER.search(inner):
            return Answer([], depends="always")
        made = words[len(before) : stop]
        ids = [token_id for ids_of_word in self.reference.paths.ids_of(made) for token_id in ids_of_word]
        if self._split:
            return Answer(ids)
        same = self.reference.words(within) == words[:stop] and self.reference.words(f"{text} a") == [*made, *after]
        return Answer(ids, depends="never" if same and inner == inner.strip() else "at an edge")

    @cached_property
    def _context(self) -> list[str]:
        return self.reference.words("a")

    def _path(self, size: int) -> kernel.Path:
        starts, ids = np.empty(size + 1, np.int64), np.empty(size + 1, np.int64)
        return kernel.Path(np.empty(size, np.uint8), np.empty(size + 1), starts, ids)

    def _learn(self, text: Any, begin: int, end: int) -> None:
        """Give all characters of a text a code."""
        with self._lock:
            while n := new_characters(text, begin, end, self._asked, self._new):
                for point in self._new[:n].tolist():
                    self._add(chr(point))

    def _add(self, character: str) -> None:
        self._asked[ord(character)] = 1
        self._characters.codes[ord(character)] = self._code(character)

    def _code(self, character: str) -> int:
        """Return the code of a character, asked of the normalizer between two letters."""
        if not _ALONE.match(character) or character == METASPACE:
            return kernel.REFERENCE
        body = self.reference.normalizer.normalize_str(f"a{character}a")
        if body == "a a":
            return kernel.BLANK
        if _WHITE.fullmatch(body):
            return kernel.BLANK if self._split else kernel.REFERENCE
        data = body[1:-1].encode()
        alone = body[0] == body[-1] == "a" and len(body) > 2 and all(map(_ALONE.match, body))
        if not alone or " " in body or len(data) > _MOST_BYTES or self._used + len(data) > _BODY_BYTES:
            return kernel.REFERENCE
        place = self._used
        self._characters.bodies[place : place + len(data)] = np.frombuffer(data, np.uint8)
        self._used += len(data)
        return kernel.KEPT | len(data) << kernel.SIZE_SHIFT | place << kernel.BODY_SHIFT
