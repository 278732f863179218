"""A build, and teachers that learned from it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bertdata.objectives.settings import ExamplesConfig
from bertdata.torch.training.pretrain import pretrain
from tests.torch.build import write_build
from tests.torch.training.small_runs import SETTINGS, SMALL


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of rows without pairs, with 100 tokens in the vocabulary."""
    return write_build(
        tmp_path_factory.mktemp("rows"), ExamplesConfig(objective="full-sentences", max_seq_length=32), documents=48
    )


@pytest.fixture(scope="session")
def teacher(tmp_path_factory: pytest.TempPathFactory, build: Path) -> Path:
    """A BERT of four layers of 32 after a few steps."""
    output = tmp_path_factory.mktemp("teacher")
    pretrain(build, replace(SMALL, num_hidden_layers=4), output, replace(SETTINGS, max_steps=4))
    return output
