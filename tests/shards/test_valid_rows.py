"""Rows of shards that would make a kernel or a model read elsewhere are refused, whatever the digests say."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bertdata.errors import InputError
from bertdata.loader import ShardExamples
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import checked, open_shards, valid_rows
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.schema import ShardInfo
from tests.io.lying_arrow import with_offsets
from tests.shards.blocks import info_of
from tests.shards.build import write_build
from tests.shards.damage import claim, edit

SHARD = "train/data-00000-of-00002.arrow"


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BERTDATA_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv(checked.VARIABLE, raising=False)
    monkeypatch.setattr(checked, "_whole", set())


def ids_of(*rows: list[int | None], **columns: Any) -> pa.Table:
    """Return rows of these ids with the columns of `info()`; `columns` are others in their place."""
    values: dict[str, Any] = {
        "input_ids": pa.array(rows, pa.list_(pa.uint16())),
        "token_type_ids": pa.array([[0] * len(row) for row in rows], pa.list_(pa.uint8())),
        "next_sentence_label": pa.array([0] * len(rows), pa.int8()),
        "example_id": pa.array(range(len(rows)), pa.int64()),
    }
    return pa.table(values | columns)


def info() -> PretrainingInfo:
    return info_of("nsp", "dynamic", max_seq_length=16)


def test_rows_that_are_right_have_no_problem() -> None:
    assert valid_rows.problem_of(ids_of([2, 7, 3, 8, 3], [2, 8, 3, 7, 3]), info()) == ""
    assert valid_rows.problem_of(ids_of([2, 7, 3, 8, 3]).slice(0, 0), info()) == ""


SIZE = info().vocab_size


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        (ids_of([2, 7, SIZE, 8, 3]), "an id of input_ids is"),
        (ids_of([2, 7, 65535, 8, 3]), f"or 65535; expected 0 to {SIZE - 1}"),
        (ids_of([2, 7, None, 8, 3]), "input_ids holds nulls"),
        (ids_of([2]), "input_ids has rows of 1 to 1 ids; expected 2 to 16"),
        (ids_of([2, *[7] * 20, 3]), "input_ids has rows of 22 to 22 ids"),
        (ids_of([2, 7, 3], token_type_ids=pa.array([[0, 0]], pa.list_(pa.uint8()))), "does not have a value for each"),
        (ids_of([2, 7, 3], token_type_ids=pa.array([[0, 9, 0]], pa.list_(pa.uint8()))), "a token type is 0 or 9"),
        (ids_of([2, 7, 3], next_sentence_label=pa.array([2], pa.int8())), "next_sentence_label is 2 or 2; expected 0"),
        (ids_of([2, 7, 3], next_sentence_label=pa.array([-1], pa.int8())), "next_sentence_label is -1"),
        (with_offsets(ids_of([2, 7, 3]), "input_ids", [0, 300]), "cannot be read"),
        (with_offsets(ids_of([2, 7, 3]), "input_ids", [-3, 3]), "cannot be read"),
        (with_offsets(ids_of([2, 7, 3], [2, 8, 3]), "input_ids", [0, 9, 6]), "cannot be read"),
    ],
)
def test_rows_that_cannot_be_read_are_told_apart(table: pa.Table, problem: str) -> None:
    assert problem in valid_rows.problem_of(table, info())


def test_static_labels_are_ids_or_nothing() -> None:
    static = info_of("doc-sentences", "static", max_seq_length=16)
    for label, right in ((-100, True), (SIZE - 1, True), (SIZE, False), (-1, False)):
        table = pa.table(
            {
                "input_ids": pa.array([[2, 7, 3]], pa.list_(pa.uint16())),
                "token_type_ids": pa.array([[0, 0, 0]], pa.list_(pa.uint8())),
                "example_id": pa.array([1], pa.int64()),
                "labels": pa.array([[-100, label, -100]], pa.list_(pa.int16())),
            }
        )
        assert (valid_rows.problem_of(table, static) == "") is right, label


@pytest.mark.parametrize("borders", [[0, 3, 7], [0, 3], [3, 6], [0, 9, 6], [0, -3, 6]])
def test_borders_of_packed_rows_fit_them(borders: list[int]) -> None:
    single = info_of("doc-sentences", "dynamic", max_seq_length=16)
    packed = replace(single, examples=replace(single.examples, pack=True))

    def rows(borders: list[int]) -> pa.Table:
        return pa.table(
            {
                "input_ids": pa.array([[2, 7, 3, 2, 8, 3]], pa.list_(pa.uint16())),
                "token_type_ids": pa.array([[0] * 6], pa.list_(pa.uint8())),
                "example_id": pa.array([[1, 2]], pa.list_(pa.int64())),
                "cu_seqlens": pa.array([borders], pa.list_(pa.int32())),
            }
        )

    assert valid_rows.problem_of(rows([0, 3, 6]), packed) == ""
    assert "cannot be read" in valid_rows.problem_of(rows(borders), packed)


def with_id(build: Path, value: int) -> None:
    """Put an id into the middle of a shard, and claim its bytes in the manifest."""
    shards = open_shards(build, check=False)
    ids = shards.unchecked_table["input_ids"].chunk(0)
    text = ids.values.to_numpy()[: len(ids[0])].tobytes()
    path = build / SHARD
    data = path.read_bytes()
    assert data.count(text) >= 1
    path.write_bytes(data.replace(text, text[:4] + np.uint16(value).tobytes() + text[6:]))
    claim(build, SHARD)


@pytest.mark.parametrize("use", [lambda shards: shards.table, lambda shards: shards[0], ShardExamples])
@pytest.mark.parametrize("check", [None, False])
def test_an_id_outside_the_vocabulary_is_refused_though_the_digest_is_right(
    use: Callable[[Any], object], check: bool | None, tmp_path: Path
) -> None:
    build = write_build(tmp_path / "build", ExamplesConfig(max_seq_length=32))
    with_id(build, 65000)
    with pytest.raises(
        InputError, match=rf"{SHARD}: the record batch of row 0 cannot be read .an id of input_ids is 1 or 65000"
    ):
        use(open_shards(build, check=check))


def test_rows_are_checked_once_on_a_machine(own_build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[int] = []
    real = valid_rows.problem_of

    def noted(table: pa.Table, info: ShardInfo) -> str:
        looked_at.append(table.num_rows)
        return real(table, info)

    monkeypatch.setattr(valid_rows, "problem_of", noted)
    shards = open_shards(own_build)
    shards[0]
    assert len(looked_at) == 1
    ShardExamples(own_build)
    checked._whole.clear()
    ShardExamples(own_build)
    assert len(looked_at) == len(shards.paths)


def both(build: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change what the manifest and the shards of train say of themselves."""
    manifest = json.loads((build / "manifest.json").read_text())
    for shard in manifest["splits"]["train"]["shards"]:
        path = build / shard["file"]
        table = pa.ipc.open_stream(path.read_bytes()).read_all()
        values = json.loads(table.schema.metadata[b"bertdata"])
        change(values)
        metadata = table.schema.metadata | {b"bertdata": json.dumps(values, sort_keys=True).encode()}
        schema = table.schema.with_metadata(metadata)
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, schema) as stream:
            stream.write_table(table.cast(schema))
    edit(build / "manifest.json", lambda values: change(values["info"]))
    for shard in manifest["splits"]["train"]["shards"]:
        size = (build / shard["file"]).stat().st_size
        edit(build / "manifest.json", partial(resized, name=shard["file"], size=size))


