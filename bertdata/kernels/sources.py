"""The source files that the machine code of a kernel is made from: when one changes, it is compiled again."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

_IMPORT = re.compile(r"^(?:from (bertdata[\w.]*) import (\([^()]*\)|.*)|import (bertdata[\w.]*))", re.M)
_DATA = (".json", ".toml", ".txt")
_PACKAGE = Path(__file__).parents[1]


@functools.cache
def sources_digest(path: str) -> str:
    """Return 12 hexadecimal digits of the module of a kernel and all modules of this package that it builds on."""
    paths = sources_of([Path(path)], _PACKAGE.parent)
    return hashlib.sha256(b"".join(map(_content, paths))).hexdigest()[:12]


@functools.cache
def _content(path: Path) -> bytes:
    return path.read_bytes()


@functools.cache
def _tables(folder: Path) -> list[Path]:
    return [file for file in folder.iterdir() if file.suffix in _DATA]


def sources_of(kernels: Iterable[Path], root: Path) -> list[Path]:
    """Return the files of kernels and of what they import of this package at their top, directly or not, in order.

    The tables of data that lie beside these are among them: their values may be constants of a kernel.
    """
    sources: set[Path] = set()
    waiting = list(kernels)
    while waiting:
        path = waiting.pop()
        if path not in sources:
            sources.add(path)
            waiting += _imported(path, root)
    tables = (file for folder in {path.parent for path in sources} for file in _tables(folder))
    return sorted({*sources, *tables})


@functools.cache
def _imported(path: Path, root: Path) -> list[Path]:
    """Return the files of what a module imports of this package at its top."""
    files: list[Path] = []
    for module, names, plain in _IMPORT.findall(path.read_text(encoding="utf-8")):
        place = root.joinpath(*(module or plain).split("."))
        files += (candidate for candidate in (place.with_suffix(".py"), place / "__init__.py") if candidate.is_file())
        for name in re.findall(r"\w+", re.sub(r"#.*|\bas\s+\w+", "", names)):
            if (place / f"{name}.py").is_file():
                files.append(place / f"{name}.py")
    return files
