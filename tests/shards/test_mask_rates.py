"""Builds whose mask rate is drawn for each row: in the shards, by loaders, counted again by verify."""

from __future__ import annotations

import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bertdata.corpus.summary import build_rows
from bertdata.errors import ConfigError, VerificationError
from bertdata.formats.exporting import export
from bertdata.loader import BatchCollator, ShardExamples
from bertdata.loader.permutation_collator import PermutationCollator
from bertdata.loader.weights import weights_of_rows
from bertdata.masking.masking import IGNORE_INDEX, Masker
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from bertdata.torch import DeviceCollator
from bertdata.verify.build import verify
from tests.shards.build import write_build

DRAWS = {
    "uniform": MaskingConfig(0.15, 1.0, 0.0, mask_rate_draw="uniform"),
    "cosine": MaskingConfig(0.15, 1.0, 0.0, mask_rate_draw="cosine", mask_number="independent"),
    "between": MaskingConfig(mask_rate_draw="0.1-0.5", eval_masked_lm_prob=0.15),
}
OF_WEIGHTS = ("mask_rates", "loss_weights", "maskable")


@pytest.fixture(scope="module", params=DRAWS)
def masking(request: pytest.FixtureRequest) -> MaskingConfig:
    return DRAWS[request.param]


def write(folder: Path, drawn: MaskingConfig, **settings: Any) -> Path:
    return write_build(folder, ExamplesConfig("doc-sentences", max_seq_length=32, **settings), masking=drawn)


