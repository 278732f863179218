"""MDS: the samples are read back by the documented layout alone, and by MosaicML Streaming where it is installed."""

from __future__ import annotations

import itertools
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bertdata.config import ExamplesConfig
from bertdata.encode_task import encode_task
from bertdata.examples.finetune.settings import TaskConfig
from bertdata.export import export
from bertdata.shards import open_shards
from tests.shards.build import TOKENIZER, write_build


def read_mds(folder: Path) -> list[dict[str, Any]]:
    """Read the samples of a split as the documentation of the format says."""
    found = []
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
            found.append(read_sample(data[begin:end], config))
        assert offsets[-1] == len(data)
    return found


def read_sample(data: bytes, config: dict[str, Any]) -> dict[str, Any]:
    names, encodings, sizes = (config[f"column_{what}"] for what in ("names", "encodings", "sizes"))
    at, whole = 0, []
    for size in sizes:
        whole.append(size or struct.unpack_from("<I", data, at)[0])
        at += 0 if size else 4
    row: dict[str, Any] = {}
    for name, encoding, size in zip(names, encodings, whole, strict=True):
        value, at = data[at : at + size], at + size
        if encoding == "str":
            row[name] = value.decode()
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


def questions(folder: Path) -> Path:
    """Encode a few questions, which have columns of text."""
    row = {"question": "salt?", "context": "the salt water", "answers": {"text": ["salt"], "answer_start": [4]}}
    (folder / "a.jsonl").write_text("".join(json.dumps(row | {"id": f"é{i}"}) + "\n" for i in range(5)))
    TOKENIZER.save(folder / "vocab")
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
        found = []
        for shard in json.loads((folder / "index.json").read_text())["shards"]:
            reader = streaming.MDSReader.from_json(str(tmp_path / name), "train", shard)
            found += [reader[number] for number in range(len(reader))]
        expected = open_shards(build).table.to_pylist()
        assert [{name: _plain(value) for name, value in row.items()} for row in found] == expected


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def test_a_shard_over_four_gigabytes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bertdata.errors import InputError
    from bertdata.export import mds

    build = write_build(tmp_path / "build")
    monkeypatch.setattr(mds, "_MOST_BYTES", 1000)
    with pytest.raises(InputError, match="MDS has room for 1,000; build with smaller --shard-bytes"):
        export(str(build), "mds", str(tmp_path / "out"))
