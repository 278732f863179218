"""What the tokens of a `tokenizer.json` say of themselves: whether they begin a word, and which text they stand for."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from bertdata.tokenizers.json_format import METASPACE, parts_of, text_of_byte_level


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
