"""Arrow data whose offsets, lengths, nulls or text are wrong are refused before their buffers are read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from bertdata.errors import InputError
from bertdata.io.arrow_data import checked, read_stage_file, read_stream, reading_arrow
from tests.io.lying_arrow import LIES, strings_of


@pytest.mark.parametrize("lie", LIES)
def test_offsets_that_point_elsewhere_are_found(lie: str) -> None:
    table = strings_of(LIES[lie])
    for data in (table, table["text"], table["text"].chunk(0)):
        with pytest.raises(pa.ArrowInvalid):
            checked(data)


def test_what_is_right_is_returned() -> None:
    table = pa.table({"text": ["rain", None, "\u00e9"], "n": [[1], [], None]})
    assert checked(table) is table
    assert checked(table.to_batches()[0].slice(1)).num_rows == 2


def test_a_stream_in_a_file_is_read_whole_or_refused_with_its_name(tmp_path: Path) -> None:
    path, table = tmp_path / "part.arrow", pa.table({"text": pa.array(["rain", "salt"])})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)
    assert read_stage_file(str(path), "words") == table
    data = path.read_bytes()
    for damaged in (data[:-30], b"salt" + data, data.replace(np.array([0, 4, 8], "<i4").tobytes(), b"\x7f" * 12)):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=r"part\.arrow: words are damaged .*; delete this file and run again"):
            read_stage_file(str(path), "words")


def test_errors_of_arrow_name_the_file_and_others_pass() -> None:
    said = pytest.raises(InputError, match=r"^a\.arrow: is cut off \(.*\); get it again")
    with said, reading_arrow("a.arrow", "is cut off", "get it again"):
        read_stream(pa.py_buffer(b"no stream"))
    with pytest.raises(ZeroDivisionError), reading_arrow("a.arrow", "is cut off", "get it again"):
        _ = 1 // 0


@pytest.mark.parametrize(("asked", "kind"), [(1 << 20, MemoryError), (1 << 60, InputError)])
def test_data_for_which_memory_is_short_is_not_called_damaged_but_a_length_of_more_than_there_is(
    asked: int, kind: type[Exception]
) -> None:
    error = pa.ArrowMemoryError(f"malloc of size {asked} failed")
    with pytest.raises(kind), reading_arrow("a.arrow", "is cut off", "get it again"):
        raise error
