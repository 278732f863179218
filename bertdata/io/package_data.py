"""What ships with the package: tables in TOML files beside the modules that read them, and the folders of data."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any


def toml_beside(module: str, name: str = "") -> dict[str, Any]:
    """Return the table of a file beside a module, given the module's `__file__`; default: the file of its name.

    >>> from bertdata.finetune import glue
    >>> toml_beside(glue.__file__)["rte"]["help"]
    'RTE: whether a text entails another'
    """
    path = Path(module).with_name(f"{name}.toml") if name else Path(module).with_suffix(".toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))


def shipped(name: str) -> Path:
    """Return a folder that ships with bertdata: `vocab`, `recipes` or `pipelines`.

    An installed package has it inside; in a checkout it stands beside the package.
    """
    package = Path(__file__).resolve().parents[1]
    return package / name if (package / name).is_dir() else package.parent / name
