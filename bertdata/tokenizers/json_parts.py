"""Parts of a `tokenizer.json` that bertdata writes: special tokens, the template around texts, the file beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from bertdata.errors import InputError, shortened
from bertdata.tokenizers.base import SpecialTokens

BEGIN = "<s>"
"""The name of the first token of a row in RoBERTa and XLM-R, whose rows have two separators and no token types."""


def add_special(tokenizer: Any, special: SpecialTokens) -> None:
    """Tell a `tokenizers.Tokenizer` which of its tokens are special; the one for masks takes the space before it."""
    from tokenizers import AddedToken

    tokenizer.add_special_tokens(
        [AddedToken(token, special=True, normalized=False, lstrip=token == special.mask) for token in special.names]
    )


def set_template(tokenizer: Any, special: SpecialTokens, *, types: bool) -> None:
    """Set what stands around texts: [CLS] A [SEP] B [SEP], or <s> A </s></s> B </s> where that is the name of [CLS].

    `types` says whether B has the token type 1. Without the two tokens there is no template.
    """
    from tokenizers.processors import TemplateProcessing

    cls, sep = special.cls, special.sep
    if cls is None or sep is None:
        return
    between = [sep, sep] if cls == BEGIN else [sep]
    second = int(types and cls != BEGIN)
    tokenizer.post_processor = TemplateProcessing(
        single=[cls, "$A", sep],
        pair=[cls, "$A", *between, f"$B:{second}", f"{sep}:{second}"],
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in dict.fromkeys([cls, sep])],
    )


class SearchedTexts(NamedTuple):
    """What is looked for of added tokens, by their ids: in a text as it is, and in what the normalizer makes of it."""

    raw: dict[int, str]
    normalized: dict[int, str]


def searched_texts(
    entries: Iterable[Mapping[str, Any]], normalize: Callable[[str], str] | None = None
) -> SearchedTexts:
    """Return what is looked for of the added tokens of a `tokenizer.json`; of those with one id, the last counts.

    Raises InputError where two are the same once they are normalized, for then `tokenizers` gives either id, by chance,
    and where one is then nothing, which `tokenizers` finds at every byte. Special tokens, which are text, may be so.

    >>> plain = {"normalized": False, "special": False}
    >>> entries = [{"id": 7, "content": "Foo"} | plain | {"normalized": True}, {"id": 8, "content": "<A>"} | plain]
    >>> searched_texts(entries, str.lower)
    SearchedTexts(raw={8: '<A>'}, normalized={7: 'foo'})
    """
    by_id = {entry["id"]: entry for entry in entries}
    raw = {token_id: entry["content"] for token_id, entry in by_id.items() if not entry["normalized"]}
    normalized = {token_id: entry["content"] for token_id, entry in by_id.items() if entry["normalized"]}
    if normalize is not None:
        normalized = {token_id: normalize(content) for token_id, content in normalized.items()}
        words = [token_id for token_id in normalized if not by_id[token_id]["special"]]
        ids = {normalized[token_id]: token_id for token_id in [*normalized, *words] if normalized[token_id]}
        for token_id, text in normalized.items():
            special = by_id[token_id]["special"] and (not text or by_id[ids[text]]["special"])
            if special:
                continue
            if not text and by_id[token_id]["content"]:
                raise InputError(
                    f"its added token {by_id[token_id]['content']!r} is nothing once it is normalized, and so found "
                    "everywhere by tokenizers; remove it, or set its normalized to false"
                )
            if ids.get(text, token_id) != token_id:
                both = " and ".join(repr(by_id[each_id]["content"]) for each_id in (token_id, ids[text]))
                raise InputError(
                    f"its added tokens {both} are both {text!r} once they are normalized, so that tokenizers gives "
                    "either id, by chance; remove one of them, or set its normalized to false"
                )
    return SearchedTexts(raw, normalized)


def check_flags(entries: Iterable[Mapping[str, Any]]) -> None:
    """Raise InputError where an added token lacks a flag, or has another value than true and false.

    UnicodeEncodeError, a ValueError, where its text has half a character, as JSON may spell it.
    """
    for entry in entries:
        entry["content"].encode()
        for name in ("single_word", "lstrip", "rstrip", "normalized"):
            if not isinstance(entry.get(name), bool):
                raise InputError(
                    f"{name} of the added token {entry['content']!r} is not true or false, but "
                    f"{shortened(entry.get(name))}, and tokenizers does not open such a file; correct it"
                )


def longest_row(config: Mapping[str, Any], default: int = 512) -> int:
    """Return the `model_max_length` of a `tokenizer_config.json`, at most 2**30, for none the default.

    >>> longest_row({"model_max_length": 8192}), longest_row({"model_max_length": 1e30}), longest_row({})
    (8192, 1073741824, 512)
    """
    length = config.get("model_max_length", config.get("max_len"))
    if isinstance(length, bool) or not isinstance(length, int | float) or not length >= 1:
        return default
    return int(min(length, 1 << 30))


def config_of(special: SpecialTokens, *, types: bool) -> dict[str, Any]:
    """Return the `tokenizer_config.json` beside a tokenizer, for rows of up to 512 tokens, as BERT's."""
    inputs: Sequence[str] = ["input_ids", "token_type_ids", "attention_mask"]
    if not types or special.cls == BEGIN:
        inputs = ["input_ids", "attention_mask"]
    return {
        "clean_up_tokenization_spaces": False,
        "model_input_names": inputs,
        "model_max_length": 512,
        "tokenizer_class": "PreTrainedTokenizerFast",
    } | {
        f"{role}_token": token
        for role in ("pad", "unk", "cls", "sep", "mask")
        if (token := getattr(special, role)) is not None
    }
