"""Models of fastText, which tell the languages of documents and give them scores."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

from bertdata.errors import InputError, MissingExtraError
from bertdata.io import files

LABEL = "__label__"
"""What the labels of a model begin with."""


@lru_cache(maxsize=2)
def load_fasttext(path: str, flag: str) -> Any:
    """Return the model in a file that a flag names, loaded once in a process.

    Raises InputError where there is no such file on this machine, or it holds no model, and MissingExtraError.
    """
    try:
        import fasttext
    except ImportError as error:
        raise MissingExtraError("fasttext", "fasttext") from error
    if files.is_remote(path) or not os.path.isfile(path):
        raise InputError(f"this file does not exist; {flag} takes a file of fastText on this machine", path=path)
    try:
        return fasttext.load_model(path)
    except ValueError as error:
        raise InputError(
            f"fastText cannot read it ({error}); expected a model of fastText, .bin or .ftz", path=path
        ) from error


def one_line(text: str) -> str:
    """Return a text as the line that a model predicts: `model.f.predict`, as its `predict` fails with NumPy 2.

    >>> one_line("Salt is\\n\\na mineral.")
    'Salt is a mineral.\\n'
    """
    return " ".join(text.split()) + "\n"
