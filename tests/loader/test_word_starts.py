"""The loader draws masks of whole words for vocabularies whose ids alone do not tell where words begin."""

from __future__ import annotations

import pickle
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata.errors import ConfigError
from bertdata.loader import BatchCollator, ShardExamples
from bertdata.loader.column_arrays import Bits
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig
from tests.oracles.masking import mask_row
from tests.small_build import write_build
from tests.tokenizers.made import SPECIAL, made

KINDS = ("byte-level", "whitespace")
UNITS = [MaskingConfig(mask_unit=unit) for unit in ("word", "ngram", "span")]
LIMITED = MaskingConfig(0.5, mask_unit="ngram", replace_unit="unit", max_predictions_per_seq=5)


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def build(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows for masks of single tokens; a loader may be given other settings."""
    config = ExamplesConfig("doc-sentences", max_seq_length=48)
    return write_build(tmp_path_factory.mktemp("dynamic"), config, pieces=made(kind))


@pytest.fixture(scope="module")
def packed(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = ExamplesConfig("doc-sentences", max_seq_length=48, pack=True, pack_length=96)
    return write_build(tmp_path_factory.mktemp("packed"), config, pieces=made(kind))


def drawn(kind: str, example: dict[str, Any], masking: MaskingConfig, epoch: int) -> tuple[list[int], list[int]]:
    """Return what the plain loop makes of an example."""
    ids = example["input_ids"].tolist()
    tokenizer = made(kind)
    special = [token < len(SPECIAL) for token in ids]
    return mask_row(
        *(ids, special, example["example_id"]),
        config=masking,
        seed=0,
        epoch=epoch,
        mask_token_id=tokenizer.mask_token_id,
        replacement_ids=tokenizer.replacement_ids.tolist(),
        word_starts=example["word_starts"].tolist(),
    )[:2]


@pytest.mark.parametrize("masking", [*UNITS, LIMITED], ids=str)
def test_batches_are_masked_as_the_plain_loop_masks_by_the_flags(
    kind: str, build: Path, masking: MaskingConfig
) -> None:
    examples = ShardExamples(build)
    chosen = examples.__getitems__([(number % 2, number) for number in range(40)])
    rows = BatchCollator(examples, masking=masking).arrays(chosen)
    flat = BatchCollator(examples, masking=masking, packing=True).arrays(chosen)
    assert not {"word_starts"} & (rows.keys() | flat.keys())
    borders = list(pairwise(flat["cu_seqlens"].tolist()))
    for number, example in enumerate(chosen):
        expected, length = drawn(kind, example.data, masking, number % 2), len(example["input_ids"])
        masked = [rows[name][number, :length].tolist() for name in ("input_ids", "labels")]
        part = slice(*borders[number])
        assert (tuple(masked), tuple(flat[name][0, part].tolist() for name in ("input_ids", "labels"))) == (
            expected,
            expected,
        )


@pytest.mark.parametrize("masking", UNITS, ids=str)
def test_rows_that_were_packed_have_the_masks_of_their_examples(
    kind: str, build: Path, packed: Path, masking: MaskingConfig
) -> None:
    def masks(path: Path) -> set[tuple[int, ...]]:
        examples = ShardExamples(path)
        batch = BatchCollator(examples, masking=masking, epoch=3)(examples.__getitems__(range(len(examples))))
        sizes = batch["attention_mask"].sum(1).tolist()
        return {tuple(labels[:size]) for labels, size in zip(batch["labels"].tolist(), sizes, strict=True)}

    assert masks(packed) == masks(build)
    assert len(masks(packed)) > 100


def test_no_word_is_half_masked_and_the_rate_is_the_one_asked_for(build: Path) -> None:
    examples = ShardExamples(build)
    rows = examples.__getitems__(range(len(examples)))
    collator = BatchCollator(examples, masking=MaskingConfig(0.2, mask_unit="span"), epoch=0)
    predicted, several = 0, 0
    for _ in range(5):
        labels = collator(rows)["labels"]
        for row, example in zip(labels, rows, strict=True):
            word = np.cumsum(example["word_starts"])
            sizes, taken = np.bincount(word), np.bincount(word, row[: len(word)] != IGNORE_INDEX)
            assert ((taken == 0) | (taken == sizes)).all()
            several += int(((taken == sizes) & (sizes > 1)).sum())
        predicted += int((labels != IGNORE_INDEX).sum())
        collator.set_epoch((collator.epoch or 0) + 1)
    ordinary = sum(int((example["input_ids"] >= len(SPECIAL)).sum()) for example in rows)
    assert predicted / ordinary / 5 == pytest.approx(0.2, abs=0.01)
    assert several > 500


def test_examples_have_the_flags_also_after_pickling_and_masks_need_them(build: Path) -> None:
    examples = ShardExamples(build)
    flags = open_column(build)
    assert [examples[number]["word_starts"].tolist() for number in range(20)] == flags[:20]
    sent = pickle.loads(pickle.dumps(examples.__getitems__([(0, 1), (0, 2)])))
    collator = BatchCollator(examples, masking=UNITS[0])
    assert (collator(sent)["labels"] == collator(examples.__getitems__([(0, 1), (0, 2)]))["labels"]).all()
    rows = [{name: np.asarray(value).tolist() for name, value in example.items()} for example in sent]
    assert (collator(rows)["labels"] == collator(sent)["labels"]).all()
    without = [{name: value for name, value in example.items() if name != "word_starts"} for example in sent]
    with pytest.raises(ConfigError, match=r"an example has no 'word_starts'.*remove_unused_columns=False"):
        collator(without)
    assert (BatchCollator(examples)(without)["labels"] == BatchCollator(examples)(sent)["labels"]).all()


def open_column(build: Path) -> list[list[bool]]:
    from bertdata.shards import open_shards

    flags: list[list[bool]] = open_shards(build).table["word_starts"].to_pylist()
    return flags


def test_single_tokens_are_masked_the_same_with_flags_and_without(kind: str, build: Path) -> None:
    examples = ShardExamples(build)
    batch = BatchCollator(examples)(examples.__getitems__([(0, number) for number in range(30)]))
    for number in range(30):
        example = examples[number]
        ids, labels = drawn(kind, example.data, MaskingConfig(), 0)
        assert batch["labels"][number, : len(ids)].tolist() == labels


@given(st.lists(st.booleans(), max_size=60), st.data())
def test_a_column_of_bits_is_cut_as_its_list(flags: list[bool], data: st.DataObject) -> None:
    skipped = data.draw(st.integers(0, len(flags)))
    column = Bits(pa.array(flags, pa.bool_()).slice(skipped))
    end = data.draw(st.integers(0, len(flags) - skipped))
    begin = data.draw(st.integers(0, end))
    assert column[begin:end].tolist() == flags[skipped:][begin:end]
    assert column[begin:end].dtype == np.bool_
