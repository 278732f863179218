"""Encoders put together of stages: what the normalizer makes of texts, where pre-tokenizers cut, and a model of words.

They encode what the kernels of `choice.py` for single kinds do not: any order of normalizers and pre-tokenizers that
are known, before any model. A model without a kernel is one that asks `tokenizers` for each new word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.tokenizers.encode.added_tokens import AddedTokens
from bertdata.tokenizers.encode.byte_pair import BytePairModel
from bertdata.tokenizers.encode.kernels.merge_table import MAX_ID, NO_RANK
from bertdata.tokenizers.encode.kernels.spelled_words import Removed
from bertdata.tokenizers.encode.rewriting import Stage, UnknownNormalizerError, begin_with, stages_of
from bertdata.tokenizers.encode.scanners import PatternScanner, Scanner, byte_level_starts
from bertdata.tokenizers.encode.splitters import (
    AnySplitter,
    ClassSplitter,
    MarkSplitter,
    SplittingScanner,
    UnknownSplitError,
    splitter_of,
)
from bertdata.tokenizers.encode.unigram_paths import NOTHING, UnigramReference
from bertdata.tokenizers.encode.whole_unigram import WholeUnigram, whole_obstacle
from bertdata.tokenizers.encode.word_encoder import Encoder
from bertdata.tokenizers.encode.word_models import UnigramWords, word_model
from bertdata.tokenizers.json_format import METASPACE, byte_letters, parts_of
from bertdata.tokenizers.literal_special import kind_of

_UTF8 = [*range(0x80, 0xC0), *range(0x80), *range(0xC2, 0xF5)]
"""The bytes that UTF-8 has."""
_PLAIN = {
    "dropout": (None, 0.0),
    "fuse_unk": (None, False),
    "byte_fallback": (None, False),
    "continuing_subword_prefix": (None, ""),
    "end_of_word_suffix": (None, ""),
}
"""Settings of a BPE model, with the values for which a word's ids follow from its merges alone."""
_MOST_JOINS = 16
_TO_MARKS = {"type": "Replace", "pattern": {"String": " "}, "content": METASPACE}


class NotComposedError(ValueError):
    """A `tokenizer.json` has a part that no stage is for; the message says which, as a part of a sentence."""


@dataclass(frozen=True)
class Parts:
    """What an encoder is put together of.

    before: what is done before added tokens are found; after: what is done to the pieces between them; scanner:
    where words begin; whole: whether its words are parts of a whole text, which is the word of `tokenizers`. spell,
    removed, by_bytes: as `word_model` takes them; no spell where words are those of byte-level BPE as they are.
    """

    before: list[Stage]
    after: list[Stage]
    scanner: Scanner
    spell: Callable[[str], str] | None
    whole: bool
    removed: Removed | None
    by_bytes: bool


def composed_encoder(data: Mapping[str, Any], reference: Any, added: AddedTokens, dtype: type[Any]) -> Encoder:
    """Return the encoder of a `tokenizer.json` as `choice.encoder_of` takes it. Raises NotComposedError."""
    from bertdata.tokenizers.late_model import Reference

    try:
        parts = _parts(data, reference, added)
    except (UnknownNormalizerError, UnknownSplitError) as error:
        raise NotComposedError(str(error)) from error
    normalized: Any = Reference({**data, "added_tokens": [], "normalizer": None})
    model: Any
    if parts.spell is None:
        whole_words = bool(data["model"].get("ignore_merges"))
        model = BytePairModel(data["model"]["vocab"], reference.merges, reference, dtype, whole_words=whole_words)
    elif parts.whole and kind_of(data["model"]) == "Unigram":
        cut = not isinstance(parts.scanner, SplittingScanner) or parts.scanner.cuts
        model = WholeUnigram(data["model"], dtype, cut=cut)
    else:
        model = word_model(data, reference, parts.spell, parts.removed, dtype, by_bytes=parts.by_bytes)
        if isinstance(model, UnigramWords) and model.paths:
            normalized = UnigramReference(normalized, model.paths)
    return Encoder(
        parts.scanner, model, normalized, added, before=tuple(parts.before), after=tuple(parts.after), whole=parts.whole
    )


