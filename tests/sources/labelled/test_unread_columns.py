"""Columns that a task does not read: named, and refused where its examples have another sense without them."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from bertdata.cli.encode_task import column_rows
from bertdata.errors import ConfigError, InputError, naming_flags
from bertdata.finetune.sentence_embedding import PAIR_COLUMNS, read_groups
from bertdata.finetune.settings import Columns
from bertdata.sources.labelled.labelled_texts import read_classes

WIC = {"word": "run", "sentence1": "Run!", "sentence2": "She ran.", "label": 0, "start1": 0, "end1": 3}
NLI: list[dict[str, object]] = [
    {"premise": text, "hypothesis": text, "label": label}
    for text, label in (("A.", "entailment"), ("B.", "neutral"), ("C.", "entailment"))
]


def jsonl(path: Path, *rows: dict[str, object]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@pytest.mark.parametrize(
    ("task", "columns", "rows"),
    [
        (
            "classification",
            Columns(("sentence1", "{word}: {sentence2}")),
            [("columns", "sentence1, {word}: {sentence2}, label"), ("  not read", "start1, end1")],
        ),
        (
            "regression",
            Columns(("sentence1",), "start1"),
            [("columns", "sentence1, start1"), ("  not read", "word, sentence2, label, end1")],
        ),
        (
            "multi-label-classification",
            Columns(("sentence1", "sentence2"), label_columns=("label", "start1")),
            [("columns", "sentence1, sentence2, label, start1"), ("  not read", "word, end1")],
        ),
        (
            "sentence-similarity",
            Columns(),
            [("columns", "sentence1, sentence2, label"), ("  not read", "word, start1, end1")],
        ),
        (
            "sentence-pairs",
            Columns(),
            [("columns", "sentence1, sentence2"), ("  not read", "word, label, start1, end1")],
        ),
        (
            "multiple-choice",
            Columns(("word",), choice_columns=("sentence1", "sentence2")),
            [("columns", "word, sentence1, sentence2, label"), ("  not read", "start1, end1")],
        ),
        ("token-classification", Columns(), []),
    ],
)
def test_a_summary_says_which_columns_were_read_and_which_were_not(
    tmp_path: Path, task: str, columns: Columns, rows: list[tuple[str, str]]
) -> None:
    assert column_rows(jsonl(tmp_path / "a.jsonl", WIC), task, columns) == rows


def test_a_place_in_an_object_is_the_column_of_the_object_and_no_row_is_shown_where_all_are_read(
    tmp_path: Path,
) -> None:
    path = jsonl(tmp_path / "a.jsonl", {"turn": {"text": "A.", "more": 1}, "label": "x"})
    assert column_rows(path, "classification", Columns(("turn.text",))) == [("columns", "turn.text, label")]
    (tmp_path / "a.csv").write_text("3,Oil,It rose.,7\n")
    assert column_rows(str(tmp_path / "a.csv"), "classification", Columns(("{2} {3}",), "1")) == [
        ("columns", "{2} {3}, 1"),
        ("  not read", "4"),
    ]


def test_the_flags_that_a_refusal_of_part_of_a_text_names_are_taken(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", WIC)
    with naming_flags(), pytest.raises(ConfigError) as caught:
        list(read_classes(path))
    first, second = re.findall(r"--text-columns (.*?)(?=, or|$)", str(caught.value))
    [text] = read_classes(path, shlex.split(first))
    assert (text.text, text.pair) == ("Run!", "run: She ran.")
    [text] = read_classes(path, shlex.split(second))
    assert (text.text, text.pair) == ("Run!", "She ran.")


@pytest.mark.parametrize("label", ["word", "pronoun"])
def test_a_column_of_that_name_that_is_the_label_or_missing_is_no_part_of_the_text(tmp_path: Path, label: str) -> None:
    path = jsonl(tmp_path / "a.jsonl", {"text": "A.", label: "x", "span1_text": None, "span2_text": "A"})
    assert [text.label for text in read_classes(path, label_column=label)] == ["x"]


@pytest.mark.skipif(not shutil.which("jq"), reason="runs jq")
def test_pairs_with_labels_that_differ_are_refused_and_those_that_the_command_takes_are_read(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "a.jsonl", *NLI)
    with (
        naming_flags(),
        pytest.raises(InputError, match="line 1 has 'entailment' in 'label', line 2 'neutral'") as caught,
    ):
        list(read_groups(path, PAIR_COLUMNS, Columns()))
    command = re.findall(r"jq -c '.*' FILE > NEW", str(caught.value))[0]
    new = str(tmp_path / "new.jsonl")
    subprocess.run(["bash", "-c", command.replace("FILE", path).replace("NEW", new)], check=True)
    assert [group.texts[0] for group in read_groups(new, PAIR_COLUMNS, Columns())] == ["B."]
    assert len(list(read_groups(path, PAIR_COLUMNS, Columns(("premise", "hypothesis"))))) == 3
