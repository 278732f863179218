from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata.tokenizers.training.counts import SCHEMA, merge_counts, prune_counts
from bertdata.tokenizers.training.partitions import (
    COUNTED,
    PARTITIONS,
    frequencies,
    frequent_words,
    least_count,
    merge_words,
    partition_words,
)

counts = st.dictionaries(st.text(min_size=1, max_size=20), st.integers(1, 2 * COUNTED), max_size=60)


def table_of(counts: dict[str, int]) -> pa.Table:
    words = sorted(counts, key=lambda word: word.encode())
    return pa.table([words, [counts[word] for word in words]], schema=SCHEMA)


@given(counts)
def test_every_word_is_dealt_once_and_partitions_stay_sorted(word_counts: dict[str, int]) -> None:
    dealt = partition_words(table_of(word_counts))
    assert len(dealt) == PARTITIONS
    assert merge_counts(dealt) == table_of(word_counts)
    assert all(table == merge_counts([table]) for table in dealt)


@given(counts, counts)
def test_a_word_has_the_same_partition_in_every_range(one: dict[str, int], other: dict[str, int]) -> None:
    for first, second in zip(partition_words(table_of(one)), partition_words(table_of(other)), strict=True):
        here, there = set(first["word"].to_pylist()), set(second["word"].to_pylist())
        assert here & set(other) == there & set(one)


def test_a_sliced_table_is_dealt_as_a_whole_one() -> None:
    whole = table_of({f"word{number}": number + 1 for number in range(50)})
    assert partition_words(whole.slice(10, 20)) == partition_words(whole.take(list(range(10, 30))))


def test_partitions_are_of_like_size() -> None:
    dealt = partition_words(table_of({f"{number:x}": 1 for number in range(1600 * PARTITIONS)}))
    sizes = [table.num_rows for table in dealt]
    assert 1400 < min(sizes) <= max(sizes) < 1800, "five standard deviations are 194"


@given(st.lists(counts, max_size=4))
def test_sums_do_not_depend_on_how_many_rows_wait(ranges: list[dict[str, int]]) -> None:
    tables = [table_of(word_range) for word_range in ranges]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bertdata.tokenizers.training.partitions._MERGE_ROWS", 3)
        assert merge_words(iter(tables)) == merge_counts(tables)


@given(counts, st.integers(1, 70))
def test_what_is_left_of_partitions_is_what_is_left_of_the_whole(word_counts: dict[str, int], most: int) -> None:
    dealt = partition_words(table_of(word_counts))
    least = least_count([frequencies(table) for table in dealt], most)
    assert frequent_words(dealt, least, most) == prune_counts(table_of(word_counts), most)


@given(counts, st.integers(1, 70))
def test_no_rarer_word_than_needed_is_held(word_counts: dict[str, int], most: int) -> None:
    least = least_count([frequencies(table) for table in partition_words(table_of(word_counts))], most)
    held = sum(count >= least for count in word_counts.values())
    assert held <= most or least == COUNTED + 1
