"""A fine-tuning task of a package outside bertdata: encoded, verified, and opened by the loader."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

OUTSIDE = """
import pyarrow as pa

from bertdata.finetune.files import read_rows
from bertdata.finetune.classification import encode_classification
from bertdata.finetune.layout import Encoded
from bertdata.finetune.splits import TaskSplit
from bertdata.shards.tasks import TASKS, Task


def read(paths, tokenizer, config, columns):
    def split(path):
        def rows():
            return (row for _, row in read_rows(path))

        def encode(found):
            encoded = encode_classification(tokenizer, [row["text"] for row in found], max_seq_length=config.length)
            words = pa.array([len(row["text"].split()) for row in found], pa.int32())
            columns = {name: encoded.columns[name] for name in ("input_ids", "token_type_ids")}
            return Encoded(columns | {"words": words}, encoded.counts)

        return TaskSplit(sum(1 for _ in rows()), rows, encode)

    return (), {name: split(path) for name, path in paths.items()}


TASKS.add(
    "count-words",
    Task(
        help="how many words a text has",
        read=read,
        columns=(("words", pa.int32()),),
        batch_numbers={"words": "labels"},
        max_seq_length=32,
    ),
)
"""
LOAD = """
from bertdata.loader import numpy_batches

[batch] = numpy_batches("out", 8)
print(sorted(zip(batch["labels"].tolist(), batch["attention_mask"].sum(1).tolist())))
"""


def test_a_package_outside_adds_a_task(tmp_path: Path) -> None:
    (tmp_path / "toy_task.py").write_text(OUTSIDE)
    (tmp_path / "x.jsonl").write_text('{"text": "the sea"}\n{"text": "the sea is deep"}\n{"text": "salt"}\n')
    path = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[2])])
    environment = os.environ | {"PYTHONPATH": path, "BERTDATA_PLUGINS": "toy_task", "COLUMNS": "1000"}

    def python(*arguments: str) -> str:
        command = [sys.executable, *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
        assert (done.returncode, done.stderr[-3000:]) == (0, "")
        return done.stdout

    assert "count-words: how many words a text has" in python("-m", "bertdata", "encode-task", "--help")
    flags = ["--task", "count-words", "--vocab", "bertdata-30k-uncased", "--output", "out"]
    assert "up to 32 tokens" in python("-m", "bertdata", "encode-task", "--train", "x.jsonl", *flags)
    python("-m", "bertdata", "verify", "out")
    assert python("-c", LOAD) == "[(1, 3), (2, 4), (4, 6)]\n"
