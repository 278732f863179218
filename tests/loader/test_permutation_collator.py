"""Batches for permutation language modelling."""

from __future__ import annotations

from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bertdata.errors import ConfigError
from bertdata.loader import BatchCollator, EpochBatchSampler, NumpyBatches, PermutationCollator, ShardExamples
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig
from tests.shards.build import write_build as write_words
from tests.torch.build import write_build


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_build(tmp_path_factory.mktemp("b"), ExamplesConfig(objective="doc-sentences", max_seq_length=48))


def predictions(batch: dict[str, Any], row: int) -> dict[int, tuple[int, tuple[int, ...]]]:
    """Return by place what is predicted there: its id, and the places that it is predicted from."""
    predicted = {}
    taken = batch["attention_mask"][row].astype(bool)
    for label, mapping in zip(batch["labels"][row], batch["target_mapping"][row], strict=True):
        if label != IGNORE_INDEX:
            [place] = np.flatnonzero(mapping)
            seen = np.flatnonzero((batch["perm_mask"][row, place] == 0) & taken)
            predicted[int(place)] = (int(label), tuple(seen.tolist()))
        else:
            assert not mapping.any()
    return predicted


def test_a_batch_has_all_tokens_as_they_are_and_says_what_is_predicted_from_which(build: Path) -> None:
    examples = ShardExamples(build)
    collator = PermutationCollator(examples, epoch=0)
    batch = collator(examples.__getitems__(range(16)))
    shapes = {name: (array.shape, str(array.dtype)) for name, array in batch.items()}
    rows, width = batch["input_ids"].shape
    most = batch["labels"].shape[1]
    assert shapes == {
        "attention_mask": ((rows, width), "int64"),
        "input_ids": ((rows, width), "int64"),
        "token_type_ids": ((rows, width), "int64"),
        "labels": ((rows, most), "int64"),
        "target_mapping": ((rows, most, width), "float32"),
        "perm_mask": ((rows, width, width), "float32"),
    }
    for row in range(rows):
        ids = examples[row]["input_ids"]
        assert batch["input_ids"][row, : len(ids)].tolist() == ids.tolist()
        predicted = predictions(batch, row)
        sets = sorted((seen for _, seen in predicted.values()), key=len)
        assert [len(ids) - len(predicted) + number for number in range(len(predicted))] == [len(seen) for seen in sets]
        assert all({*fewer} < {*more} for fewer, more in pairwise(sets))
        for place, (label, seen) in predicted.items():
            assert label == ids[place]
            assert place not in seen
            assert label not in (collator.info.cls_token_id, collator.info.sep_token_id, collator.info.pad_token_id)


def test_tokens_that_are_not_predicted_see_one_another_and_no_prediction(build: Path) -> None:
    examples = ShardExamples(build)
    batch = PermutationCollator(examples, epoch=0)(examples.__getitems__(range(8)))
    for row in range(8):
        targets = np.array([*predictions(batch, row)])
        others = np.setdiff1d(np.arange(batch["input_ids"].shape[1]), targets)
        mask = batch["perm_mask"][row]
        assert not mask[np.ix_(others, others)].any()
        assert mask[np.ix_(others, targets)].all()


def test_predictions_do_not_depend_on_the_batch_the_padding_or_a_resume(build: Path) -> None:
    examples = ShardExamples(build)
    collator = PermutationCollator(examples)
    alone = {
        (epoch, number): predictions(collator(examples.__getitems__([(epoch, number)])), 0)
        for epoch in range(2)
        for number in range(len(examples))
    }
    assert sum(alone[0, number] != alone[1, number] for number in range(len(examples))) > len(examples) * 0.9
    sampler = EpochBatchSampler(examples, 5, epochs=2, seed=3)
    pairs = list(EpochBatchSampler(examples, 5, epochs=2, seed=3))
    batches = NumpyBatches(examples, sampler, collator)
    seen = list(islice(batches, 7))
    resumed = NumpyBatches(
        examples, EpochBatchSampler(examples, 5, epochs=2, seed=3), PermutationCollator(build, pad_to_multiple_of=1)
    )
    resumed.load_state_dict(batches.state_dict())
    for batch, chosen in zip([*seen, *resumed], pairs, strict=True):
        predicted = [predictions(batch, row) for row in range(len(chosen))]
        assert predicted == [alone[epoch, number] for epoch, number, *_ in chosen]


def test_pairs_have_no_label(tmp_path: Path) -> None:
    examples = ShardExamples(write_build(tmp_path, ExamplesConfig(objective="nsp", max_seq_length=48)))
    batch = PermutationCollator(examples, epoch=0)(examples.__getitems__(range(8)))
    assert {*batch} == {"input_ids", "token_type_ids", "attention_mask", "labels", "target_mapping", "perm_mask"}
    ends = batch["input_ids"] == examples.info.sep_token_id
    assert (ends.sum(1) == 2).all()
    assert not (batch["perm_mask"].any(1) & ends).any(), "separators are seen by all tokens"


def test_rows_may_have_an_odd_length(build: Path) -> None:
    examples = ShardExamples(build)
    odd = next(number for number in range(len(examples)) if len(examples[number]["input_ids"]) % 2)
    batch = PermutationCollator(examples, epoch=0, pad_to_multiple_of=1)(examples.__getitems__([odd]))
    assert batch["input_ids"].shape[1] % 2 == 1
    assert len(predictions(batch, 0)) >= 1


def test_words_are_predicted_whole_where_the_masking_unit_is_a_word(tmp_path: Path) -> None:
    examples = ShardExamples(write_words(tmp_path, ExamplesConfig(objective="doc-sentences", max_seq_length=32)))
    tokenizer = examples.shards.tokenizer()
    continues = tokenizer.continuation
    assert continues is not None
    split = {}
    for unit in ("token", "word"):
        collator = PermutationCollator(examples, masking=MaskingConfig(mask_unit=unit), epoch=0)
        batch = collator(examples.__getitems__(range(len(examples))))
        predicted = batch["target_mapping"].sum(1) > 0
        joined = continues[batch["input_ids"]][:, 1:]
        split[unit] = int((joined & (predicted[:, 1:] != predicted[:, :-1])).sum())
        assert (joined & predicted[:, 1:]).sum() > 50
    assert split["word"] == 0 < split["token"]


def test_one_token_in_six_is_predicted_unless_another_share_is_asked_for(build: Path) -> None:
    examples = ShardExamples(build)
    rows = examples.__getitems__([(epoch, number) for epoch in range(20) for number in range(len(examples))])
    for share in (1 / 6, 0.5):
        batch = PermutationCollator(examples, plm_probability=share)(rows)
        tokens = batch["attention_mask"].sum() - 2 * len(rows)
        assert abs((batch["labels"] != IGNORE_INDEX).sum() / tokens - share) < 0.004


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"plm_probability": 1.0}, "plm_probability is 1.0; expected more than 0 and less than 1"),
        ({"max_span": 0}, "max_span is 0; expected at least 1"),
        ({"packing": True}, "perm_mask is for padded rows"),
    ],
)
def test_settings_that_cannot_be_met_are_refused(build: Path, keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        PermutationCollator(build, **keywords)


def test_static_masks_are_refused_and_an_unknown_epoch_as_in_other_collators(static_build: Path, build: Path) -> None:
    with pytest.raises(ConfigError, match="are static: written into them"):
        PermutationCollator(static_build)
    examples = ShardExamples(build).__getitems__([0])
    for kind in (BatchCollator, PermutationCollator):
        with pytest.raises(ConfigError, match="the epoch of the examples is not known"):
            kind(build)(examples)
