"""Slices held in an array are those that were given, in their order, also after they were sent to a worker."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from bertdata.corpus.token_slices import TokenFile, TokenSlices, by_shard
from bertdata.corpus.token_store import TokenSlice
from bertdata.engine.int_rows import IntRows

SLICES = [TokenSlice(f"gs://b/tokens-{number:05d}.arrow", "s", 8 + number, 100, number % 2) for number in (2, 0, 1)]


@pytest.mark.parametrize(
    "slices",
    [
        SLICES,
        SLICES[:1],
        [],
        [replace(SLICES[0], path="a"), replace(SLICES[0], path="b")],
        [SLICES[0], replace(SLICES[0], path="gs://c/tokens-00000.arrow", length=5 << 32)],
    ],
)
def test_slices_come_back_without_their_digests(slices: list[TokenSlice]) -> None:
    held = TokenSlices.of(slices)
    expected = [replace(token_slice, sha256="") for token_slice in slices]
    assert list(held) == held[:] == expected
    assert pickle.loads(pickle.dumps(held)) == held
    assert hash(pickle.loads(pickle.dumps(held))) == hash(held)


def test_each_shard_has_its_slices_in_the_order_of_the_paths() -> None:
    places = {"c": [[0, 8, 5], [2, 13, 6]], "a": [[2, 8, 7]], "b": [[1, 8, 3], [2, 11, 2]]}
    files = [TokenFile(path, path * 2, 1, IntRows(np.array(rows))) for path, rows in places.items()]
    assert dict(by_shard(files, 4)) == {
        0: [TokenSlice("c", "cc", 8, 5, 1)],
        1: [TokenSlice("b", "bb", 8, 3, 1)],
        2: [TokenSlice("a", "aa", 8, 7, 1), TokenSlice("b", "bb", 11, 2, 1), TokenSlice("c", "cc", 13, 6, 1)],
        3: [],
    }
