from __future__ import annotations

from collections import Counter
from pathlib import Path

from bertdata.documents import (
    DocumentWriter,
    Dropped,
    cut_ranges,
    read_range,
    slot,
    without_rows,
)
from bertdata.engine.parts import Counters, PartMetadata


def test_of_a_slot_of_two_documents_one_can_be_dropped() -> None:
    details = {"slots": [[slot("a"), 2, 30], [slot("b") + 1, 1, 5]], "row_groups": [[3, 35]]}
    whole = PartMetadata("x", "f", 1, "s", 0, {"documents": 3, "text_bytes": 35}, {}, details)
    shortened = without_rows(whole, [Dropped(1, "a", 10, "exact duplicate")])
    assert shortened.details["slots"] == sorted([[slot("a"), 1, 20], [slot("b") + 1, 1, 5]])
    assert shortened.details["dropped"] == [1]
    assert shortened.counts == {"documents": 2, "text_bytes": 25, "bytes removed, exact duplicate": 10}
    assert shortened.drops == {"exact duplicate": 1}


def test_dropped_rows_are_passed_over_and_leave_no_trace_in_the_counts(tmp_path: Path) -> None:
    counters = Counters()
    with open(tmp_path / "x.parquet", "wb") as file, DocumentWriter(file, counters) as writer:
        for number in range(30):
            writer.add(f"d{number}", "books", "", "", f"{number:02d}" * (1 << 19))
    whole = PartMetadata("x", "f", 1, "s", 0, counters.counts, {"short": 2}, counters.details)
    gone = [0, 1, 2, 3, 4, 5, 6, 7, 12, 29]
    shortened = without_rows(whole, [Dropped(row, f"d{row}", 1 << 20, "near duplicate") for row in reversed(gone)])
    assert shortened.counts == {"documents": 20, "text_bytes": 20 << 20, "bytes removed, near duplicate": 10 << 20}
    assert shortened.drops == {"near duplicate": 10, "short": 2}
    slots = Counter({slot(f"d{number}"): 1 for number in range(30) if number not in gone})
    assert [(number, count) for number, count, _ in shortened.details["slots"]] == sorted(slots.items())
    ranges = cut_ranges([(str(tmp_path / "x.parquet"), shortened)], 8 << 20)
    assert [document_range.first for document_range in ranges] == [1, 2, 3]
    assert [document_range.dropped for document_range in ranges] == [(4,), (), (5,)]
    read = [
        name for document_range in ranges for table in read_range(document_range) for name in table["id"].to_pylist()
    ]
    assert read == [f"d{number}" for number in range(30) if number not in gone]
    assert without_rows(whole, []) is whole
