"""Rows say of which shards they are, and a collator masks them as these are masked, or refuses them."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bertdata.errors import ConfigError
from bertdata.loader import BatchCollator, ShardExamples
from bertdata.loader.permutation_collator import PermutationCollator
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig
from tests.torch.build import write_build

HALF = MaskingConfig(masked_lm_prob=0.5, eval_masked_lm_prob=0.1)
FALLING = MaskingConfig(mask_schedule=("0=0.60", "1=0.10"))
DRAWN = MaskingConfig(mask_rate_draw="0.1-0.5", eval_masked_lm_prob=0.15)
CASES = {"rate": HALF, "schedule": FALLING, "drawn": DRAWN, "turns": MaskingConfig(mask_in_turn=True)}


def with_validation(folder: Path, masking: MaskingConfig) -> Path:
    """Write a build whose validation split has the rows of train."""
    build = write_build(folder, masking=masking)
    manifest = json.loads((build / "manifest.json").read_text())
    manifest["splits"]["validation"] = manifest["splits"]["train"]
    (build / "manifest.json").write_text(json.dumps(manifest))
    return build


def rows_of(examples: ShardExamples) -> Any:
    return examples.__getitems__([(0, number) for number in range(min(8, len(examples)))])


@pytest.mark.parametrize("masking", CASES.values(), ids=CASES)
@pytest.mark.parametrize("settings", [{}, {"packing": True}, {"decoder_masks": 0.5}], ids=str)
def test_a_collator_of_train_masks_validation_as_one_of_validation_does(
    tmp_path: Path, masking: MaskingConfig, settings: dict[str, Any]
) -> None:
    """The Trainer of transformers has one collator for both."""
    build = with_validation(tmp_path / "build", masking)
    train, validation = ShardExamples(build, "train"), ShardExamples(build, "validation")
    if settings.get("decoder_masks") and masking.mask_rate_draw:
        settings = {}
    collator = pickle.loads(pickle.dumps(BatchCollator(train, **settings)))
    expected = BatchCollator(validation, **settings)(rows_of(validation))
    for rows in (rows_of(validation), list(rows_of(validation)), rows_of(ShardExamples(build, "validation"))):
        batch = collator(rows)
        assert batch.keys() == expected.keys()
        assert all(np.array_equal(batch[name], expected[name], equal_nan=True) for name in batch)


def test_given_masks_are_those_of_every_split(tmp_path: Path) -> None:
    build = with_validation(tmp_path / "build", HALF)
    given = MaskingConfig(masked_lm_prob=0.3)
    train, validation = (BatchCollator(ShardExamples(build, name), masking=given) for name in ("train", "validation"))
    rows = rows_of(ShardExamples(build, "validation"))
    assert np.array_equal(train(rows)["labels"], validation(rows)["labels"])


def test_two_splits_in_one_batch_are_refused_where_their_rates_differ(tmp_path: Path) -> None:
    build = with_validation(tmp_path / "build", HALF)
    train, validation = ShardExamples(build, "train"), ShardExamples(build, "validation")
    with pytest.raises(ConfigError, match="rows of train and of validation are in one batch"):
        BatchCollator(train)([*rows_of(train), *rows_of(validation)])


def test_a_collator_that_permutes_takes_rows_of_validation(tmp_path: Path) -> None:
    build = with_validation(tmp_path / "build", HALF)
    train, validation = ShardExamples(build, "train"), ShardExamples(build, "validation")
    batch, expected = (PermutationCollator(examples)(rows_of(validation)) for examples in (train, validation))
    assert all(np.array_equal(batch[name], expected[name]) for name in expected)


STATIC = ExamplesConfig(masking="static", max_seq_length=32)


@pytest.mark.parametrize(
    ("other", "what"),
    [
        ({"config": STATIC}, "static in the rows"),
        ({"config": ExamplesConfig(objective="sop", max_seq_length=32)}, "another objective"),
        ({"masking": HALF}, "'masked_lm_prob': 0.5"),
    ],
    ids=["static", "objective", "masking"],
)
def test_rows_of_other_shards_are_refused(tmp_path: Path, other: dict[str, Any], what: str) -> None:
    """Static rows would be masked a second time."""
    ours = ShardExamples(write_build(tmp_path / "ours"), "train")
    theirs = ShardExamples(write_build(tmp_path / "theirs", **other), "train")
    for rows in (rows_of(theirs), list(rows_of(theirs)), [*rows_of(ours), *rows_of(theirs)]):
        with pytest.raises(ConfigError, match=what):
            BatchCollator(ours)(rows)


def test_rows_of_another_vocabulary_are_refused(tmp_path: Path) -> None:
    ours = ShardExamples(write_build(tmp_path / "ours"), "train")
    theirs = ShardExamples(tmp_path / "ours", "train")
    object.__setattr__(theirs.origin, "info", replace(theirs.info, tokenizer="0" * 64))
    with pytest.raises(ConfigError, match=r"another vocabulary .*000000000000 in the rows"):
        BatchCollator(ours)(rows_of(theirs))


@pytest.mark.parametrize("epoch", [-1, 1.5, True, "1"])
def test_an_index_has_the_number_of_an_epoch(tmp_path: Path, epoch: Any) -> None:
    """1.5, the epoch of a Trainer within its second one, was that of epoch 1, and -1 the mask of no epoch."""
    examples = ShardExamples(write_build(tmp_path / "ours"), "train")
    with pytest.raises(ConfigError, match=f"the epoch is {epoch!r}"):
        examples[(epoch, 0)]
    drawn: Any = np.int64(1)
    assert examples[(drawn, 0)]["epoch"] == 1
