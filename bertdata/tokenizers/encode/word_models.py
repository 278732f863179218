"""Models whose new words a kernel encodes: WordPiece, Unigram, and BPE over characters or bytes, with any settings.

What a kernel does not know of a word, such as a character that is in no token, is asked of `tokenizers`, as by
`AskedModel`; so are words of over 64 bytes, but of Unigram.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.tokenizers.encode.asked_model import AskedModel
from bertdata.tokenizers.encode.byte_pair import merges_of
from bertdata.tokenizers.encode.kernels import byte_pair, pair_words, piece_words, unigram_words
from bertdata.tokenizers.encode.kernels.double_array import base_of
from bertdata.tokenizers.encode.kernels.id_cache import MAX_KEY
from bertdata.tokenizers.encode.kernels.merge_table import MAX_ID, NO_ID, NO_RANK
from bertdata.tokenizers.encode.kernels.spelled_words import Removed
from bertdata.tokenizers.encode.tables import double_array
from bertdata.tokenizers.encode.unigram import joins_unknown, pieces_of
from bertdata.tokenizers.encode.unigram_paths import UnigramPaths
from bertdata.tokenizers.json_format import bytes_of_token
from bertdata.tokenizers.late_model import MergedIds
from bertdata.tokenizers.literal_special import kind_of
from bertdata.tokenizers.unigram_pieces import columns_as_read

_ROOTS = b"\0", b"\1"
IdsOf = Callable[[str], list[int]]
Spell = Callable[[str], str]


def word_model(
    data: Mapping[str, Any], reference: Any, spell: Spell, removed: Removed | None, dtype: type[Any], *, by_bytes: bool
) -> AskedModel:
    """Return the model of words of a `tokenizer.json`.

    spell: returns a word as the model takes it. removed: what a kernel skips before a word, None where that is not
    known. by_bytes: whether the model's letters stand for bytes.
    """
    model = data["model"]
    kind = kind_of(model)

    def tokenize(word: str) -> list[int]:  # which opens the model for the first word that is asked about
        return [token.id for token in reference.model.tokenize(word)]

    if removed is None or (model.get("continuing_subword_prefix") is None and kind == "WordPiece"):
        return AskedModel(tokenize, spell, dtype)
    if kind in ("WordPiece", "WordLevel") and not by_bytes and model["unk_token"] in model["vocab"]:
        return PieceWords(model, tokenize, spell, removed, dtype)
    if kind == "Unigram" and not by_bytes:
        return UnigramWords(model, tokenize, spell, removed, dtype)
    if kind == "BPE" and _is_known(model) and not (by_bytes and model.get("byte_fallback")):
        return PairWords(model, reference.merges, tokenize, spell, removed, dtype, by_bytes=by_bytes)
    return AskedModel(tokenize, spell, dtype)


def _is_known(model: Mapping[str, Any]) -> bool:
    """Tell whether the kernel merges as a BPE does."""
    sizes = 0 < len(model["merges"]) < NO_RANK and max(model["vocab"].values()) <= MAX_ID
    return sizes and not any(model.get(name) for name in ("dropout", "continuing_subword_prefix", "ignore_merges"))


class PieceWords(AskedModel):
    """WordPiece of any names, limits and marks of what goes on with a word, and WordLevel, of which no token does."""

    write_known = staticmethod(piece_words.write_known)

    def __init__(
        self, model: Mapping[str, Any], ids_of: IdsOf, spell: Spell, removed: Removed, dtype: type[Any]
    ) -> None:
        super().__init__(ids_of, spell, dtype)
        prefix, keys = model.get("continuing_subword_prefix"), dict[bytes, int]()
        for token, token_id in model["vocab"].items():
            keys[_ROOTS[0] + token.encode()] = token_id
            if prefix is not None and token.startswith(prefix):
                keys[_ROOTS[1] + token[len(prefix) :].encode()] = token_id
        known = {key: token_id for key, token_id in keys.items() if 1 < len(key) <= MAX_KEY + 1}
        self._cells = _cells(known)
        roots = [int(base_of(self._cells, root[0])) for root in _ROOTS]
        limit = model.get("max_input_chars_per_word", MAX_KEY)
        self._settings = np.array([*roots, model["vocab"][model["unk_token"]], limit], np.int64)
        self._removed = removed

    def arrays(self) -> Any:
        """Return what the kernel needs, with room that no other call has."""
        return piece_words.Model(self._cells, self._settings, self._removed, np.empty(MAX_KEY + 1, self.dtype))


class UnigramWords(AskedModel):
    """Unigram over words that are normalized already. `paths`: None where `tokenizers` is asked about unknown ones."""

    write_known = staticmethod(unigram_words.write_known)

    def __init__(
        self, model: Mapping[str, Any], tokenize: IdsOf, spell: Spell, removed: Removed, dtype: type[Any]
    ) -> None:
        unknown = model.get("unk_id")
        names, scores = columns_as_read(model["vocab"])
        pieces, fallback = pieces_of(names, scores, unknown or 0, split=True), np.zeros(0, np.int64)
        if model.get("byte_fallback"):
            fallback = ids_of_bytes(dict(zip(names, range(len(names)), strict=True)))
        self._asks = (
            unknown is None or not joins_unknown(pieces) or bool(model.get("byte_fallback") and not len(fallback))
        )
        self._paths, self._removed = UnigramPaths(pieces, fallback), removed
        self.paths = None if self._asks else self._paths
        super().__init__(tokenize if self.paths is None else self.paths.ids_of_word, spell, dtype)

    def arrays(self) -> Any:
        """Return what the kernel needs, with room that no other call has."""
        return self._paths.room(MAX_KEY + 1, self.dtype, asks=self._asks, removed=self._removed)


class PairWords(AskedModel):
    """BPE whose first parts are characters, or bytes that letters stand for."""

    write_known = staticmethod(pair_words.write_known)

    def __init__(
        self, model: Mapping[str, Any], merges: MergedIds, ids_of: IdsOf, spell: Spell, removed: Removed,
        dtype: type[Any], *, by_bytes: bool,
    ) -> None:  # fmt: skip
        super().__init__(ids_of, spell, dtype)
        vocabulary, suffix = model["vocab"], model.get("end_of_word_suffix") or ""
        keys: dict[bytes, int] = {}
        for token, token_id in vocabulary.items():
            for root, ending in zip(_ROOTS, ("", suffix), strict=True):
                part = token.removesuffix(ending)
                if len(part) == 1 and part + ending == token:
                    key = bytes_of_token(part) if by_bytes else part.encode()
                    keys |= {root + key: token_id} if key else {}
        self._cells, self._by_bytes, self._removed = _cells(keys), by_bytes, removed
        of_bytes = np.full(256, NO_ID, np.uint32)
        for byte in range(256 if by_bytes else 0x80):
            of_bytes[byte] = keys.get(_ROOTS[pair_words.WITHIN] + bytes([byte]), NO_ID)
        self._merges, self._alike = merges_of(*merges, of_bytes), not suffix
        self._fallback = ids_of_bytes(vocabulary) if model.get("byte_fallback") else np.zeros(0, np.int64)
        if not len(self._fallback):
            self._fallback = np.full(256, -1, np.int64)
        self._roots = np.array([base_of(self._cells, root[0]) for root in _ROOTS], np.int64)
        name = model.get("unk_token")
        self._unknown = pair_words.DROPPED if name is None else vocabulary.get(name, pair_words.ASKED)
        if model.get("byte_fallback"):
            self._unknown = pair_words.ASKED  # some bytes may have tokens
        self._fuses = bool(model.get("fuse_unk"))

    def arrays(self) -> Any:
        """Return what the kernel needs, with room that no other call has."""
        ids, places = np.empty(MAX_KEY + 1, self.dtype), MAX_KEY + 1 + byte_pair.BESIDE
        room = np.empty((byte_pair.N_ROOM, places), np.uint32)
        return pair_words.Model(
            self._merges, self._cells, self._roots, self._alike, self._by_bytes, self._fallback, self._unknown,
            self._fuses, self._removed, ids, room,
        )  # fmt: skip


def ids_of_bytes(vocabulary: Mapping[str, int]) -> NDArray[np.int64]:
    """Return the ids of the tokens of bytes, <0x00> to <0xFF>, int64 (256,); none where some byte has no token."""
    names = [f"<0x{byte:02X}>" for byte in range(256)]
    known = all(name in vocabulary for name in names)
    return np.array([vocabulary[name] for name in names] if known else [], np.int64)


def _cells(keys: Mapping[bytes, int]) -> Any:
    """Return the double array of keys, which begin with one of the two roots; each root has one at least."""
    needed = {root + b"\xff": 0 for root in _ROOTS}  # no text has this byte
    together = {**needed, **keys}
    return double_array(list(together), list(together.values()))
