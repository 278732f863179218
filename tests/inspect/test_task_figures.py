"""What rows of a task are to learn is shown in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bertdata.finetune.settings import TaskConfig
from bertdata.finetune.task_info import TaskInfo
from bertdata.finetune.task_shards import encode_task
from bertdata.inspect.task_figures import task_examples
from bertdata.shards import open_shards

WORDS = {"tokens": ["Maria", "rows"], "ner_tags": ["B-PER", "O"]}


@pytest.mark.parametrize(
    ("task", "row", "target"),
    [
        ("token-classification", WORDS, "tags: maria/B-PER rows/O"),
        ("token-classification", WORDS | {"ner_tags": ["O", "O"]}, "tags: maria/O rows/O"),
        ("classification", {"text": "Maria rows.", "label": "boats"}, "label: boats"),
        ("regression", {"text": "Maria rows.", "label": 2.5}, "score: 2.5"),
    ],
)
def test_a_row_is_shown_with_what_is_to_be_learnt_of_it(
    tmp_path: Path, task: str, row: dict[str, Any], target: str
) -> None:
    other = WORDS if "tokens" in row else row | {"label": "rowing" if task == "classification" else 0.5}
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in (row, other)))
    config = TaskConfig(task=task, max_seq_length=32)
    encode_task(tmp_path / "task", "bertdata-30k-uncased", {"train": str(tmp_path / "rows.jsonl")}, config)
    shards = open_shards(tmp_path / "task", "train")
    assert isinstance(shards.info, TaskInfo)
    [example] = task_examples(shards, shards.info, [0])
    assert example.target == target
    assert example.texts == ("[CLS] maria rows [SEP]" if task == "token-classification" else "[CLS] maria rows. [SEP]",)
