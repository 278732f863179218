"""Files that kernels cannot encode go through `tokenizers`, with a reason."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest

from bertdata.tokenizers.encode.reference import CL100K
from bertdata.tokenizers.json_format import METASPACE
from bertdata.tokenizers.json_tokenizer import JsonTokenizer
from tests.tokenizers.small import (
    METASPACES,
    QUOTES,
    SMALL,
    SPACES,
    SPLIT_METASPACES,
    STRIP,
    byte_level,
    byte_pair_model,
    json_tokenizer,
    sequence,
    split_by,
    unigram_model,
)

NFKC = {"type": "NFKC"}
WORDS = {"type": "WordLevel", "vocab": {"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4, "low": 5}}
SLOW: dict[str, tuple[dict[str, Any], Any, Any, Any]] = {
    "its model is WordLevel": (WORDS | {"unk_token": "[UNK]"}, {"type": "Whitespace"}, None, None),
    r"its pre-tokenizer \(Whitespace\) is not byte-level": (byte_pair_model(), {"type": "Whitespace"}, None, None),
    r"its pre-tokenizer \(Split and ByteLevel\) is not byte-level": (
        byte_pair_model(), split_by("x|" + CL100K), None, None,
    ),
    r"its pre-tokenizer \(none\)": (byte_pair_model(), None, None, None),
    "its model has fuse_unk": (byte_pair_model() | {"fuse_unk": True}, byte_level(), None, None),
    "its normalizer is NFC and Lowercase": (
        byte_pair_model(), byte_level(), sequence({"type": "NFC"}, {"type": "Lowercase"}), None,
    ),
    "puts a space before each text and normalizes it": (
        byte_pair_model(), byte_level(add_prefix_space=True), {"type": "NFC"}, None,
    ),
    "its pre-tokenizer is Whitespace; expected Metaspace": (unigram_model(), {"type": "Whitespace"}, NFKC, None),
    "does not put U.2581 before each word": (unigram_model(), METASPACES | {"prepend_scheme": "first"}, NFKC, None),
    "its added token 'salt' is looked for in normalized text": (unigram_model(), SPLIT_METASPACES, NFKC, {"salt": 82}),
    "its model has no unknown token": (unigram_model() | {"byte_fallback": True}, SPLIT_METASPACES, NFKC, None),
    "its normalizer is Prepend": (
        unigram_model(), SPLIT_METASPACES, sequence(*QUOTES, {"type": "Prepend", "prepend": "x"}), None,
    ),
    "does not make a space of white space": (unigram_model(), METASPACES, sequence(STRIP, NFKC, SPACES), None),
}  # fmt: skip
TEXTS = ["low lower, salt  lowest\n can't", "", " é中", "the low\u2581low"]


@pytest.mark.parametrize("reason", SLOW)
def test_what_kernels_do_not_know_goes_through_tokenizers_and_says_why(reason: str) -> None:
    tokenizer = json_tokenizer(*SLOW[reason])
    assert tokenizer.slow_because is not None
    assert re.search(reason, tokenizer.slow_because)
    encoded = tokenizer.reference.encode_batch(TEXTS, add_special_tokens=False)
    assert tokenizer.encode_batch(TEXTS).to_pylist() == [one.ids for one in encoded]
    starts = tokenizer.encode_batch_with_words(TEXTS)["word_starts"].to_pylist()
    expected = [[a != b for a, b in pairwise([None, *one.word_ids])] for one in encoded]
    assert starts == expected


def test_what_kernels_know_is_not_slow() -> None:
    assert [name for name, tokenizer in SMALL.items() if tokenizer.slow_because] == []


def gemma() -> JsonTokenizer:
    """Return a SentencePiece BPE without a pre-tokenizer, whose merges do not reach over spaces."""
    letters = [METASPACE, *"abchelowt"]
    merges = [("l", "o"), ("lo", "w"), (METASPACE, "low"), (METASPACE, METASPACE)]
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *map("".join, merges)]
    model = {
        "type": "BPE",
        "vocab": {name: i for i, name in enumerate(names)},
        "merges": [list(pair) for pair in merges],
    }
    spaces = {"type": "Replace", "pattern": {"String": " "}, "content": METASPACE}
    return json_tokenizer(model | {"unk_token": "[UNK]", "fuse_unk": True}, None, spaces)


def test_marks_of_spaces_begin_words_where_there_is_no_pre_tokenizer() -> None:
    tokenizer = gemma()
    batch = tokenizer.encode_batch_with_words(["low lowt  a", "t low"])
    tokens = [[tokenizer.tokens[token_id] for token_id in row] for row in batch["input_ids"].to_pylist()]
    assert tokens == [["low", "▁low", "t", "▁▁", "a"], ["t", "▁low"]]
    assert batch["word_starts"].to_pylist() == [[True, True, False, True, False], [True, True]]
