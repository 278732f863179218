"""Verifying what no build has made: fine-tuning data and imports, by their bytes and by the rules of their rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bertdata.cli.main import dispatch
from bertdata.errors import ConfigError, VerificationError
from bertdata.finetune.settings import TaskConfig
from bertdata.finetune.task_shards import encode_task
from bertdata.formats import export
from bertdata.formats.importing import import_shards
from bertdata.shards import open_shards
from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer
from bertdata.verify.build import verify
from tests.shards.build import TOKENIZER, write_build
from tests.shards.damage import claim, edit

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
    TOKENIZER.save_pretrained(folder / "vocab")
    encode_task(folder / "out", str(folder / "vocab"), {"train": str(folder / name)}, TaskConfig(task=task))
    return folder / "out"


def changed(out: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    """Change the rows of a shard, and the manifest with it, as a program with a mistake would."""
    [path] = open_shards(out).paths
    table = open_shards(out).unchecked_table
    rows = table.to_pylist()
    change(rows)
    with pa.ipc.new_stream(path, table.schema) as writer:
        writer.write_table(pa.Table.from_pylist(rows, table.schema))
    claim(out, "train/data-00000-of-00001.arrow")


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
    with pytest.raises(ConfigError, match="`duplicates` is for builds"):
        verify(tmp_path / "back", duplicates=True)


@pytest.mark.parametrize(
    ("task", "column", "value", "rule"),
    [
        ("classification", "label", 2, r"the label is not one of the task in \d+ of \d+ rows, first in row 1"),
        ("classification", "label", -1, r"the label is not one of the task in \d+ of \d+ rows, first in row 1"),
        (
            "classification",
            "input_ids",
            [2, 99, 3],
            r"an id is not in the vocabulary in \d+ of \d+ rows, first in row 1",
        ),
        ("classification", "input_ids", [4, 7, 8, 3], "a row does not begin with the special ids 2"),
        ("classification", "input_ids", [2, 7, 8, 9], "a row does not end with the special ids 3"),
        ("classification", "token_type_ids", [0], "token_type_ids does not have a value for each token"),
        ("token-classification", "labels", [-100, 9, -100], "a label is not one of the task"),
        (
            "token-classification",
            "labels",
            [-100, -1, -100],
            r"a label is not one of the task in \d+ of \d+ rows, first in row 1",
        ),
        (
            "token-classification",
            "labels",
            [-100, 0],
            r"labels does not have a value for each token in \d+ of \d+ rows, first in row 1",
        ),
    ],
)
def test_rows_that_break_a_rule_are_named(tmp_path: Path, task: str, column: str, value: Any, rule: str) -> None:
    out = task_data(tmp_path, task)
    changed(out, lambda rows: rows[1].update({column: value}))
    with pytest.raises(VerificationError, match=rf"train/data-00000-of-00001\.arrow: {rule}"):
        verify(out)


@pytest.mark.parametrize(
    ("start", "end", "inside"),
    [(0, 0, True), (1, 4, True), (2, 5, False), (5, 5, False), (3, 2, False), (-1, 2, False), (-1, -1, False)],
)
def test_an_answer_that_is_not_inside_its_row_or_ends_before_it_starts_is_named(
    tmp_path: Path, start: int, end: int, inside: bool
) -> None:
    # [CLS] salt [SEP] the water [SEP]: a row without an answer points at [CLS], and none at the last [SEP].
    out = task_data(tmp_path, "question-answering")
    assert len(open_shards(out)[0]["input_ids"]) == 6
    changed(out, lambda rows: rows[0].update(start_positions=start, end_positions=end))
    if inside:
        verify(out)
    else:
        with pytest.raises(
            VerificationError, match=r"the answer is not inside its row in \d+ of \d+ rows, first in row 0"
        ):
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
    with pytest.raises(VerificationError, match="it was changed"):
        verify(out)


def test_the_table_counts_rows_and_tokens(tmp_path: Path) -> None:
    out = task_data(tmp_path, "classification")
    lengths = [len(ids) for ids in open_shards(out).table["input_ids"].to_pylist()]
    rows = dict(verify(out))
    assert rows["  examples"] == str(len(lengths))
    assert rows["  tokens"] == f"{sum(lengths)}, special ones among them"


@pytest.mark.parametrize("name", ["dataset_dict.json", "train/state.json", "train/dataset_info.json"])
def test_a_file_for_datasets_that_is_missing_or_says_something_else_is_named(tmp_path: Path, name: str) -> None:
    out = task_data(tmp_path, "classification")
    whole = (out / name).read_bytes()
    for data, problem in ((None, "there is no such file"), (b"{}", "does not say what manifest")):
        (out / name).unlink()
        if data is not None:
            (out / name).write_bytes(data)
        with pytest.raises(VerificationError, match=rf"1 disagreement in .*\n{name}: {problem}"):
            verify(out)
        (out / name).write_bytes(whole)


def test_another_tokenizer_beside_the_rows_is_found(tmp_path: Path) -> None:
    out = task_data(tmp_path, "classification")
    WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, "a"]).save_pretrained(out / "tokenizer")
    edit(out / "manifest.json", lambda value: value.pop("files"))
    with pytest.raises(
        VerificationError, match=r"1 disagreement in .*\ntokenizer: is not the tokenizer of these shards"
    ):
        verify(out)


def test_a_shard_of_another_schema_is_named(tmp_path: Path) -> None:
    out = task_data(tmp_path, "classification")
    [path] = open_shards(out).paths
    table = pa.ipc.open_stream(Path(path).read_bytes()).read_all()
    unnamed, renamed = table.replace_schema_metadata({}), table.rename_columns([*table.column_names[:-1], "other"])
    renamed = renamed.replace_schema_metadata(table.schema.metadata)
    for other, problem in ((unnamed, "not a bertdata shard"), (renamed, "its schema is not that of the settings")):
        with pa.ipc.new_stream(path, other.schema) as writer:
            writer.write_table(other)
        claim(out, "train/data-00000-of-00001.arrow")
        with pytest.raises(VerificationError, match=problem):
            verify(out)


def test_a_batch_that_is_not_valid_arrow_is_named(tmp_path: Path) -> None:
    out = task_data(tmp_path, "classification")
    [path] = open_shards(out).paths
    [batch] = pa.ipc.open_stream(Path(path).read_bytes())
    offsets = pa.py_buffer(np.array([0, 900, 7], np.int32).tobytes())
    broken = pa.Array.from_buffers(batch["input_ids"].type, 2, [None, offsets], children=[batch["input_ids"].values])
    columns = [broken if name == "input_ids" else batch[name] for name in batch.schema.names]
    with pa.ipc.new_stream(path, batch.schema) as writer:
        writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=batch.schema))
    claim(out, "train/data-00000-of-00001.arrow")
    with pytest.raises(VerificationError, match=r"train/data-00000-of-00001\.arrow: .*Offset invariant failure"):
        verify(out)


def test_a_row_over_the_length_of_the_settings_is_named(tmp_path: Path) -> None:
    out = task_data(tmp_path, "classification")
    longest = open_shards(out).info.max_seq_length

    def of_length(length: int) -> Callable[[list[dict[str, Any]]], object]:
        ids = [2, *[7] * (length - 2), 3]
        return lambda rows: rows[1].update(input_ids=ids, token_type_ids=[0] * length)

    changed(out, of_length(longest))
    verify(out)
    changed(out, of_length(longest + 1))
    with pytest.raises(
        VerificationError, match=rf"a row has under 2 tokens or over {longest} in \d+ of \d+ rows, first in row 1"
    ):
        verify(out)
    changed(out, lambda rows: rows[1].update(input_ids=[2], token_type_ids=[0]))
    with pytest.raises(
        VerificationError, match=rf"a row has under 2 tokens or over {longest} in \d+ of \d+ rows, first in row 1"
    ):
        verify(out)


def relabel(labels: list[int], rows: list[dict[str, Any]]) -> None:
    rows[3].update(labels=labels)


def test_a_label_of_an_import_outside_the_vocabulary_is_named(tmp_path: Path) -> None:
    build = write_build(tmp_path / "build")
    export(str(build), "tfrecord", str(tmp_path / "out"))
    back = tmp_path / "back"
    import_shards({"train": [str(tmp_path / "out" / "train" / "*-00000-*")]}, str(build / "tokenizer"), str(back))
    shards = open_shards(back)
    labels = shards[3]["labels"].tolist()
    for value, wrong in ((shards.info.vocab_size - 1, False), (shards.info.vocab_size, True), (-1, True)):
        changed(back, partial(relabel, [value, *labels[1:]]))
        if wrong:
            with pytest.raises(
                VerificationError, match=r"a label is not an id of the vocabulary in \d+ of \d+ rows, first in row 3"
            ):
                verify(back)
        else:
            verify(back)


def test_offsets_that_run_backwards_are_named(tmp_path: Path) -> None:
    out = task_data(tmp_path, "question-answering")
    changed(out, lambda rows: rows[0].update(offsets_start=[9, *rows[0]["offsets_start"][1:]]))
    with pytest.raises(VerificationError, match=r"offsets run backwards in \d+ of \d+ rows, first in row 0"):
        verify(out)


@pytest.mark.parametrize("value", [[], {"train": []}, {"train": {"shards": [{}], "counts": {}}}, None])
def test_a_manifest_that_is_not_whole_is_told_in_words(tmp_path: Path, value: Any) -> None:
    out = task_data(tmp_path, "classification")
    edit(out / "manifest.json", lambda manifest: manifest.update(splits=value))
    with pytest.raises(VerificationError, match="is not a whole manifest"):
        verify(out)
