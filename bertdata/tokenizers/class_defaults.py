"""What classes of transformers say where files say nothing: names of special tokens, and what stands around a text.

The tables are of transformers 5.24; a test holds them against its classes. Most classes of decoders are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
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
    "<|endoftext|> <|endoftext|> <|endoftext|> - <|padding|> - -": "GPTNeoX",
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
_ROWS = {
    "A | A B:1": "GPTNeoX",
    "cls A sep | cls A sep B:1 sep:1": (
        "Albert Bert BigBird ConvBert DPRContextEncoder DPRQuestionEncoder DPRReader DebertaV2 DistilBert Electra FNet "
        "Herbert LayoutLM LayoutLMv2 Lxmert MobileBert RemBert SqueezeBert"
    ),
    "cls A sep | cls A sep sep B sep": "Bart Deberta LED LayoutLMv3 LayoutXLM Longformer Luke MPNet Mvp Roberta",
    "cls A sep | cls A sep sep B:1 sep:1": "MLuke",
    "cls A sep | cls A question . sep B:1 sep:1": "Splinter",
    "cls:2 A sep | cls:2 A sep B:1 sep:1": "Funnel",
    "A sep cls:2 | A sep B:1 sep:1 cls:2": "XLNet",
    "A eos | A eos B eos": "T5 Udop",
    "A eos src_lang | A B eos src_lang": "MBart",
    "src_lang A eos | src_lang A B eos": "MBart50 Nllb",
    "eos A | eos A eos eos B": "XGLM",
    "bos A eos | bos A eos eos B eos": "CLIP Camembert XLMRoberta",
}
_FORM_OF = {f"{name}Tokenizer": form.split(" | ") for form, names in _ROWS.items() for name in names.split()}
AROUND: dict[str, list[str]] = {
    name: [part.partition(":")[0] for part in single.split() if part != "A"] for name, (single, _) in _FORM_OF.items()
}
"""By class of transformers 5, the roles of the tokens that it puts around a text, whatever the file says."""
SOURCE_LANGUAGE = {"MBart50Tokenizer": "en_XX", "MBartTokenizer": "en_XX", "NllbTokenizer": "eng_Latn"}
"""By class, the `src_lang` where settings name none."""

_NO_PREFIX_SPACE = "Bart CodeGen Deberta GPT2 GPTNeoX LED Longformer Luke Mvp Qwen2 Roberta Whisper"
PREFIX_SPACE = {f"{name}Tokenizer": False for name in _NO_PREFIX_SPACE.split()} | {"LayoutLMv3Tokenizer": True}
"""By class of byte-level BPE, whether it puts a space before texts where settings do not say it, whatever the file."""
SPACE_BY_VERSION = {"BlenderbotTokenizer": (False, True), "PreTrainedTokenizer": (False, None)}
"""By class, whether transformers 4 and 5 put a space there then, None for what the file says."""

CASE_AND_ACCENTS = {
    "AlbertTokenizer": {"do_lower_case": True, "keep_accents": False},
    "RemBertTokenizer": {"do_lower_case": False, "keep_accents": True},
    "XLNetTokenizer": {"do_lower_case": False, "keep_accents": False},
}
"""By class, whether it drops case and keeps accents before a SentencePiece model sees a text."""

BY_FLAGS = frozenset({"CodeLlamaTokenizer", "CohereTokenizer", "GemmaTokenizer", "LlamaTokenizer"})
"""Classes that in transformers 4 put tokens around texts as two settings say, whatever the file has."""


_ADDS_IF_ASKED = frozenset({"GPT2Tokenizer", "GPTNeoXTokenizer"})
"""Classes that add tokens around texts where the two settings say so: the first to a bare vocabulary, in version 5."""


def flags_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return `add_bos_token` and `add_eos_token` where a class follows them, and None where the file alone counts.

    Most classes do not, whatever the settings say: DebertaTokenizer of version 4 saves `false` beside rows with [CLS].

    >>> flags_of({"tokenizer_class": "GemmaTokenizerFast", "add_eos_token": True})
    {'add_bos_token': True, 'add_eos_token': True}
    >>> flags_of({"tokenizer_class": "DebertaTokenizer", "add_bos_token": False})
    {'add_bos_token': None, 'add_eos_token': None}
    """
    usual = {"add_bos_token": True, "add_eos_token": False}
    if class_of(config) in BY_FLAGS:
        return {name: config.get(name, default) for name, default in usual.items()}
    adds = class_of(config) in _ADDS_IF_ASKED
    return {name: True if adds and config.get(name) is True else None for name in usual}


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
    roles = AROUND.get(class_of(config))
    return None if roles is None else [_named(config, role) for role in roles]


