"""Settings beside a `tokenizer.json`, or of the class that they name, that contradict what the file does: refused."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from bertdata.errors import InputError
from bertdata.tokenizers.class_defaults import class_of, expected_unknown
from bertdata.tokenizers.json_format import content_of, parts_of
from bertdata.tokenizers.literal_special import kind_of

_LOG = logging.getLogger("bertdata")
_CONFIG = "tokenizer_config.json"
BACKEND = frozenset({"None", "PreTrainedTokenizer", "TokenizersBackend"})
"""The classes of `tokenizer_class` that take the tokenizer.json as it is."""
_CASE_AND_ACCENTS = {"do_lower_case": "Lowercase", "keep_accents": "StripAccents"}
_PARTS_OF_SETTINGS = {
    "Albert": _CASE_AND_ACCENTS,
    "XLNet": {"do_lower_case": "Lowercase"},
    "DebertaV2": {"do_lower_case": "Lowercase", "split_by_punct": "Punctuation"},
}
"""The parts of a file that settings put there or, as keep_accents, leave out, in classes of transformers 5.24."""


OF_BERT: dict[str, bool | None] = {"do_lower_case": True, "strip_accents": None, "tokenize_chinese_chars": True}
"""What BERT's normalizer does in the classes of LIKE_BERT where settings do not say it, whatever the file does."""
LIKE_BERT = frozenset(
    {
        "BertTokenizer", "ConvBertTokenizer", "DistilBertTokenizer", "ElectraTokenizer", "FunnelTokenizer",
        "LayoutLMTokenizer", "LayoutLMv2Tokenizer", "LxmertTokenizer", "MPNetTokenizer", "MobileBertTokenizer",
        "SplinterTokenizer", "SqueezeBertTokenizer",
    }
)  # fmt: skip


def warn_of_defaults(of_file: Mapping[str, Any], config: Mapping[str, Any]) -> None:
    """Say that AutoTokenizer does not follow a file whose case, accents or characters the settings do not repeat.

    of_file: the values of the file for the keys of OF_BERT.
    """
    if class_of(config) not in LIKE_BERT:
        return
    of_class = {key: config.get(key, value) for key, value in OF_BERT.items()}
    of_class, of_file = ({**each, "strip_accents": _strips(each)} for each in (of_class, of_file))
    keys = [key for key in OF_BERT if key not in config and of_class[key] != of_file[key]]
    if keys:
        values = ", ".join(f"{key} = {json.dumps(of_file[key])}" for key in keys)
        _LOG.warning(
            "tokenizer.json has %s, which %s does not repeat, so AutoTokenizer takes what %s has by default and gives "
            "other ids; those of the file are taken here: write the same into %s",
            *(values, _CONFIG, class_of(config), _CONFIG),
        )


def _strips(settings: Mapping[str, Any]) -> Any:
    """Return whether accents go: where it is not said, they do with the case."""
    return settings["do_lower_case"] if settings["strip_accents"] is None else settings["strip_accents"]


def check_settings(data: Mapping[str, Any], config: Mapping[str, Any]) -> None:
    """Raise InputError where settings of BERT's normalizer are not those of the file: transformers takes the former."""
    names = {
        "do_lower_case": "lowercase",
        "strip_accents": "strip_accents",
        "tokenize_chinese_chars": "handle_chinese_chars",
    }
    for part in parts_of(data.get("normalizer"), "normalizers"):
        if part["type"] == "BertNormalizer":
            warn_of_defaults({setting: part.get(name) for setting, name in names.items()}, config)
        for setting, name in names.items():
            if part["type"] == "BertNormalizer" and setting in config and config[setting] != part.get(name):
                raise InputError(
                    f"says {name} = {json.dumps(part.get(name))}, but {_CONFIG} beside it says {setting} = "
                    f"{json.dumps(config[setting])}; correct one of them"
                )
    _check_unknown(data["model"], config)
    _check_parts(data, config)


def _check_unknown(model: Mapping[str, Any], config: Mapping[str, Any]) -> None:
    """Raise InputError where a class has another token for unknown words than the model: transformers 5 takes its."""
    if kind_of(model) == "Unigram":
        expected = expected_unknown(config, model["vocab"])
        if expected not in (None, model.get("unk_id")):
            raise InputError(
                f"its model has the id {model.get('unk_id')} for unknown characters, but {class_of(config)}, which the "
                f"settings beside it name, takes {expected} in transformers 5; name PreTrainedTokenizerFast as "
                f"tokenizer_class in {_CONFIG} for what the file says"
            )
    unknown, named = model.get("unk_token"), content_of(config.get("unk_token"))
    words = kind_of(model) in ("WordPiece", "WordLevel")
    if words and class_of(config) not in BACKEND and named not in (None, unknown):
        raise InputError(
            f"its model has {unknown!r} for unknown words, but the settings beside it, or {class_of(config)} that they "
            f"name, have unk_token = {named!r}, which transformers 5 takes; make the two say the same in {_CONFIG}"
        )


def _check_parts(data: Mapping[str, Any], config: Mapping[str, Any]) -> None:
    """Raise InputError where the settings of a class contradict what its file does: transformers 5 takes the former."""
    name = class_of(config).removesuffix("Tokenizer")
    parts = [*parts_of(data.get("normalizer"), "normalizers"), *parts_of(data.get("pre_tokenizer"), "pretokenizers")]
    types = {part["type"] for part in parts}
    for setting, part in _PARTS_OF_SETTINGS.get(name, {}).items():
        wanted = config.get(setting)
        if isinstance(wanted, bool) and (part in types) != (wanted != (setting == "keep_accents")):
            raise InputError(
                f"has {'a' if part in types else 'no'} {part}, but {_CONFIG} beside it says {setting} = "
                f"{json.dumps(wanted)}, which transformers follows; correct one of them"
            )