@pytest.fixture(scope="module")
def builds(masking: MaskingConfig, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    ways: dict[str, Any] = {
        "dynamic": {},
        "static": {"masking": "static", "dupe_factor": 2},
        "packed": {"pack": True, "pack_length": 64},
        "packed static": {"masking": "static", "dupe_factor": 2, "pack": True, "pack_length": 64},
    }
    return {name: write(tmp_path_factory.mktemp("build"), masking, **way) for name, way in ways.items()}


def by_example(build: Path, **layout: Any) -> Counter[tuple[Any, ...]]:
    """Return the masked ids, labels, rate, maskable tokens and weights of each example in epoch 0, in any order."""
    examples = ShardExamples(build)
    batch = BatchCollator(examples, **layout)(examples.__getitems__([(0, n) for n in range(len(examples))]))
    by_row: Counter[tuple[Any, ...]] = Counter()
    for number, rate in enumerate(batch["mask_rates"].tolist()):
        if "cu_seqlens" in batch:
            begin, end = batch["cu_seqlens"][number : number + 2]
            row = {name: batch[name][0, begin:end] for name in ("input_ids", "labels", "loss_weights")}
        else:
            taken = batch["attention_mask"][number] == 1
            row = {name: batch[name][number, taken] for name in ("input_ids", "labels", "loss_weights")}
        lists = (tuple(array.tolist()) for array in row.values())
        by_row[*lists, rate, int(batch["maskable"][number])] += 1
    return by_row


@pytest.mark.costly
def test_verify_counts_masks_and_rates_again(builds: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    for build in builds.values():
        verify(build)
    rates: Any = Masker.rates
    monkeypatch.setattr(Masker, "rates", lambda self, ids, epochs: rates(self, ids + (ids % 7 == 0), epochs))
    for name in ("static", "packed static"):
        shards = open_shards(builds[name])
        with pytest.raises(VerificationError, match="the mask rate is not the one drawn"):
            verify(builds[name])
        assert str(shards.table.column("mask_rate").type) == ("list<item: float>" if "packed" in name else "float")
    assert "mask_rate" not in open_shards(builds["dynamic"]).table.column_names


def test_static_rows_keep_the_rate_that_they_are_masked_with_however_rows_are_laid_out(
    builds: dict[str, Path],
) -> None:
    first = by_example(builds["dynamic"])
    for name in ("static", "packed static"):
        counts = by_example(builds[name])
        assert first < counts == by_example(builds[name], packing=True)  # it has a second copy
    assert by_example(builds["dynamic"], packing=True) == first
    assert by_example(builds["packed"]) == by_example(builds["packed"], packing=True) == first


def test_a_batch_has_weights_by_the_rate_and_the_number_of_masked_tokens_on_the_device_too(
    builds: dict[str, Path], masking: MaskingConfig
) -> None:
    examples = ShardExamples(builds["dynamic"])
    collator, device = BatchCollator(examples), DeviceCollator(examples)
    given = examples.__getitems__([(epoch, number) for epoch in (0, 1, 2**40) for number in range(len(examples))])
    batch, there = collator(given), device.finish(device(given))
    assert batch.keys() == there.keys() >= {*OF_WEIGHTS}
    for name, array in batch.items():
        assert np.array_equal(there[name].numpy(), array), name
        assert there[name].numpy().dtype == array.dtype, name
    labelled, special = batch["labels"] != IGNORE_INDEX, (examples.info.cls_token_id, examples.info.sep_token_id)
    ordinary = (batch["attention_mask"] == 1) & (labelled | ~np.isin(batch["input_ids"], special))
    assert (batch["maskable"] == ordinary.sum(1)).all()
    weights = weights_of_rows(masking, batch["mask_rates"], ordinary.sum(1), labelled.sum(1))
    assert np.array_equal(batch["loss_weights"], np.where(labelled, weights[:, None], 0))
    shares = labelled.sum(1) / ordinary.sum(1)
    assert np.corrcoef(shares, batch["mask_rates"])[0, 1] > 0.8
    assert collator(pickle.loads(pickle.dumps(given)))["loss_weights"].tolist() == batch["loss_weights"].tolist()


def test_weights_move_with_shifted_labels_and_causal_and_permuted_rows_have_none(builds: dict[str, Path]) -> None:
    for packing in (False, True):
        examples = ShardExamples(builds["dynamic"])
        given = examples.__getitems__([(0, number) for number in range(9)])
        plain, shifted = (
            BatchCollator(examples, shifted=is_shifted, packing=packing)(given) for is_shifted in (False, True)
        )
        assert ((shifted["loss_weights"] > 0) == (shifted["labels"] != IGNORE_INDEX)).all()
        assert shifted["loss_weights"].sum() == pytest.approx(plain["loss_weights"].sum())
        assert not {*OF_WEIGHTS} & {*BatchCollator(examples, causal=True, packing=packing)(given)}
    assert not {*OF_WEIGHTS} & {*PermutationCollator(examples)(given)}


def test_validation_has_drawn_rates_or_its_own(builds: dict[str, Path], masking: MaskingConfig) -> None:
    for name in ("dynamic", "static", "packed static"):
        examples = ShardExamples(builds[name] / "validation")
        batch = BatchCollator(examples)(examples.__getitems__([(0, number) for number in range(len(examples))]))
        assert ("loss_weights" in batch) == (not masking.eval_masked_lm_prob)
    if masking.eval_masked_lm_prob:
        rates = open_shards(builds["static"], "validation").table.column("mask_rate")
        assert {*rates.to_pylist()} == {float(np.float32(0.15))}


def test_static_formats_have_no_place_for_rates_and_others_hand_them_on(
    builds: dict[str, Path], tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=r"a rate drawn for each row by `mask_rate_draw` .*no place for the rates"):
        export(str(builds["dynamic"]), "tfrecord", str(tmp_path / "tfrecord"))
    export(str(builds["static"]), "parquet", str(tmp_path / "parquet"))
    import pyarrow.parquet as pq

    table = pq.read_table(next((tmp_path / "parquet").rglob("*.parquet")))
    assert str(table.schema.field("mask_rate").type) == "float"


def test_the_summary_says_how_rates_are_drawn(builds: dict[str, Path], masking: MaskingConfig) -> None:
    text = str(build_rows(open_shards(builds["dynamic"]).manifest))
    assert f"drawn, {masking.mask_rate_draw}" in text
    assert text.count("rate of each row") == (1 if masking.eval_masked_lm_prob else 2)
    assert "a rate drawn for each row" in repr(BatchCollator(builds["dynamic"]))
