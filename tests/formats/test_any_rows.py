"""Whatever a build holds (a row, none in a shard or a bin, packed rows, copies), it goes out and comes back."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.errors import InputError
from bertdata.formats import export
from bertdata.formats.importing import import_shards
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives import OBJECTIVES
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from bertdata.shards.packed import unpacked
from tests.formats.test_mds import read_mds
from tests.shards.build import TOKENIZER, write_build

Row = dict[str, Any]


def configs() -> st.SearchStrategy[ExamplesConfig]:
    layouts: list[dict[str, Any]] = [{}, {"bin_size": 8}, {"pack": True}, {"pack": True, "pack_length": 100}]
    return st.builds(
        lambda objective, masking, length, copies, short, layout: ExamplesConfig(
            objective, masking, length, dupe_factor=copies, short_seq_prob=short, **layout
        ),
        st.sampled_from(list(OBJECTIVES)),
        st.sampled_from(["static", "dynamic"]),
        st.sampled_from([24, 60]),
        st.integers(1, 2),
        st.sampled_from([0.0, 0.5]),
        st.sampled_from(layouts),
    )


def examples_of(build: Path, split: str) -> list[Row]:
    """Return the examples of a split, those of packed rows one by one."""
    batches = [unpacked(batch) for batch in open_shards(build, split).table.to_batches()]
    return [row for batch in batches for row in batch.to_pylist()]


def without_masks(row: Row) -> list[int]:
    """Return the ids of a row with static masks as they were before."""
    return [
        label if label != -100 else token_id for token_id, label in zip(row["input_ids"], row["labels"], strict=True)
    ]


def check_exports_as_they_are(build: Path, folder: Path) -> None:
    for to in ("parquet", "jsonl", "hf", "mds"):
        described = export(str(build), to, str(folder / to))
        for split, entries in described["splits"].items():
            paths = [folder / to / entry["file"] for entry in entries]
            table = open_shards(build, split).table
            if to == "parquet":
                assert pa.concat_tables([pq.read_table(path) for path in paths]).equals(table)
            elif to == "jsonl":
                assert [
                    json.loads(line) for path in paths for line in path.read_text().splitlines()
                ] == table.to_pylist()
            elif to == "hf":
                assert open_shards(folder / to, split).table.equals(table)
            else:
                assert read_mds(folder / to / split) == table.to_pylist()


def check_round_trip(build: Path, folder: Path, to: str, epoch: int) -> None:
    info = open_shards(build, "train").expect_pretraining()
    described = export(str(build), to, str(folder / to), epoch=epoch)
    splits = list(described["splits"])
    objective = info.examples.objective if info.label else ""
    sources = {split: [str(folder / to / split)] for split in splits}
    import_shards(sources, str(folder / to / "tokenizer"), str(folder / f"{to}-back"), objective)
    for split in splits:
        ours, back = examples_of(build, split), examples_of(folder / f"{to}-back", split)
        assert len(back) == len(ours)
        for one, other in zip(ours, back, strict=True):
            assert other["token_type_ids"] == one["token_type_ids"]
            assert other.get(info.label or "") == one.get(info.label or "")
            if info.examples.masking == "static":
                assert (other["input_ids"], other["labels"]) == (one["input_ids"], one["labels"])
            else:
                assert without_masks(other) == one["input_ids"]
                assert (np.array(other["labels"]) != -100).any()


def check(
    folder: Path, config: ExamplesConfig, documents: int, shards: int = 2, validation: float = 0.0, epoch: int = 0
) -> None:
    masking = MaskingConfig(mask_unit=("token", "span")[epoch])
    build = write_build(
        folder / "build", config, documents=documents, shards=shards, validation_fraction=validation, masking=masking
    )
    check_exports_as_they_are(build, folder)
    for to in ("tfrecord", "hdf5"):
        check_round_trip(build, folder, to, epoch if config.masking == "dynamic" else 0)


@pytest.mark.costly
@pytest.mark.parametrize("masking", ["static", "dynamic"])
def test_shards_without_rows_go_out_and_come_back(tmp_path: Path, masking: str) -> None:
    pytest.importorskip("h5py")
    check(tmp_path, ExamplesConfig(masking=masking, max_seq_length=24, bin_size=8, short_seq_prob=0), documents=2)
    shards = open_shards(tmp_path / "build").manifest["splits"]["train"]["shards"]
    assert 0 in [shard["counts"]["examples"] for shard in shards]


def test_copies_that_end_with_a_batch_without_rows_go_out_and_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("h5py")
    monkeypatch.setattr("bertdata.corpus.writer.ROWS_PER_BATCH", 1)
    check(tmp_path, ExamplesConfig(masking="static", max_seq_length=24, dupe_factor=2), documents=3)


def test_files_without_a_row_in_all_of_train_are_refused(tmp_path: Path) -> None:
    for name in ("a.tfrecord", "b.tfrecord"):
        (tmp_path / name).touch()
    TOKENIZER.save_pretrained(tmp_path / "vocab")
    with pytest.raises(InputError, match=r"the files of train \(\d+ in all\) have no rows"):
        import_shards({"train": [str(tmp_path / "*.tfrecord")]}, str(tmp_path / "vocab"), str(tmp_path / "out"))


@pytest.mark.slow
@settings(deadline=None, max_examples=20)
@given(configs(), st.integers(2, 12), st.integers(1, 6), st.sampled_from([0.0, 0.4]), st.integers(0, 1))
def test_builds_of_any_shape_go_out_and_come_back(
    config: ExamplesConfig, documents: int, shards: int, validation: float, epoch: int
) -> None:
    pytest.importorskip("h5py")
    with tempfile.TemporaryDirectory() as place:
        check(Path(place), config, documents, shards, validation, epoch)
