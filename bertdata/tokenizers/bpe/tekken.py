"""`TekkenTokenizer`: Mistral's `tekken.json`, tokens as bytes in the order of their ranks, as a `tokenizer.json`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from bertdata.errors import InputError
from bertdata.io import files
from bertdata.tokenizers.bpe.ranks import check_tokens, token_of, tokenizer_json
from bertdata.tokenizers.files_beside import ADDED, CONFIG, SPECIAL, read_added, read_settings
from bertdata.tokenizers.ids import reading_json
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
    ids = {name: place for place, name in enumerate(special)}
    return tokenizer_json(_tokens(entries), len(special), ids, config["pattern"])


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
        tokens.append(token_of(entry["token_bytes"], place))
        if entry["rank"] != place:
            raise InputError(f"token {place} has the rank {entry['rank']}; expected them in order: get the file again")
    check_tokens(tokens)
    return tokens
