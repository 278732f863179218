"""Rows of token ids in, masked rows and the tokens to predict out."""

from __future__ import annotations

from typing import Any

from bertdata.registry import Registry

MASK_UNITS: Registry[Any] = Registry(
    "masking unit",
    {
        "token": "bertdata.masking.units:TOKEN",
        "word": "bertdata.masking.units:WORD",
        "ngram": "bertdata.masking.units:NGRAM",
        "token-ngram": "bertdata.masking.units:TOKEN_NGRAM",
        "span": "bertdata.masking.units:SPAN",
    },
    "bertdata.masking.units:MaskUnit",
)
"""What `--mask-unit` names, each a `MaskUnit`."""
