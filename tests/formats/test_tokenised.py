"""Import of rows of ids: our own exports of every format, tables of others, LDDL and ELECTRA, and what is refused."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bertdata.errors import InputError
from bertdata.formats import EXPORT_FORMATS, IMPORT_FORMATS, export
from bertdata.formats.example import encode_examples
from bertdata.formats.importing import import_shards
from bertdata.formats.tfrecord import frame
from bertdata.loader import numpy_batches
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from bertdata.shards.packed import unpacked
from bertdata.tokenizers.base import Tokenizer
from bertdata.verify.build import verify
from tests.small_build import tokenizer as small_tokenizer
from tests.small_build import write_build
from tests.tokenizers.of_models import tokenizer_of

ROWS = [name for name in EXPORT_FORMATS if not EXPORT_FORMATS[name].static and name in IMPORT_FORMATS]
CONFIGS = {
    "pairs, drawn masks": ExamplesConfig("nsp", "dynamic", 32),
    "pairs, static masks": ExamplesConfig("sop", "static", 32, dupe_factor=2),
    "one segment": ExamplesConfig("full-sentences", "dynamic", 32),
    "packed": ExamplesConfig("doc-sentences", "dynamic", 24, pack=True),
}
COLUMNS = ("input_ids", "token_type_ids", "word_starts", "labels", "next_sentence_label", "sentence_order_label")


def rows_of(build: Path, split: str = "train") -> list[dict[str, Any]]:
    """Return the examples of a split, a row each, without their numbers and sources."""
    table = open_shards(build, split).table
    batches = [unpacked(batch) for batch in table.to_batches()]
    names = [name for name in COLUMNS if name in batches[0].schema.names]
    return [row for batch in batches for row in batch.select(names).to_pylist()]


def back(source: Path, build: Path, out: Path, objective: str = "", ending: str = "") -> Path:
    """Import an export, or files of others beside the tokenizer of a build."""
    places = {split: [str(source / split)] for split in ("train", "validation") if (source / split).exists()}
    import_shards(places or {"train": [str(source)]}, str(build / "tokenizer"), str(out), objective)
    verify(out)
    return out


def test_rows_that_are_all_shorter_than_a_build_may_have_are_read(tmp_path: Path) -> None:
    build = write_build(tmp_path / "build", CONFIGS["one segment"])
    tokenizer = small_tokenizer()
    rows = [[tokenizer.cls_token_id, 7, tokenizer.sep_token_id]] * 2
    pq.write_table(pa.table({"input_ids": rows}), tmp_path / "rows.parquet")
    again = back(tmp_path / "rows.parquet", build, tmp_path / "again")
    assert [row["input_ids"] for row in rows_of(again)] == rows


def test_every_format_of_rows_that_is_written_is_read() -> None:
    without = {*EXPORT_FORMATS} - {*ROWS} - {name for name in EXPORT_FORMATS if EXPORT_FORMATS[name].static}
    assert without == {"megatron", "ds"}, "they have ids alone, without rows to come back"


@pytest.mark.costly
@pytest.mark.parametrize("to", ROWS)
@pytest.mark.parametrize(
    "name",
    [
        "pairs, static masks",
        "packed",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in CONFIGS
            if not name.endswith(("static masks", "packed"))
        ),
    ],
)
def test_exported_rows_come_back_equal(tmp_path: Path, to: str, name: str) -> None:
    build = write_build(tmp_path / "build", CONFIGS[name])
    export(str(build), to, str(tmp_path / "out"))
    objective = CONFIGS[name].objective if "sentence_order_label" in str(rows_of(build)[0]) else ""
    again = back(tmp_path / "out", build, tmp_path / "back", objective)
    for split in ("train", "validation"):
        assert rows_of(again, split) == rows_of(build, split)
    assert open_shards(again).info.draws_masks == (CONFIGS[name].masking == "dynamic")
    assert next(iter(numpy_batches(open_shards(again), 4)))["labels"].shape[0] == 4


@pytest.mark.slow
@pytest.mark.parametrize("to", ROWS)
@pytest.mark.parametrize("model", ["RoBERTa", "XLNet"])
def test_rows_of_other_tokenizers_come_back_equal(tmp_path: Path, to: str, model: str) -> None:
    build = write_build(tmp_path / "build", ExamplesConfig("nsp", "dynamic", 32), pieces=tokenizer_of(model))
    export(str(build), to, str(tmp_path / "out"))
    assert rows_of(back(tmp_path / "out", build, tmp_path / "back")) == rows_of(build)


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of pairs, whose rows others write here in their ways."""
    return write_build(tmp_path_factory.mktemp("build"), CONFIGS["pairs, drawn masks"])


