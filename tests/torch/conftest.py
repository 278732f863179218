"""Builds that the tests of this folder share; none of them writes into one."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from bertdata.objectives.settings import ExamplesConfig
from tests.torch.build import write_build

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _compiled_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bertdata.torch.data.collator.COMPILED_FROM", 0)


@pytest.fixture(scope="session")
def dynamic_build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An NSP build without masks."""
    return write_build(tmp_path_factory.mktemp("dynamic"))


@pytest.fixture(scope="session")
def static_build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SOP build, two copies, with masks written in."""
    config = ExamplesConfig(objective="sop", masking="static", max_seq_length=32, dupe_factor=2)
    return write_build(tmp_path_factory.mktemp("static"), config)
