"""Programs that torch makes of a model for rows of any length: traces, and those of torch.export, as ONNX has them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from bertdata.torch.models.modernbert import ModernBertModel
from tests.torch.models.test_modernbert import LONG, SHORT, SMALL, rows, strong

WITHIN_WINDOW = (4, 2)
"""Lengths of rows in which every token is near to every other."""


class States(nn.Module):
    """The states of an encoder, by the two inputs that exporters are given."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = ModernBertModel(SMALL)
        strong(self)
        self.eval()

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        states: Tensor = self.encoder.encode(input_ids, attention_mask=attention_mask)
        return states


def require_same(program: Any, states: States) -> None:
    for lengths in (WITHIN_WINDOW, SHORT, LONG):
        ids, mask = rows(lengths)
        with torch.no_grad():
            torch.testing.assert_close(program(ids, mask)[mask.bool()], states(ids, mask)[mask.bool()])


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning", "ignore::torch.jit.TracerWarning")
def test_a_trace_of_short_rows_has_the_window_of_long_ones() -> None:
    states = States()
    trace: Any = torch.jit.trace(states, rows(WITHIN_WINDOW))  # type: ignore[no-untyped-call]
    require_same(trace, states)
    assert "PythonOp" not in str(trace.inlined_graph)  # of which the exporter to ONNX loses what it writes in place


@pytest.mark.costly
@pytest.mark.skipif(not hasattr(torch.compiler, "is_exporting"), reason="this torch does not say that it exports")
def test_an_exported_program_of_short_rows_has_the_window_of_long_ones() -> None:
    """ONNX is made of such a program, without what the program says of the lengths that it is for."""
    states, any_size = States(), dict.fromkeys((0, 1), torch.export.Dim.AUTO)
    program = torch.export.export(states, rows(WITHIN_WINDOW), dynamic_shapes=(any_size, any_size))
    require_same(program.module(), states)
