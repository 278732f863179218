"""Fingerprints are of values, and values that are written with theirs are read again, but no damaged ones."""

from __future__ import annotations

import json
import subprocess
import sys
from enum import StrEnum
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.engine.fingerprints import fingerprint, is_sealed, is_sealed_line, sealed, sealed_line
from bertdata.engine.int_rows import IntRows
from tests.generated import examples


class Named(StrEnum):
    ROWS = "rows"


LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
JSON = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.dictionaries(st.integers(), inner)
)


@given(st.lists(JSON, max_size=3))
@settings(max_examples=examples(40), deadline=None)
def test_a_fingerprint_is_of_the_value_and_not_of_its_order_in_memory(parts: list[Any]) -> None:
    again = json.loads(json.dumps(parts))
    assert fingerprint(*parts) == fingerprint(*again)
    assert len(fingerprint(*parts)) == 32


def test_fingerprints_tell_values_apart() -> None:
    values: list[tuple[Any, ...]] = [
        (),
        (None,),
        ("",),
        (0,),
        (False,),
        ("0",),
        ([],),
        ({},),
        ([0],),
        (0, 0),
        ("a", "b"),
    ]
    marks = [fingerprint(*value) for value in [*values, ("ab",), ({"a": 1},), ({"a": 2},), ("a\udce9",)]]
    assert len(set(marks)) == len(marks)


def test_a_fingerprint_is_the_same_in_every_process() -> None:
    code = "from bertdata.engine.fingerprints import fingerprint; print(fingerprint('x', {'b': 1, 'a': [2.5, None]}))"
    command = [sys.executable, "-c", code]
    printed = subprocess.run(command, env={"PYTHONHASHSEED": "7"}, capture_output=True, text=True, check=True).stdout
    assert printed.strip() == fingerprint("x", {"a": [2.5, None], "b": 1})


@given(st.dictionaries(st.text(), VALUES, min_size=1))
@settings(max_examples=examples(40), deadline=None)
def test_a_line_has_the_values_and_the_checksum_of_sealed_values(values: dict[str, Any]) -> None:
    line = sealed_line(values)
    assert json.loads(line) == json.loads(json.dumps(sealed(values)))
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert is_sealed_line(line)
    assert is_sealed(json.loads(line))


@pytest.mark.parametrize(
    "values",
    [
        {"slots": IntRows(np.array([[1, 2], [30, 4]]))},
        {"by length": {2: 1, 10: 3, 1: 5}, "slots": IntRows(np.array([[1, 2]]))},
        {"lists": [{2: 1, 10: 3}]},
        {Named.ROWS: 3},
        {"checksum": "of something else", "rows": 1},
    ],
    ids=["numbers", "keys that are numbers", "such keys in a list", "a key of an enum", "another checksum"],
)
def test_a_line_is_read_again_as_sealed(values: dict[str, Any]) -> None:
    line = sealed_line(values)
    assert is_sealed_line(line)
    assert is_sealed(json.loads(line))


def test_no_changed_byte_and_no_missing_one_passes_for_sealed() -> None:
    line = sealed_line({"documents": 3, "title": "rain"})
    for place in range(len(line)):
        changed = line[:place] + bytes([line[place] ^ 1]) + line[place + 1 :]
        assert not is_sealed_line(changed)
        assert not is_sealed_line(line[:place])
        assert not is_sealed_line(line[:place] + line[place + 1 :])
    for other in (b"", b"{}\n", line + b"\n", b" " + line):
        assert not is_sealed_line(other)
