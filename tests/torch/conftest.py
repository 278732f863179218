"""Builds that the tests of this folder share, none of which writes into one, and runs that draw no curves."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Iterator

import pytest
import torch

from bertdata.torch.training import curves
from tests.loader.conftest import dynamic_build, static_build

__all__ = ["dynamic_build", "static_build"]

torch.set_num_threads(1)
# else each worker imports these, on Python 3.14; the Trainer of transformers has collators of its own
multiprocessing.set_forkserver_preload(
    ["pytest", "bertdata.torch", "bertdata.masking.masking_kernel", "transformers.trainer_utils"]
)


@pytest.fixture(autouse=True)
def _compiled_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bertdata.torch.data.dataset.COMPILED_FROM", 0)


@pytest.fixture(autouse=True)
def _without_accelerate() -> Iterator[None]:
    """Forget what Accelerate keeps for the process, which a test has begun."""
    yield
    if state := sys.modules.get("accelerate.state"):
        state.AcceleratorState._reset_state(reset_partial_state=True)
        state.GradientState._reset_state()


_available = curves.available


@pytest.fixture(scope="module", autouse=True)
def _without_curves() -> Iterator[None]:
    """Draw no curves in runs of this process: a picture takes longer than all steps of such a run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(curves, "available", lambda: False)
        yield


@pytest.fixture
def curves_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw them, for a test that looks at them."""
    monkeypatch.setattr(curves, "available", _available)