def _padded(rows: list[list[int]], filler: int = 0) -> list[list[int]]:
    return [row + [filler] * (40 - len(row)) for row in rows]


def as_transformers(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what a tokenizer of transformers makes with padding to 40 tokens."""
    return {
        "input_ids": _padded([row["input_ids"] for row in rows]),
        "token_type_ids": _padded([row["token_type_ids"] for row in rows]),
        "attention_mask": _padded([[1] * len(row["input_ids"]) for row in rows]),
        "next_sentence_label": [row["next_sentence_label"] for row in rows],
        "text": ["not read"] * len(rows),
    }


WAYS: dict[str, Callable[[pa.Table, Path], None]] = {
    "parquet": lambda table, place: pq.write_table(table, place / "a.parquet"),
    "Arrow file": lambda table, place: pa.feather.write_feather(table, place / "a.feather"),
    "json lines": lambda table, place: _json_lines(table, place / "a.jsonl.gz"),
    "fixed lists": lambda table, place: pq.write_table(_fixed(table), place / "a.parquet"),
    "without a mask": lambda table, place: pq.write_table(table.drop(["attention_mask"]), place / "a.parquet"),
    "without types": lambda table, place: pq.write_table(table.drop(["token_type_ids"]), place / "a.parquet"),
}


def _json_lines(table: pa.Table, path: Path) -> None:
    path.write_bytes(gzip.compress("".join(f"{json.dumps(row)}\n" for row in table.to_pylist()).encode()))


def _fixed(table: pa.Table) -> pa.Table:
    kind = pa.list_(pa.int32(), 40)
    columns = {name: table[name].combine_chunks() for name in table.column_names}
    return pa.table(
        {name: column.cast(kind) if pa.types.is_list(column.type) else column for name, column in columns.items()}
    )


@pytest.mark.parametrize("way", WAYS)
def test_tables_of_a_tokenizer_of_transformers_are_read(build: Path, tmp_path: Path, way: str) -> None:
    import pyarrow.feather

    assert pyarrow.feather
    (tmp_path / "rows").mkdir()
    WAYS[way](pa.table(as_transformers(rows_of(build))), tmp_path / "rows")
    assert rows_of(back(tmp_path / "rows", build, tmp_path / "back")) == rows_of(build)


def test_a_folder_of_datasets_is_read_without_its_caches(build: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    dataset = datasets.Dataset.from_dict(as_transformers(rows_of(build)))
    dataset.save_to_disk(tmp_path / "rows")
    saved = datasets.load_from_disk(tmp_path / "rows")
    saved.map(lambda row: {"input_ids": row["input_ids"][:3]}, load_from_cache_file=False)
    assert list((tmp_path / "rows").glob("cache-*.arrow"))
    assert rows_of(back(tmp_path / "rows", build, tmp_path / "back")) == rows_of(build)


def lddl(rows: list[dict[str, Any]], pieces: Tokenizer, *, masked: bool) -> pa.Table:
    """Return rows as LDDL's preprocess_bert_pretrain writes them: tokens of two texts, and of masks what was there."""
    table: dict[str, list[Any]] = {"A": [], "B": [], "is_random_next": [], "num_tokens": []}
    positions, labels = [], []
    for row in rows:
        ids = list(row["input_ids"])
        first = ids.index(pieces.sep_token_id)
        where = [place for place in (1, first + 1) if place < len(ids) - 1]
        labels.append(" ".join(pieces.tokens[ids[place]] for place in where))
        if masked:
            for place in where:
                ids[place] = pieces.mask_token_id
        file = io.BytesIO()
        np.save(file, np.asarray(where, np.uint16))
        positions.append(file.getvalue())
        words = [pieces.tokens[token_id] for token_id in ids]
        table["A"].append(" ".join(words[1:first]))
        table["B"].append(" ".join(words[first + 1 : -1]))
        table["is_random_next"].append(bool(row["next_sentence_label"]))
        table["num_tokens"].append(len(ids))
    if masked:
        table |= {"masked_lm_positions": positions, "masked_lm_labels": labels}
    return pa.table(table)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("binned", [False, True])
def test_rows_of_lddl_are_read(build: Path, tmp_path: Path, masked: bool, binned: bool) -> None:
    pieces, rows = small_tokenizer(), rows_of(build)
    table = lddl(rows, pieces, masked=masked)
    (tmp_path / "rows").mkdir()
    if binned:
        for number in (0, 1):
            part = table.slice(number * 20, 20)
            part = part.append_column("bin_id", pa.array([number] * len(part), pa.int64()))
            pq.write_table(part, tmp_path / "rows" / f"part.0.parquet_{number}")
        rows = rows[:40]
    else:
        pq.write_table(table, tmp_path / "rows" / "part.0.parquet")
    rows_read = rows_of(back(tmp_path / "rows", build, tmp_path / "back"))
    for row, expected in zip(rows_read, rows, strict=True):
        ids = list(row["input_ids"])
        if masked:
            labelled = [place for place, label in enumerate(row["labels"]) if label != -100]
            assert labelled == [1, expected["input_ids"].index(pieces.sep_token_id) + 1]
            for place in labelled:
                assert ids[place] == pieces.mask_token_id
                ids[place] = row["labels"][place]
        assert {"input_ids": ids} | {name: row[name] for name in ("token_type_ids", "next_sentence_label")} == expected


def test_records_of_electra_have_no_masks_and_get_them_from_a_loader(build: Path, tmp_path: Path) -> None:
    """google-research/electra, build_pretraining_dataset.py: padded with 0, pretrain_data.tfrecord-3-of-1000."""
    rows = rows_of(build)
    named = {"input_ids": "input_ids", "attention_mask": "input_mask", "token_type_ids": "segment_ids"}
    columns = as_transformers(rows)
    fields = {to: np.array(columns[name]) for name, to in named.items()}
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "pretrain_data.tfrecord-3-of-1000").write_bytes(frame(encode_examples(fields)))
    rows_read = rows_of(back(tmp_path / "rows", build, tmp_path / "back"))
    assert rows_read == [{name: row[name] for name in ("input_ids", "token_type_ids")} for row in rows]


