"""Exports: the same rows come back from every format, and nothing half-written looks finished."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bertdata.errors import ConfigError, InputError, OutputError
from bertdata.formats import EXPORT_FORMATS, ExportFormat, export, parquet
from bertdata.formats.hf import HF
from bertdata.formats.jsonl import write_jsonl
from bertdata.formats.shard import ExportedShard
from bertdata.io import files
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from bertdata.tokenizers.wordpiece import WordPieceTokenizer
from tests.outside import Outside
from tests.small_build import write_build


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = ExamplesConfig(masking="static", max_seq_length=32, dupe_factor=2)
    return write_build(tmp_path_factory.mktemp("build"), config)


OF_ANY_ROWS = [name for name in EXPORT_FORMATS if EXPORT_FORMATS[name].accepts is None]
OF_UNMASKED_TEXTS = [name for name in EXPORT_FORMATS if name not in OF_ANY_ROWS]


@pytest.fixture(scope="module")
def unmasked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = ExamplesConfig("full-sentences", "dynamic", max_seq_length=32)
    return write_build(tmp_path_factory.mktemp("unmasked"), config)


def read_batches(path: str) -> list[pa.RecordBatch]:
    return list(ExportedShard(path, pa.schema([])).batches())


def names_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_parquet_holds_the_same_rows_types_and_metadata(build: Path, tmp_path: Path) -> None:
    described = export(str(build), "parquet", str(tmp_path / "out"))
    for split, entries in described["splits"].items():
        table = open_shards(build, split).table
        paths = [tmp_path / "out" / entry["file"] for entry in entries]
        read_back = pa.concat_tables([pq.read_table(path) for path in paths])
        assert read_back.equals(table)
        assert read_back.schema.metadata == table.schema.metadata
        assert [entry["rows"] for entry in entries] == [pq.read_metadata(path).num_rows for path in paths]
        assert [entry["bytes"] for entry in entries] == [path.stat().st_size for path in paths]


def test_parquet_row_groups_hold_many_record_batches(build: Path, tmp_path: Path) -> None:
    described = export(str(build), "parquet", str(tmp_path / "out"), ["train"])
    for entry, path in zip(described["splits"]["train"], open_shards(build).paths, strict=True):
        assert len(read_batches(path)) > 1
        assert pq.read_metadata(tmp_path / "out" / entry["file"]).num_row_groups == 1
    assert parquet.ROW_GROUP_BYTES == 32 << 20


def test_parquet_row_groups_are_bounded(build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "ROW_GROUP_BYTES", 1)
    described = export(str(build), "parquet", str(tmp_path / "out"), ["train"])
    paths = [tmp_path / "out" / entry["file"] for entry in described["splits"]["train"]]
    batches = [len(read_batches(path)) for path in open_shards(build).paths]
    assert [pq.read_metadata(path).num_row_groups for path in paths] == batches
    assert pa.concat_tables([pq.read_table(path) for path in paths]).equals(open_shards(build).table)


def test_json_lines_hold_the_same_rows(build: Path, tmp_path: Path) -> None:
    described = export(str(build), "jsonl", str(tmp_path / "out"))
    for split, entries in described["splits"].items():
        lines = [line for entry in entries for line in (tmp_path / "out" / entry["file"]).read_text().splitlines()]
        assert [json.loads(line) for line in lines] == open_shards(build, split).table.to_pylist()


def test_hf_is_a_folder_that_datasets_opens_with_the_same_rows(build: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    export(str(build), "hf", str(tmp_path / "out"))
    opened = datasets.load_from_disk(str(tmp_path / "out"))
    assert set(opened) == {"train", "validation"}
    for split in opened:
        assert opened[split].data.table.to_pylist() == open_shards(build, split).table.to_pylist()


def test_hf_is_a_copy_that_our_reader_opens(build: Path, tmp_path: Path) -> None:
    export(str(build), "hf", str(tmp_path / "out"), ["train"])
    copy = open_shards(tmp_path / "out")
    assert copy.table.equals(open_shards(build).table)
    assert list(copy.manifest["splits"]) == ["train"]
    assert [Path(path).read_bytes() for path in copy.paths] == [
        Path(path).read_bytes() for path in open_shards(build).paths
    ]


@pytest.mark.parametrize("to", EXPORT_FORMATS)
def test_every_format_brings_the_tokenizer_and_says_what_it_is(
    build: Path, unmasked: Path, tmp_path: Path, to: str
) -> None:
    build = unmasked if to in OF_UNMASKED_TEXTS else build
    described = export(str(build), to, str(tmp_path / "out"))
    tokenizer = WordPieceTokenizer.from_pretrained(tmp_path / "out" / "tokenizer")
    assert tokenizer == open_shards(build).tokenizer()
    assert json.loads((tmp_path / "out" / "export.json").read_text()) == json.loads(json.dumps(described))
    assert described["format"] == to
    assert described["info"]["tokenizer"] == tokenizer.fingerprint


@pytest.mark.parametrize("to", EXPORT_FORMATS)
def test_the_same_build_gives_the_same_bytes(build: Path, unmasked: Path, tmp_path: Path, to: str) -> None:
    build = unmasked if to in OF_UNMASKED_TEXTS else build
    for name in ("one", "two"):
        export(str(build), to, str(tmp_path / name))
    assert names_below(tmp_path / "one") == names_below(tmp_path / "two")
    for name in names_below(tmp_path / "one"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


@pytest.mark.costly
def test_static_builds_and_their_exports_and_imports_need_no_pandas(tmp_path: Path) -> None:
    # pyarrow imports pandas where it is installed, and fails in some calls where it is not
    script = f"""
