"""`bertdata encode-task`: what is written for a task, file by file, and what the command says of it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bertdata.cli.encode_task import summary_rows, warnings_of
from bertdata.cli.main import dispatch
from bertdata.errors import ConfigError
from bertdata.finetune import task_shards as module
from bertdata.finetune.settings import TaskConfig
from bertdata.finetune.task_shards import encode_task
from bertdata.shards import open_shards
from tests.shards.build import TOKENIZER


@pytest.fixture
def vocab(tmp_path: Path) -> str:
    TOKENIZER.save_pretrained(tmp_path / "vocab")
    return str(tmp_path / "vocab")


def labelled(path: Path, number: int) -> str:
    rows = ({"text": f"salt water{'.' * (place % 3)}", "label": "xyz"[place % 3]} for place in range(number))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def asked(path: Path, number: int) -> str:
    row = {"question": "salt?", "context": "the salt water", "answers": {"text": ["salt"], "answer_start": [4]}}
    path.write_text("".join(json.dumps(row | {"id": f"q{place}"}) + "\n" for place in range(number)))
    return str(path)


@pytest.mark.costly
def test_the_manifest_names_what_was_read_and_every_shard(tmp_path: Path, vocab: str) -> None:
    sources = {"test": labelled(tmp_path / "b.jsonl", 3), "train": labelled(tmp_path / "a.jsonl", 5)}
    manifest = encode_task(tmp_path / "out", vocab, sources, TaskConfig(shard_examples=2))
    assert json.loads((tmp_path / "out" / "manifest.json").read_text()) == json.loads(json.dumps(manifest))
    assert manifest["sources"] == {
        split: {
            "name": Path(sources[split]).name,
            "bytes": Path(sources[split]).stat().st_size,
            "sha256": hashlib.sha256(Path(sources[split]).read_bytes()).hexdigest(),
        }
        for split in ("train", "test")
    }
    assert (manifest["settings"]["max_seq_length"], manifest["settings"]["shard_examples"]) == (128, 2)
    assert manifest["info"]["labels"] == ["x", "y", "z"]
    shards = manifest["splits"]["train"]["shards"]
    assert [shard["file"] for shard in shards] == [f"train/data-{place:05d}-of-00003.arrow" for place in range(3)]
    assert [shard["counts"]["examples"] for shard in shards] == [2, 2, 1]
    for shard in shards:
        data = (tmp_path / "out" / shard["file"]).read_bytes()
        assert (shard["bytes"], shard["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
    assert manifest["splits"]["train"]["counts"]["examples"] == 5
    assert open_shards(tmp_path / "out").table["example_id"].to_pylist() == [0, 1, 2, 3, 4]
    assert open_shards(tmp_path / "out", "test").table["example_id"].to_pylist() == [0, 1, 2]


def test_rows_of_questions_are_384_tokens_long_and_others_128(tmp_path: Path, vocab: str) -> None:
    paths = {"classification": labelled(tmp_path / "a.jsonl", 3), "question-answering": asked(tmp_path / "b.jsonl", 3)}
    for task, length in (("classification", 128), ("question-answering", 384)):
        manifest = encode_task(tmp_path / task, vocab, {"train": paths[task]}, TaskConfig(task=task))
        assert manifest["info"]["max_seq_length"] == length
        assert manifest["info"]["doc_stride"] == (128 if task == "question-answering" else 0)


def test_record_batches_hold_a_thousand_rows(tmp_path: Path, vocab: str) -> None:
    encode_task(tmp_path / "out", vocab, {"train": labelled(tmp_path / "a.jsonl", 2500)})
    [path] = open_shards(tmp_path / "out").paths
    with pa.memory_map(path) as file:
        batches = list(pa.ipc.open_stream(file))
        assert [batch.num_rows for batch in batches] == [1000, 1000, 500]
        assert [number for batch in batches for number in batch["example_id"].to_pylist()] == list(range(2500))


def test_questions_are_kept_as_text_in_row_groups(tmp_path: Path, vocab: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ROWS_PER_GROUP", 2)
    monkeypatch.setattr(module, "EXAMPLES_AT_ONCE", 3)
    path = asked(tmp_path / "a.jsonl", 5)
    encode_task(tmp_path / "out", vocab, {"train": path}, TaskConfig(task="question-answering"))
    file = pq.ParquetFile(tmp_path / "out" / "examples" / "train.parquet")
    assert [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)] == [2, 2, 1]
    assert file.read().to_pylist() == [json.loads(line) for line in Path(path).read_text().splitlines()]


def test_the_table_shows_counts_that_are_not_zero_and_always_what_was_cut(tmp_path: Path) -> None:
    counts = {"examples": 1200, "tokens": 34_567, "truncated_examples": 0, "truncated_tokens": 0}
    info = {"task": "classification", "max_seq_length": 128, "labels": ["bad", "good"]}
    expected = [
        ("task", "classification"),
        ("row", "up to 128 tokens"),
        ("2 labels", "bad, good"),
        ("train", "1,200 examples"),
        ("  tokens", "34,567"),
        ("  truncated examples", "0"),
    ]
    assert summary_rows({"info": info, "splits": {"train": {"counts": counts}}}) == expected
    without = summary_rows({"info": info | {"labels": []}, "splits": {"train": {"counts": counts}}})
    assert without == [expected[0], expected[1], *expected[3:]]


def test_a_file_of_which_most_is_cut_off_is_warned_of(
    tmp_path: Path, vocab: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.conll").write_text("salt O\nwater B-X\n" * 40)
    (tmp_path / "b.conll").write_text("salt O\nwater B-X\n\n" * 40)
    for name, words in (("a.conll", "train: 67 of 80 words are cut off"), ("b.conll", "")):
        flags = ["--task", "token-classification", "--train", str(tmp_path / name), "--max-seq-length", "15"]
        assert dispatch(["encode-task", *flags, "--vocab", vocab, "--output", str(tmp_path / name[0])]) == 0
        warned = [line for line in capsys.readouterr().err.splitlines() if line.startswith("warning: ")]
        assert [words in line and "a blank line after each sentence" in line for line in warned] == [True] * bool(words)


def test_texts_of_which_most_tokens_are_cut_off_are_warned_of() -> None:
    counts = {"examples": 2, "tokens": 60, "truncated_examples": 2, "truncated_tokens": 61}
    assert warnings_of({"splits": {"train": {"counts": counts}}}) == [
        "train: 61 of 121 tokens are cut off, as they do not fit into rows; a larger --max-seq-length keeps more"
    ]
    assert warnings_of({"splits": {"train": {"counts": counts | {"truncated_tokens": 60}}}}) == []


def test_flags_name_the_columns_and_the_labels(tmp_path: Path, vocab: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text("first,second,class\nsalt,water,b\nstone,,a\n")
    flags = ["--train", str(tmp_path / "a.csv"), "--vocab", vocab, "--output", str(tmp_path / "out")]
    named = ["--text-columns", "first", "second", "--label-column", "class"]
    assert dispatch(["encode-task", *flags, *named, "--labels", "b", "a", "c"]) == 0
    assert capsys.readouterr().out.splitlines()[:4] == [
        "task                  classification",
        "row                   up to 128 tokens",
        "3 labels              b, a, c",
        "train                 2 examples",
    ]
    assert dispatch(["encode-task", *flags, *named, "--labels", "b", "a", "c", "--force", "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    rows = open_shards(tmp_path / "out").table.to_pylist()
    assert [row["label"] for row in rows] == [0, 1]
    words = [TOKENIZER.decode(row["input_ids"], skip_special_tokens=False) for row in rows]
    assert words == ["[CLS] salt [SEP] water [SEP]", "[CLS] stone [SEP] [SEP]"]
    with pytest.raises(ConfigError, match="--label-column"):
        dispatch(["encode-task", *flags, "--text-columns", "first"])


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ('"He said ""salt"" twice"', True),
        ('"""salt"" he said"', True),
        ('"the salt water"', False),
        ('salt, 5" deep', False),
        ('"salt" and "water"', False),
    ],
)
def test_a_tsv_that_was_written_with_the_quotes_of_csv_is_warned_of(
    text: str, quoted: bool, tmp_path: Path, vocab: str, capsys: pytest.CaptureFixture[str]
) -> None:
    train = tmp_path / "train.tsv"
    train.write_text("text\tlabel\n" + "".join(f"{text}\t{place % 2}\n" for place in range(4)))
    arguments = ["encode-task", "--train", str(train), "--vocab", vocab, "--output", str(tmp_path / "out")]
    assert dispatch(arguments) == 0
    assert ("4 of the first 5 lines have a field in quotes" in capsys.readouterr().err) is quoted


def test_quotes_of_a_csv_are_no_text_and_not_warned_of(
    tmp_path: Path, vocab: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "train.csv").write_text("text,label\n" + '"He said ""salt"" twice",x\n"salt ""water""",y\n' * 3)
    arguments = ["--train", str(tmp_path / "train.csv"), "--vocab", vocab, "--output", str(tmp_path / "out")]
    assert dispatch(["encode-task", *arguments]) == 0
    assert "warning" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("first", "second", "warned"), [("test", "train", True), ("train", "train", False), ("train", "a", False)]
)
def test_rows_of_several_splits_in_one_file_are_warned_of(
    first: str, second: str, warned: bool, tmp_path: Path, vocab: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"text": "salt", "label": "x", "partition": first}, {"text": "water", "label": "y", "partition": second}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ["--train", str(tmp_path / "a.jsonl"), "--vocab", vocab, "--output", str(tmp_path / "out")]
    assert dispatch(["encode-task", *arguments]) == 0
    message = "'partition' says that its rows are of test, train; they are all in the split train; take those of one"
    error = capsys.readouterr().err
    assert (message in error) is warned
    assert ("""jq -c 'select(.partition == "train")' FILE > NEW""" in error) is warned
