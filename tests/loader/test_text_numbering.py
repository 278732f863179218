"""Numbers of texts: those of Arrow's dictionaries, by the kernel too."""

from __future__ import annotations

import random
import struct
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata.errors import ConfigError
from bertdata.loader import text_numbering, text_numbers
from bertdata.loader.text_numbering import number_texts

_MULTIPLIER, _SEED, _WORD = 0xD6E8FEB86659FD93, 0x9E3779B97F4A7C15, (1 << 64) - 1


def by_kernel(*chunks: Sequence[bytes]) -> list[int]:
    numbers = number_texts([pa.array(chunk, pa.large_binary()) for chunk in chunks], pa.large_binary(), True)
    return list(map(int, numbers))


def in_a_dict(*chunks: Sequence[bytes]) -> list[int]:
    numbers: dict[bytes, int] = {}
    return [numbers.setdefault(text, len(numbers)) for chunk in chunks for text in chunk]


@pytest.mark.costly
@given(st.lists(st.lists(st.binary(max_size=80) | st.sampled_from([b"", b"a", b"a" * 8, b"a" * 32, b"a" * 33]))))
def test_the_kernel_numbers_texts_as_a_dict_does(chunks: list[list[bytes]]) -> None:
    assert by_kernel(*chunks) == in_a_dict(*chunks)


@pytest.mark.costly
def test_texts_of_every_length_that_differ_in_one_byte_are_two() -> None:
    for length in range(1, 100):
        text = bytes(range(length))
        texts = [text, *(text[:i] + b"\xff" + text[i + 1 :] for i in range(length)), text + b"\0", text]
        assert by_kernel(texts) == [*range(length + 2), 0]


def test_a_table_that_grows_in_many_runs_keeps_all_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_numbering, "_RUN_BYTES", 1000)
    monkeypatch.setattr(text_numbering, "_RUN_TEXTS", 30)
    draw = random.Random(1)
    chunks = [[draw.randbytes(draw.choice([1, 2, 60, 3000])) for _ in range(draw.randrange(300))] for _ in range(30)]
    chunks = [[draw.choice(draw.choice(chunks[:12]) or [b""]) if draw.random() < 0.4 else t for t in c] for c in chunks]
    assert by_kernel(*chunks) == in_a_dict(*chunks)


def test_a_slice_is_numbered_by_its_own_texts() -> None:
    whole = pa.array([b"before", b"sea", b"salt", b"sea", b"after"], pa.large_binary())
    assert number_texts([whole.slice(1, 3), whole.slice(3)], whole.type, True).tolist() == [0, 1, 0, 0, 2]


def test_texts_of_one_hash_have_two_numbers() -> None:
    """The hash folds words by a bijection, so the first word can be had from a hash and the second word."""

    def unfolded(state: int) -> int:
        state ^= state >> 29 ^ state >> 58
        return state * pow(_MULTIPLIER, -1, 1 << 64) & _WORD

    def of_hash(last: int) -> bytes:
        before_last = unfolded(12345) ^ (last + 16 * _SEED & _WORD)
        return struct.pack("<QQ", unfolded(unfolded(before_last) ^ last) ^ _SEED, last)

    texts = [of_hash(last) for last in range(50)]
    assert len({kernel_hash(text) for text in texts}) == 1
    assert by_kernel(texts, texts) == [*range(50), *range(50)]


def kernel_hash(text: bytes) -> int:
    """Return the hash that the kernel puts into `hashes`."""
    from bertdata.loader.text_numbering_kernel import BLOCK, number_chunk

    hashes = np.zeros(BLOCK, np.uint64)
    room = np.zeros(4, np.uint64), np.zeros(2, np.int64), np.empty(len(text), np.uint8)
    ends = np.array([0, len(text)])
    number_chunk(np.frombuffer(text, np.uint8), ends, *room, 0, np.empty(1, np.int32), hashes)
    return int(hashes[0])


@pytest.mark.parametrize("make", [list, pa.array, lambda texts: pa.chunked_array([texts[:1], texts[1:]])])
def test_texts_may_be_lists_and_arrow_arrays(make: Callable[[list[str]], Any]) -> None:
    columns = [["sea", "salt", "sea"], ["water", "sea", "Sea"]]
    assert text_numbers([make(column) for column in columns]).tolist() == [[0, 2], [1, 0], [0, 3]]


def test_few_texts_are_numbered_without_kernels() -> None:
    before = sys.modules.pop("bertdata.loader.text_numbering_kernel", None)
    assert text_numbers([["sea"] * 10, ["salt"] * 10]).shape == (10, 2)
    assert "bertdata.loader.text_numbering_kernel" not in sys.modules
    if before is not None:
        sys.modules["bertdata.loader.text_numbering_kernel"] = before


def test_columns_of_several_lengths_are_refused() -> None:
    with pytest.raises(ConfigError, match="columns of 1 and 2 texts"):
        text_numbers([["sea"], ["salt", "water"]])