import sys
class NoPandas:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name="pandas")
sys.meta_path.insert(0, NoPandas())
from pathlib import Path
from bertdata.objectives.settings import ExamplesConfig
from bertdata.formats import EXPORT_FORMATS, export
from bertdata.formats.importing import import_shards
from tests.small_build import write_build
folder = Path({str(tmp_path)!r})
build = write_build(folder / "build", ExamplesConfig(masking="static", max_seq_length=32))
for to in {OF_ANY_ROWS}:
    export(str(build), to, str(folder / to))
import_shards({{"train": [f"{{folder}}/tfrecord/train"]}}, str(build / "tokenizer"), str(folder / "imported"))
assert "pandas" not in sys.modules
"""
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", script], cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr[-2000:]) == (0, "")


def test_an_interrupted_export_does_not_look_finished_and_can_be_repeated(
    build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []

    def fail_at_the_second(shard: ExportedShard, file: BinaryIO) -> None:
        file.write(b"half a file")
        if written:
            raise KeyboardInterrupt
        written.append(shard.path)
        write_jsonl(shard, file)

    with monkeypatch.context() as patch:
        failing = ExportFormat(help="", suffix=".jsonl", write=fail_at_the_second)
        patch.setitem(EXPORT_FORMATS._items, "jsonl", failing)
        with pytest.raises(KeyboardInterrupt):
            export(str(build), "jsonl", str(tmp_path / "out"))
    assert names_below(tmp_path / "out") == {
        ".bertdata.json",
        ".bertdata-origin.json",
        "train/data-00000-of-00002.jsonl",
    }
    export(str(build), "jsonl", str(tmp_path / "out"))
    export(str(build), "jsonl", str(tmp_path / "fresh"))
    assert names_below(tmp_path / "out") == names_below(tmp_path / "fresh")


def test_an_interrupted_repetition_leaves_nothing_that_looks_finished(
    build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export(str(build), "hf", str(tmp_path / "out"))

    def fail(shard: ExportedShard, file: BinaryIO) -> None:
        raise KeyboardInterrupt

    monkeypatch.setitem(EXPORT_FORMATS._items, "hf", replace(HF, write=fail))
    with pytest.raises(KeyboardInterrupt):
        export(str(build), "hf", str(tmp_path / "out"), ["validation"])
    left = names_below(tmp_path / "out")
    assert not left & {"export.json", "manifest.json", "dataset_dict.json"}
    assert not [name for name in left if name.startswith(("train/", "validation/"))]


def test_shards_behind_a_url_are_read(build: Path) -> None:
    [path, *_] = open_shards(build).paths
    files.write_bytes("memory://arrow-tests/a.arrow", Path(path).read_bytes())
    assert read_batches("memory://arrow-tests/a.arrow") == read_batches(path)


def test_a_new_export_replaces_the_splits_of_the_old_one(build: Path, tmp_path: Path) -> None:
    export(str(build), "jsonl", str(tmp_path / "out"))
    described = export(str(build), "jsonl", str(tmp_path / "out"), ["validation"])
    assert list(described["splits"]) == ["validation"]
    assert not (tmp_path / "out" / "train").exists()


def test_progress_goes_up_to_the_number_of_files(build: Path, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    export(str(build), "jsonl", str(tmp_path / "out"), report=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_a_folder_with_something_else_is_left_alone(build: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(OutputError, match=r"holds something else \(thesis\.txt\)"):
        export(str(build), "jsonl", str(tmp_path))
    assert os.listdir(tmp_path) == ["thesis.txt"]


def test_the_build_itself_another_format_and_unknown_things_are_refused(build: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the build itself"):
        export(str(build), "jsonl", str(build / "train" / ".."))
    with pytest.raises(ConfigError, match="expected one of " + ", ".join(EXPORT_FORMATS)):
        export(str(build), "csv", str(tmp_path / "out"))
    with pytest.raises(InputError, match="no split 'test'"):
        export(str(build), "jsonl", str(tmp_path / "out"), ["test"])
    export(str(build), "jsonl", str(tmp_path / "out"))
    with pytest.raises(OutputError, match="holds jsonl export"):
        export(str(build), "parquet", str(tmp_path / "out"))


def test_a_damaged_shard_is_named(tmp_path: Path) -> None:
    build = write_build(tmp_path / "build")
    path = Path(open_shards(build).paths[0])
    data = path.read_bytes()
    path.write_bytes(data[:-900] + b"\xff" * 900)
    with pytest.raises(InputError, match=path.name):
        export(str(build), "jsonl", str(tmp_path / "out"))
    assert not (tmp_path / "out" / "export.json").exists()


def test_an_export_with_masks_says_their_epoch_and_the_room_for_them(tmp_path: Path) -> None:
    dynamic = write_build(tmp_path / "build", ExamplesConfig(max_seq_length=32))
    described = export(str(dynamic), "tfrecord", str(tmp_path / "out"), epoch=3, max_predictions_per_seq=9)
    assert described["settings"] == {"epoch": 3, "max_predictions_per_seq": 9}


def test_the_docs_list_every_format_with_what_it_is_and_needs() -> None:
    docs = (Path(__file__).parents[2] / "docs" / "formats.md").read_text()
    for name in EXPORT_FORMATS:
        chosen = EXPORT_FORMATS[name]
        needs = f'`pip install ".[{chosen.extra}]"` ' if chosen.extra else ""
        assert f"| `{name}` | {chosen.help} | {needs}|" in docs
        assert all(f"| `{dialect}` |" in docs for dialect in chosen.dialects)


def test_options_for_masks_are_refused_by_formats_without_them(build: Path, tmp_path: Path) -> None:
    static = [to for to in EXPORT_FORMATS if EXPORT_FORMATS[to].static]
    assert static
    for to in set(EXPORT_FORMATS) - set(static):
        with pytest.raises(ConfigError, match=f"are for {', '.join(static)}; leave them out with `to` {to}"):
            export(str(build), to, str(tmp_path), max_predictions_per_seq=9)


OUTSIDE = """
from bertdata.formats import EXPORT_FORMATS, IMPORT_FORMATS, ExportFormat, ImportFormat
import numpy as np


