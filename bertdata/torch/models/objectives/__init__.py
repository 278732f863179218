"""Training objectives besides masked tokens, each a `TrainingObjective`: a class of model in, another one out."""

from __future__ import annotations

from typing import Any

from bertdata.registry import Registry

TRAINING_OBJECTIVES: Registry[Any] = Registry(
    "training objective",
    {
        "replaced-token-detection": "bertdata.torch.models.objectives.detection:OBJECTIVE",
        "retromae": "bertdata.torch.models.objectives.retromae:OBJECTIVE",
        "span-boundary": "bertdata.torch.models.objectives.span_boundary:OBJECTIVE",
    },
)
"""What `--training-objective` names."""
