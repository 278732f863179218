"""`EsmTokenizer`: the `vocab.txt` of ESM's protein models, whose words are letters, as a `tokenizer.json`.

`EsmTokenizer` of transformers, which is Python alone and writes no `tokenizer.json`, finds the tokens of its vocabulary
anywhere in a text, the longest first; what is left is cut at white space into unknown words.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bertdata.errors import InputError
from bertdata.io import files
from bertdata.io.decoding import decode_utf8
from bertdata.tokenizers.call_rows import CallRows, UnclearPairs
from bertdata.tokenizers.files_beside import ADDED, CONFIG, SPECIAL, read_added, read_settings
from bertdata.tokenizers.ids import reading_json
from bertdata.tokenizers.json_format import content_of
from bertdata.tokenizers.json_tokenizer import TOKENIZER, JsonTokenizer
from bertdata.tokenizers.loading import find_saved

VOCAB = "vocab.txt"
_CLASS = "EsmTokenizer"
_ROLES = {"cls": "<cls>", "pad": "<pad>", "eos": "<eos>", "unk": "<unk>", "mask": "<mask>"}
_WHITE = r"[\s\x1c-\x1f]+"
"""What `str.split` of Python cuts at: it takes four control characters for white space too."""
_FLAGS = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)


class EsmTokenizer(JsonTokenizer):
    """The family of such folders, each of which becomes a `JsonTokenizer`."""

    FILES = (VOCAB,)
    EXTRA_FILES = (CONFIG, SPECIAL, ADDED)

    @classmethod
    def recognizes(cls, path: str) -> bool:
        """Tell whether a directory has a `vocab.txt` and settings that name the class, and no `tokenizer.json`."""
        if not files.exists(files.join(path, VOCAB)) or files.exists(files.join(path, TOKENIZER)):
            return False
        return read_settings(path).get("tokenizer_class") == _CLASS

    @classmethod
    def from_pretrained(cls, path: str | os.PathLike[str]) -> JsonTokenizer:
        """Load such a directory; raises InputError where the vocabulary is damaged or lacks a special token."""
        folder = find_saved(path, [cls])[1]
        config, place = read_settings(folder), files.join(folder, VOCAB)
        with files.open_raw(place) as file:
            text = decode_utf8(file.read(), place, hint="get the file again")
        roles = {role: content_of(config.get(f"{role}_token")) or name for role, name in _ROLES.items()}
        if config.get("eos_token", _ROLES["eos"]) is None:  # as of Nucleotide Transformer, whose rows end with the text
            del roles["eos"]
        try:
            with reading_json("is not a vocabulary of ESM"):
                data = _tokenizer_json([line.strip() for line in text.splitlines()], roles)
            named = {f"{role}_token": token for role, token in roles.items()}
            settings = {"model_input_names": ["input_ids", "attention_mask"], **named, **config}
            del settings["tokenizer_class"]
            kind = JsonTokenizer if "eos" in roles else EsmWithoutPairs
            return kind(data, settings, added=read_added(folder))
        except InputError as error:
            raise InputError(str(error), path=place) from error


class EsmWithoutPairs(JsonTokenizer):
    """A tokenizer of a folder that names no token for the end: its class has rows of one text alone."""

    def call_rows(self, *, special: bool = True) -> CallRows:
        """Return what stands in the rows of calls, which have one text."""
        return replace(super().call_rows(special=special), no_pairs=UnclearPairs(_NO_PAIRS, only_types=False))


_NO_PAIRS = (
    f"{CONFIG} has no eos_token, without which EsmTokenizer gives no rows of two texts; name it there if the model "
    "has one"
)


def _tokenizer_json(tokens: Sequence[str], roles: Mapping[str, str]) -> dict[str, Any]:
    """Return the contents of a `tokenizer.json` of tokens in the order of their ids."""
    ids = {token: token_id for token_id, token in enumerate(tokens)}
    if len(ids) < len(tokens) or any(token != "".join(token.split()) or not token for token in tokens):
        raise InputError("has a token twice, or one that is empty or holds white space; get the file again")
    if missing := [token for token in roles.values() if token not in ids]:
        raise InputError(
            f"has no {missing[0]}, a special token of ESM; name another in {CONFIG}, or get the file again"
        )
    words = sorted((token for token in tokens if token not in roles.values()), key=len, reverse=True)
    around = [roles[role] for role in ("cls", "eos") if role in roles]
    special = {token: {"id": token, "ids": [ids[token]], "tokens": [token]} for token in around}
    first, second = ({"Sequence": {"id": name, "type_id": 0}} for name in ("A", "B"))
    cls, *eos = map(_piece, around)
    single = [cls, first, *eos]
    pair = [*single, second, *eos] if eos else [first, second]  # which is not of the form of `single`: refused
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": ids[token], "content": token, **_FLAGS, "special": True}
            for token in sorted({*roles.values()}, key=ids.__getitem__)
        ],
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [_split(_WHITE, "Removed"), _split("|".join(map(re.escape, words)), "Isolated")],
        },
        "post_processor": {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": special},
        "decoder": None,
        "model": {"type": "WordLevel", "vocab": ids, "unk_token": roles["unk"]},
    }


def _piece(token: str) -> dict[str, Any]:
    return {"SpecialToken": {"id": token, "type_id": 0}}


def _split(pattern: str, behavior: str) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": False}
