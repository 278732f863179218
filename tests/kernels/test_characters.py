"""Numeric character references name characters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bertdata.kernels import characters
from bertdata.kernels.jit import kernel


@kernel
def _referenced(text: Any) -> Any:
    return characters.numeric_reference(text, 0, text.size)


@pytest.mark.parametrize(
    ("reference", "code"),
    [
        *[(b"233", 233), (b"xE9", 233), (b"Xe9", 233), (b"0000065", 65), (b"x10FFFF", 0x10FFFF)],
        *[(b"0", 0xFFFD), (b"xD800", 0xFFFD), (b"1114112", 0xFFFD), (b"xFFFFFF", 0xFFFD)],
        *[(b"", -1), (b"x", -1), (b"12a", -1), (b"xG", -1), (b"12345678", -1), (b"x1234567", -1)],
    ],
)
def test_a_numeric_reference_names_a_character(reference: bytes, code: int) -> None:
    assert _referenced(np.frombuffer(reference, np.uint8).copy()) == code


@kernel
def _lowered(byte: Any) -> Any:
    return characters.lower(byte)


def test_the_letters_of_ascii_alone_have_a_lower_case() -> None:
    assert [_lowered(np.int64(byte)) for byte in range(256)] == [*bytes(range(256)).lower()]
