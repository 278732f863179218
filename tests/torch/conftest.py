"""Builds that the tests of this folder share; none of them writes into one."""

from __future__ import annotations

import pytest
import torch

from tests.loader.conftest import dynamic_build, static_build

__all__ = ["dynamic_build", "static_build"]

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _compiled_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bertdata.torch.data.dataset.COMPILED_FROM", 0)
