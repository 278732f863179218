"""Encoders: their shapes, layers, heads and weights."""

from __future__ import annotations

from typing import Any

from bertdata.registry import Registry

FAMILIES: Registry[Any] = Registry(
    "encoder family",
    {
        "bert": "bertdata.torch.models.bert:FAMILY",
        "albert": "bertdata.torch.models.albert:FAMILY",
        "electra": "bertdata.torch.models.electra:FAMILY",
        "modernbert": "bertdata.torch.models.modernbert:FAMILY",
    },
)
"""The families of encoders by `model_type`, each a `family.EncoderFamily`."""

LIBRARIES: Registry[Any] = Registry(
    "library",
    {
        "bertdata": "bertdata.torch.models.model_loading:OWN",
        "transformers": "bertdata.torch.models.from_transformers:TRANSFORMERS",
    },
)
"""What `--library` names, each a `model_loading.Library`."""
