"""MDS: the samples are read back by the documented layout alone, and by MosaicML Streaming where it is installed."""

from __future__ import annotations

import itertools
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bertdata.errors import InputError
from bertdata.finetune.settings import TaskConfig
from bertdata.finetune.task_shards import encode_task
from bertdata.formats import export, mds
from bertdata.formats.mds import config_of, write_mds
from bertdata.formats.shard import ExportedShard
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from tests.shards.build import TOKENIZER, write_build


def read_mds(folder: Path) -> list[dict[str, Any]]:
    """Read the samples of a split as the documentation of the format says."""
    rows_read = []
    index = json.loads((folder / "index.json").read_text())
    assert index["version"] == 2
    for shard in index["shards"]:
        data = (folder / shard["raw_data"]["basename"]).read_bytes()
        assert len(data) == shard["raw_data"]["bytes"]
        [samples] = struct.unpack_from("<I", data)
        assert samples == shard["samples"]
        offsets = struct.unpack_from(f"<{samples + 1}I", data, 4)
        config = json.loads(data[4 + 4 * (samples + 1) : offsets[0]])
        assert config == {name: shard[name] for name in config}
        for begin, end in itertools.pairwise(offsets):
            rows_read.append(read_sample(data[begin:end], config))
        assert offsets[-1] == len(data)
    return rows_read


def read_sample(data: bytes, config: dict[str, Any]) -> dict[str, Any]:
    names, encodings, sizes = (config[f"column_{what}"] for what in ("names", "encodings", "sizes"))
    at, whole = 0, []
    for size in sizes:
        whole.append(size or struct.unpack_from("<I", data, at)[0])
        at += 0 if size else 4
    row: dict[str, Any] = {}
    for name, encoding, size in zip(names, encodings, whole, strict=True):
        value, at = data[at : at + size], at + size
        if encoding in ("str", "json"):
            row[name] = json.loads(value) if encoding == "json" else value.decode()
        elif encoding.startswith("ndarray:"):
            assert value[0] >> 2 == 1
            width = 1 << (value[0] & 3)
            row[name] = np.frombuffer(value[1 + width :], encoding[8:]).tolist()
            assert int.from_bytes(value[1 : 1 + width], "little") == len(row[name])
        else:
            row[name] = np.frombuffer(value, encoding)[0].item()
    assert at == len(data)
    return row


@pytest.mark.parametrize("length", [32, 400])
def test_the_samples_are_the_rows(tmp_path: Path, length: int) -> None:
    config = ExamplesConfig(masking="static", max_seq_length=length, short_seq_prob=0.3)
    build = write_build(tmp_path / "build", config)
    export(str(build), "mds", str(tmp_path / "out"))
    for split in ("train", "validation"):
        assert read_mds(tmp_path / "out" / split) == open_shards(build, split).table.to_pylist()


def test_an_index_says_all_that_a_reader_of_the_format_looks_for(tmp_path: Path) -> None:
    build = write_build(tmp_path / "build", ExamplesConfig(masking="static", max_seq_length=32))
    export(str(build), "mds", str(tmp_path / "out"), ["validation"])
    [entry] = json.loads((tmp_path / "out" / "validation" / "index.json").read_text())["shards"]
    rows = len(open_shards(build, "validation"))
    [file] = (tmp_path / "out" / "validation").glob("*.mds")
    assert entry == {
        "version": 2,
        "format": "mds",
        "compression": None,
        "hashes": [],
        "size_limit": None,
        "column_names": ["example_id", "input_ids", "labels", "next_sentence_label", "source", "token_type_ids"],
        "column_encodings": ["int64", "ndarray:uint16", "ndarray:int16", "int8", "int8", "ndarray:uint8"],
        "column_sizes": [8, None, None, 1, 1, None],
        "samples": rows,
        "raw_data": {"basename": file.name, "bytes": file.stat().st_size, "hashes": {}},
        "zip_data": None,
    }


@pytest.mark.parametrize("length", [0, 1, 255, 256, 65_535, 65_536])
def test_a_list_of_any_length_comes_back(length: int, tmp_path: Path) -> None:
    schema = pa.schema([("ids", pa.list_(pa.uint16())), ("name", pa.string())])
    rows = [{"ids": [7] * length, "name": "é"}, {"ids": [1, 2], "name": ""}]
    path = str(tmp_path / "data.arrow")
    with pa.ipc.new_stream(path, schema) as stream:
        stream.write_table(pa.Table.from_pylist(rows, schema=schema))
    with (tmp_path / "data.mds").open("wb") as file:
        write_mds(ExportedShard(path, schema), file)
    size = (tmp_path / "data.mds").stat().st_size
    listed = config_of(schema) | {"samples": 2, "raw_data": {"basename": "data.mds", "bytes": size}}
    (tmp_path / "index.json").write_text(json.dumps({"version": 2, "shards": [listed]}))
    assert read_mds(tmp_path) == rows


def test_a_file_of_just_the_most_bytes_that_the_format_has_room_for_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = write_build(tmp_path / "build")
    described = export(str(build), "mds", str(tmp_path / "out"))
    largest = max(entry["bytes"] for entries in described["splits"].values() for entry in entries)
    monkeypatch.setattr(mds, "_MOST_BYTES", largest)
    assert export(str(build), "mds", str(tmp_path / "out")) == described
    monkeypatch.setattr(mds, "_MOST_BYTES", largest - 1)
    with pytest.raises(
        InputError,
        match=f"of {largest:,} bytes, and MDS has room for {largest - 1:,}; build with smaller `shard_bytes`",
    ):
        export(str(build), "mds", str(tmp_path / "out"))


def questions(folder: Path) -> Path:
    """Encode a few questions, which have columns of text."""
    row = {"question": "salt?", "context": "the salt water", "answers": {"text": ["salt"], "answer_start": [4]}}
    (folder / "a.jsonl").write_text("".join(json.dumps(row | {"id": f"é{i}"}) + "\n" for i in range(5)))
    TOKENIZER.save_pretrained(folder / "vocab")
    config = TaskConfig(task="question-answering")
    encode_task(folder / "task", str(folder / "vocab"), {"train": str(folder / "a.jsonl")}, config)
    return folder / "task"


def test_text_and_numbers_of_fine_tuning_data_come_along(tmp_path: Path) -> None:
    task = questions(tmp_path)
    export(str(task), "mds", str(tmp_path / "out"))
    assert read_mds(tmp_path / "out" / "train") == open_shards(task).table.to_pylist()


def test_mosaicml_streaming_reads_the_samples(tmp_path: Path) -> None:
    streaming = pytest.importorskip("streaming.base.format.mds.reader")
    for name, build in (("a", write_build(tmp_path / "build")), ("b", questions(tmp_path))):
        export(str(build), "mds", str(tmp_path / name))
        folder = tmp_path / name / "train"
        samples = []
        for shard in json.loads((folder / "index.json").read_text())["shards"]:
            reader = streaming.MDSReader.from_json(str(tmp_path / name), "train", shard)
            samples += [reader[number] for number in range(len(reader))]
        expected = open_shards(build).table.to_pylist()
        assert [{name: _plain(value) for name, value in row.items()} for row in samples] == expected


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def test_a_file_holds_at_most_what_four_bytes_count() -> None:
    assert mds._MOST_BYTES == 4_294_967_295
