"""Plans of runs, for the tests of what is shown."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bertdata.torch.training.plan import PhasePlan, RunPlan

ROWS = PhasePlan("", rows=615, max_seq_length=128, steps=97, epochs=5.05, tokens=3712.0, operations=1e9)


def plan_of(steps: int, first: int = 0, **changes: Any) -> RunPlan:
    """Return the plan of a run of so many steps, `first` of them taken before."""
    plan = RunPlan(
        output="model",
        model="BertForPreTraining",
        parameters=1000,
        device="cpu",
        processes=1,
        batch_size=32,
        steps=steps,
        phases=[replace(ROWS, steps=steps)],
        first=first,
    )
    return replace(plan, **changes)
