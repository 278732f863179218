"""What classes of transformers say where files say nothing: names of special tokens, and what stands around a text.

The tables are of transformers 5.24; a test holds them against its classes. Most classes of decoders are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from bertdata.errors import InputError

NAMED_ROLES = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")
"""The roles of special tokens, in the order in which transformers adds those that a vocabulary lacks."""
_TOKENS = {
    "- - [UNK] [SEP] [PAD] [CLS] [MASK]": (
        "Bert ConvBert DPRContextEncoder DPRQuestionEncoder DPRReader DistilBert Electra LayoutLM LayoutLMv2 Lxmert "
        "MobileBert RoFormer Splinter SqueezeBert"
    ),
    "<s> </s> <unk> </s> <pad> <s> <mask>": (
        "Bart Barthez Blenderbot Camembert LED LayoutLMv3 LayoutXLM Longformer Luke MBart MLuke MarkupLM Mvp Nllb "
        "Roberta XLMRoberta"
    ),
    "<s> </s> [UNK] </s> <pad> <s> <mask>": "MPNet",
    "<s> </s> <unk> [SEP] <pad> [CLS] [MASK]": "BigBird",
    "<s> </s> <unk> <sep> <pad> <cls> <mask>": "Funnel XLNet",
    "[CLS] [SEP] <unk> [SEP] <pad> [CLS] [MASK]": "Albert FNet RemBert",
    "[CLS] [SEP] [UNK] [SEP] [PAD] [CLS] [MASK]": "Deberta DebertaV2",
    "- - <unk> </s> <pad> <s> <mask>": "Herbert",
    "- </s> <unk> </s> <pad> <s> <mask>": "MBart50",
    "<s> </s> <unk> </s> <pad> <s> -": "XGLM",
    "- </s> <unk> - <pad> - -": "T5",
    "- </s> <unk> </s> <pad> - -": "Udop",
    "<|endoftext|> <|endoftext|> <|endoftext|> - - - -": "CodeGen GPT2",
    "- <|endoftext|> <|endoftext|> - <|endoftext|> - -": "Qwen2",
    "<|startoftext|> <|endoftext|> <|endoftext|> - <|endoftext|> - -": "CLIP",
}
CLASS_TOKENS: dict[str, dict[str, str]] = {
    f"{name}Tokenizer": {
        f"{role}_token": token for role, token in zip(NAMED_ROLES, tokens.split(), strict=True) if token != "-"
    }
    for tokens, names in _TOKENS.items()
    for name in names.split()
}
"""By class, the special tokens with a role where settings do not name them."""
CLASS_EXTRA = {
    "CamembertTokenizer": ("<s>NOTUSED", "</s>NOTUSED", "<unk>NOTUSED"),
    "LukeTokenizer": ("<ent>", "<ent2>"),
    "SplinterTokenizer": ("[QUESTION]",),
    "XLNetTokenizer": ("<eop>", "<eod>"),
}
"""By class, further special tokens where settings do not name any."""
ADDED_BY_CLASS = {
    "LukeTokenizer": "[MASK2]",
    "MLukeTokenizer": "[MASK2]",
    "MBart50Tokenizer": "ar_AR",
    "MBartTokenizer": "ar_AR",
    "NllbTokenizer": "ace_Arab",
    "T5Tokenizer": "<extra_id_0>",
    "XGLMTokenizer": "<madeupword0>",
}
"""By class, one of the tokens without a role that it adds to a vocabulary, as codes of languages or for entities."""
_CLS_SEP = (
    "Albert Bart Bert BigBird ConvBert DPRContextEncoder DPRQuestionEncoder DPRReader Deberta DebertaV2 "
    "DistilBert Electra FNet Funnel Herbert LED LayoutLM LayoutLMv2 LayoutLMv3 LayoutXLM Longformer Luke Lxmert MLuke "
    "MPNet MobileBert Mvp RemBert Roberta Splinter SqueezeBert"
)
_AROUND = {
    "cls text sep": _CLS_SEP,
    "text sep cls": "XLNet",
    "text eos": "T5 Udop",
    "text eos src_lang": "MBart",
    "src_lang text eos": "MBart50 Nllb",
    "eos text": "XGLM",
    "bos text eos": "CLIP Camembert XLMRoberta",
}
AROUND: dict[str, list[str]] = {
    f"{name}Tokenizer": [role for role in roles.split() if role != "text"]
    for roles, names in _AROUND.items()
    for name in names.split()
}
"""By class of transformers 5, the roles of the tokens that it puts around a text, whatever the file says."""
SOURCE_LANGUAGE = {"MBart50Tokenizer": "en_XX", "MBartTokenizer": "en_XX", "NllbTokenizer": "eng_Latn"}
"""By class, the `src_lang` where settings name none."""


def class_of(config: Mapping[str, Any]) -> str:
    """Return the class that settings name, without Fast.

    >>> class_of({"tokenizer_class": "RobertaTokenizerFast"}), class_of({})
    ('RobertaTokenizer', 'None')
    """
    return str(config.get("tokenizer_class")).removesuffix("Fast")


def with_class_tokens(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with the special tokens that their class has where they name none.

    >>> with_class_tokens({"tokenizer_class": "HerbertTokenizer", "mask_token": None})["sep_token"]
    '</s>'
    """
    name = class_of(config)
    result = {**CLASS_TOKENS.get(name, {}), **config}
    named = {"additional_special_tokens", "extra_special_tokens", "added_tokens_decoder"} & config.keys()
    if name in CLASS_EXTRA and not named:
        result["additional_special_tokens"] = list(CLASS_EXTRA[name])
    return result


def check_class_adds_nothing(config: Mapping[str, Any], tokens: Collection[str]) -> None:
    """Raise InputError where the class of settings adds tokens to a vocabulary that lacks them."""
    name = class_of(config)
    added = ADDED_BY_CLASS.get(name)
    if added is None or added in tokens or (name == "T5Tokenizer" and config.get("extra_ids") == 0):
        return
    raise InputError(
        f"lacks {added!r}, which {name}, the class that the settings beside it name, adds to a vocabulary with others "
        "of its kind; open the folder with AutoTokenizer, save it, and use what it saved, or name "
        "PreTrainedTokenizerFast as tokenizer_class in tokenizer_config.json for the file alone"
    )


def expected_around(config: Mapping[str, Any]) -> list[str | None] | None:
    """Return the tokens that the class of settings puts around a text, None for one that is not named.

    None where the class puts nothing there by itself, or is not known.

    >>> expected_around({"tokenizer_class": "MBartTokenizer", "eos_token": "</s>"})
    ['</s>', 'en_XX']
    """
    name = class_of(config)
    if name not in AROUND:
        return None
    tokens: list[str | None] = []
    for role in AROUND[name]:
        value = config.get(role if role == "src_lang" else f"{role}_token")
        value = value.get("content") if isinstance(value, dict) else value
        tokens.append(value or (SOURCE_LANGUAGE.get(name) if role == "src_lang" else None))
    return tokens
