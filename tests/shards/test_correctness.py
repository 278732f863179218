"""Rules that need a whole shard or build to be seen, and the table of all of them in docs/correctness.md."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from bertdata.masking.settings import MaskingConfig
from bertdata.shards import open_shards
from tests.shards.blocks import FIRST_WORD, TOKENIZER, block_of, info_of, table_of, written

ROOT = Path(__file__).parents[2]


def test_rule_01_special_tokens_written_in_a_text_never_become_special_ids(dynamic_build: Path) -> None:
    tokenizer = open_shards(dynamic_build).tokenizer()
    texts = ["the [SEP] water", "[MASK] and [CLS]salt[PAD]", "[unused0] [UNK]", "stone[SEP][SEP]"]
    ids = tokenizer.encode_batch(pa.array(texts)).flatten().to_numpy()
    special = set(tokenizer.special_ids.tolist()) - {tokenizer.unk_token_id}
    assert len(ids) > 20
    assert not special & set(ids.tolist())


@pytest.mark.parametrize("drawn", ["ordinary", "vocabulary"])
def test_rule_02_random_tokens_of_a_shard_are_neither_special_nor_unused_unless_asked_for(drawn: str) -> None:
    config = MaskingConfig(mask_token_prob=0.0, random_token_prob=1.0, random_tokens=drawn)
    table = table_of(written(block_of(300), info_of(masking="static", config=config))[0])
    shown, labels = (table[name].combine_chunks().flatten().to_numpy() for name in ("input_ids", "labels"))
    replaced = set(shown[(labels != -100) & (labels != shown)].tolist())
    barred = set(range(FIRST_WORD))
    assert (replaced >= barred) == (drawn == "vocabulary")
    assert bool(replaced & barred) == (drawn == "vocabulary")
    assert replaced | barred == set(range(TOKENIZER.vocab_size))


def test_rule_09_no_example_of_any_copy_or_split_is_masked_by_the_draws_of_another(static_build: Path) -> None:
    ids = np.concatenate(
        [open_shards(static_build, split).table["example_id"].to_numpy() for split in ("train", "validation")]
    )
    assert len(open_shards(static_build, "validation")) > 5
    assert len(np.unique(ids)) == len(ids)


def named_tests(page: str) -> list[tuple[str, str]]:
    """Return the tests that a page names, each as its file and its name."""
    return re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", page)


@pytest.mark.parametrize(("page", "least"), [("correctness.md", 60), ("guarantees.md", 80)])
def test_every_test_that_a_page_names_is_there(page: str, least: int) -> None:
    named = named_tests((ROOT / "docs" / page).read_text())
    assert len(named) >= least
    for path, name in named:
        assert f"def {name}(" in (ROOT / path).read_text(), f"{page}: {path} has no {name}"


def test_every_rule_has_a_row_and_a_test_that_bears_its_number() -> None:
    rows = re.findall(r"^\| (\d+)\. (.*)$", (ROOT / "docs" / "correctness.md").read_text(), re.MULTILINE)
    assert [int(number) for number, _ in rows] == [*range(1, 31)]
    for number, row in rows:
        assert f"::test_rule_{int(number):02d}_" in row, f"no test bears the number of rule {number}"


def test_every_promise_names_a_test() -> None:
    promised = (ROOT / "docs" / "guarantees.md").read_text().partition("## How it is tried")[0]
    rows = [row for row in re.findall(r"^\| (.*) \|$", promised, re.MULTILINE) if row != "promise | tests"]
    assert len(rows) > 25
    for row in rows:
        assert named_tests(row), f"no test holds: {row}"
