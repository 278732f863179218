"""The pages of `pipelines`: which stages a program has, in which order."""

from __future__ import annotations

from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any

from bertdata.engine.stages import Stage
from bertdata.io.package_data import shipped


@cache
def _page(name: str) -> ModuleType:
    """Import a page from its file, which stands beside the package in a checkout, and in the package elsewhere."""
    spec = spec_from_file_location(f"bertdata.pipelines.{name}", shipped("pipelines") / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stages_of(program: str, *what: Any) -> list[Stage]:
    """Return the stages of a program, as its page lists them.

    program: the name of its page, as `build_corpus`; what: what the function `stages` of the page takes.
    """
    stages: list[Stage] = _page(program).stages(*what)
    return stages
