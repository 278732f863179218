"""Pseudo-log-likelihoods of sentences by masked language models, and accuracy on minimal pairs."""

from __future__ import annotations

from typing import Any

from bertdata.registry import Registry

METRICS: Registry[Any] = Registry(
    "metric",
    {
        "original": "bertdata.torch.scoring.masked_rows:ORIGINAL",
        "within-word-l2r": "bertdata.torch.scoring.masked_rows:WITHIN_WORD_L2R",
    },
)
"""What `--metric` names, each a `masked_rows.Metric`."""
