"""Copies of a text in a batch: no negatives in the loss, and kept apart where that is asked."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from bertdata.finetune.settings import TaskConfig
from bertdata.finetune.task_shards import encode_task
from bertdata.loader import text_numbers
from bertdata.torch.data.dataset import ShardDataset
from bertdata.torch.data.loader import ResumableBatchSampler
from bertdata.torch.training.finetune import finetune
from bertdata.torch.training.sentence_copies import copies_among, numbers_of_texts
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
            loss: torch.Tensor = util.cos_sim(first, second)
            return loss.masked_fill(masked, -torch.inf)

        theirs = losses.MultipleNegativesRankingLoss(torch.nn.Identity(), scale=20, similarity_fct=cosines)
        expected = theirs.compute_loss_from_embeddings(vectors, torch.zeros(12))
        loss = multiple_negatives_ranking(vectors, 0.05, numbers)
        assert torch.equal(copies_among(numbers), masked)
        assert loss.item() == pytest.approx(expected.item(), rel=1e-5)
        gradients = [torch.autograd.grad(loss_tensor, vectors) for loss_tensor in (loss, expected)]
        for own, other in zip(*gradients, strict=True):
            assert torch.allclose(own, other, atol=1e-5)


def test_texts_are_the_same_whatever_their_padding() -> None:
    numbers = numbers_of_texts([torch.tensor([[2, 7, 3, 0]]), torch.tensor([[2, 7, 3]]), torch.tensor([[2, 3]])])
    assert numbers[0].item() == numbers[1].item() != numbers[2].item()


def test_finetune_trains_on_such_batches_where_asked(tmp_path: Path) -> None:
    model = saved(tmp_path / "model", "bert")
    rows = "".join(json.dumps(row) + "\n" for row in pairs(10, 1) * 4)
    (tmp_path / "train.jsonl").write_text(rows)
    task = tmp_path / "task"
    encode_task(
        task, str(model), {"train": str(tmp_path / "train.jsonl")}, TaskConfig(task="sentence-pairs", max_seq_length=12)
    )
    dataset = ShardDataset(task, "train")
    numbers = text_numbers(dataset)
    assert numbers[:10].tolist() == numbers[30:].tolist()
    assert len(np.unique(numbers[:10])) == 20
    asked = replace(SETTINGS, epochs=1, distinct_texts=True)
    sampler = ResumableBatchSampler(dataset, 16, seed=asked.seed, rank=0, world_size=1, distinct=numbers)
    assert finetune(task, model, tmp_path / "out", asked, quiet=True)["steps"] == len(sampler) > 3


def test_a_data_set_of_others_is_read_by_numbers_alone() -> None:
    datasets = pytest.importorskip("datasets")
    table = datasets.Dataset.from_dict({"anchor": [f"{i % 20}" for i in range(100)], "positive": list("abcde") * 20})
    columns = table.shuffle(seed=1).with_format("arrow")[:]
    texts = text_numbers([columns["anchor"], columns["positive"]])
    sampler = ResumableBatchSampler(table, 16, distinct=texts, with_epochs=False)
    with pytest.warns(UserWarning, match="A text of row . is in 20 rows"):
        batches = list(DataLoader(table.shuffle(seed=1), batch_sampler=sampler))
    assert sum(len(batch["anchor"]) for batch in batches) == 100
    for batch in batches:
        assert len({*batch["anchor"], *batch["positive"]}) == 2 * len(batch["anchor"])
