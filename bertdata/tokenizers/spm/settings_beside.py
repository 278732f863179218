"""Settings beside a SentencePiece `.model` that ask for another tokenizer than the model alone is: refused by name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from bertdata.errors import InputError, shortened
from bertdata.tokenizers.class_checks import BACKEND
from bertdata.tokenizers.class_defaults import AROUND, class_of
from bertdata.tokenizers.file_keys import REMEDY, check_bare
from bertdata.tokenizers.files_beside import CONFIG

AS_SENTENCEPIECE = BACKEND | {
    "AlbertTokenizer", "BertGenerationTokenizer", "BigBirdTokenizer", "CamembertTokenizer", "CodeLlamaTokenizer",
    "DebertaV2Tokenizer", "GemmaTokenizer", "LlamaTokenizer", "ReformerTokenizer", "RemBertTokenizer",
    "XLMRobertaTokenizer", "XLNetTokenizer",
}  # fmt: skip
"""The classes of transformers with the ids of the model's pieces, or whose numbers are known. Others number the pieces
anew, add to them, or change a text before the model sees it."""


def check_beside(config: Mapping[str, Any]) -> None:
    """Raise InputError where settings name a class with other ids than the model's, or what the model does not do.

    >>> check_beside({"tokenizer_class": "AlbertTokenizer", "sp_model_kwargs": {}, "do_lower_case": True})
    """
    name = class_of(config)
    if name not in AS_SENTENCEPIECE and not (name == "T5Tokenizer" and config.get("extra_ids") == 0):
        raise InputError(
            f"the settings beside it name {name}, which may number the pieces anew, add tokens or change texts; "
            "expected the model alone: " + REMEDY
        )
    for key, why in _REFUSED.items():
        if config.get(key):
            raise InputError(f"{CONFIG} beside it says {key} = {shortened(config[key])}, {why}; " + REMEDY)
    if config.get("do_lower_case") and name == "DebertaV2Tokenizer":
        raise InputError(f"{CONFIG} beside it says do_lower_case = true, which the model does not do; " + REMEDY)
    check_bare(config, CONFIG)


def not_backend(config: Mapping[str, Any]) -> bool:
    """Tell whether settings name a class of its own, not one that takes a `tokenizer.json` as it is."""
    return class_of(config) not in BACKEND


def rows_unknown(config: Mapping[str, Any]) -> str | None:
    """Return why it is not known what stands around texts, as the class of settings has rows of its own, or None."""
    name = class_of(config)
    flags = [key for key in ("add_bos_token", "add_eos_token") if isinstance(config.get(key), bool)]
    if name in _FOLLOWS_FLAGS and flags:
        return (
            f"{CONFIG} says {flags[0]} = {json.dumps(config[flags[0]])}, and there is no tokenizer.json: {name} of "
            "transformers 5 goes by that key, that of transformers 4 does not, so their rows differ; delete the key to "
            "get the rows of transformers 4"
        )
    if not not_backend(config) or name in AROUND:
        return None
    return (
        f"the settings beside the model name {name}, and what that puts around texts, if anything, is not "
        "in a model of SentencePiece; " + REMEDY
    )


_FOLLOWS_FLAGS = frozenset({"AlbertTokenizer", "RemBertTokenizer"})
"""Classes that in transformers 5 put tokens around texts as two settings say, if a model is all that they have."""
_REFUSED = {
    "sp_model_kwargs": "which may ask for pieces drawn at random",
    "split_by_punct": "which cuts a text before the model sees it",
}
