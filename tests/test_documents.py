from __future__ import annotations

import io
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.documents import (
    ROW_GROUP_BYTES,
    SCHEMA,
    SLOTS,
    DocumentRange,
    DocumentWriter,
    Dropped,
    cut_ranges,
    read_range,
    slot,
    without_rows,
)
from bertdata.engine.parts import Counters, PartMetadata
from bertdata.errors import InputError
from tests.statistics import assert_uniform

Row = tuple[str, str, str, str, str]


def written(rows: list[Row]) -> tuple[bytes, Counters]:
    file, counters = io.BytesIO(), Counters()
    with DocumentWriter(file, counters) as writer:
        for row in rows:
            writer.add(*row)
    return file.getvalue(), counters


def stored(data: bytes) -> list[Row]:
    columns = pq.read_table(pa.BufferReader(data)).to_pydict().values()
    return list(zip(*columns, strict=True))


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(*[st.text(st.characters(exclude_categories=["Cs"]), max_size=20)] * 5), max_size=20))
def test_documents_come_back_as_they_were(rows: list[Row]) -> None:
    data, counters = written(rows)
    assert stored(data) == rows
    assert pq.read_schema(pa.BufferReader(data)).equals(SCHEMA)
    assert SCHEMA.names == ["id", "source", "title", "url", "text"]
    texts = [len(text.encode()) for *_, text in rows]
    assert (counters.counts.get("documents", 0), counters.counts.get("text_bytes", 0)) == (len(rows), sum(texts))
    slots: dict[int, list[int]] = {}
    for (name, *_), size in zip(rows, texts, strict=True):
        found = slots.setdefault(slot(name), [0, 0])
        found[0], found[1] = found[0] + 1, found[1] + size
    assert counters.details["slots"] == [[one, *slots[one]] for one in sorted(slots)]


def test_row_groups_hold_about_eight_mebibytes_of_text() -> None:
    text = "x" * (1 << 20)
    data, counters = written([(str(i), "s", "", "", text) for i in range(20)])
    assert counters.details["row_groups"] == [[8, ROW_GROUP_BYTES], [8, ROW_GROUP_BYTES], [4, 4 << 20]]
    metadata = pq.read_metadata(pa.BufferReader(data))
    assert [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)] == [8, 8, 4]


def test_no_documents_are_an_empty_file_that_can_be_read() -> None:
    data, counters = written([])
    assert stored(data) == []
    assert (counters.counts, counters.details) == ({}, {"row_groups": [], "slots": []})


def test_what_utf8_cannot_hold_is_replaced_in_every_column_and_counted_as_stored() -> None:
    data, counters = written([("caf\udce9:1", "s\ud800", "t\udfff", "u\udc00", "a\ud800b é 한")])
    [(name, source, title, url, text)] = stored(data)
    assert (name, source, title, url, text) == ("caf\\udce9:1", "s\ufffd", "t\ufffd", "u\ufffd", "a\ufffdb é 한")
    assert counters.counts["text_bytes"] == len(text.encode())
    assert counters.details["slots"] == [[slot(name), 1, len(text.encode())]]


def test_ids_that_are_no_utf8_stay_apart() -> None:
    data, _ = written([(name, "s", "", "", "x") for name in ("caf\udce9", "caf\udce8")])
    assert len({row[0] for row in stored(data)}) == 2


def test_texts_given_at_once_are_a_row_group_behind_what_was_added_before() -> None:
    counters, file = Counters(), io.BytesIO()
    with DocumentWriter(file, counters) as writer:
        writer.add("a", "s", "t", "u", "salt")
        writer.add_texts(["b", "caf\udce9"], "texts", pa.array(["é", "water"]))
        writer.add("c", "s", "", "", b"stone")
    assert stored(file.getvalue()) == [
        ("a", "s", "t", "u", "salt"),
        ("b", "texts", "", "", "é"),
        ("caf\\udce9", "texts", "", "", "water"),
        ("c", "s", "", "", "stone"),
    ]
    assert counters.counts == {"documents": 4, "text_bytes": 16}
    assert counters.details["row_groups"] == [[1, 4], [2, 7], [1, 5]]
    sizes = {"a": 4, "b": 2, "caf\\udce9": 5, "c": 5}
    assert counters.details["slots"] == sorted([slot(name), 1, size] for name, size in sizes.items())


def test_of_a_slot_of_two_documents_one_can_be_dropped() -> None:
    details = {"slots": [[slot("a"), 2, 30], [slot("b") + 1, 1, 5]], "row_groups": [[3, 35]]}
    whole = PartMetadata("x", "f", 1, "s", 0, {"documents": 3, "text_bytes": 35}, {}, details)
    found = without_rows(whole, [Dropped(1, "a", 10, "exact duplicate")])
    assert found.details["slots"] == sorted([[slot("a"), 1, 20], [slot("b") + 1, 1, 5]])
    assert found.details["dropped"] == [1]
    assert (found.counts, found.drops) == ({"documents": 2, "text_bytes": 25}, {"exact duplicate": 1})


