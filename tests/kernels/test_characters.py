"""Characters are decoded and encoded as Python does it, and numeric character references are read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.kernels import characters
from bertdata.kernels.jit import kernel


@kernel
def _write(code: int, out: Any) -> Any:
    return characters.write_utf8(code, out, 0)


@kernel
def _first_and_last(text: Any) -> Any:
    return characters.code_point(text, 0, text.size), characters.last_code_point(text, 0, text.size)


@kernel
def _referenced(text: Any) -> Any:
    return characters.numeric_reference(text, 0, text.size)


def array(data: bytes) -> Any:
    return np.frombuffer(data, np.uint8).copy()


@settings(deadline=None)
@given(st.integers(0, 0x10FFFF))
def test_a_character_is_written_in_utf8(code: int) -> None:
    out = np.zeros(4, np.uint8)
    assert out[: _write(code, out)].tobytes() == chr(code).encode("utf-8", "surrogatepass")


@settings(deadline=None)
@given(st.lists(st.sampled_from("aé日\uffff😀"), min_size=1, max_size=3))
def test_the_first_and_the_last_character_are_decoded(text: list[str]) -> None:
    expected = tuple((ord(end), len(end.encode())) if ord(end) < 0x10000 else (-1, 1) for end in (text[0], text[-1]))
    assert _first_and_last(array("".join(text).encode())) == expected


@pytest.mark.parametrize("data", [b"\xc3", b"\xe2\x80", b"\x80", b"\xc3\xa9\xa9\xa9"])
def test_bytes_that_are_cut_off_have_no_last_character(data: bytes) -> None:
    assert _first_and_last(array(data))[1] == (-1, 1)


@pytest.mark.parametrize(
    ("reference", "code"),
    [
        *[(b"233", 233), (b"xE9", 233), (b"Xe9", 233), (b"0000065", 65), (b"x10FFFF", 0x10FFFF)],
        *[(b"0", 0xFFFD), (b"xD800", 0xFFFD), (b"1114112", 0xFFFD), (b"xFFFFFF", 0xFFFD)],
        *[(b"", -1), (b"x", -1), (b"12a", -1), (b"xG", -1), (b"12345678", -1), (b"x1234567", -1)],
    ],
)
def test_a_numeric_reference_names_a_character(reference: bytes, code: int) -> None:
    assert _referenced(array(reference)) == code
