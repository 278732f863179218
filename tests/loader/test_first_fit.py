"""Batches in which no text occurs twice: the kernel against its reference and against sentence-transformers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from bertdata.loader.first_fit import first_fit


def drawn(seed: int, rows: int, kinds: int, columns: int, favourite: float) -> NDArray[np.int32]:
    """Return the texts of rows, some share of which has text 0 first."""
    draw = np.random.default_rng(seed)
    texts = draw.integers(0, kinds, (rows, columns)).astype(np.int32)
    texts[draw.random(rows) < favourite, 0] = 0
    return texts


@given(
    seed=st.integers(0, 1000),
    rows=st.integers(0, 150),
    kinds=st.integers(1, 300),
    columns=st.integers(1, 3),
    favourite=st.sampled_from([0.0, 0.7, 1.0]),
    size=st.integers(1, 40),
)
def test_the_kernel_gives_the_batches_of_its_reference(
    seed: int, rows: int, kinds: int, columns: int, favourite: float, size: int
) -> None:
    texts = drawn(seed, rows + 5, kinds, columns, favourite)
    order = np.random.default_rng(seed).permutation(rows + 5)[:rows]
    expected = first_fit(order, texts, size, compiled=False)
    assert first_fit(order, texts, size, compiled=True).tolist() == expected.tolist()
    for batch in range(int(expected.max(initial=-1)) + 1):
        texts_of_rows = [set(texts[row].tolist()) for row in order[expected == batch]]
        assert 1 <= len(texts_of_rows) <= size
        assert sum(map(len, texts_of_rows)) == len(set().union(*texts_of_rows))


@pytest.mark.parametrize("favourite", [0.0, 0.5])
def test_the_batches_are_those_of_sentence_transformers_for_the_same_order(favourite: float) -> None:
    sampler = pytest.importorskip("sentence_transformers.base.sampler")
    datasets = pytest.importorskip("datasets")
    torch = pytest.importorskip("torch")
    texts = drawn(3, 400, 60, 2, favourite)
    table = datasets.Dataset.from_dict({"a": texts[:, 0].astype(str), "b": texts[:, 1].astype(str)})
    theirs = sampler.NoDuplicatesBatchSampler(table, 16, drop_last=False)
    order = torch.randperm(400, generator=torch.Generator().manual_seed(0)).numpy()
    theirs.generator, theirs.seed = torch.Generator().manual_seed(0), None
    batch_of = first_fit(order, texts, 16, compiled=True)
    ours = [order[batch_of == batch].tolist() for batch in range(int(batch_of.max()) + 1)]
    assert ours == [list(batch) for batch in theirs]


def test_a_text_of_most_rows_costs_hardly_more_than_another() -> None:
    texts = drawn(1, 200_000, 50_000, 2, 0.7)  # some 140,000 batches: looking through them for each row takes hours
    batch_of = first_fit(np.arange(len(texts)), texts, 8192, compiled=True)
    assert batch_of.max() + 1 == (texts == 0).any(axis=1).sum()
