"""Users of transformers find the methods they know, and the same answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bertdata import WordPieceTokenizer
from bertdata.errors import ConfigError, InputError
from bertdata.tokenizers import Tokenizer
from tests.tokenizers.small import SMALL, SPECIAL

FAMILIES: dict[str, Tokenizer] = {
    "byte-level": SMALL["gpt2"],
    "unigram": SMALL["albert"],
    "wordpiece": WordPieceTokenizer.from_tokens([*SPECIAL, "the", "hello", "##s", "low", "a", "b", "ab"]),
}
TEXTS = ["hello the lower", "a", "", "the the the ab hello lowest ab ab a a a b"]
PAIRS = ["ab", "hello hello hello the the a b", "a", "the"]


@pytest.fixture(params=FAMILIES)
def both(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Tokenizer, Any]:
    """Return a tokenizer of ours, and what `AutoTokenizer` makes of the folder that it writes."""
    transformers = pytest.importorskip("transformers")
    tokenizer = FAMILIES[request.param]
    tokenizer.save_pretrained(tmp_path)
    return tokenizer, transformers.AutoTokenizer.from_pretrained(tmp_path)


@pytest.mark.parametrize("second", [None, PAIRS])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"padding": True},
        {"padding": "max_length", "max_length": 40},
        {"truncation": True, "max_length": 8},
        {"truncation": "longest_first", "max_length": 8, "padding": True, "pad_to_multiple_of": 4},
        {"add_special_tokens": False},
        {"return_special_tokens_mask": True, "padding": True},
        {"return_attention_mask": False},
        {"return_token_type_ids": True},
    ],
)
def test_calls_give_what_transformers_gives(
    both: tuple[Tokenizer, Any], second: list[str] | None, settings: dict[str, Any]
) -> None:
    ours, theirs = (dict(tokenizer(TEXTS, second, **settings)) for tokenizer in both)
    assert ours.keys() | {"token_type_ids"} == theirs.keys() | {"token_type_ids"}
    assert {name: ours[name] for name in ours.keys() & theirs.keys()} == {
        name: theirs[name] for name in ours.keys() & theirs.keys()
    }


def test_one_text_gives_lists_and_tensors_have_a_row_for_it(both: tuple[Tokenizer, Any]) -> None:
    ours, theirs = both
    assert ours("hello the").input_ids == theirs("hello the").input_ids
    assert ours("hello", "the")["input_ids"] == theirs("hello", "the")["input_ids"]
    arrays = ours(["hello", "the ab"], padding=True, return_tensors="np")
    assert arrays.input_ids.tolist() == theirs(["hello", "the ab"], padding=True)["input_ids"]
    assert ours("hello", return_tensors="np").input_ids.ndim == 2


def test_tensors_of_torch_are_given(both: tuple[Tokenizer, Any]) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = (tokenizer(TEXTS, padding=True, return_tensors="pt") for tokenizer in both)
    assert torch.equal(ours["input_ids"], theirs["input_ids"])
    assert ours["attention_mask"].dtype == torch.int64


def test_tokens_and_ids_are_looked_up_alike(both: tuple[Tokenizer, Any]) -> None:
    ours, theirs = both
    assert len(ours) == len(theirs)
    assert ours.get_vocab() == theirs.get_vocab()
    for name in ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"):
        assert getattr(ours, name) == getattr(theirs, name)
    tokens = ["[MASK]", ours.tokens[-1], "no such token"]
    assert ours.convert_tokens_to_ids(tokens) == theirs.convert_tokens_to_ids(tokens)
    assert ours.convert_tokens_to_ids("[SEP]") == 3
    ids = [2, 7, 8, 3]
    assert ours.convert_ids_to_tokens(ids) == theirs.convert_ids_to_tokens(ids)
    assert ours.convert_ids_to_tokens(ids, skip_special_tokens=True) == [ours.tokens[7], ours.tokens[8]]
    assert ours.convert_ids_to_tokens(4) == "[MASK]"
    assert sorted(ours.all_special_ids) == sorted(theirs.all_special_ids)
    assert ours.num_special_tokens_to_add(pair=True) == theirs.num_special_tokens_to_add(pair=True)
    assert ours.get_special_tokens_mask([2, 9, 3]) == [1, 0, 1]


def test_texts_come_back(both: tuple[Tokenizer, Any]) -> None:
    ours, theirs = both
    rows = ours(["hello the", "low"])["input_ids"]
    assert ours.batch_decode(rows) == theirs.batch_decode(rows, skip_special_tokens=True)
    assert ours.decode(rows[0], skip_special_tokens=False) == theirs.decode(rows[0])


def test_data_collators_of_transformers_mask_and_pad_with_it() -> None:
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("torch")
    tokenizer = FAMILIES["byte-level"]
    collator = transformers.DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.5)
    batch = collator([tokenizer(text) for text in TEXTS])
    ids = tokenizer(TEXTS, padding=True, return_tensors="pt")["input_ids"]  # the collator may draw a special id
    special = (ids == 0) | (ids == 2) | (ids == 3)
    assert batch["labels"].shape == batch["input_ids"].shape == (4, max(map(len, tokenizer(TEXTS).input_ids)))
    assert (batch["labels"][special] == -100).all()
    assert (batch["labels"] != -100).any()


@pytest.mark.parametrize(
    ("text", "pair"),
    [("a", ["b"]), (["a"], "b"), ("a", ["b", "c"]), (["a", "b"], "c"), (["a", "b"], ["c"]), ([], ["a"])],
)
def test_two_strings_or_two_lists_of_one_length_go_together(text: Any, pair: Any) -> None:
    with pytest.raises(ConfigError, match="do not go together; expected two strings, or two lists of one length"):
        FAMILIES["wordpiece"](text, pair)


def test_bad_settings_are_refused_with_a_reason() -> None:
    tokenizer = FAMILIES["wordpiece"]
    calls: dict[str, Callable[[], Any]] = {
        "truncation is 'some'": lambda: tokenizer("a", truncation="some"),  # type: ignore[arg-type]
        "do not go together": lambda: tokenizer(["a"], ["a", "b"]),
        "taken by special tokens alone": lambda: tokenizer("a", truncation=True, max_length=1),
        "make no tensor": lambda: tokenizer(["a", "a b"], return_tensors="np"),
        "return_tensors is 'tf'": lambda: tokenizer("a", return_tensors="tf"),  # type: ignore[arg-type]
        "expected the ids of a whole row": lambda: tokenizer.get_special_tokens_mask([5], False),
    }
    for match, call in calls.items():
        with pytest.raises(ConfigError, match=match):
            call()
    with pytest.raises(InputError, match="the id 99 is outside the vocabulary of 12 tokens"):
        tokenizer.convert_ids_to_tokens([99])
    with pytest.raises(AttributeError, match="this call gave input_ids, token_type_ids, attention_mask, and no labels"):
        tokenizer("a").labels  # noqa: B018
