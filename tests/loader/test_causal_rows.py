"""Batches of a phase with causal rows: what is at each position, and which rows are causal."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bertdata.errors import ConfigError
from bertdata.loader import BatchCollator, PermutationCollator, ShardExamples
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.masking.settings import MaskingConfig
from bertdata.masking.training import causal_rows
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards.pretraining_info import PretrainingInfo
from tests.torch.build import write_build

SPANS = MaskingConfig(mask_unit="token-ngram", ngram_weights=("1", "1", "1"), replace_unit="unit", masked_lm_prob=0.3)
PAIRS = [(0, number) for number in range(8)] + [(3, number) for number in range(8)]
"""Epochs and numbers of rows."""


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> ShardExamples:
    config = ExamplesConfig(objective="doc-sentences", max_seq_length=24)
    masking = replace(SPANS, training="0.4")
    return ShardExamples(write_build(tmp_path_factory.mktemp("b"), config, masking=masking))


def rows_of(batch: dict[str, Any], name: str) -> list[list[int]]:
    """Return the values of each row without its padding, of a padded or packed batch."""
    if "cu_seqlens" in batch:
        ends = batch["cu_seqlens"].tolist()
        rows = [batch[name][0, begin:end].tolist() for begin, end in itertools.pairwise(ends)]
        return rows[: len(PAIRS)]
    lengths = (batch["input_ids"] != 0).sum(1).tolist()
    return [row[:length].tolist() for row, length in zip(batch[name], lengths, strict=True)]


def gpt_bert(ids: list[int], causal: bool, masked: list[int], labels: list[int]) -> tuple[list[int], list[int]]:
    """Return the input and the targets of a row as GPT-BERT's data sets make them, with a place for the last token.

    `MaskedDataset` and `CausalDataset`: the target of the first token is none, that of others their id where they are
    predicted; then the input is without the last position and the targets without the first.
    """
    inputs, targets = (ids, [IGNORE_INDEX, *ids[1:]]) if causal else (masked, labels)
    return inputs, [*targets[1:], IGNORE_INDEX]


@pytest.mark.parametrize("packing", [False, True])
def test_rows_are_those_of_gpt_bert(examples: ShardExamples, packing: bool) -> None:
    rows = examples.__getitems__(PAIRS)
    batch = BatchCollator(examples, packing=packing, causal_flags=True)(rows)
    plain = BatchCollator(examples, packing=packing, masking=replace(SPANS, training="masked"))(rows)
    ids = rows_of(BatchCollator(examples, causal=True)(rows), "input_ids")
    flags = batch["causal_rows"][: len(PAIRS)].tolist()
    assert 2 <= sum(flags) <= len(flags) - 2
    masked, labels = rows_of(plain, "input_ids"), rows_of(plain, "labels")
    expected = [gpt_bert(*row) for row in zip(ids, flags, masked, labels, strict=True)]
    assert rows_of(batch, "input_ids") == [inputs for inputs, _ in expected]
    assert rows_of(batch, "labels") == [targets for _, targets in expected]
    assert batch["causal_share"] == 0.4


def test_which_rows_are_causal_depends_on_seed_epoch_and_row_alone(examples: ShardExamples) -> None:
    collator = BatchCollator(examples, causal_flags=True)
    together = collator(examples.__getitems__(PAIRS))["causal_rows"].tolist()
    apart = [bool(collator(examples.__getitems__([pair]))["causal_rows"][0]) for pair in reversed(PAIRS)]
    assert apart[::-1] == together
    ids = np.array([examples[pair]["example_id"] for pair in PAIRS])
    epochs = np.array([epoch for epoch, _ in PAIRS])
    assert isinstance(examples.info, PretrainingInfo)
    assert causal_rows(0.4, examples.info.examples.seed, ids, epochs).tolist() == together
    assert together[:8] != together[8:]


def test_causal_rows_see_no_later_token_and_masked_ones_all(examples: ShardExamples) -> None:
    rows = examples.__getitems__(PAIRS)
    flags = BatchCollator(examples, causal_flags=True)(rows)
    whole = BatchCollator(examples)(rows)
    assert set(whole) == set(flags) - {"causal_rows", "causal_share"}
    seen = whole["attention_mask"][:, 0] == 0
    for row, causal, real in zip(seen, flags["causal_rows"], flags["attention_mask"] > 0, strict=True):
        expected = np.broadcast_to(real, row.shape)
        assert (row == (np.tril(expected) if causal else expected)).all()


def test_packed_rows_have_a_flag_for_each_sequence(examples: ShardExamples) -> None:
    rows = examples.__getitems__(PAIRS[:5])
    batch = BatchCollator(examples, packing=True, pad_to_multiple_of=64)(rows)
    flags = BatchCollator(examples, causal_flags=True)(rows)["causal_rows"].tolist()
    assert batch["is_causal"].tolist() == [*flags, False]
    assert batch["is_causal"].dtype == np.bool_
    with pytest.raises(ConfigError, match="lets tokens attend to later ones"):
        BatchCollator(examples, packing=True, attention_mask="blocks")


def test_a_causal_phase_needs_no_epoch_and_a_mixed_one_does(examples: ShardExamples) -> None:
    rows = [examples[0], examples[1]]
    batch = BatchCollator(examples, masking=replace(SPANS, training="causal"), causal_flags=True)(rows)
    assert batch["causal_rows"].tolist() == [True, True]
    with pytest.raises(ConfigError, match="the epoch of the examples is not known"):
        BatchCollator(examples)(rows)


def test_a_schedule_sets_the_rates_of_the_masked_rows(examples: ShardExamples) -> None:
    masking = replace(SPANS, masked_lm_prob=0.15, mask_schedule=("0=0.5", "1=0.1"), training="0.4")
    rows = examples.__getitems__([(0, number) for number in range(40)])
    shares = []
    for level in (0, 1000):
        given = [dict(row) | {"epoch": 0, "level": level} for row in rows]
        batch = BatchCollator(examples, masking=masking, causal_flags=True)(given)
        masked = ~batch["causal_rows"]
        shares.append((batch["labels"][masked] >= 0).sum() / batch["attention_mask"][masked].sum())
    assert shares[0] > 0.4
    assert shares[1] < 0.15


def test_orders_that_are_drawn_have_no_causal_rows(examples: ShardExamples) -> None:
    with pytest.raises(ConfigError, match="leave out shifted, causal and `training`"):
        PermutationCollator(examples)