def expected_pair(config: Mapping[str, Any]) -> list[tuple[str | None, int]] | None:
    """Return the parts of a row of two texts of the class of settings: TEXT or a token, None for any, and the type.

    Those of transformers 5, but of BY_FLAGS in 4. None where the class takes those of the file, or is not known.

    >>> expected_pair({"tokenizer_class": "XGLMTokenizer", "eos_token": "</s>"})
    [('</s>', 0), ('text', 0), ('</s>', 0), ('</s>', 0), ('text', 0)]
    """
    if class_of(config) in BY_FLAGS:
        flags = flags_of(config)
        bos, eos = ([role] if flags[f"add_{role}_token"] else [] for role in ("bos", "eos"))
        of_texts = [[*bos, "A", *eos], [*bos, "B", *eos]]
        return [
            (TEXT if name in ("A", "B") else _named(config, name), type_id)
            for type_id, names in enumerate(of_texts)
            for name in names
        ]
    if class_of(config) not in _FORM_OF:
        return None
    parts = [part.partition(":")[::2] for part in _FORM_OF[class_of(config)][1].split()]
    if class_of(config) == "SplinterTokenizer" and config.get("padding_side") == "left":
        parts = [*parts[:2], *parts[4:6], ("question", "0"), (".", "0"), parts[-1]]
    return [(TEXT if name in ("A", "B") else _named(config, name), int(type_id or 0)) for name, type_id in parts]


TEXT = "text"
"""The part of a row that is a text; the others are special tokens."""


def _named(config: Mapping[str, Any], role: str) -> str | None:
    """Return the token that settings name for a role, None where they name none."""
    value = config.get(role if role == "src_lang" else f"{role}_token")
    value = value.get("content") if isinstance(value, dict) else value
    others = {"src_lang": SOURCE_LANGUAGE.get(class_of(config)), "question": "[QUESTION]", ".": "."}
    return value or others.get(role)


_UNKNOWN_IDS = {
    "AlbertTokenizer": 1, "BarthezTokenizer": 3, "LayoutXLMTokenizer": 3, "MBart50Tokenizer": 3, "MBartTokenizer": 3,
    "MLukeTokenizer": 0, "RemBertTokenizer": 2, "T5Tokenizer": 2, "XGLMTokenizer": 3, "XLMRobertaTokenizer": 3,
    "XLNetTokenizer": 0,
}  # fmt: skip
"""By class of Unigram models, the id that it takes for unknown characters, whatever the file says."""
_UNKNOWN_BY_NAME = {"BigBirdTokenizer": 100, "CamembertTokenizer": 0, "DebertaV2Tokenizer": 1, "UdopTokenizer": 2}
"""By class, the id that it takes for them where the vocabulary has no piece with the name of its `unk_token`."""


def expected_unknown(config: Mapping[str, Any], pieces: Sequence[Sequence[Any]]) -> int | None:
    """Return the id that the class of settings takes for unknown characters of a Unigram model of some pieces.

    None where it takes that of the file, or is not known.

    >>> expected_unknown({"tokenizer_class": "DebertaV2Tokenizer", "unk_token": "[UNK]"}, [["a", -1], ["[UNK]", 0.0]])
    1
    """
    name = class_of(config)
    if name not in _UNKNOWN_BY_NAME:
        return _UNKNOWN_IDS.get(name)
    token = _named(config, "unk")
    return next((at for at, piece in enumerate(pieces) if piece[0] == token), _UNKNOWN_BY_NAME[name])
