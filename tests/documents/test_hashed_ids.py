"""Hashes of many ids at once are those of each id by itself."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.counter_rng import text_bits
from bertdata.documents.document import slot
from bertdata.documents.hashed_ids import id_bits, slots
from bertdata.kernels.warmup import compiling_always
from tests.generated import examples


@settings(deadline=None, max_examples=examples(60))
@given(st.lists(st.text(max_size=300) | st.integers(0, 500).map("x".__mul__), max_size=8), st.integers(0, 2))
def test_the_kernel_gives_the_hash_of_each_id(given_ids: list[str], first: int) -> None:
    ids = pa.array(given_ids, pa.string()).slice(first)
    with compiling_always():
        assert id_bits(ids).tolist() == [text_bits(document_id) for document_id in given_ids[first:]]
        assert slots(ids).tolist() == [slot(document_id) for document_id in given_ids[first:]]


def test_ids_that_end_where_a_block_ends_are_hashed_as_one_by_one() -> None:
    ids = ["a" * size for size in (0, 1, 127, 128, 129, 255, 256, 257, 384)]
    with compiling_always():
        assert id_bits(pa.array(ids)).tolist() == [text_bits(document_id) for document_id in ids]
