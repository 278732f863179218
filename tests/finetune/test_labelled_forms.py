"""Every row of the tables of docs/reference/labelled-files.md: the file is read as it says, or refused so."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bertdata.cli import encode_task
from bertdata.errors import BertDataError, naming_flags
from bertdata.finetune import TASKS
from bertdata.finetune.multiple_choice import second_texts
from bertdata.finetune.settings import TaskConfig
from bertdata.options.request import settings_from
from bertdata.sources.labelled.column_files import Sentence
from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "labelled-files.md"


def rows(title: str) -> list[tuple[str, ...]]:
    """Return the rows of the table under a title: what, task, file, flags, content and outcome."""
    section = PAGE.read_text().split(f"## {title}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [tuple(cell if number < 2 else code(cell) for number, cell in enumerate(row)) for row in cells]


def code(cell: str) -> str:
    """Return what a cell has between its signs of code."""
    if cell.startswith("``"):
        return cell[2:-2].strip().replace("\\|", "|")
    return cell.strip("`").replace("\\|", "|")


SIGNS = [chr(sign) for sign in range(33, 127)]
TOKENIZER = WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, *SIGNS, *(f"##{sign}" for sign in SIGNS)])
READ, REFUSED = rows("What is read"), rows("What is refused")


def examples(folder: Path, task: str, name: str, flags: str, content: str) -> str:
    """Return the examples that the command's reader gives of a file of this content, as the page writes them."""
    (folder / name).write_text(content.replace("\\n", "\n").replace("\\t", "\t"))
    parser = argparse.ArgumentParser()
    encode_task.add_arguments(parser)
    needed = ["--task", task, "--train", str(folder / name), "--vocab", "", "--output", ""]
    given = parser.parse_args([*needed, *shlex.split(flags)])
    columns = encode_task.columns_from(given)
    labels, splits = TASKS[task].read({"train": given.train}, TOKENIZER, settings_from(given, TaskConfig), columns)
    read: list[Any] = list(splits["train"].read())
    encoded = splits["train"].encode(read).columns
    shown = [SHOWN[task](example) for example in read]
    if "label" in encoded:
        ids = encoded["label"].to_pylist()
        return "; ".join(
            f"{text}/{labels[sentence] if labels else sentence}" for text, sentence in zip(shown, ids, strict=True)
        )
    if "label_ids" in encoded:
        several = zip(shown, encoded["label_ids"].to_pylist(), strict=True)
        return "; ".join(f"{text}/{' '.join(labels[token_id] for token_id in ids)}" for text, ids in several)
    if task == "token-classification":
        learned = {labels[label] for label in encoded["labels"].flatten().to_pylist() if label >= 0}
        assert (
            learned
            == set(labels)
            == {word.rpartition("/")[2] for sentence in shown for word in sentence.split()} - {""}
        )
    return "; ".join(shown)


def words(sentence: Sentence) -> str:
    tags = sentence.tags or (None,) * len(sentence.words)
    return " ".join(f"{word}/{'' if tag is None else tag}" for word, tag in zip(sentence.words, tags, strict=True))


SHOWN: dict[str, Callable[[Any], str]] = {
    "token-classification": words,
    "classification": lambda one: one.text if one.pair is None else f"{one.text} + {one.pair}",
    "multi-label-classification": lambda one: one.text,
    "multiple-choice": lambda one: f"{one.text}: {' or '.join(second_texts(one))}",
    "sentence-similarity": lambda one: " + ".join(one.texts),
    "question-answering": lambda one: f"{one.id}: {', '.join(f'{text}@{start}' for text, start in one.answers)}",
}


@pytest.mark.parametrize(("what", "task", "name", "flags", "content", "outcome"), READ, ids=[row[0] for row in READ])
def test_a_file_that_others_write_is_read_as_they_mean_it(
    tmp_path: Path, what: str, task: str, name: str, flags: str, content: str, outcome: str
) -> None:
    assert examples(tmp_path, task, name, flags, content).strip() == outcome.strip()


@pytest.mark.parametrize(
    ("what", "task", "name", "flags", "content", "error"), REFUSED, ids=[row[0] for row in REFUSED]
)
def test_a_file_that_cannot_be_meant_so_is_refused_with_its_line(
    tmp_path: Path, what: str, task: str, name: str, flags: str, content: str, error: str
) -> None:
    with naming_flags(), pytest.raises(BertDataError) as caught:
        examples(tmp_path, task, name, flags, content)
    assert error in str(caught.value)
