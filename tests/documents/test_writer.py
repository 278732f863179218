from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.documents import (
    ROW_GROUP_BYTES,
    SCHEMA,
    DocumentWriter,
    slot,
)
from bertdata.engine.parts import Counters
from tests.documents.parts import Row, stored, written


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
        of_slot = slots.setdefault(slot(name), [0, 0])
        of_slot[0], of_slot[1] = of_slot[0] + 1, of_slot[1] + size
    assert counters.details["slots"] == [[slot, *slots[slot]] for slot in sorted(slots)]


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


def test_a_failure_in_the_block_passes_and_tallies_no_details() -> None:
    counters = Counters()
    with pytest.raises(RuntimeError, match="bug"), DocumentWriter(io.BytesIO(), counters):
        raise RuntimeError("bug")
    assert counters.details == {}


def test_a_text_in_bytes_that_is_not_utf_8_is_refused() -> None:
    writer = DocumentWriter(io.BytesIO(), Counters())
    writer.add("a", "s", "", "", "\u00e9".encode())
    writer.add("b", "s", "", "", b"\xff")
    with pytest.raises(pa.ArrowInvalid, match="UTF8"):
        writer.__exit__(None)
