"""A loss that is taken in chunks trains as a whole one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from torch import nn

from bertdata.objectives.settings import ExamplesConfig
from bertdata.torch.models.chunked_loss import chunked_cross_entropy
from bertdata.torch.training import arithmetic as module
from bertdata.torch.training.pretrain import pretrain
from tests.torch.build import write_build
from tests.torch.training.small_runs import SETTINGS, log


@pytest.mark.costly
@pytest.mark.parametrize("objective", ["nsp", "sop", "doc-chunks"])
@pytest.mark.parametrize("bf16", [False, True])
def test_a_loss_in_chunks_trains_as_a_whole_one(
    tmp_path: Path, objective: str, bf16: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three labelled tokens in a chunk; of BERT, ALBERT and ModernBERT, whose decoders stand at different places."""
    config = {"nsp": "tiny", "sop": "albert-tiny", "doc-chunks": "modernbert-tiny"}[objective]
    build = write_build(tmp_path / "build", ExamplesConfig(objective=objective, max_seq_length=32))
    settings, losses = replace(SETTINGS, max_steps=4, bf16=bf16, warmup_ratio=0.0, logging_steps=1), []
    in_chunks = Mock(wraps=chunked_cross_entropy)
    monkeypatch.setattr("bertdata.torch.models.pretraining.chunked_cross_entropy", in_chunks)
    for most in (0, 300):
        monkeypatch.setattr(module, "_MOST_LOGITS", most)
        pretrain(build, config, tmp_path / str(most), settings)
        losses.append([(record["loss"], record["mlm_accuracy"]) for record in log(tmp_path / str(most))])
    whole, chunked = (torch.tensor(values) for values in losses)
    assert torch.allclose(whole, chunked, rtol=0, atol=2e-2 if bf16 else 1e-4)
    assert in_chunks.call_count >= 4  # of the second run, a step each


def test_the_gradients_of_a_loss_in_chunks_are_those_of_the_whole() -> None:
    torch.manual_seed(0)
    decoder, targets = nn.Linear(8, 50).double(), torch.randint(0, 50, (23,))
    states = torch.randn(23, 8, dtype=torch.float64, requires_grad=True)
    whole: Any = nn.functional.cross_entropy(decoder(states), targets, reduction="sum") * 0.25
    whole.backward()
    expected = [tensor.grad.clone() for tensor in (states, decoder.weight, decoder.bias) if tensor.grad is not None]
    for tensor in (states, decoder.weight, decoder.bias):
        tensor.grad = None
    chunked = chunked_cross_entropy(states, decoder, targets, 5)
    total: Any = chunked.total * 0.25
    total.backward()
    for tensor, slope in zip((states, decoder.weight, decoder.bias), expected, strict=True):
        assert tensor.grad is not None
        assert torch.allclose(tensor.grad, slope, rtol=1e-5, atol=1e-6)
    assert int(chunked.right) == int((decoder(states).argmax(-1) == targets).sum())
    assert torch.equal(chunked.plain, chunked.total)


def test_a_weighted_loss_in_chunks_has_the_gradients_of_the_whole_and_says_the_plain_one() -> None:
    torch.manual_seed(0)
    decoder, targets, weights = nn.Linear(8, 50), torch.randint(0, 50, (23,)), torch.rand(23) * 5
    gradients = []
    states = torch.randn(23, 8, requires_grad=True)
    for chunked in (False, True):
        for tensor in (states, decoder.weight, decoder.bias):
            tensor.grad = None
        if chunked:
            total, _, plain = chunked_cross_entropy(states, decoder, targets, 5, weights)
        else:
            each = nn.functional.cross_entropy(decoder(states), targets, reduction="none")
            total, plain = (each * weights).sum(), each.sum()
        loss: Any = total * 0.25
        loss.backward()
        gradients.append([total, plain, states.grad, decoder.weight.grad, decoder.bias.grad])
    for whole, part in zip(*gradients, strict=True):
        assert whole is not None
        assert part is not None
        assert torch.allclose(whole, part, rtol=1e-5, atol=1e-5)
