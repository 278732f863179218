"""The table of merges gives each pair its rank, and takes no pair for another one when it merges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bertdata.kernels.jit import kernel
from bertdata.tokenizers.encode.byte_pair import BytePairModel, merges_of
from bertdata.tokenizers.encode.kernels.merge_table import NO_ID, NO_RANK, Merges, likely_rank, merges_to
from bertdata.tokenizers.json_format import byte_letters
from bertdata.tokenizers.late_model import merged_ids
from tests.oracles.byte_pairs import merge


@kernel
def look_up(left: Any, right: Any, merges: Merges, ranks: Any, made: Any) -> None:
    """Write the rank that the table gives each pair, and what that rank makes of the pair."""
    for k in range(len(left)):
        ranks[k], made[k] = likely_rank(merges, left[k], right[k]), NO_ID
        if ranks[k] != NO_RANK:
            made[k] = merges_to(merges.records[ranks[k]], left[k], right[k])


def ranks_in(merges: Merges, left: Any, right: Any) -> tuple[list[int], list[int]]:
    ranks, made = np.zeros(len(left), np.int64), np.zeros(len(left), np.int64)
    look_up(np.array(left, np.uint64), np.array(right, np.uint64), merges, ranks, made)
    return ranks.tolist(), made.tolist()


def table_of(pairs: list[tuple[int, int]], made: list[int]) -> Merges:
    sides = np.array(pairs, np.uint64).reshape(-1, 2)
    return merges_of(sides[:, 0], sides[:, 1], np.array(made, np.uint64), np.arange(256, dtype=np.uint32))


@pytest.mark.parametrize("n", [0, 1, 2, 13, 3000])
def test_each_pair_has_its_rank_and_what_it_makes(n: int) -> None:
    drawn = np.random.default_rng(n).choice(4000 * 4000, n, replace=False)
    pairs = [(int(pair_number) // 4000, int(pair_number) % 4000) for pair_number in drawn]
    made = list(range(5000, 5000 + n))
    left, right = [left_id for left_id, _ in pairs], [other for _, other in pairs]
    assert ranks_in(table_of(pairs, made), left, right) == (list(range(n)), made)


def test_a_pair_that_is_not_there_is_told_from_the_one_whose_slot_it_has() -> None:
    pairs = {
        (pair_number // 3000 % 3000, pair_number % 3000): None
        for pair_number in np.random.default_rng(1).integers(1 << 40, size=3000)
    }
    table = table_of(list(pairs), list(range(len(pairs))))
    others = [
        (number, other) for number in range(0, 3000, 7) for other in range(0, 3000, 11) if (number, other) not in pairs
    ]
    ranks, made = ranks_in(table, [left_id for left_id, _ in others], [other for _, other in others])
    assert 0 < len(others) - ranks.count(NO_RANK) < len(others) / 2000
    assert set(made) == {NO_ID}


def test_the_last_rank_of_a_pair_counts_and_pairs_of_bytes_have_theirs() -> None:
    table = table_of([(1, 2), (3, 4), (1, 2), (2, 300)], [300, 301, 300, 302])
    assert ranks_in(table, [1, 3, 2], [2, 4, 300]) == ([2, 1, 3], [300, 301, 302])
    ranks = {(at >> 8, at & 255): rank for at, rank in enumerate(table.first.tolist()) if rank != NO_RANK}
    assert ranks == {(1, 2): 2, (3, 4): 1}


def test_nothing_is_merged_with_what_is_before_or_after_a_word() -> None:
    pairs = [(left_byte, other) for left_byte in range(40) for other in range(40)]
    table = table_of(pairs, list(range(100, 100 + len(pairs))))
    _, made = ranks_in(table, [NO_ID] * 1600 + list(range(1600)), list(range(1600)) + [NO_ID] * 1600)
    assert set(made) == {NO_ID}


def test_words_are_merged_as_in_the_readable_version_with_thousands_of_merges() -> None:
    draw = np.random.default_rng(2)
    letters = byte_letters()
    tokens = [bytes([byte]) for byte in range(256)]
    pairs: list[tuple[bytes, bytes]] = []
    while len(pairs) < 3000:
        left, right = (
            tokens[97 + pair_number % 20] if pair_number < 300 else tokens[pair_number % len(tokens)]
            for pair_number in draw.integers(600, size=2)
        )
        if len(left + right) <= 6 and left + right not in tokens:
            pairs.append((left, right))
            tokens.append(left + right)
    names = ["".join(letters[byte] for byte in token) for token in tokens]
    spelt = dict(zip(tokens, names, strict=True))
    vocabulary = {name: number for number, name in enumerate(names)}
    merges = merged_ids(vocabulary, [[spelt[left], spelt[right]] for left, right in pairs])
    assert merges is not None
    model = BytePairModel(vocabulary, merges, None, np.uint16)
    ids, ranks = {token: number for number, token in enumerate(tokens)}, {pair: rank for rank, pair in enumerate(pairs)}
    for n in draw.integers(1, 24, size=3000).tolist():
        word = bytes(draw.integers(97, 117, size=n).tolist())
        assert model._merged(word).tolist() == merge(word, ids, ranks)
