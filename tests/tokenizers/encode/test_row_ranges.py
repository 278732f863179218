from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bertdata.errors import ConfigError, InputError
from bertdata.text_arrays import arrays_of, as_strings, offsets_of, text_of
from bertdata.tokenizers.encode.row_ranges import padded_units, units_of
from bertdata.tokenizers.wordpiece import WordPieceTokenizer, count_words
from bertdata.tokenizers.wordpiece.vocabulary import SPECIAL_TOKENS

TOKENIZER = WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, "a", "b"])
TEXTS = ["one two", "", " three\tfour\n", "one\r\none", "\x0b\x85\u2028 é", "two"]


def test_offsets_past_2_gib_do_not_wrap() -> None:
    start = (1 << 31) + 7
    data = np.zeros(start + 8, np.uint8)  # never touched but at its end, so it costs no memory
    data[start:] = np.frombuffer(b"a b c\xc3\xa9 ", np.uint8)[:8]
    offsets = pa.py_buffer(np.array([start, start + 3, start + 7], np.int64))
    array = pa.Array.from_buffers(pa.large_string(), 2, [None, offsets, pa.py_buffer(data)])
    assert list(units_of(offsets_of(array), 3)) == [(0, 1), (1, 2)]
    assert TOKENIZER.encode_batch(array).to_pylist() == [[5, 6], [TOKENIZER.unk_token_id]]


@pytest.mark.parametrize("size", [1, 5, 9, 1000])
def test_units_hold_every_row_once_and_in_order(size: int) -> None:
    array = pa.array(["x" * 30, *TEXTS, "", "", "y"]).slice(1)
    offsets = offsets_of(array)
    units = list(units_of(offsets, size))
    assert [row for unit in units for row in range(*unit)] == list(range(len(array)))
    assert all(stop == row + 1 or offsets[stop] - offsets[row] <= size for row, stop in units)


@pytest.mark.parametrize("sizes", [[], [0], [100], [40, 40, 40], [0, 100, 0, 3, 0], [2, 79, 1], [81, 79], [300, 1, 1]])
@pytest.mark.parametrize("room", [0, 79, 80, 81])
def test_behind_each_unit_there_is_room_and_only_the_last_rows_are_copied(sizes: list[int], room: int) -> None:
    texts = [chr(97 + i) * size for i, size in enumerate(sizes)]
    offsets = np.cumsum([0, *sizes])
    data = np.frombuffer("".join(texts).encode() + b"~" * room, np.uint8)
    rows_read, copied = [], 0
    for text, own, row, stop in padded_units(data, offsets, 80):
        assert own[stop] + 80 <= len(text)
        copied += 0 if np.shares_memory(text, data) else len(text) - 80
        rows_read += [text[own[i] : own[i + 1]].tobytes().decode() for i in range(row, stop)]
    assert rows_read == texts
    assert copied <= (0 if room >= 80 else 80 + max(sizes, default=0))


def test_an_array_that_arrow_made_is_read_where_it_lies() -> None:
    array = pa.array(["x" * 1000] * 1000)
    [(first, *_), (last, *_)] = padded_units(text_of(array), offsets_of(array), 80)
    assert np.shares_memory(first, text_of(array))
    assert len(last) == 1080


@pytest.mark.parametrize("size", [1, 5, 9, 1000])
def test_strings_become_arrays_of_about_a_size_in_their_order(size: int) -> None:
    arrays = list(arrays_of(TEXTS, size))
    assert [text for array in arrays for text in array.to_pylist()] == TEXTS
    assert all(len(array) == 1 or sum(map(len, array.to_pylist())) <= size for array in arrays)
    many = [*TEXTS, "", "é\U0001f600", ""] * 300
    assert [text for array in arrays_of(many) for text in array.to_pylist()] == many
    for array in arrays:
        array.validate(full=True)


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
)
def test_every_kind_of_arrow_string_is_taken(kind: pa.DataType) -> None:
    array = pa.array(TEXTS).cast(kind) if pa.types.is_dictionary(kind) else pa.array(TEXTS, kind)
    assert as_strings(array).to_pylist() == TEXTS


@pytest.mark.parametrize("texts", ["one text", b"bytes", memoryview(b"ab"), 7, None, pa.array([1, 2]), {"a": 1}])
def test_what_is_no_list_of_strings_is_refused(texts: Any) -> None:
    for take in (as_strings, count_words, TOKENIZER.encode_batch):
        with pytest.raises(ConfigError, match="expected"):
            take(texts)


@pytest.mark.parametrize("texts", [iter(["a"]), np.array(["a"]), deque("a"), {"a"}])
def test_what_can_be_made_a_list_of_strings_is_told_so(texts: Any) -> None:
    for take in (as_strings, count_words, TOKENIZER.encode_batch):
        with pytest.raises(ConfigError, match=r"found \w+; make it a list: list\(texts\)"):
            take(texts)


def test_a_null_is_named_by_its_row() -> None:
    with pytest.raises(InputError, match="row 2 is null"):
        as_strings(["a", "b", None])
    with pytest.raises(InputError, match="row 1 is null"):
        as_strings(pa.chunked_array([pa.array(["a"]), pa.array([None, "b"])]))
    with pytest.raises(InputError, match="row 1 is null"):
        as_strings(pa.DictionaryArray.from_arrays([0, 1], ["a", None]))


def test_what_is_no_string_is_named_by_its_row() -> None:
    with pytest.raises(InputError, match="row 1 is int; expected a string"):
        as_strings(["a", 3])


def test_a_lone_surrogate_is_named_by_its_row() -> None:
    with pytest.raises(InputError, match=r"row 1 holds a lone surrogate \(U\+D83D at character 2\)"):
        as_strings(["a", "bc\ud83d"])


def test_bytes_that_are_not_utf8_are_named_by_their_row() -> None:
    wrong = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(np.array([0, 2, 5], np.int32)), pa.py_buffer(b"abc\xffd")]
    )
    with pytest.raises(InputError, match=r"row 8 is not UTF-8 \(byte 0xff at byte 1 of the row\)"):
        TOKENIZER.encode_batch(pa.chunked_array([pa.array(["a"] * 7), wrong]))
