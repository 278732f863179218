"""Versions of what decides the bytes of a build: those of bertdata, of packages and of Python's Unicode tables.

`tokenizers` lowercases and splits by the Unicode tables of its release, `regex` and Python by theirs: two releases give
other words for letters that are new in one of them.
"""

from __future__ import annotations

import functools
import importlib.metadata
import unicodedata
from collections.abc import Mapping

from bertdata import __version__

PACKAGES = ("tokenizers", "regex", "charset-normalizer", "selectolax")
"""Those of which a release may give other text or ids than the one before."""
UNICODE = "Python's Unicode tables"


@functools.cache
def versions() -> dict[str, str]:
    """Return the version of each part that decides bytes; "" of a package that is not installed.

    >>> [*versions()][:3]
    ['bertdata', 'tokenizers', 'regex']
    """
    return {
        "bertdata": __version__,
        **{package: _version(package) for package in PACKAGES},
        UNICODE: unicodedata.unidata_version,
    }


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def differences(there: Mapping[str, str], here: Mapping[str, str]) -> list[str]:
    """Return what has other versions in one place than in another, as "regex 1 (here 2)".

    >>> differences({"regex": "1", "bertdata": ""}, {"regex": "2", "bertdata": "0.1"})
    ['regex 1 (here 2)', 'no bertdata (here 0.1)']
    """
    return [
        f"{f'{name} {there[name]}' if there[name] else f'no {name}'} (here {here[name] or 'none'})"
        for name in there
        if name in here and there[name] != here[name]
    ]
