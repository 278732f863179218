"""Accelerate in a process that has read nothing before."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest

from bertdata.torch.data import frameworks
from bertdata.torch.data import loader as loader_module


@pytest.fixture
def fresh_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Has a test forget what was read in this process before; it is called where another process begins.

    It returns an Accelerator. Those of earlier tests, and their optimizers, go with the garbage.
    """
    accelerate = pytest.importorskip("accelerate")
    state = pytest.importorskip("accelerate.state")
    kinds = (state.PartialState, state.AcceleratorState, state.GradientState)

    def begin(**keywords: Any) -> Any:
        gc.collect()
        for kind in kinds:
            kind._reset_state()
        monkeypatch.setattr(loader_module, "BEGINNING", frameworks.Beginning())
        return accelerate.Accelerator(cpu=True, **keywords)

    yield begin
    for kind in kinds:
        kind._reset_state()
