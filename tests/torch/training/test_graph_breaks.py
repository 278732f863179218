"""The layers that `--compile` compiles are one graph: nothing in them goes back to Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch._dynamo.utils import counters

from bertdata.objectives.settings import ExamplesConfig
from bertdata.torch.models.encoder import Blocks
from bertdata.torch.training.pretrain import pretrain
from tests.torch.build import write_build
from tests.torch.training.small_runs import SETTINGS


def as_it_is(graph: torch.fx.GraphModule, inputs: Any) -> Callable[..., Any]:
    """Return a graph that was found without compiling it, which takes a minute on a CPU."""
    return graph.forward


@pytest.mark.costly
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning")  # of torch, while it traces
@pytest.mark.parametrize("packing", [False, True])
@pytest.mark.parametrize("family", ["tiny", "modernbert-tiny"])
def test_compiled_layers_have_no_graph_breaks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, family: str, packing: bool
) -> None:
    build = write_build(tmp_path / "build", ExamplesConfig(objective="full-sentences", max_seq_length=24))
    whole: dict[str, Any] = {"backend": as_it_is, "fullgraph": True}  # a break is then an error
    monkeypatch.setattr(Blocks, "compile", lambda self, **given: nn.Module.compile(self, **whole, **given))
    torch._dynamo.reset()
    counters.clear()
    settings = replace(SETTINGS, max_steps=2, compile=True, bf16=True, packing=packing)
    pretrain(build, family, tmp_path / "out", settings, config_overrides={"num_hidden_layers": 2}, quiet=True)
    assert counters["stats"]["unique_graphs"] in (1, 2)  # another when a second length comes
