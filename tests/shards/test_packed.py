"""Packed rows as the examples in them, and borders that are not those of their rows."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from bertdata.shards.packed import first_examples, unpacked

ROWS = {
    "input_ids": [[2, 7, 3, 2, 8, 8, 3], [2, 3], [2, 9, 3, 2, 3, 2, 3]],
    "next_sentence_label": [[0, 1], [1], [0, 0, 1]],
    "example_id": [[5, 6], [7], [8, 9, 10]],
    "labels": [[-100, 7, -100, -100, -100, 8, -100], [-100, -100], [-100] * 7],
    "cu_seqlens": [[0, 3, 7], [0, 2], [0, 3, 5, 7]],
}
EXAMPLES = [
    {"input_ids": [2, 7, 3], "next_sentence_label": 0, "example_id": 5, "labels": [-100, 7, -100]},
    {"input_ids": [2, 8, 8, 3], "next_sentence_label": 1, "example_id": 6, "labels": [-100, -100, 8, -100]},
    {"input_ids": [2, 3], "next_sentence_label": 1, "example_id": 7, "labels": [-100, -100]},
    {"input_ids": [2, 9, 3], "next_sentence_label": 0, "example_id": 8, "labels": [-100] * 3},
    {"input_ids": [2, 3], "next_sentence_label": 0, "example_id": 9, "labels": [-100] * 2},
    {"input_ids": [2, 3], "next_sentence_label": 1, "example_id": 10, "labels": [-100] * 2},
]


def test_each_example_of_a_packed_row_becomes_a_row() -> None:
    assert unpacked(pa.record_batch(ROWS)).to_pylist() == EXAMPLES


def test_rows_of_a_batch_that_begins_in_another_are_its_own() -> None:
    batch = pa.record_batch(ROWS)
    assert unpacked(batch.slice(1)).to_pylist() == EXAMPLES[2:]
    assert unpacked(batch.slice(0, 1)).to_pylist() == EXAMPLES[:2]
    assert unpacked(batch.slice(0, 0)).num_rows == 0


def test_an_example_may_be_one_token() -> None:
    batch = pa.record_batch(
        {"input_ids": [[2, 3], [4]], "example_id": [[5, 6], [7]], "cu_seqlens": [[0, 1, 2], [0, 1]]}
    )
    assert unpacked(batch)["input_ids"].to_pylist() == [[2], [3], [4]]


def test_a_batch_that_is_not_packed_is_left_as_it_is() -> None:
    batch = pa.record_batch({"input_ids": [[2, 3]], "example_id": [5]})
    assert unpacked(batch) is batch


def test_the_first_example_of_each_row_is_known() -> None:
    assert first_examples(pa.record_batch(ROWS)).tolist() == [0, 2, 3]
    assert first_examples(pa.record_batch(ROWS).slice(1)).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("borders", "message"),
    [
        ([0], "a row has no examples"),
        ([], "a row has no examples"),
        ([0, 3, 3, 7], "do not rise from 0 to its length"),
        ([0, 5, 3, 7], "do not rise from 0 to its length"),
        ([1, 3, 7], "do not rise from 0 to its length"),
        ([0, 3, 6], "do not rise from 0 to its length"),
        ([0, 3, 8], "do not rise from 0 to its length"),
        ([1, 3, 8], "do not rise from 0 to its length"),
        ([0, 7], "next_sentence_label has another number of values"),
        ([0, 2, 4, 7], "next_sentence_label has another number of values"),
    ],
)
@pytest.mark.parametrize("place", [0, 2])
def test_borders_that_are_not_those_of_their_row_are_refused(borders: list[int], message: str, place: int) -> None:
    order = {0: [0, 1, 2], 2: [2, 1, 0]}[place]
    rows: dict[str, Any] = {name: [values[number] for number in order] for name, values in ROWS.items()}
    rows["cu_seqlens"][place] = borders
    with pytest.raises(ValueError, match=message):
        unpacked(pa.record_batch(rows, schema=pa.record_batch(ROWS).schema))


def test_a_label_for_each_token_is_expected() -> None:
    with pytest.raises(ValueError, match="labels has another number of values"):
        unpacked(pa.record_batch(ROWS | {"labels": [[-100] * 7, [-100], [-100] * 8]}))