def _change(name: str, change: Callable[[list[Any]], list[Any]]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda columns: columns | {name: change(columns[name])}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda columns: {"text": columns["text"]}, "has no column input_ids; its columns are text"),
        (_change("input_ids", lambda rows: [[*row[:-1], 10**6] for row in rows]), "input_mask|vocabulary ends"),
        (_change("input_ids", lambda rows: [[4, *row[1:]] for row in rows]), "row 0 begins with the id 4"),
        (
            _change("input_ids", lambda rows: [[row[0], 4, *row[2:]] for row in rows]),
            "row 0 has the id of .MASK. and no",
        ),
        (
            _change("attention_mask", lambda rows: [row[:-1] for row in rows]),
            "row 0 has 40 ids and 39 values of attention",
        ),
        (_change("attention_mask", lambda rows: [[0, *row[1:]] for row in rows]), "not ones, then zeros"),
        (_change("input_ids", lambda rows: [None, *rows[1:]]), "has nulls"),
        (_change("input_ids", lambda rows: [[str(value) for value in row] for row in rows]), "expected lists of whole"),
        (lambda columns: columns | {"labels": columns["input_ids"]}, "predicts a token outside its text"),
        (lambda columns: columns | {"masked_lm_positions": [[1]] * len(columns["text"])}, "__read__"),
    ],
)
def test_what_is_no_row_of_these_tokens_is_refused(
    build: Path, tmp_path: Path, change: Callable[[dict[str, Any]], dict[str, Any]], message: str
) -> None:
    pq.write_table(pa.table(change(as_transformers(rows_of(build)))), tmp_path / "a.parquet")
    if message == "__read__":  # positions alone are no masks
        back(tmp_path / "a.parquet", build, tmp_path / "back")
        return
    with pytest.raises(InputError, match=message):
        back(tmp_path / "a.parquet", build, tmp_path / "back")


def test_tokens_of_another_vocabulary_and_masks_that_do_not_fit_are_refused(build: Path, tmp_path: Path) -> None:
    table = lddl(rows_of(build), small_tokenizer(), masked=True)
    changes: list[tuple[str, list[Any], str]] = [
        ("A", ["no-such-token"] * len(table), "row 0 has the token 'no-such-token' in A"),
        ("masked_lm_positions", [b"x"] * len(table), "row 0 has masked_lm_positions that are no array"),
        ("masked_lm_labels", [""] * len(table), "positions and 0 labels"),
    ]
    for name, values, message in changes:
        changed = table.set_column(table.column_names.index(name), name, pa.array(values))
        pq.write_table(changed, tmp_path / "a.parquet")
        with pytest.raises(InputError, match=message):
            back(tmp_path / "a.parquet", build, tmp_path / "back")


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-3], lambda data: data[:9], lambda data: data[:40] + b"x" + data[41:]]
)
def test_a_damaged_mds_file_is_named(build: Path, tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    export(str(build), "mds", str(tmp_path / "out"), ["validation"])
    [path] = (tmp_path / "out" / "validation").glob("*.mds")
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(InputError, match=path.name):
        back(path, build, tmp_path / "back")
