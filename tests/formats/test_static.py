"""Rows with static masks: those of the shards, or those the loader draws for an epoch, padded as Google pads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bertdata.errors import ConfigError, InputError
from bertdata.finetune.settings import TaskConfig
from bertdata.finetune.task_shards import encode_task
from bertdata.formats import export
from bertdata.formats.shard import ExportedShard
from bertdata.formats.static import static_rows
from bertdata.loader import BatchCollator, ShardExamples
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import Shards, open_shards
from tests.shards.build import TOKENIZER, write_build


def rows_of(shards: Shards, **options: int) -> dict[str, Any]:
    rows = static_rows([shards], **options)
    row_fields = [fields for path in shards.paths for fields in ExportedShard(path, shards.table.schema, rows).fields()]
    return {name: np.concatenate([fields[name] for fields in row_fields]) for name in row_fields[0]}


def batch_of(shards: Shards, epoch: int) -> dict[str, Any]:
    """Return all examples as the loader gives them."""
    examples = ShardExamples(shards)
    batch: dict[str, Any] = BatchCollator(examples)(examples.__getitems__([(epoch, i) for i in range(len(examples))]))
    return batch


@pytest.mark.costly
@pytest.mark.parametrize("objective", ["nsp", "sop", "doc-sentences"])
@pytest.mark.parametrize(("masking", "epoch"), [("static", 0), ("dynamic", 0), ("dynamic", 3)])
def test_rows_are_what_the_loader_gives(tmp_path: Path, objective: str, masking: str, epoch: int) -> None:
    config = ExamplesConfig(objective=objective, masking=masking, max_seq_length=32)
    shards = open_shards(write_build(tmp_path, config, masking=MaskingConfig(mask_unit="word")))
    rows, batch = rows_of(shards, epoch=epoch), batch_of(shards, epoch)
    width = batch["input_ids"].shape[1]
    assert rows["input_ids"].shape == (len(shards), 32)
    for name, theirs in (
        ("input_ids", "input_ids"),
        ("input_mask", "attention_mask"),
        ("segment_ids", "token_type_ids"),
    ):
        assert (rows[name][:, :width] == batch[theirs]).all()
        assert not rows[name][:, width:].any()
    labels = np.full((len(shards), 32), -100)
    row, column = np.nonzero(rows["masked_lm_weights"])
    labels[row, rows["masked_lm_positions"][row, column]] = rows["masked_lm_ids"][row, column]
    assert (labels[:, :width] == batch["labels"]).all()
    assert ("next_sentence_labels" in rows) == (shards.info.label is not None)
    if shards.info.label:
        assert (rows["next_sentence_labels"] == batch[shards.info.label]).all()


@pytest.mark.parametrize("masking", ["static", "dynamic"])
def test_the_examples_of_packed_rows_become_rows(tmp_path: Path, masking: str) -> None:
    config = ExamplesConfig(masking=masking, max_seq_length=64, short_seq_prob=0.5, pack=True)
    shards = open_shards(write_build(tmp_path, config))
    rows, batch = rows_of(shards), batch_of(shards, 0)
    width = batch["input_ids"].shape[1]
    assert len(rows["input_ids"]) == len(batch["input_ids"]) > len(shards)
    assert (rows["input_ids"][:, :width] == batch["input_ids"]).all()
    assert (rows["next_sentence_labels"] == batch["next_sentence_label"]).all()
    described = export(str(tmp_path), "hdf5", str(tmp_path.parent / f"{masking}-out"), ["train"])
    assert sum(entry["rows"] for entry in described["splits"]["train"]) == len(batch["input_ids"])


def test_predictions_stand_in_the_order_of_their_positions_and_nothing_behind_them(tmp_path: Path) -> None:
    rows = rows_of(open_shards(write_build(tmp_path)), max_predictions_per_seq=9)
    weights, positions = rows["masked_lm_weights"], rows["masked_lm_positions"]
    assert weights.dtype == np.float32
    assert (np.diff(weights, axis=1) <= 0).all()
    assert (np.diff(positions, axis=1) > 0)[weights[:, 1:] > 0].all()
    assert not positions[weights == 0].any()
    assert not rows["masked_lm_ids"][weights == 0].any()


def test_the_room_for_predictions_is_the_limit_of_the_build_or_the_most_that_a_row_has(tmp_path: Path) -> None:
    plain = open_shards(write_build(tmp_path / "a"))
    most = int((batch_of(plain, 0)["labels"] != -100).sum(1).max())
    assert rows_of(plain)["masked_lm_ids"].shape[1] == most
    limited = open_shards(write_build(tmp_path / "b", masking=MaskingConfig(max_predictions_per_seq=11)))
    assert rows_of(limited)["masked_lm_ids"].shape[1] == 11


def test_dynamic_masks_keep_the_limit_asked_for_and_static_ones_over_it_are_refused(tmp_path: Path) -> None:
    dynamic = open_shards(write_build(tmp_path / "a"))
    assert rows_of(dynamic, max_predictions_per_seq=2)["masked_lm_weights"].sum(1).max() == 2
    static = open_shards(write_build(tmp_path / "b", ExamplesConfig(masking="static", max_seq_length=32)))
    with pytest.raises(ConfigError, match=r"row \d+ has \d predictions, and `max_predictions_per_seq` is 2: give at"):
        rows_of(static, max_predictions_per_seq=2)


def test_an_epoch_is_for_dynamic_masks_and_for_formats_with_masks(tmp_path: Path) -> None:
    build = write_build(tmp_path / "a", ExamplesConfig(masking="static", max_seq_length=32))
    with pytest.raises(ConfigError, match="`epoch` is 1; expected 0 or more, and 0 where masks are static"):
        static_rows([open_shards(build)], 1)
    with pytest.raises(ConfigError, match="`epoch` and `max_predictions_per_seq` are for tfrecord, hdf5"):
        export(str(build), "parquet", str(tmp_path / "out"), epoch=1)


def test_fine_tuning_data_has_no_masks_to_export(tmp_path: Path) -> None:
    TOKENIZER.save_pretrained(tmp_path / "vocab")
    (tmp_path / "a.csv").write_text("text,label\nsalt,x\nwater,y\n")
    encode_task(tmp_path / "task", str(tmp_path / "vocab"), {"train": str(tmp_path / "a.csv")}, TaskConfig())
    with pytest.raises(InputError, match=r"holds classification \(x, y\), which has no masks"):
        export(str(tmp_path / "task"), "tfrecord", str(tmp_path / "out"))
    for to in ("parquet", "jsonl", "mds", "hf"):
        export(str(tmp_path / "task"), to, str(tmp_path / to))
    assert open_shards(tmp_path / "hf").table.equals(open_shards(tmp_path / "task").table)
