"""Rows of Parquet and Arrow come a bounded number of bytes at a time, whatever number of rows that is."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bertdata.documents import row_batches
from bertdata.documents.row_batches import cut, open_parquet, read_batches, row_bytes
from bertdata.errors import InputError

KILO = 1 << 10


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a batch have 32 kB, a row 256 kB, and encoded rows 512 kB at worst."""
    monkeypatch.setattr(row_batches, "BATCH_BYTES", 32 * KILO)
    monkeypatch.setattr(row_batches, "LONGEST_ROW", 256 * KILO)
    monkeypatch.setattr(row_batches, "_WORST", 512 * KILO)
    monkeypatch.setattr(row_batches, "_PAYS", 1 * KILO)


def written(path: Path, texts: list[Any], **options: Any) -> str:
    pq.write_table(pa.table({"text": texts}), path, **options)
    return str(path)


def read(path: str, **options: Any) -> list[pa.RecordBatch]:
    with open(path, "rb") as raw:
        return list(read_batches(raw, path, **options))


def decoded(path: str, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the bytes of each batch as it was decoded, before it was cut."""
    sizes: list[int] = []

    def note(batch: pa.RecordBatch, *rest: Any) -> Any:
        sizes.append(int(row_bytes(batch).sum()))
        return cut(batch, *rest)

    monkeypatch.setattr(row_batches, "cut", note)
    read(path)
    return sizes


def test_rows_come_in_order_and_whole_however_long_they_are(tmp_path: Path) -> None:
    texts = [None if number % 7 == 0 else str(number) * (number * 37 % 4000) for number in range(900)]
    path = written(tmp_path / "x.parquet", texts, row_group_size=250)
    batches = read(path)
    assert [text for batch in batches for text in batch["text"].to_pylist()] == texts
    assert max(int(row_bytes(batch).sum()) for batch in batches) <= 32 * KILO
    some = read(path, columns=["text"], row_groups=[1, 3])
    assert [text for batch in some for text in batch["text"].to_pylist()] == texts[250:500] + texts[750:]


def test_short_rows_come_many_at_a_time(tmp_path: Path) -> None:
    batches = read(written(tmp_path / "x.parquet", ["a short row"] * 2000))
    assert len(batches) <= 2000 / row_batches.MOST_ROWS + 2


@pytest.mark.parametrize("encoding", ["dictionary", "DELTA_BYTE_ARRAY"])
def test_equal_rows_that_are_small_in_a_file_are_decoded_a_few_at_a_time(
    encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {"compression": "zstd"}
    if encoding != "dictionary":
        options |= {"use_dictionary": False, "column_encoding": encoding}
    path = written(tmp_path / "x.parquet", ["It rained. " * 9000] * 300, **options)
    assert Path(path).stat().st_size < 8 * KILO
    sizes = decoded(path, monkeypatch)
    assert sum(sizes) == 300 * 99000
    assert max(sizes) <= 512 * KILO


def test_long_rows_after_short_ones_are_as_few_as_the_dictionary_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = [f"a short row, {number}" for number in range(40)] * 50
    path = written(tmp_path / "x.parquet", [*short, *["It rained. " * 9000] * 300], compression="zstd")
    assert max(decoded(path, monkeypatch)) <= 512 * KILO


def test_a_list_of_texts_counts_with_all_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [[], *[[{"content": "It rained. " * 300}] * 5] * 200]
    path = written(tmp_path / "x.parquet", rows)
    assert [row for batch in read(path) for row in batch["text"].to_pylist()] == rows
    assert max(decoded(path, monkeypatch)) <= 512 * KILO


def test_a_row_that_is_too_long_is_refused_by_its_number(tmp_path: Path) -> None:
    path = written(tmp_path / "x.parquet", ["short"] * 300 + ["x" * 300 * KILO] + ["short"] * 9)
    with pytest.raises(InputError, match=r"x\.parquet: row 300 \(the first is 0\) has 307,200 bytes .*cut it into"):
        read(path)
    with pytest.raises(InputError, match=r"row 0 \(the first is 0\) has on average"):
        read(written(tmp_path / "y.parquet", ["x" * 300 * KILO, "y" * 300 * KILO]))


def test_a_local_file_is_read_some_megabytes_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_batches, "_BUFFER", 64 * KILO)
    rng = np.random.default_rng(1)
    path = written(tmp_path / "x.parquet", [rng.bytes(50).hex() for _ in range(40_000)], use_dictionary=False)
    asked: list[int] = []

    class Counted(io.FileIO):
        def read(self, size: int | None = -1) -> bytes:
            asked.append(size or 0)
            return super().read(-1 if size is None else size)

    with Counted(path) as raw:
        parquet = open_parquet(raw, path)
        assert sum(batch.num_rows for batch in parquet.iter_batches(100)) == 40_000
    assert max(asked) <= 1100 * KILO  # a page of pyarrow has a megabyte


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array(["", None, "Öl"]), [0, 0, 3]),
        (pa.array(["", None, "Öl"], pa.large_string()).slice(1), [0, 3]),
        (pa.array(["salt", None, "a text of more than twelve bytes"], pa.string_view()), [4, 0, 32]),
        (pa.array(["salt", None, "salt"]).dictionary_encode().slice(1), [0, 4]),
        (pa.array([b"ab", None]), [2, 0]),
        (pa.array([1.5, None]), [8, 8]),
        (pa.array([True, None]), [1, 1]),
        (pa.array([None, None]), [0, 0]),
        (pa.array([["a", "bc"], None, [], ["def"]]).slice(1), [0, 0, 3]),
        (pa.array([{"a": "x", "b": ["yz"]}, None]), [3, 0]),
        (pa.array([[("a", "xyz")], []], pa.map_(pa.string(), pa.string())), [4, 0]),
    ],
)
def test_the_bytes_of_a_row_are_those_of_its_values(array: pa.Array, expected: list[int]) -> None:
    assert row_bytes(array).tolist() == expected
