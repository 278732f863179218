"""Which scanner and which model encode the words of a `tokenizer.json`, and why there is none for some files.

What only some files need is imported where it is called: its kernels make up a sixth of the time of a first call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bertdata.tokenizers.encode.added_tokens import MOST_BYTES, AddedTokens
from bertdata.tokenizers.encode.byte_pair import BytePairModel
from bertdata.tokenizers.encode.kernels.merge_table import MAX_ID, NO_RANK
from bertdata.tokenizers.encode.scanners import PatternScanner, WhitespaceScanner, byte_level_starts
from bertdata.tokenizers.encode.word_encoder import Encoder
from bertdata.tokenizers.json_format import METASPACE, byte_letters, parts_of
from bertdata.tokenizers.literal_special import kind_of
from bertdata.tokenizers.unigram_pieces import UNKNOWN_PENALTY, columns_as_read

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
_SPACES = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}
_EDGES = {"type": "Replace", "pattern": {"Regex": r"\A +| +\z"}, "content": ""}
_QUOTES = [{"type": "Replace", "pattern": {"String": mark * 2}, "content": '"'} for mark in "`'"]
_BY_CHARACTER = {"Precompiled", "NFKD", "NFKC", "NFD", "NFC", "StripAccents", "Lowercase", "Strip"}
"""Normalizers that change a character that makes no grapheme with others whatever is around it."""


def obstacle(data: Mapping[str, Any], reference: Any, added: AddedTokens) -> str | None:
    """Return why kernels cannot encode with a `tokenizer.json`, as a part of a sentence; None where they can.

    data: the file without special tokens (`json_format.without_special`); reference: its `tokenizers.Tokenizer` without
    added tokens; added: these.
    """
    if max(added.raw.n_bytes, added.normalized.n_bytes) > MOST_BYTES:
        return f"its added tokens have over {MOST_BYTES} bytes"
    if not _single_kind_obstacle(data, reference, added):
        return None
    from bertdata.tokenizers.encode.composed import composed_obstacle

    return composed_obstacle(data, reference, added)


def _single_kind_obstacle(data: Mapping[str, Any], reference: Any, added: AddedTokens) -> str | None:
    """Return why a file is of none of the kinds whose kernels do all that its parts do."""
    kind = _kind(data)
    if kind == "BPE":
        return _byte_pair_obstacle(data)
    return _unigram_obstacle(data, reference, added) if kind == "Unigram" else f"its model is {kind}"


def encoder_of(data: Mapping[str, Any], reference: Any, added: AddedTokens, dtype: type[Any]) -> Encoder | None:
    """Return the encoder of a `tokenizer.json`; None where there is an `obstacle`. dtype: that of ids."""
    if obstacle(data, reference, added):
        return None
    if _single_kind_obstacle(data, reference, added):
        from bertdata.tokenizers.encode.composed import composed_encoder

        return composed_encoder(data, reference, added, dtype)
    model = data["model"]
    if _kind(data) == "Unigram":
        from bertdata.tokenizers.encode.unigram import UnigramModel

        pieces = columns_as_read(model["vocab"])
        model_of_pieces = UnigramModel(*pieces, model["unk_id"], reference, dtype, split=_splits(data))
        return Encoder(WhitespaceScanner(), model_of_pieces, model_of_pieces.reference, added)
    parts, pieces = _pre_tokenizers(data), reference.pre_tokenizer.pre_tokenize_str
    starts = byte_level_starts(parts)
    assert starts is not None
    whole_words = bool(model.get("ignore_merges"))
    merges = BytePairModel(model["vocab"], reference.merges, reference, dtype, whole_words=whole_words)
    inner = scanner = PatternScanner(pieces, starts)
    normalize = None
    if _normalizers(data):
        scanner, normalize = PatternScanner(pieces, starts, composed=True), reference.normalizer.normalize_str
    if not parts[-1].get("add_prefix_space", True):
        return Encoder(scanner, merges, reference, added, normalize, inner)
    from bertdata.tokenizers.encode.rewriting import begin_with

    return Encoder(scanner, merges, reference, added, normalize, inner, after=(begin_with(" "),))


def _kind(data: Mapping[str, Any]) -> str:
    """Return the type of the model."""
    return kind_of(data["model"])


def _pre_tokenizers(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    return parts_of(data.get("pre_tokenizer"), "pretokenizers")


def _normalizers(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    return parts_of(data.get("normalizer"), "normalizers")


def _splits(data: Mapping[str, Any]) -> bool:
    """Tell whether text is cut at white space before it gets marks of spaces."""
    return [part["type"] for part in _pre_tokenizers(data)] == ["WhitespaceSplit", "Metaspace"]


def _types(parts: Sequence[Mapping[str, Any]]) -> str:
    return " and ".join(str(part["type"]) for part in parts) or "none"


def _byte_pair_obstacle(data: Mapping[str, Any]) -> str | None:
    """Return why a BPE is not a byte-level one over a known pattern, whose text may be brought to form NFC."""
    model, letters = data["model"], byte_letters()
    parts, normalizers = _pre_tokenizers(data), _normalizers(data)
    if byte_level_starts(parts) is None:
        return f"its pre-tokenizer ({_types(parts)}) is not byte-level with the pattern of GPT-2 or cl100k"
    unusual = [name for name, values in _PLAIN.items() if model.get(name) not in values]
    if unusual:
        return f"its model has {' and '.join(unusual)}"
    if len(model["merges"]) >= NO_RANK or max(model["vocab"].values()) > MAX_ID:
        return f"its model has over {NO_RANK} merges, or ids over {MAX_ID}"
    if any(letters[byte] not in model["vocab"] for byte in _UTF8):
        return "its model has no token for some byte"
    if normalizers and _types(normalizers) != "NFC":
        return f"its normalizer is {_types(normalizers)}"
    prefix_space = parts[-1].get("add_prefix_space", True)
    if prefix_space and len(parts) > 1:
        return "its ByteLevel puts a space before each word"
    return "it puts a space before each text and normalizes it" if prefix_space and normalizers else None


def _unigram_obstacle(data: Mapping[str, Any], reference: Any, added: AddedTokens) -> str | None:
    """Return why a Unigram model is not one with SentencePiece's marks of spaces and known normalizers."""
    model, parts, normalizers, split = data["model"], _pre_tokenizers(data), _normalizers(data), _splits(data)
    if not split and [part["type"] for part in parts] != ["Metaspace"]:
        return f"its pre-tokenizer is {_types(parts)}; expected Metaspace, alone or after WhitespaceSplit"
    marks = parts[-1]
    if (marks.get("replacement"), marks.get("prepend_scheme"), marks.get("split", True)) != (METASPACE, "always", True):
        return "its Metaspace does not put U+2581 before each word"
    if len(added.normalized):
        return f"its added token {next(iter(added.normalized))!r} is looked for in normalized text"
    if model.get("byte_fallback") or model.get("unk_id") is None:
        return "its model has no unknown token, or tokens for bytes"
    if all(score >= UNKNOWN_PENALTY for _, score in model["vocab"]):
        return "its model has pieces that are no better than unknown characters"
    others = [part for part in normalizers if part not in (_SPACES, _EDGES, *_QUOTES) and not _replaces_character(part)]
    if not normalizers or not {part["type"] for part in others} <= _BY_CHARACTER:
        return f"its normalizer is {_types(others)}"
    spaces = [reference.normalizer.normalize_str(f"a{space}a")[1:-1] for space in " \t\n\r"]
    strips = _EDGES in normalizers or any(
        part["type"] == "Strip" and part["strip_left"] and part["strip_right"] for part in others
    )
    makes_spaces = (
        all(map(str.isspace, spaces)) if split else set(spaces) == {" "} and strips and _SPACES in normalizers
    )
    return None if makes_spaces else "its normalizer does not make a space of white space"


def _replaces_character(part: Mapping[str, Any]) -> bool:
    """Tell whether a normalizer changes single characters, or some with marks, about which `tokenizers` is asked."""
    from bertdata.tokenizers.encode.rewriting import keeps_marks_apart
    from bertdata.tokenizers.encode.unigram import is_alone

    if keeps_marks_apart(part):
        return True
    text = part["pattern"].get("String", "") if part["type"] == "Replace" else ""
    return len(text) == 1 or not all(map(is_alone, text))
