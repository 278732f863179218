"""Rare words of Unigram have the ids of `tokenizers`, whose model is not opened for them."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from bertdata.tokenizers.json_format import METASPACE
from bertdata.tokenizers.json_tokenizer import JsonTokenizer
from tests.tokenizers.small import (
    EDGES,
    HARD,
    METASPACES,
    SMALL,
    SPLIT_METASPACES,
    json_tokenizer,
    sequence,
    unigram_model,
)

RUNS_TO_MARK = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": METASPACE}
NFKC = {"type": "NFKC"}
BYTES = [[f"<0x{byte:02X}>", -9.0] for byte in range(256)]
RARE = [
    *EDGES,
    *HARD,
    *(f"{a}{mark}{b}" for a in HARD for b in ("", "low", " ") for mark in ("\u0301", "\u200d", "\u0600")),
    "the \u0600 low",
    "``the'' e\u0301" * 20,
    "\xa0e\u0301\xa0",
]


def of_bytes() -> JsonTokenizer:
    model = unigram_model()
    model |= {"vocab": [*model["vocab"], *BYTES], "byte_fallback": True}
    return json_tokenizer(model, METASPACES, sequence(NFKC, RUNS_TO_MARK))


KINDS: dict[str, Any] = {
    **{name: lambda name=name: pickle.loads(pickle.dumps(SMALL[name])) for name in ("albert", "xlm", "deberta")},
    "marks for runs of spaces": lambda: json_tokenizer(unigram_model(), METASPACES, sequence(NFKC, RUNS_TO_MARK)),
    "bytes": of_bytes,
    "no cuts": lambda: json_tokenizer(unigram_model(), METASPACES | {"split": False}, NFKC),
}


@pytest.mark.parametrize("kind", KINDS)
def test_rare_words_have_the_ids_of_tokenizers_without_its_model(kind: str) -> None:
    tokenizer = KINDS[kind]()
    batch = tokenizer.encode_batch_with_words(RARE)
    assert "whole" not in vars(tokenizer._bare)
    assert "whole" not in vars(getattr(tokenizer._encoder, "reference", object()))
    encodings = tokenizer.reference.encode_batch(RARE, add_special_tokens=False)
    assert batch["input_ids"].to_pylist() == [encoding.ids for encoding in encodings]


@pytest.mark.parametrize("normalizer", [NFKC, sequence(NFKC, RUNS_TO_MARK)], ids=["by words", "by stages"])
def test_a_piece_of_unknown_characters_that_scores_less_than_these_is_taken_as_by_tokenizers(normalizer: Any) -> None:
    model = unigram_model()
    pieces = [[piece, score + 300] for piece, score in [*model["vocab"], ["ßðþ", -5.0]]]
    tokenizer = json_tokenizer(model | {"vocab": pieces}, SPLIT_METASPACES, normalizer)
    texts = ["aßðþ low", "ßðþ", "ßðþßðþ"]
    wanted = [tokenizer.reference.encode(text, add_special_tokens=False).ids for text in texts]
    assert len(pieces) - 1 in wanted[0]
    assert tokenizer.encode_batch(texts).to_pylist() == wanted
