"""Small tokenizers of every kind that kernels encode, made by `tokenizers`, and text that is hard to cut into words."""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from bertdata.tokenizers.json_format import METASPACE, byte_letters
from bertdata.tokenizers.json_tokenizer import JsonTokenizer
from tests.oracles.byte_pairs import CL100K

WORDS = [
    *("the", "there", "then", "hello", "Hello", "world", "it", "can't", "we're", "I'LL", "20", "2024", "can", "cannot"),
    *("low", "lower", "lowest", "naïve", "café", "ab", "abab"),
]
HARD = [
    *"abcdeImrstvSTVEL019.,!'\"`_-/()[]<>|", " ", "  ", "   ", "\n", "\n\n", "\r", "\r\n", "\t", "\x0b", "\x0c",
    "\x1c", "\x85", "\xa0", "\u1680", "\u2003", "\u3000", "\u200b", "\xad", "\x00", "'s", "'S", "'re", "'LL", "'ve",
    "'\u017f", "''", "``", "é", "e\u0301", "\u0301", "ü", "ß", "ſ", "ﬁ", "Ａ", "Đ", "ж", "中", "国", "한",
    "\u1100\u1161", "\u1161",
    "\u0915\u094d", "٣", "²", "½", "Ⅷ", "😀", "👨\u200d👩\u200d👧", "🇬🇧", "…", "—", "▁", "\u0600",
    "\U00013bbd", "\U0001e030",
    "[MASK]", "<mask>", "[SEP]", "</s>", "|||MAIL|||", *WORDS, *(" " + word for word in WORDS),
]  # fmt: skip
"""What hard texts are put together of."""
TEXTS = st.lists(st.sampled_from(HARD) | st.text(max_size=3), max_size=40).map("".join)
EDGES = [
    "",
    " ",
    "\n",
    "a",
    "a" * 70,
    " " * 300,
    "中" * 30,
    "é" * 400,
    "1" * 200,
    "hello " * 60,
    "'" * 9,
    "\u0301" * 70,
]
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def json_tokenizer(
    model: Mapping[str, Any],
    pre_tokenizer: Mapping[str, Any] | None,
    normalizer: Mapping[str, Any] | None = None,
    added: Mapping[str, int] | None = None,
) -> JsonTokenizer:
    """Return a tokenizer of a model whose first ids are those of SPECIAL, with other added tokens after them."""
    entries = [_added(token_id, token, special=True) for token_id, token in enumerate(SPECIAL)]
    entries += [_added(token_id, token, special=False) for token, token_id in (added or {}).items()]
    around = {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]}
    parts = {"normalizer": normalizer, "pre_tokenizer": pre_tokenizer, "post_processor": around, "decoder": None}
    return JsonTokenizer({"version": "1.0", "added_tokens": entries, "model": model} | parts, {})


def _added(token_id: int, token: str, *, special: bool) -> dict[str, Any]:
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip"), False)
    return {"id": token_id, "content": token, "normalized": not special, "special": special} | flags


def byte_pair_model(*, ignore_merges: bool = False) -> dict[str, Any]:
    """Return a byte-level BPE of some merges, of which the last token, "lowest", is reached by none."""
    letters = byte_letters()
    vocabulary = {token: token_id for token_id, token in enumerate([*SPECIAL, *letters.values()])}
    pairs = [
        "h e",
        "t he",
        "l o",
        "lo w",
        "e r",
        "Ġ the",
        "Ġ t",
        "Ġt he",
        "' s",
        "Ġ Ġ",
        "a b",
        "ab ab",
        "Ã ©",
        "2 0",
        "Ċ Ċ",
    ]
    pairs += ["ä ¸", "ä¸ Ń", "1 1", "11 11", "a a", "aa aa"]
    for pair in pairs:
        vocabulary.setdefault(pair.replace(" ", ""), len(vocabulary))
    vocabulary["lowest"] = len(vocabulary)
    return {"type": "BPE", "vocab": vocabulary, "merges": pairs, "ignore_merges": ignore_merges}


def byte_level(*, use_regex: bool = True, add_prefix_space: bool = False) -> dict[str, Any]:
    return {"type": "ByteLevel", "use_regex": use_regex, "add_prefix_space": add_prefix_space, "trim_offsets": True}


def split_by(pattern: str) -> dict[str, Any]:
    """Return the pre-tokenizers of a byte-level BPE with another pattern than GPT-2's."""
    cut = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    return {"type": "Sequence", "pretokenizers": [cut, byte_level(use_regex=False)]}


def unigram_model() -> dict[str, Any]:
    """Return a Unigram model of letters, some words, and pieces with one score."""
    pieces = [[token, 0.0] for token in SPECIAL]
    pieces += [
        [letter, -8.0 - place % 7] for place, letter in enumerate(METASPACE + string.ascii_letters + "é中한.,'\"19")
    ]
    pieces += [[METASPACE + word, -5.0] for word in ("the", "he", "low", "hello", "a", "ab", "20", "t")]
    pieces += [
        ["er", -6.0],
        ["est", -6.0],
        ["ow", -6.0],
        ["ab", -6.0],
        ["lo", -6.0],
        ["\u0301", -9.5],
        ["[MASK]s", -2.0],
    ]
    return {"type": "Unigram", "unk_id": 1, "vocab": pieces, "byte_fallback": False}


METASPACES = {"type": "Metaspace", "replacement": METASPACE, "prepend_scheme": "always", "split": True}
SPLIT_METASPACES = {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, METASPACES]}
QUOTES = [{"type": "Replace", "pattern": {"String": mark * 2}, "content": '"'} for mark in "`'"]
SPACES = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}
LINES = [{"type": "Replace", "pattern": {"String": space}, "content": " "} for space in "\n\r\t"]
STRIP = {"type": "Strip", "strip_left": True, "strip_right": True}


def sequence(*normalizers: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "normalizers": list(normalizers)}


SMALL = {
    "gpt2": json_tokenizer(byte_pair_model(), byte_level()),
    "prefix space": json_tokenizer(byte_pair_model(), byte_level(add_prefix_space=True)),
    "whole words": json_tokenizer(byte_pair_model(ignore_merges=True), byte_level()),
    "cl100k": json_tokenizer(byte_pair_model(), split_by(CL100K)),
    "qwen": json_tokenizer(byte_pair_model(), split_by(CL100K.replace("{1,3}", ""))),
    "nfc": json_tokenizer(byte_pair_model(), byte_level(), {"type": "NFC"}, {"|||MAIL|||": 282, "   ": 283, "  ": 284}),
    "albert": json_tokenizer(
        unigram_model(), SPLIT_METASPACES,
        sequence(*QUOTES, {"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"}),
    ),
    "xlm": json_tokenizer(unigram_model(), SPLIT_METASPACES, sequence({"type": "NFKC"})),
    "deberta": json_tokenizer(unigram_model(), METASPACES, sequence(STRIP, *LINES, {"type": "NFKC"}, SPACES)),
}  # fmt: skip
"""A tokenizer of each kind that is encoded by kernels."""
