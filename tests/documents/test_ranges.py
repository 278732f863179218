from __future__ import annotations

import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata.documents import (
    SCHEMA,
    DocumentRange,
    cut_ranges,
    read_range,
)
from bertdata.engine.parts import PartMetadata
from bertdata.errors import InputError
from tests.documents.parts import written


def record(groups: list[list[int]], sha256: str = "s") -> PartMetadata:
    return PartMetadata("part", "f", 1, sha256, 0.0, {}, {}, {"row_groups": groups})


@given(st.lists(st.lists(st.integers(0, 50), max_size=8), max_size=5), st.integers(1, 120))
def test_ranges_hold_every_row_group_once_and_are_of_bounded_size(parts: list[list[int]], target: int) -> None:
    ranges = cut_ranges([(f"p{i}", record([[1, size] for size in sizes])) for i, sizes in enumerate(parts)], target)
    bounds = [
        (document_range.path, group)
        for document_range in ranges
        for group in range(document_range.first, document_range.last)
    ]
    assert bounds == [(f"p{i}", group) for i, sizes in enumerate(parts) for group in range(len(sizes))]
    for document_range in ranges:
        sizes = parts[int(document_range.path[1:])][document_range.first : document_range.last]
        assert document_range.text_bytes == sum(sizes)
        assert sum(sizes[:-1]) < target
        assert document_range.text_bytes >= target or document_range.last == len(parts[int(document_range.path[1:])])


def test_a_range_reads_its_row_groups_and_no_others(tmp_path: Path) -> None:
    rows = [(str(i), "s", "", "", "x" * (3 << 20)) for i in range(9)]
    data, counters = written([(a, b, c, d, e) for a, b, c, d, e in rows])
    (tmp_path / "x.parquet").write_bytes(data)
    ranges = cut_ranges(
        [(str(tmp_path / "x.parquet"), PartMetadata("x", "f", 1, "s", 0, {}, {}, counters.details))], 10 << 20
    )
    assert len(ranges) == 2
    rows_read = [
        [name for table in read_range(document_range) for name in table["id"].to_pylist()] for document_range in ranges
    ]
    assert rows_read == [["0", "1", "2", "3", "4", "5"], ["6", "7", "8"]]
    assert all(table.schema.equals(SCHEMA) for document_range in ranges for table in read_range(document_range))


def other_table() -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table({"text": ["x"]}), file)
    return file.getvalue()


def damaged() -> bytes:
    data = bytearray(written([(str(i), "s", "", "", "some text " * 999 + str(i)) for i in range(50)])[0])
    data[100:600] = b"\xff" * 500
    return bytes(data)


@pytest.mark.parametrize(
    "data",
    [b"not parquet", b"PAR1", written([("1", "s", "", "", "x")])[0][:-9], written([])[0], other_table(), damaged()],
    ids=["text", "magic only", "cut off", "fewer row groups", "other columns", "damaged"],
)
def test_a_part_that_is_not_what_it_was_is_an_input_error_that_names_it(data: bytes, tmp_path: Path) -> None:
    path = str(tmp_path / "x.parquet")
    Path(path).write_bytes(data)
    with pytest.raises(InputError, match=r"x\.parquet: "):
        list(read_range(DocumentRange(path, "s", 0, 1, 1)))


def test_a_flipped_bit_in_any_page_is_noticed_when_it_is_read(tmp_path: Path) -> None:
    data, counters = written([(f"id{i}", "s", "", "", f"text {i} " * 40) for i in range(50)])
    path = tmp_path / "part.parquet"
    path.write_bytes(data)
    ranges = cut_ranges(
        [(str(path), PartMetadata("part", "f", len(data), "s", 0.0, counters.counts, {}, counters.details))]
    )
    whole = [table.to_pylist() for document_range in ranges for table in read_range(document_range)]
    pages = pq.read_metadata(pa.BufferReader(data)).row_group(0)
    text = pages.column(SCHEMA.names.index("text"))
    begin = text.dictionary_page_offset or text.data_page_offset
    noticed = 0
    for place in range(begin, begin + text.total_compressed_size, 3):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        try:
            rows_read = [table.to_pylist() for document_range in ranges for table in read_range(document_range)]
        except InputError:
            noticed += 1
        else:
            assert rows_read == whole
    assert noticed > 50
