"""Files of public data sets whose rows are no examples: the message names a program, whose rows are read."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bertdata.errors import BertDataError
from bertdata.finetune.sentence_embedding import PAIR_COLUMNS, read_groups
from bertdata.finetune.settings import Columns
from bertdata.finetune.squad import read_questions as read_answers
from bertdata.sources.labelled.choices import read_questions
from bertdata.sources.labelled.conll import read_sentences
from bertdata.sources.labelled.labelled_texts import read_classes
from bertdata.sources.labelled.other_forms import FORMS, unfolding

SLOTS = {
    "Play": [
        {"data": [{"text": "play "}, {"text": "Zoë Sea", "entity": "song"}, {"text": "."}]},
        {"data": [{"text": "stop"}]},
    ]
}
UTTERANCES = [
    {"partition": "test", "utt": "left out", "annot_utt": "left out"},
    {"partition": "train", "utt": "wake me at five 🙂 now", "annot_utt": "wake me at [time : five 🙂] now"},
]
ANSWERS = [{"text": "Ann", "idx": 0, "label": 1}, {"text": "Bo", "idx": 1, "label": 0}]
PASSAGES = [{"idx": 0, "passage": {"text": "Ann left.", "questions": [{"question": "Who?", "answers": ANSWERS}]}}]
QUERIES = [
    {
        "passage": {"text": "🙂 Ann left.", "entities": [{"start": 2, "end": 4}]},
        "qas": [{"query": "@placeholder left", "answers": [{"start": 2, "end": 4, "text": "Ann"}], "idx": 7}],
    }
]
SPAN = {"text": "ann", "char_spans": [[2, 4]]}
CONTEXTS = [
    {"header": {"dataset": "x"}},
    {
        "context": "🙂 Ann left.",
        "qas": [{"qid": "a", "question": "Who?", "answers": ["ann"], "detected_answers": [SPAN]}],
    },
]
STORIES = {
    "data": [
        {
            "storyId": "s",
            "text": "🙂 Ann left.",
            "questions": [
                {"q": "Who?", "consensus": {"s": 2, "e": 5}},
                {"q": "Why?", "consensus": {"noAnswer": True}},
                {"q": "?", "consensus": {"badQuestion": True}},
            ],
        }
    ]
}
DIALOGUES = [[["W: Hi.", "M: Yes."], [{"question": "Who?", "choice": ["A.", "B."], "answer": "B."}], "4-1"]]
SPLITS = {"train": [["Hi", "greeting"]], "val": [["x", "y"]], "oos_train": [["Who", "oos"]], "oos_val": []}


def lines(rows: list[Any]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def words(path: Path) -> list[Any]:
    return [list(zip(sentence.words, sentence.tags or (), strict=True)) for sentence in read_sentences(str(path))]


def classes(path: Path) -> list[Any]:
    return [(text.text, text.pair, text.label) for text in read_classes(str(path))]


def intents(path: Path) -> list[Any]:
    return [(text.text, text.label) for text in read_classes(str(path), label_column="intent")]


def answers(path: Path) -> list[Any]:
    return [(asked.id, asked.question, asked.context, asked.answers) for asked in read_answers(str(path))]


def choices(path: Path) -> list[Any]:
    return [(asked.text, asked.pair, asked.label.texts, asked.label.answer) for asked in read_questions(str(path))]


CASES: list[tuple[str, str, Callable[[Path], list[Any]], list[Any]]] = [
    ("train.json", json.dumps(SPLITS), classes, [("Hi", None, "greeting"), ("Who", None, "oos")]),
    (
        "slots.json",
        json.dumps(SLOTS, indent=2),
        words,
        [[("play", "O"), ("Zoë", "B-song"), ("Sea", "I-song"), (".", "O")], [("stop", "O")]],
    ),
    ("intents.json", json.dumps(SLOTS), intents, [("play Zoë Sea.", "Play"), ("stop", "Play")]),
    (
        "en-US.jsonl",
        lines(UTTERANCES),
        words,
        [[("wake", "O"), ("me", "O"), ("at", "O"), ("five", "B-time"), ("🙂", "I-time"), ("now", "O")]],
    ),
    ("multirc.jsonl", lines(PASSAGES), classes, [("Ann left.", "Who? Ann", 1), ("Ann left.", "Who? Bo", 0)]),
    ("record.jsonl", lines(QUERIES), answers, [("7", "@placeholder left", "🙂 Ann left.", (("Ann", 2),))]),
    (
        "record.json",
        json.dumps({"data": QUERIES}),
        answers,
        [("7", "@placeholder left", "🙂 Ann left.", (("Ann", 2),))],
    ),
    ("mrqa.jsonl", lines(CONTEXTS), answers, [("a", "Who?", "🙂 Ann left.", (("Ann", 2),))]),
    (
        "newsqa.json",
        json.dumps(STORIES),
        answers,
        [("s-0", "Who?", "🙂 Ann left.", (("Ann", 2),)), ("s-1", "Why?", "🙂 Ann left.", ())],
    ),
    ("dream.json", json.dumps(DIALOGUES), choices, [("W: Hi.\n\nM: Yes.", "Who?", ("A.", "B."), "B.")]),
]


@pytest.mark.skipif(not shutil.which("jq"), reason="runs jq")
@pytest.mark.parametrize(("name", "content", "read", "examples"), CASES, ids=[case[0] for case in CASES])
def test_what_the_message_says_makes_examples(
    tmp_path: Path, name: str, content: str, read: Callable[[Path], list[Any]], examples: list[Any]
) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(BertDataError) as caught:
        read(path)
    [program] = re.findall(r"jq -c '(.*)' FILE > NEW\.jsonl", str(caught.value))
    new = tmp_path / "new.jsonl"
    new.write_bytes(subprocess.run(["jq", "-c", program, str(path)], check=True, stdout=subprocess.PIPE).stdout)
    assert read(new) == examples


@pytest.mark.skipif(not shutil.which("awk") or not shutil.which("paste"), reason="runs paste and awk")
def test_texts_and_tags_in_files_of_their_own_become_words_as_the_message_says(tmp_path: Path) -> None:
    (tmp_path / "seq.in").write_text("play the sea\nrain ?\n")
    (tmp_path / "seq.out").write_text("O O B-song\nO O\n")
    with pytest.raises(BertDataError) as caught:
        list(read_sentences(str(tmp_path / "seq.out")))
    [command] = re.findall(r"(paste seq.in seq.out .* > NEW.iob)", str(caught.value))
    subprocess.run(["sh", "-c", command], check=True, cwd=tmp_path)
    tagged = [[("play", "O"), ("the", "O"), ("sea", "B-song")], [("rain", "O"), ("?", "O")]]
    assert words(tmp_path / "NEW.iob") == tagged


def test_ids_of_queries_and_texts_become_texts_as_the_message_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = [{"_id": "MED-1", "title": "Salz", "text": "Ös."}, {"_id": "7", "title": "", "text": "b"}]
    (tmp_path / "corpus.jsonl").write_text(lines(texts), "utf-8")
    (tmp_path / "queries.jsonl").write_text(lines([{"_id": "q1", "text": "why"}, {"_id": "q2", "text": "how"}]))
    judged = tmp_path / "train.tsv"
    judged.write_text("query-id\tcorpus-id\tscore\nq1\tMED-1\t1\nq2\t7\t2\nq1\t7\t0\n")
    with pytest.raises(BertDataError) as caught:
        list(read_groups(str(judged), PAIR_COLUMNS, Columns(("query-id", "corpus-id"))))
    [code] = re.findall(r'python -c "(.*)" corpus.jsonl queries.jsonl FILE', str(caught.value))
    given = [str(tmp_path / name) for name in ("corpus.jsonl", "queries.jsonl", "train.tsv")]
    monkeypatch.setattr(sys, "argv", ["-c", *given])
    exec(code, {})
    new = tmp_path / "new.jsonl"
    new.write_text(capsys.readouterr().out)
    groups = read_groups(str(new), PAIR_COLUMNS, Columns())
    assert [group.texts for group in groups] == [("why", "Salz Ös."), ("how", "b")]


def test_spans_of_passages_become_answers_as_the_message_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spans = [["Bo"], ["3"], [], ["Ann", "Bo"]]
    asked = [{"question": "Who?", "query_id": f"q{n}", "answer": {"spans": spans[n]}} for n in range(4)]
    path = tmp_path / "train.json"
    path.write_text(json.dumps({"n_1": {"passage": "🙂 Ann, Bo.", "qa_pairs": asked}, "n_2": {}}), "utf-8")
    with pytest.raises(BertDataError, match="no list `data`; it holds passages with questions, as DROP") as caught:
        list(read_answers(str(path)))
    [code] = re.findall(r'python -c "(.*)" FILE', str(caught.value))
    path.write_text(json.dumps({"n_1": {"passage": "🙂 Ann, Bo.", "qa_pairs": asked}}), "utf-8")
    monkeypatch.setattr(sys, "argv", ["-c", str(path)])
    exec(code, {})
    new = tmp_path / "new.jsonl"
    new.write_text(capsys.readouterr().out)
    [question] = read_answers(str(new))
    assert (question.id, question.answers) == ("q0", (("Bo", 7),))


def test_questions_without_their_texts_are_told_by_it(tmp_path: Path) -> None:
    path = tmp_path / "train.json"
    path.write_text(json.dumps({"Data": [{"QuestionId": "tc_1", "Question": "Who?"}], "Version": 1.0}))
    with pytest.raises(BertDataError, match="texts are in other files, as TriviaQA; expected texts and the places"):
        list(read_answers(str(path)))


@pytest.mark.parametrize(
    "value", [{"text": "a", "passage": "b"}, {"data": []}, {"a": [{"data": "x"}]}, [], [1, 2], "a"]
)
def test_other_values_are_of_no_known_form(value: Any) -> None:
    assert unfolding(value) == ""


def test_every_form_is_tried() -> None:
    firsts = [SPLITS, UTTERANCES[0], PASSAGES[0], QUERIES[0], CONTEXTS[0], STORIES["data"][0]]
    assert {what for _, what, _ in FORMS} == {
        unfolding(first)[len("it holds ") :].partition(";")[0] for first in firsts
    }
