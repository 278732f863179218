"""Parts without texts, which are read again from their source: the same as when they were counted, or refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from bertdata.documents import ROWS_OF, DocumentGroups, DocumentWriter, cut_ranges, read_range
from bertdata.documents.reread import CHECKSUM, CRC_32, checksum_of
from bertdata.engine.parts import Counters, PartMetadata
from bertdata.errors import InputError

ROWS = [(f"id{number}", "s", f"Title {number % 3}", "", f"{number} " * (number % 7 << 17)) for number in range(60)]


@dataclass(frozen=True)
class Given:
    """Rows that are given again as they stand here."""

    rows: Sequence[tuple[str, str, str, str, str]]

    def write(self, groups: DocumentGroups) -> None:
        for row in self.rows:
            groups.add(*row)

    def described(self) -> str:
        return "rows.jsonl"


def without_short(texts: pa.StringArray, counters: Counters) -> tuple[pa.StringArray, pa.StringArray]:
    """Drop every text of less than a megabyte."""
    short = pc.less(pc.binary_length(texts), 1 << 20)
    return texts, pc.if_else(short, "short", pa.scalar(None, pa.string()))


def record_at(path: Path, *, textless: bool, rules: bool = False) -> PartMetadata:
    """Write the rows as a part, and return its record."""
    chosen = without_short if rules else None
    with path.open("wb") as file, DocumentWriter(file, counters := Counters(), chosen, textless=textless) as writer:
        Given(ROWS).write(writer)
    details = counters.details | ({ROWS_OF: Given(ROWS)} if textless else {})
    return PartMetadata("part", "f", path.stat().st_size, "s", 0.0, counters.counts, counters.drops, details)


def tables(path: Path, record: PartMetadata, target: int = 1 << 40) -> list[pa.Table]:
    return [table.combine_chunks() for part in cut_ranges([(str(path), record)], target) for table in read_range(part)]


@pytest.mark.costly
@pytest.mark.parametrize("rules", [False, True])
@pytest.mark.parametrize("target", [1 << 40, 1 << 20, 10 << 20])
def test_a_part_without_texts_gives_the_tables_of_one_that_has_them(tmp_path: Path, rules: bool, target: int) -> None:
    stored, textless = tmp_path / "stored.parquet", tmp_path / "textless.parquet"
    records = [record_at(stored, textless=False, rules=rules), record_at(textless, textless=True, rules=rules)]
    of_both = [{**record.details, ROWS_OF: None} for record in records]
    assert of_both[0] == of_both[1]
    assert (records[0].counts, records[0].drops) == (records[1].counts, records[1].drops)
    assert textless.stat().st_size < records[0].counts["text_bytes"] / 1000
    left_out = [replace(record, details=record.details | {"dropped": [1, 2, 19]}) for record in records]
    for one, other in (records, left_out):
        expected = tables(stored, one, target)
        assert len(expected) > 2
        assert tables(textless, other, target) == expected


@pytest.mark.parametrize(
    "other",
    [
        ROWS[:-1],
        [*ROWS[:9], ("id9", "s", "Title 1", "", ROWS[9][4]), *ROWS[10:]],
        [*ROWS[:30], (*ROWS[30][:4], ROWS[30][4].replace("30 ", "31 ", 1)), *ROWS[31:]],
        [],
    ],
    ids=["fewer", "another title", "another text", "none"],
)
def test_rows_that_are_others_now_are_refused_with_the_file_and_the_part(
    tmp_path: Path, other: list[tuple[str, str, str, str, str]]
) -> None:
    path = tmp_path / "part.parquet"
    record = record_at(path, textless=True)
    changed = replace(record, details=record.details | {ROWS_OF: Given(other)})
    with pytest.raises(InputError, match=r"part\.parquet: the rows of rows\.jsonl are others now .* delete this one"):
        tables(path, changed)


def test_only_as_much_is_read_again_as_a_range_needs(tmp_path: Path) -> None:
    path = tmp_path / "part.parquet"
    record = record_at(path, textless=True)
    whole = tables(path, record)
    first = len(whole[0])
    changed = [*ROWS[: first + len(whole[1])], *(("other", "", "", "", "") for _ in ROWS)]
    of_beginning = replace(record, details=record.details | {ROWS_OF: Given(changed)})
    [range_of_first, *_] = cut_ranges([(str(path), of_beginning)], 1)
    assert [table.combine_chunks() for table in read_range(range_of_first)] == whole[:1]


def test_further_columns_are_null_in_a_part_without_texts(tmp_path: Path) -> None:
    path = tmp_path / "part.parquet"
    [documents] = cut_ranges([(str(path), record_at(path, textless=True))], 1 << 40)
    assert {table["columns"].null_count == len(table) for table in read_range(documents, columns=True)} == {True}


def test_rules_that_change_texts_are_an_error_and_no_other_text(tmp_path: Path) -> None:
    path = tmp_path / "part.parquet"

    def shorter(texts: pa.StringArray, counters: Counters) -> tuple[pa.StringArray, pa.StringArray]:
        return pc.utf8_slice_codeunits(texts, 0, 5), pa.nulls(len(texts), pa.string())

    with path.open("wb") as file, DocumentWriter(file, counters := Counters(), shorter, textless=True) as writer:
        Given(ROWS).write(writer)
    record = PartMetadata("part", "f", 1, "s", 0.0, {}, {}, counters.details | {ROWS_OF: Given(ROWS)})
    with pytest.raises(InputError, match="are others now"):
        tables(path, record)


def test_a_part_with_checksums_of_32_bits_as_they_were_written_before_is_read(tmp_path: Path) -> None:
    path = tmp_path / "part.parquet"
    record = record_at(path, textless=True)
    groups, expected = pq.ParquetFile(path), tables(path, record)
    schema = groups.schema_arrow
    schema = schema.set(schema.get_field_index(CHECKSUM), pa.field(CHECKSUM, CRC_32, nullable=False))
    for change in (0, 1):
        with pq.ParquetWriter(old := tmp_path / f"{change}.parquet", schema) as writer:
            for number, texts in enumerate(expected):
                crc = pa.repeat(pa.scalar(checksum_of(texts, CRC_32) ^ change, CRC_32), len(texts))
                group = groups.read_row_group(number)
                writer.write_table(group.set_column(group.column_names.index(CHECKSUM), schema.field(CHECKSUM), crc))
        if change:
            with pytest.raises(InputError, match="are others now"):
                tables(old, record)
        else:
            assert tables(old, record) == expected
