"""Files that kernels cannot encode go through `tokenizers`, with a reason."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import pytest

from bertdata.tokenizers.json_format import METASPACE
from bertdata.tokenizers.json_tokenizer import JsonTokenizer
from tests.tokenizers.small import (
    METASPACES,
    SMALL,
    SPECIAL,
    SPLIT_METASPACES,
    byte_level,
    byte_pair_model,
    json_tokenizer,
    split_by,
    unigram_model,
)

NFKC = {"type": "NFKC"}
SLOW: dict[str, tuple[dict[str, Any], Any, Any, Any]] = {
    "its pre-tokenizer UnicodeScripts is not known": (byte_pair_model(), {"type": "UnicodeScripts"}, None, None),
    "the pattern of its Split is not known: it has a poss": (byte_pair_model(), split_by(r"\p{L}++|."), None, None),
    "does not cut texts, and its model is not a BPE": (
        {"type": "WordLevel", "vocab": {token: i for i, token in enumerate([*SPECIAL, "low"])}, "unk_token": "[UNK]"},
        None, None, None,
    ),
    "its pieces have scores that are not below 0": (
        unigram_model() | {"vocab": [[piece, 0.0] for piece, _ in unigram_model()["vocab"]]}, None, None, None,
    ),
    "does not cut texts, and its tokens go on over spaces after 'a'": (
        {"type": "BPE", "vocab": {token: i for i, token in enumerate([*SPECIAL, "a", "b", METASPACE, "a▁", "a▁b"])},
         "merges": ["a ▁", "a▁ b"], "unk_token": "[UNK]"},
        None, {"type": "Replace", "pattern": {"String": " "}, "content": METASPACE}, None,
    ),
    "puts it before the first word only": (unigram_model(), METASPACES | {"prepend_scheme": "first"}, NFKC, None),
    "its Metaspace follows another": (unigram_model(), SPLIT_METASPACES, NFKC, {"salt": 82}),
    "its ByteLevel puts a space before each word": (
        byte_pair_model(),
        {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, byte_level(add_prefix_space=True)]},
        None, None,
    ),
    r"its normalizer replaces 'a\+'": (
        byte_pair_model(), byte_level(), {"type": "Replace", "pattern": {"Regex": "a+"}, "content": "x"}, None,
    ),
    "its normalizer has ByteLevel": (byte_pair_model(), {"type": "Whitespace"}, {"type": "ByteLevel"}, None),
}  # fmt: skip
TEXTS = ["low lower, salt  lowest\n can't", "", " é中", "the low\u2581low"]


@pytest.mark.parametrize("reason", SLOW)
def test_what_kernels_do_not_know_goes_through_tokenizers_and_says_why(reason: str) -> None:
    tokenizer = json_tokenizer(*SLOW[reason])
    assert tokenizer.slow_because is not None
    assert re.search(reason, tokenizer.slow_because)
    encoded = tokenizer.reference.encode_batch(TEXTS, add_special_tokens=False)
    assert tokenizer.encode_batch(TEXTS).to_pylist() == [encoding.ids for encoding in encoded]
    starts = tokenizer.encode_batch_with_words(TEXTS)["word_starts"].to_pylist()
    marked = tokenizer._marked_tokens
    expected = [
        [
            a != b or token in marked
            for (a, b), token in zip(pairwise([None, *encoding.word_ids]), encoding.ids, strict=True)
        ]
        for encoding in encoded
    ]
    assert starts == expected


def test_what_kernels_know_is_not_slow() -> None:
    assert [name for name, tokenizer in SMALL.items() if tokenizer.slow_because] == []


@pytest.mark.parametrize(("setting", "mark"), [("continuing_subword_prefix", "##o"), ("end_of_word_suffix", "w##")])
def test_a_byte_level_bpe_that_marks_parts_of_words_gives_the_ids_of_tokenizers(setting: str, mark: str) -> None:
    model = byte_pair_model() | {"merges": [], setting: "##"}
    model["vocab"] = {**model["vocab"], mark: len(model["vocab"])}
    tokenizer = json_tokenizer(model, byte_level())
    expected = [encoding.ids for encoding in tokenizer.reference.encode_batch(TEXTS, add_special_tokens=False)]
    assert model["vocab"][mark] in expected[0]
    assert tokenizer.encode_batch(TEXTS).to_pylist() == expected


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
