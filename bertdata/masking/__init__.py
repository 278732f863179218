"""Rows of token ids in, masked rows and the tokens to predict out."""

from __future__ import annotations

from typing import Any

from bertdata.registry import Registry, object_of


def _mask_unit(name: str, found: object) -> Any:
    from bertdata.masking.units import MaskUnit

    return object_of("masking unit", name, found, MaskUnit)


MASK_UNITS: Registry[Any] = Registry(
    "masking unit",
    {
        "token": "bertdata.masking.units:TOKEN",
        "word": "bertdata.masking.units:WORD",
        "ngram": "bertdata.masking.units:NGRAM",
        "token-ngram": "bertdata.masking.units:TOKEN_NGRAM",
        "span": "bertdata.masking.units:SPAN",
    },
    _mask_unit,
)
"""What `--mask-unit` names, each a `MaskUnit`."""
