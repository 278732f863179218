"""Copies of a text in a batch: no negatives in the loss, and kept apart where that is asked."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from bertdata.finetune.settings import TaskConfig
from bertdata.finetune.task_shards import encode_task
from bertdata.torch.data.dataset import ShardDataset
from bertdata.torch.data.loader import ResumableBatchSampler
from bertdata.torch.training.finetune import finetune
from bertdata.torch.training.sentence_copies import copies_among, distinct_batches, numbers_of_texts, texts_of
from bertdata.torch.training.sentence_losses import multiple_negatives_ranking
from tests.torch.training.small_models import saved
from tests.torch.training.test_sentence_embedding import SETTINGS, pairs


def test_a_copy_of_a_pair_adds_nothing_to_the_loss() -> None:
    vectors = torch.eye(4)
    assert multiple_negatives_ranking([vectors, vectors], 0.05).item() == pytest.approx(0, abs=1e-6)
    rows = vectors[[0, 0, 1, 2]]
    assert multiple_negatives_ranking([rows, rows], 0.05).item() == pytest.approx(0, abs=1e-6)
    noisy = [rows + 0.01 * torch.randn(4, 4, generator=torch.Generator().manual_seed(place)) for place in range(2)]
    numbers = [torch.tensor([0, 0, 1, 2]), torch.tensor([3, 3, 4, 5])]
    assert multiple_negatives_ranking(noisy, 0.05).item() > 0.3
    assert multiple_negatives_ranking(noisy, 0.05, numbers).item() == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("texts", [2, 3])
def test_the_loss_is_that_of_sentence_transformers_with_the_copies_masked(texts: int) -> None:
    losses = pytest.importorskip("sentence_transformers.sentence_transformer.losses")
    util = pytest.importorskip("sentence_transformers.util")
    generator = torch.Generator().manual_seed(texts)
    for kinds in (3, 6, 1000):
        numbers = [torch.randint(place * 2, place * 2 + kinds, (12,), generator=generator) for place in range(texts)]
        vectors = [torch.randn(12, 8, generator=generator, requires_grad=True) for _ in range(texts)]
        masked = torch.zeros(12, 12 * (texts - 1), dtype=torch.bool)
        for row in range(12):
            for candidate in range(12 * (texts - 1)):
                column, other = 1 + candidate // 12, candidate % 12
                text = numbers[column][other]
                same = text in (numbers[0][row], numbers[1][row])
                same |= column == 1 and bool(numbers[0][other] == numbers[0][row])
                masked[row, candidate] = same and candidate != row

        def cosines(first: torch.Tensor, second: torch.Tensor, masked: torch.Tensor = masked) -> torch.Tensor:
            found: torch.Tensor = util.cos_sim(first, second)
            return found.masked_fill(masked, -torch.inf)

        theirs = losses.MultipleNegativesRankingLoss(torch.nn.Identity(), scale=20, similarity_fct=cosines)
        expected = theirs.compute_loss_from_embeddings(vectors, torch.zeros(12))
        found = multiple_negatives_ranking(vectors, 0.05, numbers)
        assert torch.equal(copies_among(numbers), masked)
        assert found.item() == pytest.approx(expected.item(), rel=1e-5)
        gradients = [torch.autograd.grad(one, vectors) for one in (found, expected)]
        for own, other in zip(*gradients, strict=True):
            assert torch.allclose(own, other, atol=1e-5)


def test_texts_are_the_same_whatever_their_padding() -> None:
    numbers = numbers_of_texts([torch.tensor([[2, 7, 3, 0]]), torch.tensor([[2, 7, 3]]), torch.tensor([[2, 3]])])
    assert numbers[0].item() == numbers[1].item() != numbers[2].item()


def test_batches_without_equal_texts_have_each_row_once_and_are_those_of_sentence_transformers() -> None:
    draw = np.random.default_rng(3)
    texts = np.stack([draw.integers(0, 30, 200), draw.integers(30, 60, 200)], 1)
    rows = [(epoch, int(number)) for epoch in range(2) for number in draw.permutation(200)]
    batches = distinct_batches(rows, texts, 8)
    assert Counter(row for batch in batches for row in batch) == Counter(rows)
    for batch in batches:
        assert len({epoch for epoch, _ in batch}) == 1
        found = [text for _, number in batch for text in set(texts[number])]
        assert len(found) == len(set(found))
    sampler = pytest.importorskip("sentence_transformers.base.sampler")
    datasets = pytest.importorskip("datasets")
    first = [row for row in rows if row[0] == 0]
    table = datasets.Dataset.from_dict({"a": texts[:, 0].astype(str), "b": texts[:, 1].astype(str)})
    ordered = table.select([number for _, number in first])
    theirs = sampler.NoDuplicatesBatchSampler(ordered, 8, drop_last=False)
    order = torch.randperm(len(ordered), generator=torch.Generator().manual_seed(0)).tolist()
    theirs.generator, theirs.seed = torch.Generator().manual_seed(0), None
    expected = [list(batch) for batch in theirs]
    assert distinct_batches([(0, row) for row in order], texts[[number for _, number in first]], 8) == [
        [(0, row) for row in batch] for batch in expected
    ]


def test_finetune_trains_on_such_batches_where_asked(tmp_path: Path) -> None:
    model = saved(tmp_path / "model", "bert")
    rows = "".join(json.dumps(row) + "\n" for row in pairs(10, 1) * 4)
    (tmp_path / "train.jsonl").write_text(rows)
    task = tmp_path / "task"
    encode_task(
        task, str(model), {"train": str(tmp_path / "train.jsonl")}, TaskConfig(task="sentence-pairs", max_seq_length=12)
    )
    numbers = texts_of(ShardDataset(task, "train"), 2)
    assert numbers[:10].tolist() == numbers[30:].tolist()
    asked = replace(SETTINGS, epochs=1, distinct_texts=True)
    steps = finetune(task, model, tmp_path / "out", asked, quiet=True)["steps"]
    sampler = ResumableBatchSampler(ShardDataset(task, "train"), 16, seed=asked.seed, rank=0, world_size=1)
    assert steps == len(distinct_batches([(row[0], row[1]) for batch in sampler for row in batch], numbers, 16)) > 3
