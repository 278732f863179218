"""A `tokenizer.json` of tokens as bytes in the order of their ranks, as tiktoken and tekken have them.

A word that is a token is that token; else the two neighbours are joined that make the token of the lowest rank, again
and again. That is BPE whose merges are all pairs that make a token, in the order of the ranks.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any

from bertdata.errors import InputError, shortened
from bertdata.tokenizers.json_format import byte_letters

_FLAGS = dict.fromkeys(("single_word", "lstrip", "rstrip"), False)


def token_of(encoded: str, place: int) -> bytes:
    """Return the bytes of a token that is written in base64; raises InputError, which names its place.

    >>> token_of("IHRoZQ==", 0)
    b' the'
    """
    try:
        return base64.b64decode(encoded, validate=True)
    except binascii.Error as error:
        raise InputError(f"token {place} is {shortened(encoded)}, which is not base64; get the file again") from error


def check_tokens(tokens: Sequence[bytes]) -> None:
    """Raise InputError where a token is there twice, or one of the 256 bytes is none."""
    if len({*tokens}) < len(tokens) or not {bytes([byte]) for byte in range(256)} <= {*tokens}:
        raise InputError("it has a token twice, or lacks one of the 256 bytes; get the file again")


def tokenizer_json(tokens: Sequence[bytes], first: int, special: Mapping[str, int], pattern: str) -> dict[str, Any]:
    """Return the contents of a `tokenizer.json`.

    tokens: in the order of their ranks, with the ids from `first` on; special: the special tokens with their ids;
    pattern: the regular expression whose matches are words. Raises InputError where a special token has the name of
    another token.
    """
    letters = byte_letters()
    ranks = {token: rank for rank, token in enumerate(tokens)}
    names = {token: "".join(map(letters.__getitem__, token)) for token in tokens}
    if double := next((name for name in special if name in {*names.values()}), None):
        raise InputError(
            f"the special token {double!r} is a token of text too, and two tokens cannot have one name here; open the "
            "file with the package that it was made for"
        )
    vocabulary = {**special, **{names[token]: first + rank for token, rank in ranks.items()}}
    merges = [[names[left], names[right]] for token in tokens for left, right in _pairs(token, ranks)]
    added = [
        {"id": token_id, "content": name, **_FLAGS, "normalized": False, "special": True}
        for name, token_id in special.items()
    ]
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, byte_level]},
        "post_processor": {**byte_level, "add_prefix_space": True, "trim_offsets": False, "use_regex": True},
        "decoder": {**byte_level, "add_prefix_space": True, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": True,
            "vocab": vocabulary,
            "merges": merges,
        },
    }


def _pairs(token: bytes, ranks: Mapping[bytes, int]) -> list[tuple[bytes, bytes]]:
    """Return the pairs of tokens that make a token, those of the lowest ranks first."""
    pairs = [(token[:at], token[at:]) for at in range(1, len(token))]
    of_tokens = [pair for pair in pairs if pair[0] in ranks and pair[1] in ranks]
    return sorted(of_tokens, key=lambda pair: (ranks[pair[0]], ranks[pair[1]]))
