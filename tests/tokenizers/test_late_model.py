"""A model that is opened late: what `tokenizers` refuses is refused at once, and all else goes as in the whole file."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from bertdata.errors import InputError
from bertdata.tokenizers import late_model
from bertdata.tokenizers.late_model import Reference, merged_ids
from bertdata.tokenizers.unigram_pieces import _read_by_tokenizers, scores_as_read
from tests.generated import examples
from tests.tokenizers.small import METASPACES, SMALL, unigram_model

CHANGES: list[Callable[[dict[str, Any]], object]] = [
    lambda model: model.update(merges=["t h", "th e", "no token"]),
    lambda model: model.update(merges=["t h", "th  e"]),
    lambda model: model.update(merges=["t h e"]),
    lambda model: model.update(merges=["t h", "th"]),
    lambda model: model.update(merges=["t h", ["th", "e"]]),
    lambda model: model.update(merges=[["t", "h", "e"]]),
    lambda model: model.update(merges=[["t", 1]]),
    lambda model: model.update(merges={"t": "h"}),
    lambda model: model.update(merges=None),
    lambda model: model.update(merges=[]),
    lambda model: model.update(merges=["#version: 0.2", "t h"]),
    lambda model: model.update(merges=["#version: 0.2"]),
    lambda model: model.update(dropout=2.0),
    lambda model: model.update(unk_token=7),
    lambda model: model.update(fuse_unk="yes"),
    lambda model: model.update(continuing_subword_prefix="##"),
    lambda model: model["vocab"].update(t=-1),
    lambda model: model["vocab"].update(t=1 << 32),
    lambda model: model["vocab"].update({"\ud800": 9999}),
    lambda model: model.pop("type"),
]


def opened(make: Callable[[Any], Any], data: Any) -> str:
    """Return what `tokenizers` has after a file was opened, or why it is refused."""
    try:
        made = make(data)
    except InputError as error:
        return str(error)
    return str(made.to_str())


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_a_byte_pair_file_is_opened_or_refused_at_once_as_the_whole_one(number: int) -> None:
    data = json.loads(json.dumps(SMALL["gpt2"]._plain | {"added_tokens": []}))
    CHANGES[number](data["model"])
    assert opened(Reference, data) == opened(late_model.open_reference, data)


@pytest.mark.parametrize(
    "change",
    [
        {"vocab": []},
        {"vocab": [["a", "b"]]},
        {"vocab": [["a", -1, 2]]},
        {"vocab": [["a", -1]]},
        {"vocab": [["\ud800", -1.0]]},
        {"unk_id": 9999},
        {"unk_id": -1},
        {"unk_id": None},
        {"unk_id": True},
        {"byte_fallback": 3},
        {},
    ],
)
def test_a_unigram_file_is_opened_or_refused_at_once_as_the_whole_one(change: dict[str, Any]) -> None:
    data = {"version": "1.0", "added_tokens": [], "pre_tokenizer": METASPACES, "model": unigram_model() | change}
    assert opened(Reference, data) == opened(late_model.open_reference, data)


def test_the_model_is_opened_for_the_first_text_that_tokenizers_is_asked_about() -> None:
    data = SMALL["gpt2"]._plain | {"added_tokens": []}
    late = Reference(data)
    assert late.pre_tokenizer.pre_tokenize_str("the salt")
    assert "whole" not in vars(late)
    assert late.encode("the salt").ids == Tokenizer.from_str(json.dumps(data)).encode("the salt").ids
    assert "whole" in vars(late)


def test_merges_of_both_forms_have_the_same_ids() -> None:
    model = SMALL["gpt2"]._plain["model"]
    pairs = [pair.split(" ") if isinstance(pair, str) else pair for pair in model["merges"]]
    apart, together = (merged_ids(model["vocab"], merges) for merges in (pairs, [" ".join(pair) for pair in pairs]))
    assert apart is not None
    assert together is not None
    for some, others in zip(apart, together, strict=True):
        np.testing.assert_array_equal(some, others)


@settings(max_examples=examples(10))
@given(st.integers(0, 1 << 30), st.sampled_from([1e-9, 1e-3, 1.0, 15.0, 1e5, 1e7]), st.integers(0, 3000))
def test_scores_are_those_that_tokenizers_reads(seed: int, scale: float, n: int) -> None:
    scores = -scale * np.random.default_rng(seed).random(n)
    scores[: n // 2] = scores[: n // 2].astype(np.float32)
    np.testing.assert_array_equal(scores_as_read(scores.tolist()), _read_by_tokenizers(scores.tolist()))


def test_some_scores_are_read_otherwise_than_by_python() -> None:
    scores = -15 * np.random.default_rng(0).random(3000)
    assert (scores_as_read(scores.tolist()) != scores).any()
