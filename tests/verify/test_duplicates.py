"""Duplicate examples of a build are counted: the same ones, nearly the same ones, and no others."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bertdata.cli.verify import add_arguments, run
from bertdata.objectives.blocks import TokenBlock
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards.reader import Shards
from bertdata.verify import duplicates
from bertdata.verify.duplicates import Duplicates, count_duplicates, token_texts
from tests.shards.blocks import FIRST_WORD, block_from, info_of, table_of, written
from tests.shards.build import write_build


class Rows(Shards):
    """The rows of a shard in memory."""

    def __init__(self, block: TokenBlock, **settings: Any) -> None:
        self.info = info_of("doc-sentences", settings.pop("masking", "dynamic"), max_seq_length=64, short_seq_prob=0)
        self.table = table_of(written(block, self.info)[0])


def documents(number: int, seed: int = 0) -> list[list[list[int]]]:
    """Return documents of one sentence of 40 to 60 tokens, no two alike."""
    generator = np.random.default_rng(seed)
    return [[generator.integers(FIRST_WORD, 80, generator.integers(40, 61)).tolist()] for _ in range(number)]


def changed(document: list[list[int]], *places: int) -> list[list[int]]:
    return [[FIRST_WORD + (token + 1) % 60 if place in places else token for place, token in enumerate(document[0])]]


@pytest.mark.parametrize("masking", ["dynamic", "static"])
def test_the_same_and_nearly_the_same_examples_are_counted(masking: str) -> None:
    documents_made = documents(300)
    same = [documents_made[number] for number in (3, 3, 50)]
    near = [changed(documents_made[number], 1) for number in (10, 20, 30, 40)]  # 2 of some 45 runs differ: 0.91 alike
    other = [changed(documents_made[number], 2, 9, 16, 23, 30, 37) for number in range(60, 80)]
    rows = Rows(block_from([*documents_made, *same, *near, *other]), masking=masking)
    [copies] = count_duplicates([rows])
    assert copies == Duplicates(327, 3, 4)


def test_an_example_of_a_later_split_that_stands_in_an_earlier_one_is_counted_there() -> None:
    train, validation = documents(50, 1), documents(20, 2)
    counts = count_duplicates([Rows(block_from(train)), Rows(block_from([*validation, *train[:5]]))])
    assert counts == [Duplicates(50, 0, 0), Duplicates(25, 5, 0)]


def test_many_parts_on_disk_give_the_same_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    documents_made = documents(200)
    rows = Rows(
        block_from(
            [*documents_made, *documents_made[:9], *(changed(document, 0) for document in documents_made[20:30])]
        )
    )
    whole = count_duplicates([rows])
    assert (whole[0].exact, whole[0].near) == (9, 10)  # a changed end changes one run alone
    monkeypatch.setattr(duplicates, "_PART_BYTES", 512)
    monkeypatch.setattr(duplicates, "_PAIRS_AT_ONCE", 3)
    assert count_duplicates([rows]) == whole


def test_every_id_of_a_large_vocabulary_is_a_word_of_its_own() -> None:
    ids = np.arange(120_000)
    [text] = token_texts(ids, np.array([0, len(ids)])).to_pylist()
    assert len(set(text)) == len(ids)


@pytest.mark.parametrize("pack", [False, True])
def test_the_command_prints_duplicates_where_asked(
    pack: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build = write_build(tmp_path, ExamplesConfig("doc-sentences", max_seq_length=32, pack=pack))
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    assert run(parser.parse_args([str(build)])) == 0
    assert "duplicate" not in capsys.readouterr().out
    assert run(parser.parse_args([str(build), "--duplicates"])) == 0
    printed = capsys.readouterr().out
    assert "train: duplicate examples" in printed
    assert "validation: duplicate examples" in printed
    assert "the same as an earlier one of the build" in printed