def resized(values: dict[str, Any], *, name: str, size: int) -> None:
    """Make a manifest say that a shard has a size, and no digest."""
    for shard in values["splits"]["train"]["shards"]:
        if shard["file"] == name:
            shard["bytes"] = size
            shard.pop("sha256", None)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("mask_token_id", 99_999_999_999, "an id of the vocabulary, 0 to"),
        ("mask_token_id", -1, "an id of the vocabulary, 0 to"),
        ("pad_token_id", -7, "an id of the vocabulary, 0 to"),
        ("unk_token_id", -2, "or -1 for none"),
        ("cls_token_id", True, "an id of the vocabulary|which tokenizer"),
        ("vocab_size", -5, "a whole number from 1 to"),
        ("vocab_size", 10**12, "a whole number from 1 to"),
        ("sources", [], "has the columns"),
        ("sources", ["a", "a"], "names, each once"),
        ("epochs", [float("inf")], "expected a finite number|a number from 0 for each"),
        ("epochs", [1.0], "a number from 0 for each"),
    ],
)
def test_numbers_out_of_their_range_are_refused_when_shards_are_opened(
    name: str, value: Any, expected: str, own_build: Path
) -> None:
    both(own_build, lambda values: values.update({name: value}))
    with pytest.raises(InputError, match=expected):
        open_shards(own_build)


def test_numbers_that_are_not_those_of_the_tokenizer_are_refused(own_build: Path) -> None:
    both(own_build, lambda values: values.update(mask_token_id=5))
    with pytest.raises(InputError, match="says that mask_token_id is 5; with the tokenizer beside it, it is 4"):
        open_shards(own_build)


@pytest.mark.parametrize(
    "template",
    [
        {"prefix": [2.0], "between": [3], "suffix": [3]},
        {"prefix": [2], "between": [3], "suffix": [999_999]},
        {"prefix": [2], "between": [3], "suffix": [3], "second_type": 256},
        {"prefix": [2], "between": [3], "suffix": [3], "second_type": True},
        {"prefix": [2], "between": [3], "suffix": [3], "last_type": -1},
    ],
)
def test_row_templates_hold_ids_of_the_vocabulary_and_types_of_a_byte(template: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="of its template is"):
        PretrainingInfo.from_values(info().values() | {"template": template}, "x.arrow")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda values: values["splits"]["train"]["counts"].update(examples=-1),
            r"splits\.train\.counts\.examples is -1",
        ),
        (lambda values: values["splits"]["train"]["shards"][0].update(bytes=1.5), r"shards\.bytes is 1\.5"),
        (lambda values: values["sources"]["books"]["counts"].update(documents=10**400), "a whole number of 1329 bits"),
        (lambda values: values["sources"]["books"].update(bytes=float("nan")), "is nan, expected a finite number"),
        (lambda values: values.update(mix={"books": {"epochs": float("inf")}}), r"mix\.books\.epochs is inf"),
        (lambda values: values["tokens"]["drops"].update(short=True), r"tokens\.drops\.short is True"),
    ],
)
def test_counts_of_a_manifest_are_whole_numbers(change: Callable[[Any], object], message: str, own_build: Path) -> None:
    edit(own_build / "manifest.json", change)
    with pytest.raises(InputError, match=rf"manifest\.json: .*{message}"):
        open_shards(own_build)
