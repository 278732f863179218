"""What the tokens of a `tokenizer.json` say of themselves: whether they begin a word, and which text they stand for."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from bertdata.tokenizers.json_format import METASPACE, bytes_of_token, parts_of, text_of_byte_level
from bertdata.tokenizers.surfaces import Surface, stands_alone

_BYTE = re.compile(r"<0x([0-9A-F]{2})>")
"""A token of one byte, where a vocabulary has these for what it does not know."""


def begins_words(data: Mapping[str, Any]) -> bool:
    """Tell whether the mark U+2581 begins each word, and nothing else is a word."""
    *_, last = [{}, *parts_of(data.get("pre_tokenizer"), "pretokenizers")]
    marked = last.get("type") == "Metaspace" and last.get("prepend_scheme") == "always" and last.get("split", True)
    return bool(marked) and all(entry["special"] for entry in data.get("added_tokens") or ())


def marked_tokens(data: Mapping[str, Any], tokens: Sequence[str]) -> frozenset[int]:
    """Return the ids of tokens that begin with a mark of a space; none where the tokenizer makes no such marks."""
    makes = json.dumps([data.get("normalizer"), data.get("pre_tokenizer")], ensure_ascii=False)
    if METASPACE not in makes:
        return frozenset()
    return frozenset(token_id for token_id, token in enumerate(tokens) if token.startswith(METASPACE))


def texts_of_tokens(data: Mapping[str, Any], tokens: Sequence[str], special: Collection[str]) -> tuple[str, ...]:
    """Return tokens without marks of spaces, the bytes of byte-level BPE as text; special tokens as they are."""
    parts = parts_of(data.get("pre_tokenizer"), "pretokenizers")
    if any(part["type"] == "ByteLevel" for part in parts):
        return tuple(token if token in special else text_of_byte_level(token) for token in tokens)
    return tuple(token.replace(METASPACE, " ").removeprefix(" ") or " " for token in tokens)


def surface_reader(data: Mapping[str, Any]) -> Callable[[str], Surface]:
    """Return what gives the surface of a token of a `tokenizer.json`.

    >>> surface_reader({"pre_tokenizer": {"type": "ByteLevel"}, "model": {"type": "BPE"}})("Ġthe")
    Surface(begins=True, text=b'the')
    >>> surface_reader({"pre_tokenizer": {"type": "Metaspace"}, "model": {"type": "Unigram"}})("the")
    Surface(begins=False, text=b'the')
    >>> surface_reader({"model": {"type": "WordPiece", "continuing_subword_prefix": "##"}})("##the")
    Surface(begins=False, text=b'the')
    """
    model = data.get("model") or {}
    if any(part.get("type") == "ByteLevel" for part in parts_of(data.get("pre_tokenizer"), "pretokenizers")):
        return lambda token: _after_space(_bytes(token))
    if METASPACE in json.dumps([data.get("normalizer"), data.get("pre_tokenizer")], ensure_ascii=False) or any(
        part.get("type") == "Metaspace" for part in parts_of(data.get("pre_tokenizer"), "pretokenizers")
    ):
        return _of_metaspace
    if model.get("type") == "WordPiece":
        mark = str(model.get("continuing_subword_prefix") or "##")
        return lambda token: _of_wordpiece(token, mark)
    suffix = str(model.get("end_of_word_suffix") or "")
    return lambda token: Surface(None, token.removesuffix(suffix).encode("utf-8", "surrogatepass"))


def _bytes(token: str) -> bytes:
    letters = bytes_of_token(token)
    return token.encode("utf-8", "surrogatepass") if letters is None else letters


def _after_space(text: bytes) -> Surface:
    return Surface(text[:1] == b" ", text[1:] if text[:1] == b" " else text)


def _of_metaspace(token: str) -> Surface:
    if byte := _BYTE.fullmatch(token):
        return Surface(False, bytes([int(byte[1], 16)]))
    return _after_space(token.replace(METASPACE, " ").encode("utf-8", "surrogatepass"))


def _of_wordpiece(token: str, mark: str) -> Surface:
    text = token.removeprefix(mark)
    goes_on = token.startswith(mark) and token != mark
    begins = None if stands_alone(text) else not goes_on
    return Surface(begins, (text if goes_on else token).encode("utf-8", "surrogatepass"))
