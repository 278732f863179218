from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.kernels.hash_table import FREE, empty_table, find, rehash
from bertdata.kernels.jit import kernel


@kernel
def enter(table: Any, keys: Any) -> None:
    for value in range(len(keys)):
        place = find(table, keys[value])
        table[place], table[place + 1] = keys[value], value


@kernel
def look_up(table: Any, keys: Any, values: Any) -> None:
    for i in range(len(keys)):
        place = find(table, keys[i])
        values[i] = table[place + 1] if table[place] == keys[i] else -1


@settings(max_examples=50)
@given(st.sets(st.integers(-(2**41), 2**62 - 1).filter(lambda key: key != FREE), min_size=1, max_size=200))
def test_keys_are_found_with_their_values_and_others_are_not_also_in_a_larger_table(drawn: set[int]) -> None:
    keys = np.array(sorted(drawn), np.int64)
    entered, table, larger = keys[::2], empty_table(len(keys)), empty_table(4 * len(keys))
    enter(table, entered)
    rehash(table, larger)
    expected = [i // 2 if i % 2 == 0 else -1 for i in range(len(keys))]
    for each in (table, larger):
        values = np.empty(len(keys), np.int64)
        look_up(each, keys, values)
        assert values.tolist() == expected
