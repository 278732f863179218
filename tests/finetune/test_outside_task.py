"""A fine-tuning task of a package outside bertdata: encoded, verified, and opened by the loader."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from bertdata.errors import ConfigError
from bertdata.finetune import TASKS
from bertdata.finetune.classification import CLASSIFICATION
from bertdata.finetune.layout import Encoded
from bertdata.finetune.settings import TaskConfig
from bertdata.finetune.task_info import TaskInfo
from bertdata.finetune.task_shards import encode_task, write_task_shard
from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer
from tests.outside import Outside

TOKENIZER = WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, "a"])
OUTSIDE = """
import pyarrow as pa

from bertdata.sources.labelled.labelled_files import read_rows
from bertdata.finetune.classification import encode_classification
from bertdata.finetune.layout import Encoded
from bertdata.finetune.layout import TaskSplit
from bertdata.finetune import TASKS
from bertdata.finetune.task import Task
from tests.outside import Outside


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


@pytest.mark.costly
def test_a_package_outside_adds_a_task(tmp_path: Path) -> None:
    outside = Outside.write(tmp_path, "toy_task", OUTSIDE)
    (tmp_path / "x.jsonl").write_text('{"text": "the sea"}\n{"text": "the sea is deep"}\n{"text": "salt"}\n')
    flags = ["--task", "count-words", "--vocab", "bertdata-30k-uncased", "--output", "out"]
    ran = outside.ran(["encode-task", "--help-all"], ["encode-task", "--train", "x.jsonl", *flags], ["verify", "out"])
    assert [(process.returncode, process.stderr) for process in ran] == [(0, "")] * 3
    assert "count-words: how many words a text has" in ran[0].stdout
    assert "up to 32 tokens" in ran[1].stdout
    assert outside.python(LOAD) == "[(1, 3), (2, 4), (4, 6)]\n"


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"label": pa.array([1, 2])},
        {"label": pa.array(["x"])},
    ],
)
def test_an_encoder_that_gives_other_columns_than_its_task_declares_is_told_so(columns: dict[str, pa.Array]) -> None:
    rows = {"input_ids": [[2, 3]], "token_type_ids": [[0, 0]]}
    info = TaskInfo.of(TOKENIZER, task="classification", labels=("x", "y"), max_seq_length=8)
    kinds = {"input_ids": pa.list_(pa.uint16()), "token_type_ids": pa.list_(pa.uint8())}
    encoded = Encoded({name: pa.array(rows[name], kinds[name]) for name in rows} | columns)
    with pytest.raises(
        ConfigError, match=r"the task gives the columns input_ids .*; expected input_ids .*label \(int64"
    ):
        write_task_shard([encoded], info, 0, BytesIO())


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"columns": (("label", pa.int64()), ("label", pa.int32()))}, "has the column 'label' twice"),
        ({"columns": (("input_ids", pa.int64()),), "batch_numbers": {}}, "has the column 'input_ids' twice"),
        ({"batch_lists": ("tags",)}, "has no column 'tags'"),
    ],
)
def test_a_task_with_columns_that_do_not_go_together_is_refused(changes: dict[str, object], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        replace(CLASSIFICATION, **changes)  # type: ignore[arg-type]


def test_a_task_that_gives_labels_twice_or_other_splits_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    TOKENIZER.save_pretrained(tmp_path / "vocab")
    (tmp_path / "a.jsonl").write_text('{"text": "a", "label": "x"}\n{"text": "a", "label": "y"}\n')

    answers: list[Any] = [lambda labels, splits: (labels * 2, splits), lambda labels, splits: (labels, {})]
    for answer in answers:
        task = replace(CLASSIFICATION, read=lambda *given, answer=answer: answer(*CLASSIFICATION.read(*given)))
        monkeypatch.setitem(TASKS._items, "toy", task)
        with pytest.raises(
            ConfigError, match=r"the task toy gives the splits .* expected the splits train, and labels"
        ):
            encode_task(
                tmp_path / "out", str(tmp_path / "vocab"), {"train": str(tmp_path / "a.jsonl")}, TaskConfig("toy")
            )
