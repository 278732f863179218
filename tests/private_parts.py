"""Private parts of other packages that bertdata uses: what must be there, and what to do where it is not."""

from __future__ import annotations

import importlib
import inspect
import re
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Part:
    """What is used of another package that it does not promise.

    where: the module, and after a colon what is in it; parameters: how it is called, where it is ours to call or to
    override; used_for: what bertdata does with it; without: what to do where it is gone or called otherwise.
    """

    where: str
    parameters: tuple[str, ...] | None
    used_for: str
    without: str

    def check(self) -> None:
        """Raise AssertionError, which names the version and says what to do, where the part is not as it was."""
        module, _, names = self.where.partition(":")
        package = importlib.import_module(module.partition(".")[0])
        seen = "is gone"
        try:
            value: Any = reduce(getattr, names.split("."), importlib.import_module(module))
        except (ImportError, AttributeError):
            pass
        else:
            actual = None if self.parameters is None else tuple(inspect.signature(value).parameters)
            if actual == self.parameters:
                return
            seen = f"takes {actual}; expected {self.parameters}"
        version = f"{package.__name__} {package.__version__}"
        raise AssertionError(f"{version}: {self.where} {seen}. It is used for {self.used_for}. {self.without}")


def private_names(*modules: str) -> set[str]:
    """Return the names with an underscore that modules of bertdata read of objects that are not their own."""
    names = set()
    for module in modules:
        source = re.sub(r'"""(?s:.*?)"""', "", (ROOT / module).read_text())
        names |= {
            name for owner, name in re.findall(r"(\w+|\)|\])\.(_[a-z]\w*)", source) if owner not in ("self", "cls")
        }
    return names
