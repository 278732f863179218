"""Settings beside a SentencePiece `.model` that ask for another tokenizer than the model alone is: refused by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bertdata.errors import InputError, shortened
from bertdata.tokenizers.file_keys import REMEDY, check_bare
from bertdata.tokenizers.files_beside import CONFIG

RENUMBERED = frozenset(
    {
        "BarthezTokenizer", "FNetTokenizer", "LayoutXLMTokenizer", "M2M100Tokenizer", "MBart50Tokenizer",
        "MBartTokenizer", "MarianTokenizer", "NllbTokenizer", "PegasusTokenizer", "SeamlessM4TTokenizer",
        "Speech2TextTokenizer", "T5Tokenizer", "UdopTokenizer", "XGLMTokenizer",
    }
)  # fmt: skip
"""Classes of transformers (those of `convert_slow_tokenizer.py` with a `vocab` of their own, and those that run
SentencePiece themselves) that number the pieces anew, or add to them."""


def check_beside(config: Mapping[str, Any]) -> None:
    """Raise InputError where settings name a class that numbers the pieces anew, or what the model does not do.

    >>> check_beside({"tokenizer_class": "AlbertTokenizer", "sp_model_kwargs": {}, "do_lower_case": True})
    """
    name = str(config.get("tokenizer_class")).removesuffix("Fast")
    if name in RENUMBERED and not (name == "T5Tokenizer" and config.get("extra_ids") == 0):
        raise InputError(
            f"the settings beside it name {name}, which numbers the pieces anew or adds tokens; expected the model "
            "alone: " + REMEDY
        )
    for key, why in _REFUSED.items():
        if config.get(key):
            raise InputError(f"{CONFIG} beside it says {key} = {shortened(config[key])}, {why}; " + REMEDY)
    if config.get("do_lower_case") and name == "DebertaV2Tokenizer":
        raise InputError(f"{CONFIG} beside it says do_lower_case = true, which the model does not do; " + REMEDY)
    check_bare(config, CONFIG)


_REFUSED = {
    "sp_model_kwargs": "which may ask for pieces drawn at random",
    "split_by_punct": "which cuts a text before the model sees it",
}
