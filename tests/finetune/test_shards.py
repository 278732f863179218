"""`bertdata encode-task`: the shards of every task are read by what reads those of pretraining."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bertdata.cli.main import dispatch
from bertdata.engine.origin import ORIGIN
from bertdata.errors import ConfigError, InputError
from bertdata.finetune import TASKS
from bertdata.finetune.settings import Columns, TaskConfig
from bertdata.finetune.task_info import TaskInfo
from bertdata.finetune.task_shards import encode_task
from bertdata.loader import ShardExamples, numpy_batches
from bertdata.shards import open_shards
from bertdata.shards.schema import ShardInfo
from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer
from bertdata.verify.build import verify

WORDS = ("the", "salt", "##y", "sea", "holds", "a", "boat", "who", "what", "?", ".", ",", "good", "bad")
TOKENIZER = WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, *WORDS])
CONTEXT = "The sea holds a boat. The boat holds salt, a salty sea."
CONLL = "-DOCSTART- O\n\nThe O\nsalty B-SEA\nsea I-SEA\n\nsea B-SEA\n\n-DOCSTART- O\n\nboat O\n"
SQUAD = {
    "data": [
        {
            "paragraphs": [
                {
                    "context": CONTEXT,
                    "qas": [
                        {"id": "q1", "question": "What holds a boat?", "answers": [{"text": "sea", "answer_start": 4}]},
                        {"id": "q2", "question": "Who?", "answers": [], "is_impossible": True},
                    ],
                }
            ]
        }
    ]
}


KINDS = [name for name in TASKS if not name.startswith("glue/")]
"""The tasks but those of GLUE, which are written as classification and regression are (`test_glue.py`)."""


MULTI_LABEL = "".join(
    json.dumps({"text": text, "labels": labels}) + "\n"
    for text, labels in (("The sea", ["wet", "salt"]), ("salt", ["salt"]), ("A boat.", []))
)


CHOICES = "".join(
    json.dumps({"question": "The sea", "choices": ["holds salt", "a boat", "sea"][:number], "answer": number - 1})
    + "\n"
    for number in (2, 3, 3)
)


@pytest.fixture
def vocab(tmp_path: Path) -> str:
    TOKENIZER.save_pretrained(tmp_path / "vocab")
    return str(tmp_path / "vocab")


def source(folder: Path, task: str) -> str:
    """Write a small file of a task and return its path."""
    name, text = {
        "classification": ("texts.csv", "text,text_pair,label\nThe sea,a boat,good\nsalt,,bad\nA boat.,sea,bad\n"),
        "multi-label-classification": ("labels.jsonl", MULTI_LABEL),
        "multiple-choice": ("choices.jsonl", CHOICES),
        "regression": ("scores.csv", "text,text_pair,label\nThe sea,a boat,1.5\nsalt,,-2\nA boat.,sea,0\n"),
        "token-classification": ("words.conll", CONLL),
        "question-answering": ("squad.json", json.dumps(SQUAD)),
        "sentence-pairs": ("pairs.csv", "anchor,positive\nThe sea,a boat\nsalt,water\nA boat.,sea\n"),
        "sentence-triplets": ("triplets.tsv", "anchor\tpositive\tnegative\n" + "The sea\ta boat\tsalt salt .\n" * 3),
        "sentence-similarity": ("similar.csv", "sentence1,sentence2,score\nsea,boat,1\nsea,salt,-1\nsalt,sea,0.5\n"),
    }[task]
    (folder / name).write_text(text)
    return str(folder / name)


def encoded(folder: Path, task: str, vocab: str, **settings: Any) -> Path:
    path = source(folder, task)
    config = TaskConfig(task=task, **({"max_seq_length": 12, "doc_stride": 2} | settings))
    encode_task(folder / "out", vocab, {"train": path, "validation": path}, config, force=True)
    return folder / "out"


@pytest.mark.parametrize("task", KINDS)
def test_the_reader_tells_the_task_and_how_rows_were_made(tmp_path: Path, vocab: str, task: str) -> None:
    shards = open_shards(encoded(tmp_path, task, vocab), "validation")
    info = shards.info
    assert isinstance(info, TaskInfo)
    labels = {
        "classification": ("bad", "good"),
        "multi-label-classification": ("salt", "wet"),
        "multiple-choice": ("0", "1", "2"),
        "token-classification": ("B-SEA", "I-SEA", "O"),
    }.get(task, ())
    assert (info.task, info.labels, info.max_seq_length) == (task, labels, 12)
    assert info.id2label == dict(enumerate(labels))
    assert info.doc_stride == (2 if task == "question-answering" else 0)
    assert shards.tokenizer() == TOKENIZER
    values = json.loads(shards.table.schema.metadata[b"bertdata"])
    assert values == shards.manifest["info"]
    assert values["tokenizer"] == TOKENIZER.fingerprint
    assert values["cls_token_id"] == TOKENIZER.cls_token_id


@pytest.mark.parametrize("task", KINDS)
def test_datasets_opens_the_folder_with_the_same_rows(tmp_path: Path, vocab: str, task: str) -> None:
    datasets = pytest.importorskip("datasets")
    out = encoded(tmp_path, task, vocab)
    opened = datasets.load_from_disk(str(out))
    assert set(opened) == {"train", "validation"}
    assert opened["train"].data.table.to_pylist() == open_shards(out).table.to_pylist()


@pytest.mark.parametrize("task", KINDS)
def test_shards_of_any_size_hold_the_same_rows(tmp_path: Path, vocab: str, task: str) -> None:
    whole = open_shards(encoded(tmp_path, task, vocab)).table.to_pylist()
    cut = open_shards(encoded(tmp_path, task, vocab, shard_examples=1))
    assert len(cut.paths) == cut.manifest["splits"]["train"]["counts"].get("questions", 3)
    assert cut.table.to_pylist() == whole
    assert [row["example_id"] for row in whole] == list(range(len(whole)))


def many(folder: Path, task: str, examples: int) -> str:
    """Write a file with so many examples of a task, no two alike, and return its path."""
    rows: dict[str, Any] = {
        "classification": lambda n: {"text": "the sea " * (n % 7 + 1), "label": ("bad", "good")[n % 2]},
        "regression": lambda n: {"text": "the sea " * (n % 7 + 1), "label": n / 4},
        "token-classification": lambda n: {"tokens": ["salty", "sea"] * (n % 5 + 1), "tags": [n % 3, 0] * (n % 5 + 1)},
        "question-answering": lambda n: {
            "id": f"q{n}",
            "question": "what holds ?",
            "context": "a boat . " * (n % 9 + 1),
            "answers": {"text": ["boat"], "answer_start": [2]},
        },
        "sentence-pairs": lambda n: {"anchor": "the sea " * (n % 7 + 1), "positive": "salt " * (n % 4 + 1)},
        "sentence-triplets": lambda n: {"anchor": "sea", "positive": "salt " * (n % 9 + 1), "negative": "boat"},
        "sentence-similarity": lambda n: {"text": "sea " * (n % 5 + 1), "text_pair": "salt", "score": n % 7 / 7},
    }  # fmt: skip
    path = folder / f"{task}-{examples}.jsonl"
    path.write_text("".join(json.dumps(rows[task](number)) + "\n" for number in range(examples)))
    return str(path)


@pytest.mark.costly
@pytest.mark.parametrize(
    "task",
    [
        pytest.param(task, marks=[] if task in ("question-answering", "token-classification") else [pytest.mark.slow])
        for task in KINDS
    ],
)
def test_the_bytes_do_not_depend_on_how_many_examples_are_held_at_a_time(
    tmp_path: Path, vocab: str, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, config = (
        many(tmp_path, task, 2500),
        TaskConfig(task=task, max_seq_length=12, doc_stride=2, shard_examples=1100),
    )
    digests = []
    for held in (4096, 1000, 7):
        monkeypatch.setattr("bertdata.finetune.task_shards.EXAMPLES_AT_ONCE", held)
        encode_task(tmp_path / "out", vocab, {"train": path, "validation": path}, config)
        files = sorted(path for path in (tmp_path / "out").rglob("*") if path.is_file())
        digests.append({str(file.relative_to(tmp_path)): file.read_bytes() for file in files})
    assert len([name for name in digests[0] if name.endswith(".arrow")]) == 6
    assert digests[0] == digests[1] == digests[2]


@pytest.mark.costly
@pytest.mark.parametrize(
    "task",
    [
        pytest.param(task, marks=[] if task in ("question-answering", "token-classification") else [pytest.mark.slow])
        for task in KINDS
    ],
)
def test_memory_does_not_grow_with_the_number_of_examples(
    tmp_path: Path, vocab: str, task: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bertdata.finetune.task_shards.EXAMPLES_AT_ONCE", 200)
    monkeypatch.setattr("bertdata.finetune.task_shards.ROWS_PER_GROUP", 200)
    config, peaks = TaskConfig(task=task, max_seq_length=12, doc_stride=2, shard_examples=400), []
    for run, examples in enumerate((400, 400, 2400)):
        path = many(tmp_path, task, examples)
        before = pa.total_allocated_bytes()
        tracemalloc.start()
        encode_task(tmp_path / f"out-{run}", vocab, {"train": path}, config)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert pa.total_allocated_bytes() - before < 1 << 20
    ids = 2000 * 200 if task == "question-answering" else 0
    assert peaks[2] < 1.1 * peaks[1] + ids


def test_a_file_that_changes_while_it_is_read_is_refused(
    tmp_path: Path, vocab: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, task = many(tmp_path, "classification", 10), TASKS["classification"]

    def longer(*arguments: Any) -> Any:
        rows_read = task.read(*arguments)
        many(tmp_path, "classification", 11)
        Path(path).write_text((tmp_path / "classification-11.jsonl").read_text())
        return rows_read

    monkeypatch.setitem(TASKS._items, "classification", replace(task, read=longer))
    with pytest.raises(InputError, match="changed while it was read: it had"):
        encode_task(tmp_path / "out", vocab, {"train": path}, TaskConfig(max_seq_length=12))
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_a_batch_of_texts_has_their_classes_as_labels(tmp_path: Path, vocab: str) -> None:
    [batch] = numpy_batches(open_shards(encoded(tmp_path, "classification", vocab)), 8)
    assert set(batch) == {"input_ids", "token_type_ids", "attention_mask", "labels"}
    assert batch["labels"].dtype == np.int64
    assert sorted(batch["labels"].tolist()) == [0, 0, 1]


def test_a_batch_of_words_has_a_label_for_each_token_and_padding_has_none(tmp_path: Path, vocab: str) -> None:
    shards = open_shards(encoded(tmp_path, "token-classification", vocab))
    assert [row["labels"] for row in shards.table.to_pylist()] == [
        [-100, 2, 0, -100, 1, -100],
        [-100, 0, -100],
        [-100, 2, -100],
    ]
    [batch] = numpy_batches(shards, 8)
    assert batch["labels"].shape == batch["input_ids"].shape == (3, 8)
    assert (batch["labels"][batch["attention_mask"] == 0] == -100).all()


def test_a_batch_of_questions_has_the_first_and_last_token_of_answers(tmp_path: Path, vocab: str) -> None:
    examples = ShardExamples(open_shards(encoded(tmp_path, "question-answering", vocab)))
    first = examples[0]
    assert (first["question_id"], first["start_positions"], first["end_positions"]) == ("q1", 8, 8)
    assert TOKENIZER.decode([first["input_ids"][8]]) == "sea"
    assert CONTEXT[first["offsets_start"][8] : first["offsets_end"][8]] == "sea"
    [batch] = numpy_batches(examples.shards, 100)
    assert set(batch) == {"input_ids", "token_type_ids", "attention_mask", "start_positions", "end_positions"}


def test_sets_of_two_tasks_or_of_other_labels_are_not_read_together(tmp_path: Path, vocab: str) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    texts = encoded(tmp_path / "one", "classification", vocab)
    words = encoded(tmp_path / "two", "token-classification", vocab)
    with pytest.raises(ConfigError, match="has another purpose"):
        ShardExamples([texts / "train", words / "train"])


def test_regression_has_numbers_for_labels(tmp_path: Path, vocab: str) -> None:
    (tmp_path / "sts.tsv").write_text('sentence1\tsentence2\tlabel\nThe "sea\tboat\t2.5\nsalt\tsea\t4\n')
    config = TaskConfig(task="regression", max_seq_length=16)
    encode_task(tmp_path / "out", vocab, {"train": str(tmp_path / "sts.tsv")}, config)
    [batch] = numpy_batches(tmp_path / "out", 2)
    assert batch["labels"].dtype == np.float32
    assert sorted(batch["labels"].tolist()) == [2.5, 4.0]
    verify(str(tmp_path / "out"))


def test_regression_that_was_written_as_classification_without_labels_opens(tmp_path: Path, vocab: str) -> None:
    (tmp_path / "sts.csv").write_text("text,label\nsea,2.5\nsalt,4\n")
    manifest = encode_task(tmp_path / "out", vocab, {"train": str(tmp_path / "sts.csv")}, TaskConfig(task="regression"))
    info = ShardInfo.from_values(manifest["info"] | {"task": "classification"}, "x")
    assert isinstance(info, TaskInfo)
    assert (info.task, info.columns()) == ("regression", open_shards(tmp_path / "out").info.columns())


def test_a_test_file_needs_no_labels_and_others_do(tmp_path: Path, vocab: str) -> None:
    path = source(tmp_path, "classification")
    (tmp_path / "test.jsonl").write_text('{"text": "sea", "text_pair": "salt"}\n')
    encode_task(tmp_path / "out", vocab, {"train": path, "test": str(tmp_path / "test.jsonl")}, TaskConfig())
    assert open_shards(tmp_path / "out", "test")[0]["label"] == -100
    with pytest.raises(ConfigError, match=r"test\.jsonl: has no column 'label'"):
        encode_task(tmp_path / "out", vocab, {"train": path, "validation": str(tmp_path / "test.jsonl")}, TaskConfig())


def test_a_label_that_training_does_not_know_is_named_with_its_line(tmp_path: Path, vocab: str) -> None:
    path = source(tmp_path, "classification")
    (tmp_path / "other.csv").write_text("text,text_pair,label\nsea,,good\nsea,,fair\n")
    with pytest.raises(InputError, match=r"other\.csv: line 3 has the label 'fair'.* expected one of bad, good"):
        encode_task(tmp_path / "out", vocab, {"train": path, "validation": str(tmp_path / "other.csv")}, TaskConfig())
    assert not (tmp_path / "out").exists()


def test_settings_that_do_not_fit_are_refused_before_anything_is_read(tmp_path: Path) -> None:
    for settings, message in (
        ({"task": "question-answering", "max_seq_length": 128}, "`doc_stride` is 128, but rows of 128 tokens"),
        ({"task": "tagging"}, "there is no task 'tagging'; expected one of classification"),
        ({"doc_stride": "64"}, "`doc_stride` is of the type str; expected int"),
        ({"max_seq_length": 4}, "`max_seq_length` is 4; expected 8 to 65536"),
    ):
        with pytest.raises(ConfigError, match=message):
            TaskConfig(**settings)


def test_given_labels_are_ids_in_their_order(tmp_path: Path, vocab: str) -> None:
    path = source(tmp_path, "classification")
    encode_task(tmp_path / "out", vocab, {"train": path}, TaskConfig(), Columns(labels=("good", "bad", "odd")))
    assert [row["label"] for row in open_shards(tmp_path / "out").table.to_pylist()] == [0, 1, 1]


def test_the_same_file_gives_the_same_bytes_and_replaces_what_was_there(tmp_path: Path, vocab: str) -> None:
    out = encoded(tmp_path, "question-answering", vocab)
    first = {path: path.read_bytes() for path in out.rglob("*") if path.is_file() and path.name != ORIGIN}
    encoded(tmp_path, "question-answering", vocab)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file() and path.name != ORIGIN} == first
    encoded(tmp_path, "classification", vocab)
    assert not (out / "examples").exists()
    assert (out / "README.md").read_text().startswith("---\ntask_categories: [text-classification]")


def test_the_command_prints_what_was_cut_off(tmp_path: Path, vocab: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = source(tmp_path, "token-classification")
    flags = ["--train", path, "--vocab", vocab, "--output", str(tmp_path / "out"), "--max-seq-length", "8"]
    (tmp_path / "long.conll").write_text("sea O\n" * 9)
    flags += ["--validation", str(tmp_path / "long.conll")]
    assert dispatch(["encode-task", "--task", "token-classification", *flags]) == 0
    shown = capsys.readouterr().out
    assert "3 labels" in shown
    assert "truncated words     3" in shown


@pytest.mark.parametrize("task", KINDS)
def test_a_build_with_a_test_split_is_verified(tmp_path: Path, vocab: str, task: str) -> None:
    path = source(tmp_path, task)
    sources = {"test": path, "train": path, "validation": path}
    encode_task(tmp_path / "out", vocab, sources, TaskConfig(task=task, max_seq_length=12, doc_stride=2))
    verify(tmp_path / "out")
    assert json.loads((tmp_path / "out" / "dataset_dict.json").read_text()) == {
        "splits": ["train", "validation", "test"]
    }


def test_questions_whose_answers_are_all_elsewhere_are_refused(tmp_path: Path, vocab: str) -> None:
    row = {"id": "1", "question": "?", "context": "The sea.", "answers": {"text": ["sea"], "answer_start": [5]}}
    (tmp_path / "a.jsonl").write_text(json.dumps(row))
    with pytest.raises(InputError, match="1 of 1 question with answers have none that is in the context"):
        encode_task(
            tmp_path / "out", vocab, {"train": str(tmp_path / "a.jsonl")}, TaskConfig(task="question-answering")
        )
    assert not (tmp_path / "out" / "manifest.json").exists()
