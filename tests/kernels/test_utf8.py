"""Characters are decoded and encoded as Python does it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.kernels import utf8
from bertdata.kernels.jit import kernel


@kernel
def _encode(code: int, out: Any) -> Any:
    return utf8.encode(code, out, 0)


@kernel
def _first_and_last(text: Any) -> Any:
    return utf8.decode(text, 0, text.size), utf8.decode_last(text, 0, text.size)


def array(data: bytes) -> Any:
    return np.frombuffer(data, np.uint8).copy()


@settings(deadline=None)
@given(st.integers(0, 0x10FFFF))
def test_a_character_is_encoded(code: int) -> None:
    out = np.zeros(4, np.uint8)
    assert out[: _encode(code, out)].tobytes() == chr(code).encode("utf-8", "surrogatepass")


@settings(deadline=None)
@given(st.lists(st.sampled_from("aé日\uffff😀"), min_size=1, max_size=3))
def test_the_first_and_the_last_character_are_decoded(text: list[str]) -> None:
    expected = tuple((ord(end), len(end.encode())) for end in (text[0], text[-1]))
    assert _first_and_last(array("".join(text).encode())) == expected


@pytest.mark.parametrize("data", [b"\xc3", b"\xe2\x80", b"\x80", b"\xc3\xa9\xa9\xa9", b"\xed\xa0\x80", b"\x80" * 5])
def test_bytes_that_are_not_utf8_have_no_last_character(data: bytes) -> None:
    assert _first_and_last(array(data))[1] == (-1, 1)


@pytest.mark.parametrize(
    "data", [b"\x80", b"\xc1\x81", b"\xc3a", b"\xe0\x80\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80"]
)
def test_bytes_that_are_not_utf8_have_no_first_character(data: bytes) -> None:
    with pytest.raises(UnicodeDecodeError):
        data.decode()
    assert _first_and_last(array(data))[0] == (-1, 1)