def composed_obstacle(data: Mapping[str, Any], reference: Any, added: AddedTokens) -> str | None:
    """Return why no stages make an encoder of a `tokenizer.json`, as a part of a sentence; None where they do."""
    try:
        _parts(data, reference, added)
    except (NotComposedError, UnknownNormalizerError, UnknownSplitError) as error:
        return str(error)
    return None


def _parts(data: Mapping[str, Any], reference: Any, added: AddedTokens) -> Parts:
    model = data["model"]
    kind = kind_of(model)
    if model.get("dropout"):
        raise NotComposedError("its model has dropout")
    normalizers: list[Mapping[str, Any]] = [*parts_of(data.get("normalizer"), "normalizers")]
    pre_tokenizers = parts_of(data.get("pre_tokenizer"), "pretokenizers")
    if normalizers[-1:] == [_TO_MARKS] and [part.get("pattern") for part in pre_tokenizers] == [_TO_MARKS["pattern"]]:
        pre_tokenizers = []  # it cuts at spaces, of which the normalizer leaves none, as Gemma's does
    after: list[Mapping[str, Any]] = []
    stages: list[Stage] = []
    first = pre_tokenizers[0] if pre_tokenizers else {}
    if first.get("type") == "Metaspace":
        if first.get("replacement", METASPACE) != METASPACE or first.get("prepend_scheme") == "first":
            raise NotComposedError("its Metaspace has another mark than U+2581, or puts it before the first word only")
        after = [_TO_MARKS]
        stages = [begin_with(METASPACE)] if first.get("prepend_scheme", "always") == "always" else []
    if not len(added.normalized):
        normalizers, after = [*normalizers, *after], []
    marked = first.get("type") == "Metaspace" or _TO_MARKS in normalizers
    byte_level = [part for part in pre_tokenizers if part["type"] == "ByteLevel"]
    if byte_level:
        if pre_tokenizers[-1:] != byte_level:
            raise NotComposedError("its ByteLevel is not the last of its pre-tokenizers")
        if byte_level[0].get("add_prefix_space", True):
            if len(pre_tokenizers) > 1:
                raise NotComposedError("its ByteLevel puts a space before each word")
            stages.append(begin_with(" "))
    whole = not pre_tokenizers or (first.get("type") == "Metaspace" and not first.get("split", True))
    scanner = _scanner(pre_tokenizers, reference, data, whole=whole, marked=marked)
    removes = False
    removed: Removed | None = NOTHING
    spell: Callable[[str], str] | None = str
    if isinstance(scanner, SplittingScanner) and scanner.removes:
        removes, spell = True, scanner.without_removed
        removed = Removed(*scanner.removed) if scanner.removed else None
    if byte_level:
        spell = None if kind == "BPE" and not removes and _is_plain(model) else _in_letters(spell)
    both = stages_of(normalizers), [*stages_of(after), *stages]
    return Parts(*both, scanner, spell, whole, removed, bool(byte_level))


def _scanner(
    pre_tokenizers: Sequence[Mapping[str, Any]], reference: Any, data: Mapping[str, Any], *, whole: bool, marked: bool
) -> Scanner:
    if (starts := byte_level_starts(list(map(dict, pre_tokenizers)))) is not None:
        return PatternScanner(reference.pre_tokenizer.pre_tokenize_str, starts)
    if whole:
        if len(pre_tokenizers) > 1:
            raise NotComposedError("its Metaspace does not cut at spaces, and others follow it")
        _check_marks(data["model"], marked=marked)
        if kind_of(data["model"]) == "Unigram" and not _cuts_unigram(data["model"], marked=marked):
            return SplittingScanner([])
        joins, apart = _joined_to_marks(data["model"]), _never_joined(data["model"])
        return SplittingScanner([MarkSplitter(each=False, joins=joins, apart=apart)])
    splitters: list[AnySplitter] = []
    for number, part in enumerate(pre_tokenizers):
        if part["type"] == "Metaspace" and number:
            raise NotComposedError("its Metaspace follows another pre-tokenizer")
        if part["type"] == "ByteLevel" and not part.get("use_regex", True):
            continue
        spaces_removed = all(isinstance(splitter, ClassSplitter) or not splitter.removes for splitter in splitters)
        nothing_gone = not any(splitter.removes for splitter in splitters)
        splitters.append(splitter_of(part, _pieces_of(part), by_classes=spaces_removed, nothing_gone=nothing_gone))
    return SplittingScanner(splitters)


