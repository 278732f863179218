"""Figures of the log are quotients of sums, so parts of any size add up to what the whole batch gives."""

from __future__ import annotations

import pytest
import torch

from bertdata.torch.models import FAMILIES
from bertdata.torch.models.config import Counts
from bertdata.torch.models.configs import presets
from bertdata.torch.models.objectives.replaced_tokens import ReplacedTokenOutput
from bertdata.torch.models.outputs import LossTerm, PretrainingOutput
from bertdata.torch.training.losses import Sums, loss_of


def term(name: str, value: float, per: str, weight: float) -> LossTerm:
    return LossTerm(name, torch.tensor(value), per, weight, {})


def test_parts_count_by_what_their_terms_are_means_over() -> None:
    parts = [Counts(labelled=1, pairs=2, tokens=10), Counts(labelled=3, pairs=2, tokens=30)]
    whole = Counts(labelled=4, pairs=4, tokens=40)
    values = [(2.0, 1.0, 3.0), (6.0, 3.0, 5.0)]
    losses, sums = [], Sums()
    for counts, (mlm, pair, other) in zip(parts, values, strict=True):
        terms = [term("mlm", mlm, "labelled", 1.0), term("pair", pair, "pairs", 1.0), term("x", other, "tokens", 50.0)]
        losses.append(float(loss_of(terms, counts, whole)))
        sums.add(terms, counts)
    means = sums.means()
    assert means == {"loss": 5.0 + 2.0 + 50 * 4.5, "mlm_loss": 5.0, "pair_loss": 2.0, "x_loss": 4.5}
    assert sum(losses) == pytest.approx(means["loss"])
    assert sums.means(lambda values: [2 * value for value in values]) == means
    assert sums.means(weight=0.0) == dict.fromkeys(means, 0.0)


def test_replaced_and_original_tokens_count_alike_however_many_there_are() -> None:
    logits, truth = (
        torch.tensor([1.0, -1.0, -1.0, -1.0, 1.0, -1.0]),
        torch.tensor([True, True, False, False, False, False]),
    )
    zero = torch.tensor(0.5)
    guessed = {"prediction_logits": torch.tensor([[0.0, 1.0]]), "targets": torch.tensor([1])}
    generator = PretrainingOutput(zero, seq_relationship_logits=None, hidden_states=zero, mlm_loss=zero, **guessed)
    output = ReplacedTokenOutput(zero, generator, zero, logits, truth)
    sums = Sums()
    sums.add(output.terms, Counts(labelled=1, tokens=6))
    means = sums.means()
    assert means["mlm_accuracy"] == 1.0
    assert means["replaced_accuracy"] == (1 / 2 + 3 / 4) / 2
    assert means["replaced_share"] == 2 / 6
    assert means["loss"] == 0.5 + 50 * 0.5


def test_each_family_has_its_own_name_and_its_presets_are_its_configs() -> None:
    assert all(FAMILIES[name].config.model_type == name for name in FAMILIES)
    for name in FAMILIES:
        for make in FAMILIES[name].presets.values():
            assert type(make()) is FAMILIES[name].config
    assert len(presets()) == sum(len(FAMILIES[name].presets) for name in FAMILIES)
