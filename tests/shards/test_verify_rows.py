"""Verifying what no build has made: fine-tuning data and imports, by their bytes and by the rules of their rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from bertdata import files
from bertdata.cli import dispatch
from bertdata.encode_task import encode_task
from bertdata.errors import ConfigError, InputError, VerificationError
from bertdata.examples.finetune.settings import TaskConfig
from bertdata.export import export
from bertdata.export.importing import import_shards
from bertdata.shards import open_shards
from bertdata.shards.verify import verify
from tests.shards.build import TOKENIZER, write_build

SOURCES = {
    "classification": ("a.csv", "text,label\nsalt,x\nwater stone,y\n"),
    "token-classification": ("a.conll", "the O\nriver B\n\nlamp O\n"),
    "question-answering": (
        "a.jsonl",
        json.dumps(
            {"id": "q", "question": "salt", "context": "the water", "answers": {"text": ["water"], "answer_start": [4]}}
        ),
    ),
}


def task_data(folder: Path, task: str) -> Path:
    name, text = SOURCES[task]
    (folder / name).write_text(text)
    TOKENIZER.save(folder / "vocab")
    encode_task(folder / "out", str(folder / "vocab"), {"train": str(folder / name)}, TaskConfig(task=task))
    return folder / "out"


def changed(out: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    """Change the rows of a shard, and the manifest with it, as a program with a mistake would."""
    [path] = open_shards(out).paths
    table = open_shards(out).table
    rows = table.to_pylist()
    change(rows)
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(pa.Table.from_pylist(rows, table.schema))
    manifest = json.loads((out / "manifest.json").read_text())
    [shard] = manifest["splits"]["train"]["shards"]
    shard.update(bytes=files.size(path), sha256=files.sha256(path))
    (out / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("task", SOURCES)
def test_fine_tuning_data_as_it_was_written_is_verified(tmp_path: Path, task: str) -> None:
    rows = dict(verify(task_data(tmp_path, task)))
    assert rows["  examples"] == str(len(open_shards(tmp_path / "out")))


def test_an_import_is_verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build = write_build(tmp_path / "build")
    export(str(build), "tfrecord", str(tmp_path / "out"))
    import_shards({"train": [str(tmp_path / "out" / "train")]}, str(build / "tokenizer"), str(tmp_path / "back"))
    assert dispatch(["verify", str(tmp_path / "back")]) == 0
    assert "verified: " in capsys.readouterr().out
    with pytest.raises(ConfigError, match="--duplicates is for builds"):
        verify(tmp_path / "back", duplicates=True)


@pytest.mark.parametrize(
    ("task", "column", "value", "rule"),
    [
        ("classification", "label", 2, "the label is none of the task's, first in row 1"),
        ("classification", "input_ids", [2, 99, 3], "an id is not of the vocabulary, first in row 1"),
        ("classification", "input_ids", [4, 7, 8, 3], r"\[CLS\] is not the first token"),
        ("classification", "input_ids", [2, 7, 8, 9], r"\[SEP\] is not the last token"),
        ("classification", "token_type_ids", [0], "token_type_ids has not a value for each token"),
        ("token-classification", "labels", [-100, 9, -100], "a label is none of the task's"),
    ],
)
def test_rows_that_break_a_rule_are_named(tmp_path: Path, task: str, column: str, value: Any, rule: str) -> None:
    out = task_data(tmp_path, task)
    changed(out, lambda rows: rows[1].update({column: value}))
    with pytest.raises(VerificationError, match=rf"train/data-00000-of-00001\.arrow: {rule}"):
        verify(out)


def test_an_answer_outside_its_row_is_named(tmp_path: Path) -> None:
    out = task_data(tmp_path, "question-answering")
    changed(out, lambda rows: rows[0].update(end_positions=50))
    with pytest.raises(VerificationError, match="the answer is not inside its row, first in row 0"):
        verify(out)


def test_a_row_more_or_less_and_other_bytes_are_found(tmp_path: Path) -> None:
    out = task_data(tmp_path, "classification")
    changed(out, lambda rows: rows.pop())
    with pytest.raises(VerificationError, match="examples: 1 counted, 2 in manifest"):
        verify(out)
    path = Path(open_shards(out).paths[0])
    data = bytearray(path.read_bytes())
    data[-20] ^= 1
    path.write_bytes(data)
    with pytest.raises(VerificationError, match="it was cut off or changed"):
        verify(out)


@pytest.mark.parametrize("command", [["show"], ["stats"], ["report"]])
def test_commands_on_builds_say_that_fine_tuning_data_is_none(tmp_path: Path, command: list[str]) -> None:
    out = task_data(tmp_path, "classification")
    flags = ["--output", str(tmp_path / "x.html")] if command == ["report"] else []
    with pytest.raises(InputError, match=r"holds classification \(x, y\); expected the shards of `bertdata build`"):
        dispatch([*command, str(out), *flags])