def _check_marks(model: Mapping[str, Any], *, marked: bool) -> None:
    """Raise NotComposedError where a token may reach over the spaces of a text that is one word."""
    if kind_of(model) == "Unigram":
        if reason := whole_obstacle(model):
            raise NotComposedError(reason)
        return
    vocabulary = model["vocab"]
    if kind_of(model) != "BPE" or model.get("ignore_merges") or METASPACE not in vocabulary or not marked:
        raise NotComposedError("its pre-tokenizer does not cut texts, and its model is not a BPE with marks of spaces")
    if model.get("continuing_subword_prefix") or model.get("end_of_word_suffix"):
        raise NotComposedError("its pre-tokenizer does not cut texts, and its tokens have marks of where words end")
    joins = _joined_to_marks(model)
    if len(joins) > _MOST_JOINS or not joins.isascii() or any(map(str.isalpha, joins)):
        raise NotComposedError(
            f"its pre-tokenizer does not cut texts, and its tokens go on over spaces after {joins!r}"
        )


def _cuts_unigram(model: Mapping[str, Any], *, marked: bool) -> bool:
    """Tell whether texts of a Unigram model can be cut at marks of spaces, as no piece, or few, go over them."""
    joins = _joined_to_marks(model)
    has_mark = any(piece == METASPACE for piece, _ in model["vocab"])
    return marked and has_mark and len(joins) <= _MOST_JOINS and joins.isascii() and not any(map(str.isalpha, joins))


def _joined_to_marks(model: Mapping[str, Any]) -> str:
    """Return the characters before a mark of a space in what a BPE merges, or in the pieces of a Unigram model."""
    over = (text.lstrip(METASPACE) for text in _tokens_of_several(model) if METASPACE in text.lstrip(METASPACE))
    return "".join(sorted({before for token in over for before in re.findall(f"([^{METASPACE}]){METASPACE}", token)}))


def _never_joined(model: Mapping[str, Any]) -> NDArray[np.bool_]:
    """Return which pairs of characters of ASCII are tokens that no token holds together, bool (65536,)."""
    data = np.frombuffer("\0".join(["", *_tokens_of_several(model), ""]).encode(), np.uint8)
    joined = np.zeros((256, 256), np.bool_)
    joined[data[:-1], data[1:]] = True
    names = model["vocab"] if kind_of(model) == "BPE" else (piece for piece, _ in model["vocab"])
    known = np.zeros(256, np.bool_)
    known[[ord(name) for name in names if len(name) == 1 and name.isascii()]] = True
    return (known[:, None] & known & ~joined).reshape(-1)


def _tokens_of_several(model: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a BPE merges, or the pieces of a Unigram model."""
    if kind_of(model) != "BPE":
        yield from (piece for piece, _ in model["vocab"])
        return
    yield from ("".join(pair.split(" ")) if isinstance(pair, str) else "".join(pair) for pair in model["merges"])


def _pieces_of(part: Mapping[str, Any]) -> Callable[[str], list[Any]]:
    from bertdata.tokenizers.late_model import open_reference

    model = {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}
    opened = open_reference({"version": "1.0", "added_tokens": [], "pre_tokenizer": part, "model": model})
    return opened.pre_tokenizer.pre_tokenize_str  # type: ignore[no-any-return]


def _is_plain(model: Mapping[str, Any]) -> bool:
    """Tell whether kernels merge the bytes of a word as this BPE does."""
    vocabulary, letters = model["vocab"], byte_letters()
    plain = all(model.get(name) in values for name, values in _PLAIN.items())
    sizes = len(model["merges"]) < NO_RANK and max(vocabulary.values()) <= MAX_ID
    return plain and sizes and all(letters[byte] in vocabulary for byte in _UTF8)


def _in_letters(spell: Callable[[str], str] | None) -> Callable[[str], str]:
    """Return how a word is spelled in the letters that stand for bytes."""
    letters = byte_letters()

    def spelt(word: str) -> str:
        return "".join(map(letters.__getitem__, (spell(word) if spell else word).encode()))

    return spelt