def test_a_failure_in_the_block_passes_and_tallies_no_details() -> None:
    counters = Counters()
    with pytest.raises(RuntimeError, match="bug"), DocumentWriter(io.BytesIO(), counters):
        raise RuntimeError("bug")
    assert counters.details == {}


def test_slots_are_in_range_and_evenly_filled() -> None:
    slots = [slot(f"enwiki:{number}") for number in range(20_000)]
    assert min(slots) >= 0
    assert max(slots) < SLOTS
    assert_uniform(np.bincount(np.array(slots) >> 10, minlength=64))


def record(groups: list[list[int]], sha256: str = "s") -> PartMetadata:
    return PartMetadata("part", "f", 1, sha256, 0.0, {}, {}, {"row_groups": groups})


@given(st.lists(st.lists(st.integers(0, 50), max_size=8), max_size=5), st.integers(1, 120))
def test_ranges_hold_every_row_group_once_and_are_of_bounded_size(parts: list[list[int]], target: int) -> None:
    ranges = cut_ranges([(f"p{i}", record([[1, size] for size in sizes])) for i, sizes in enumerate(parts)], target)
    found = [(one.path, group) for one in ranges for group in range(one.first, one.last)]
    assert found == [(f"p{i}", group) for i, sizes in enumerate(parts) for group in range(len(sizes))]
    for one in ranges:
        sizes = parts[int(one.path[1:])][one.first : one.last]
        assert one.text_bytes == sum(sizes)
        assert sum(sizes[:-1]) < target
        assert one.text_bytes >= target or one.last == len(parts[int(one.path[1:])])


def test_a_range_reads_its_row_groups_and_no_others(tmp_path: Path) -> None:
    rows = [(str(i), "s", "", "", "x" * (3 << 20)) for i in range(9)]
    data, counters = written([(a, b, c, d, e) for a, b, c, d, e in rows])
    (tmp_path / "x.parquet").write_bytes(data)
    ranges = cut_ranges(
        [(str(tmp_path / "x.parquet"), PartMetadata("x", "f", 1, "s", 0, {}, {}, counters.details))], 10 << 20
    )
    assert len(ranges) == 2
    found = [[name for table in read_range(one) for name in table["id"].to_pylist()] for one in ranges]
    assert found == [["0", "1", "2", "3", "4", "5"], ["6", "7", "8"]]
    assert all(table.schema.equals(SCHEMA) for one in ranges for table in read_range(one))


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


def test_dropped_rows_are_passed_over_and_leave_no_trace_in_the_counts(tmp_path: Path) -> None:
    counters = Counters()
    with open(tmp_path / "x.parquet", "wb") as file, DocumentWriter(file, counters) as writer:
        for number in range(30):
            writer.add(f"d{number}", "books", "", "", f"{number:02d}" * (1 << 19))
    whole = PartMetadata("x", "f", 1, "s", 0, counters.counts, {"short": 2}, counters.details)
    gone = [0, 1, 2, 3, 4, 5, 6, 7, 12, 29]
    found = without_rows(whole, [Dropped(row, f"d{row}", 1 << 20, "near duplicate") for row in reversed(gone)])
    assert found.counts == {"documents": 20, "text_bytes": 20 << 20}
    assert found.drops == {"near duplicate": 10, "short": 2}
    slots = Counter({slot(f"d{number}"): 1 for number in range(30) if number not in gone})
    assert [(number, count) for number, count, _ in found.details["slots"]] == sorted(slots.items())
    ranges = cut_ranges([(str(tmp_path / "x.parquet"), found)], 8 << 20)
    assert [one.first for one in ranges] == [1, 2, 3]
    assert [one.dropped for one in ranges] == [(4,), (), (5,)]
    read = [name for one in ranges for table in read_range(one) for name in table["id"].to_pylist()]
    assert read == [f"d{number}" for number in range(30) if number not in gone]
    assert without_rows(whole, []) is whole


def test_a_flipped_bit_in_any_page_is_noticed_when_it_is_read(tmp_path: Path) -> None:
    data, counters = written([(f"id{i}", "s", "", "", f"text {i} " * 40) for i in range(50)])
    path = tmp_path / "part.parquet"
    path.write_bytes(data)
    ranges = cut_ranges(
        [(str(path), PartMetadata("part", "f", len(data), "s", 0.0, counters.counts, {}, counters.details))]
    )
    whole = [table.to_pylist() for one in ranges for table in read_range(one)]
    pages = pq.read_metadata(pa.BufferReader(data)).row_group(0)
    text = pages.column(SCHEMA.names.index("text"))
    begin = text.dictionary_page_offset or text.data_page_offset
    noticed = 0
    for place in range(begin, begin + text.total_compressed_size, 3):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        try:
            found = [table.to_pylist() for one in ranges for table in read_range(one)]
        except InputError:
            noticed += 1
        else:
            assert found == whole
    assert noticed > 50
