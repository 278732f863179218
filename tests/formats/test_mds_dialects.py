"""Dialects of MDS: the columns that the trainers of ModernBERT and EuroBERT read, by the format and by Streaming."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bertdata.cli.main import dispatch
from bertdata.errors import ConfigError
from bertdata.formats import export
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from tests.formats.test_mds import questions, read_mds
from tests.shards.build import write_build

Row = dict[str, Any]
DIALECTS = ["modernbert", "eurobert"]


@pytest.fixture(scope="module", params=[{}, {"pack": True, "pack_length": 64}])
def build(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of one example a row, and of packed rows."""
    config = ExamplesConfig("full-sentences", max_seq_length=32, short_seq_prob=0.5, **request.param)
    return write_build(tmp_path_factory.mktemp("build"), config)


def samples_of(build: Path, split: str, dialect: str) -> list[Row]:
    """Return what the samples of a split ought to be."""
    shards = open_shards(build, split)
    samples: list[Row] = []
    for example in (example for number in range(len(shards)) for example in shards.examples(number)):
        ids, name = example["input_ids"].tolist(), str(example["example_id"])
        source = shards.info.sources[int(example["source"])]
        european = {"tokens": ids, "metadata": {"id": name, "source": source}}
        samples.append({"input_ids": ids, "id": name, "len": len(ids)} if dialect == "modernbert" else european)
    return samples


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_sample_is_an_example_unmasked_with_its_special_tokens(build: Path, dialect: str, tmp_path: Path) -> None:
    described = export(str(build), "mds", str(tmp_path / "out"), dialect=dialect)
    assert (described["format"], described["dialect"]) == ("mds", dialect)
    for split, entries in described["splits"].items():
        expected = samples_of(build, split, dialect)
        assert read_mds(tmp_path / "out" / split) == expected
        assert sum(entry["rows"] for entry in entries) == len(expected) > 5
        info = open_shards(build).info
        ids = [row["input_ids" if dialect == "modernbert" else "tokens"] for row in expected]
        assert {row[0] for row in ids} == {info.cls_token_id}
        assert {row[-1] for row in ids} == {info.sep_token_id}
        assert info.mask_token_id not in {value for row in ids for value in row}


@pytest.mark.parametrize(
    ("dialect", "columns"),
    [
        ("modernbert", {"id": ("str", None), "input_ids": ("ndarray:uint32", None), "len": ("int", 8)}),
        ("eurobert", {"metadata": ("json", None), "tokens": ("ndarray:int32", None)}),
    ],
)
def test_the_index_names_the_encodings_that_the_trainers_write_themselves(
    build: Path, dialect: str, columns: dict[str, tuple[str, int | None]], tmp_path: Path
) -> None:
    flags = ["--to", "mds", "--dialect", dialect, "--output", str(tmp_path / "out"), "--split", "validation"]
    assert dispatch(["export", str(build), *flags]) == 0
    for shard in json.loads((tmp_path / "out" / "validation" / "index.json").read_text())["shards"]:
        encoded_columns = zip(shard["column_encodings"], shard["column_sizes"], strict=True)
        assert dict(zip(shard["column_names"], encoded_columns, strict=True)) == columns


def test_without_a_dialect_the_export_does_not_name_one(build: Path, tmp_path: Path) -> None:
    assert "dialect" not in export(str(build), "mds", str(tmp_path / "out"))
    assert read_mds(tmp_path / "out" / "train") == open_shards(build).table.to_pylist()


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            ExamplesConfig("full-sentences", "static", 32),
            "masks of these shards are static.*build with `masking` dynamic",
        ),
        (
            ExamplesConfig("nsp", max_seq_length=32),
            "`objective` nsp are pairs with a next_sentence_label.*full-sentences",
        ),
        (ExamplesConfig("sop", max_seq_length=32), "`objective` sop are pairs with a sentence_order_label"),
        (None, "the shards hold question-answering, and these trainers read pretraining data"),
    ],
)
def test_rows_that_the_trainers_would_misread_are_refused(
    dialect: str, config: ExamplesConfig | None, message: str, tmp_path: Path
) -> None:
    build = write_build(tmp_path / "build", config) if config else questions(tmp_path)
    with pytest.raises(ConfigError, match=message):
        export(str(build), "mds", str(tmp_path / "out"), dialect=dialect)
    assert not (tmp_path / "out").exists()


def test_a_dialect_that_a_format_does_not_have_is_refused(build: Path, tmp_path: Path) -> None:
    for to, known in (("mds", "it has modernbert, eurobert"), ("jsonl", "it has none")):
        with pytest.raises(ConfigError, match=f"there is no dialect 'roberta' of this format; {known}"):
            export(str(build), to, str(tmp_path / "out"), dialect="roberta")


_READ = """
import json, sys
from streaming import StreamingDataset
def plain(value):
    return [value.tolist(), str(value.dtype)] if hasattr(value, "dtype") else value
for folder in sys.argv[1:]:
    samples = StreamingDataset(local=folder, split="train", shuffle=False, batch_size=1)
    print(json.dumps([{name: plain(value) for name, value in sample.items()} for sample in samples]))
"""


def test_mosaicml_streaming_opens_the_samples_with_their_types(build: Path, tmp_path: Path) -> None:
    """In one process, which imports transformers as well and takes five seconds for it."""
    pytest.importorskip("streaming", reason="needs mosaicml-streaming")
    for dialect in DIALECTS:
        export(str(build), "mds", str(tmp_path / dialect), dialect=dialect)
    command = [sys.executable, "-W", "ignore", "-c", _READ, *(str(tmp_path / dialect) for dialect in DIALECTS)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=dict(os.environ))
    for dialect, line in zip(DIALECTS, done.stdout.splitlines()[-len(DIALECTS) :], strict=True):
        name, kind = ("input_ids", "uint32") if dialect == "modernbert" else ("tokens", "int32")
        expected = [row | {name: [row[name], kind]} for row in samples_of(build, "train", dialect)]
        assert json.loads(line) == expected


def test_the_checks_of_modernberts_reader_hold(tmp_path: Path) -> None:
    """Its NoStreamingDataset opens each shard of the index, keeps the arrays of a sample and deletes the rest."""
    reader = pytest.importorskip("streaming.base.format", reason="needs mosaicml-streaming").reader_from_json
    build = write_build(tmp_path / "build", ExamplesConfig("full-sentences", max_seq_length=32))
    export(str(build), "mds", str(tmp_path / "out"), dialect="modernbert")
    samples = []
    for info in json.loads((tmp_path / "out" / "train" / "index.json").read_text())["shards"]:
        shard = reader(str(tmp_path / "out"), "train", info)
        shard.validate(True)
        for number in range(shard.samples):
            samples.append({name: values for name, values in shard[number].items() if isinstance(values, np.ndarray)})
    assert all(list(sample) == ["input_ids"] and sample["input_ids"].ndim == 1 for sample in samples)
    assert [sample["input_ids"].tolist() for sample in samples] == [
        row["input_ids"] for row in samples_of(build, "train", "modernbert")
    ]
