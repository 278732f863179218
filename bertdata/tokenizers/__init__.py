"""Text in, token ids out: the families of tokenizers, and how vocabularies are trained.

Names are loaded when first used, so that importing this package imports neither numpy nor pyarrow.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bertdata.tokenizers.base import SpecialTokens, Tokenizer
    from bertdata.tokenizers.loading import TOKENIZERS, load_tokenizer
    from bertdata.tokenizers.pairs import RowTemplate

__all__ = ["TOKENIZERS", "RowTemplate", "SpecialTokens", "Tokenizer", "load_tokenizer"]

_HOMES = {
    "TOKENIZERS": "loading",
    "RowTemplate": "pairs",
    "SpecialTokens": "base",
    "Tokenizer": "base",
    "load_tokenizer": "loading",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