def write_lengths(shard, file):
    rows = [len(row) for batch in shard.batches() for row in batch["input_ids"]]
    file.write("".join(f"{length}\\n" for length in rows).encode())


def finish(output, splits, entries):
    with open(f"{output}/total.txt", "w") as file:
        file.write(str(sum(entry["rows"] for split in splits for entry in entries[split.split])))


def write_npz(shard, file):
    batches = list(shard.fields())
    fields = {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}
    np.savez(file, **fields)


def read_npz(path):
    with np.load(path) as fields:
        yield dict(fields)


EXPORT_FORMATS.add("lengths", ExportFormat(help="lengths of rows", suffix=".txt", write=write_lengths, finish=finish))
EXPORT_FORMATS.add("npz", ExportFormat(help="NumPy", suffix=".npz", write=write_npz, static=True))
IMPORT_FORMATS.add("npz", ImportFormat(help="NumPy files", suffixes=(".npz",), read=read_npz, signature=b"PK"))
"""


@pytest.mark.costly
def test_a_package_outside_adds_formats(build: Path, tmp_path: Path) -> None:
    outside, back = Outside.write(tmp_path, "toy_formats", OUTSIDE), tmp_path / "back"
    helped, *ran = outside.ran(
        ["export", "--help-all"],
        ["export", build, "--to", "lengths", "--output", "lengths"],
        ["export", build, "--to", "npz", "--output", "npz"],
        ["import", "npz/train", "--validation", "npz/validation", "--vocab", "npz/tokenizer", "--output", back],
        ["verify", back],
    )
    assert "lengths: lengths of rows; npz: NumPy" in helped.stdout
    assert [(process.returncode, process.stderr) for process in ran] == [(0, "")] * 4
    shards = [open_shards(build, split) for split in ("train", "validation")]
    written = [path.read_text().split() for path in sorted((tmp_path / "lengths" / "train").iterdir())]
    rows = shards[0].table["input_ids"].to_pylist()
    assert [int(length) for lengths in written for length in lengths] == [len(row) for row in rows]
    assert (tmp_path / "lengths" / "total.txt").read_text() == str(sum(map(len, shards)))
    columns = ["input_ids", "token_type_ids", "labels"]
    assert open_shards(back).table.select(columns).equals(shards[0].table.select(columns))
