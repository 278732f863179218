"""`TekkenTokenizer`: Mistral's `tekken.json`, tokens as bytes in the order of their ranks, as a `tokenizer.json`.

A word that is a token is that token; else the two neighbours are joined that make the token of the lowest rank, again
and again, as in OpenAI's tiktoken. That is BPE whose merges are all pairs that make a token, in the order of the ranks.
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping, Sequence
from typing import Any

from bertdata.errors import InputError, shortened
from bertdata.io import files
from bertdata.tokenizers.files_beside import ADDED, CONFIG, SPECIAL, read_added, read_settings
from bertdata.tokenizers.ids import reading_json
from bertdata.tokenizers.json_format import byte_letters
from bertdata.tokenizers.json_tokenizer import TOKENIZER, JsonTokenizer
from bertdata.tokenizers.loading import find_saved

TEKKEN = "tekken.json"
_ROLES = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
_OLD_SPECIAL = (
    "<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]", "[SUFFIX]",
    "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]",
)  # fmt: skip
"""The special tokens of files that do not name them, in the order of their ids (mistral-common's Tekkenizer)."""
_FLAGS = dict.fromkeys(("single_word", "lstrip", "rstrip"), False)


class TekkenTokenizer(JsonTokenizer):
    """The family of such files, each of which becomes a `JsonTokenizer`."""

    FILES = (TEKKEN,)
    EXTRA_FILES = (CONFIG, SPECIAL, ADDED)

    @classmethod
    def recognizes(cls, path: str) -> bool:
        """Tell whether a path is a file such as `tekken_240911.json`, or a directory with `tekken.json` alone."""
        name = files.name(path)
        if name.endswith(".json"):
            return "tekken" in name and files.exists(path)
        return files.exists(files.join(path, TEKKEN)) and not files.exists(files.join(path, TOKENIZER))

    @classmethod
    def from_pretrained(cls, path: str | os.PathLike[str]) -> JsonTokenizer:
        """Load such a file or directory; raises InputError where it is damaged."""
        place = find_saved(path, [cls])[1]
        place = place if place.endswith(".json") else files.join(place, TEKKEN)
        folder = place.rpartition("/")[0]
        config = read_settings(folder)
        try:
            with reading_json("is not a whole tekken.json"):
                data = _tokenizer_json(files.read_json_object(place))
            return JsonTokenizer(data, {**_roles(data), **config}, added=read_added(folder))
        except InputError as error:
            raise InputError(str(error), path=place) from error


def _roles(data: Mapping[str, Any]) -> dict[str, str]:
    """Return the special tokens that transformers gives a role, of those that there are."""
    vocabulary = data["model"]["vocab"]
    return {role: token for role, token in _ROLES.items() if token in vocabulary}


def _tokenizer_json(tekken: Mapping[str, Any]) -> dict[str, Any]:
    """Return the contents of a `tokenizer.json`: special tokens first, then the tokens by rank."""
    config = tekken["config"]
    special = _special(tekken)
    entries = tekken["vocab"]
    size = config.get("default_vocab_size")
    if size is not None:
        size -= len(special)
        if not 0 < size <= len(entries):
            raise InputError(
                f"its default_vocab_size leaves {size:,} tokens beside {len(special):,} special ones, and vocab has "
                f"{len(entries):,}; get the file again"
            )
        entries = entries[:size]
    tokens = _tokens(entries)
    letters = byte_letters()
    ranks = {token: rank for rank, token in enumerate(tokens)}
    names = {token: "".join(map(letters.__getitem__, token)) for token in tokens}
    if double := next((name for name in special if name in {*names.values()}), None):
        raise InputError(
            f"the special token {double!r} is a token of text too, and two tokens cannot have one name here; open the "
            "file with mistral-common"
        )
    first = len(special)
    vocabulary = {name: place for place, name in enumerate(special)}
    vocabulary |= {names[token]: first + rank for token, rank in ranks.items()}
    merges = [[names[left], names[right]] for token in tokens for left, right in _pairs(token, ranks)]
    added = [
        {"id": place, "content": name, **_FLAGS, "normalized": False, "special": True}
        for place, name in enumerate(special)
    ]
    split = {"type": "Split", "pattern": {"Regex": config["pattern"]}, "behavior": "Isolated", "invert": False}
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


def _special(tekken: Mapping[str, Any]) -> list[str]:
    """Return the special tokens in the order of their ids, filled up to their number with <SPECIAL_20> and so on."""
    named = tekken.get("special_tokens")
    if named is None:
        tokens = [*_OLD_SPECIAL]
    else:
        by_rank = {entry["rank"]: entry["token_str"] for entry in named}
        if sorted(by_rank) != [*range(len(named))]:
            raise InputError("the ranks of its special_tokens are not 0, 1, 2 and so on; get the file again")
        tokens = [by_rank[rank] for rank in range(len(named))]
    count = tekken["config"].get("default_num_special_tokens") or len(tokens)
    return (tokens + [f"<SPECIAL_{place}>" for place in range(len(tokens), count)])[:count]


def _tokens(entries: Sequence[Mapping[str, Any]]) -> list[bytes]:
    """Return the bytes of tokens in the order of their ranks."""
    tokens = []
    for place, entry in enumerate(entries):
        try:
            tokens.append(base64.b64decode(entry["token_bytes"], validate=True))
        except binascii.Error as error:
            raise InputError(
                f"the token_bytes of token {place} is {shortened(entry['token_bytes'])}, which is not base64; get the "
                "file again"
            ) from error
        if entry["rank"] != place:
            raise InputError(f"token {place} has the rank {entry['rank']}; expected them in order: get the file again")
    if len({*tokens}) < len(tokens) or not {bytes([byte]) for byte in range(256)} <= {*tokens}:
        raise InputError("its vocab has a token twice, or lacks one of the 256 bytes; get the file again")
    return tokens


def _pairs(token: bytes, ranks: Mapping[bytes, int]) -> list[tuple[bytes, bytes]]:
    """Return the pairs of tokens that make a token, those of the lowest ranks first."""
    pairs = [(token[:at], token[at:]) for at in range(1, len(token))]
    of_tokens = [pair for pair in pairs if pair[0] in ranks and pair[1] in ranks]
    return sorted(of_tokens, key=lambda pair: (ranks[pair[0]], ranks[pair[1]]))
