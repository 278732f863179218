"""Rows of whole numbers are read as lists, and a record says the same with them as without."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from bertdata.engine.fingerprints import fingerprint, is_sealed, sealed
from bertdata.engine.int_rows import IntRows, Ints, compact
from bertdata.engine.parts import PartMetadata, read_record


@pytest.mark.parametrize("value", [[], [[]], [[1], [2, 3]], [[True, 1]], [[1.5, 2.0]], [[1 << 63]], [{"a": 1}], "x", 3])
def test_what_is_not_rows_of_whole_numbers_stays_as_it_is(value: object) -> None:
    assert compact(value) is value


def test_rows_are_lists_of_python_numbers() -> None:
    values = [[number, -number, 1 << 40] for number in range(5000)]
    rows = compact(values)
    assert isinstance(rows, IntRows)
    assert (list(rows), rows[4999], rows[1:3], len(rows)) == (values, values[4999], values[1:3], 5000)
    assert json.dumps(rows[3]) == json.dumps(values[3])
    assert [str(compact([[1, last]]).array.dtype) for last in (-(1 << 31), 1 << 31)] == ["int32", "int64"]


def test_rows_are_equal_by_their_numbers() -> None:
    one, same, other = (IntRows(np.array([[1, last]])) for last in (2, 2, 3))
    assert one == same == [[1, 2]]
    assert one != other
    assert hash(one) == hash(same)


def test_whole_numbers_are_those_of_a_list_or_tuple_also_in_a_record() -> None:
    numbers = Ints(np.array([3, 8, 1 << 33]))
    assert numbers == [3, 8, 1 << 33] == list(numbers)
    assert numbers == (3, 8, 1 << 33)
    assert numbers != [3, 8]
    assert Ints(np.array([3])) != IntRows(np.array([[3]]))
    assert fingerprint({"dropped": numbers}) == fingerprint({"dropped": [*numbers]})
    with pytest.raises(TypeError, match="set is no JSON value"):
        fingerprint({3})
    assert pickle.loads(pickle.dumps(numbers)) == copy.deepcopy(numbers) == numbers
    assert PartMetadata("x", "f", 1, "s", 0.5, {}, {}, {"dropped": numbers}).values()["details"]["dropped"] == [
        *numbers
    ]


def test_a_record_is_the_same_after_its_file(tmp_path: Path) -> None:
    details = {"slots": [[1, 2, 3], [4, 5, 6]], "kind": "books", "dropped": [3, 4], "row_groups": []}
    record = PartMetadata("x", "f", 1, "s", 0.5, {"documents": 2}, {}, details)
    assert record.values()["details"] == details
    assert all(type(record.values()["details"][name]) is type(value) for name, value in details.items())
    path = tmp_path / "x.json"
    path.write_text(json.dumps(sealed(record.values())))
    assert is_sealed(json.loads(path.read_text()))
    assert read_record(str(path)) == record
