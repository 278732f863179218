"""Rows of tokenizers of several models, exported with static masks and imported again."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from bertdata.errors import ConfigError, InputError
from bertdata.formats.exporting import export
from bertdata.formats.importing import import_shards, read_fields
from bertdata.io import files
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from bertdata.verify.build import verify
from tests.small_build import write_build
from tests.tokenizers.of_models import LARGE, tokenizer_of

COLUMNS = ("input_ids", "token_type_ids", "labels", "next_sentence_label")


@pytest.mark.parametrize(("model", "to"), [("RoBERTa", "hdf5"), ("ModernBERT", "tfrecord"), ("XLM-R", "tfrecord")])
def test_static_rows_without_token_types_have_no_segment_ids(model: str, to: str, tmp_path: Path) -> None:
    if to == "hdf5":
        pytest.importorskip("h5py")
    config = ExamplesConfig("nsp", "static", 32)
    tokenizer = tokenizer_of(model)
    build = write_build(tmp_path / "build", config, pieces=tokenizer)
    export(str(build), to, str(tmp_path / "out"))
    paths = sorted((tmp_path / "out" / "train").iterdir())
    assert all("segment_ids" not in fields for path in paths for fields in read_fields(str(path), tokenizer))
    import_shards({"train": [str(tmp_path / "out" / "train")]}, str(build / "tokenizer"), str(tmp_path / "back"))
    verify(tmp_path / "back")
    tables = [open_shards(place).table for place in (build, tmp_path / "back")]
    for name in COLUMNS:
        assert (name in tables[0].column_names) == (name in tables[1].column_names) == (name != "token_type_ids")
        assert name == "token_type_ids" or tables[0][name].to_pylist() == tables[1][name].to_pylist()


def test_rows_of_xlnet_keep_their_token_types(tmp_path: Path) -> None:
    config = ExamplesConfig("nsp", "static", 32)
    build = write_build(tmp_path / "build", config, pieces=tokenizer_of("XLNet"))
    export(str(build), "tfrecord", str(tmp_path / "out"))
    import_shards({"train": [str(tmp_path / "out" / "train")]}, str(build / "tokenizer"), str(tmp_path / "back"))
    verify(tmp_path / "back")
    tables = [open_shards(place).table for place in (build, tmp_path / "back")]
    for name in COLUMNS:
        assert tables[0][name].to_pylist() == tables[1][name].to_pylist()
    assert {kind for types in tables[1]["token_type_ids"].to_pylist() for kind in types} == {0, 1, 2}


def test_hdf5_cannot_hold_predictions_in_the_first_place(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    build = write_build(tmp_path / "build", pieces=tokenizer_of("XLNet"))
    with pytest.raises(ConfigError, match=r"rows of this tokenizer begin with text, .* use `to` tfrecord"):
        export(str(build), "hdf5", str(tmp_path / "out"))


def test_rows_of_another_template_are_refused(tmp_path: Path) -> None:
    build = write_build(tmp_path / "build", ExamplesConfig("nsp", "static", 32), pieces=tokenizer_of("RoBERTa"))
    export(str(build), "tfrecord", str(tmp_path / "out"))
    tokenizer_of("XLNet").save_pretrained(tmp_path / "xlnet")
    with pytest.raises(InputError, match="has no field 'segment_ids'"):
        import_shards({"train": [str(tmp_path / "out" / "train")]}, str(tmp_path / "xlnet"), str(tmp_path / "back"))


@pytest.mark.costly
@pytest.mark.parametrize("model", ["RoBERTa", LARGE])
def test_rows_as_they_are_have_the_columns_of_the_shards(model: str, tmp_path: Path) -> None:
    build = write_build(tmp_path / "build", pieces=tokenizer_of(model))
    for to in ("parquet", "mds"):
        export(str(build), to, str(tmp_path / to))
    table = open_shards(build).table
    read_back = pq.read_table(str(tmp_path / "parquet" / "train"))
    assert read_back.column_names == table.column_names
    assert read_back["input_ids"].to_pylist() == table["input_ids"].to_pylist()
    [config, *_] = files.read_json(str(tmp_path / "mds" / "train" / "index.json"))["shards"]
    assert config["column_names"] == sorted(table.column_names)
