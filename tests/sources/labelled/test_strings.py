"""The texts of a file, in each format that holds labelled data."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bertdata import InputError
from bertdata.sources.labelled.strings import texts_of

ROW = {"premise": "It rains.", "label": 1, "choices": ["yes", "no"]}


def test_every_format_gives_its_texts(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps(ROW) + "\n")
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(json.dumps(ROW).encode()))
    pq.write_table(pa.Table.from_pylist([ROW]), tmp_path / "a.parquet")
    for name in ("a.jsonl", "a.jsonl.gz", "a.parquet"):
        assert list(texts_of(str(tmp_path / name))) == ["It rains.", "yes no"]


def test_tables_without_a_header_lose_no_row(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("gj04\t1\t\tOne more sentence.\nb\t0\t\tAnother.\n")
    assert "One more sentence." in list(texts_of(str(tmp_path / "a.tsv")))
    (tmp_path / "a.csv").write_text('text,label\n"One, two.",x\n')
    assert "One, two." in list(texts_of(str(tmp_path / "a.csv")))


def test_json_gives_contexts_questions_and_answers(tmp_path: Path) -> None:
    questions = [{"question": "Who?", "answers": [{"text": "Ada", "answer_start": 0}], "id": "q"}]
    squad = {"version": "1.1", "data": [{"title": "T", "paragraphs": [{"context": "Ada wrote.", "qas": questions}]}]}
    (tmp_path / "dev.json").write_text(json.dumps(squad))
    assert list(texts_of(str(tmp_path / "dev.json"))) == ["1.1", "T", "Ada wrote.", "Who?", "Ada", "q"]


def test_json_lines_that_are_called_json_give_theirs(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(f"{json.dumps(ROW)}\n" * 2)
    assert list(texts_of(str(tmp_path / "a.json"))) == ["It rains.", "yes no"] * 2


def test_tagged_words_are_a_text_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.conll").write_text("Ada NNP\nwrote VBD\n\nWell UH\n")
    assert list(texts_of(str(tmp_path / "a.conll"))) == ["Ada wrote", "Well"]


def test_a_blank_line_ends_a_plain_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One\ntwo.\n \n\nThree.\n")
    assert list(texts_of(str(tmp_path / "a.txt"))) == ["One\ntwo.", "Three."]


def test_lines_of_equally_many_tabs_are_a_table_whatever_the_ending(tmp_path: Path) -> None:
    (tmp_path / "SICK.txt").write_text("id\tsentence_A\tsentence_B\n1\tA man sings.\tA man is silent.\n")
    cells = ["id", "sentence_A", "sentence_B", "1", "A man sings.", "A man is silent."]
    assert list(texts_of(str(tmp_path / "SICK.txt"))) == cells
    (tmp_path / "test.txt").write_text("1\tAda\tB-PER\n2\twrote\tO\n\n1\tWell\tO\n")
    assert list(texts_of(str(tmp_path / "test.txt"))) == ["1 2", "Ada wrote", "B-PER O", "1", "Well", "O"]
    (tmp_path / "test.bio").write_text("Ada B-PER\nwrote O\n\nWell O\n")
    assert list(texts_of(str(tmp_path / "test.bio"))) == ["Ada wrote", "B-PER O", "Well", "O"]


def test_lines_of_fasttext_are_a_text_each(tmp_path: Path) -> None:
    (tmp_path / "cooking.valid").write_text("__label__sauce How much?\n__label__bread Which one?\n")
    assert list(texts_of(str(tmp_path / "cooking.valid"))) == ["How much?", "sauce", "Which one?", "bread"]


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    for text, problem in (("{", "the file was cut off"), ('{"a": b}', "is not JSON"), (" \n", "white space alone")):
        (tmp_path / "a.json").write_text(text)
        with pytest.raises(InputError, match=rf"a\.json.*{problem}"):
            list(texts_of(str(tmp_path / "a.json")))
