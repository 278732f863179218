"""The warnings that a manifest holds, and how they are told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bertdata.corpus.warnings import CorpusWarning
from bertdata.io.console import counted, wrapped


def warnings_in(manifest: Mapping[str, Any]) -> list[tuple[str, CorpusWarning]]:
    """Return the warnings of a build, each once, with its phase, "" where that is the first or the only one."""
    warnings: list[tuple[str, CorpusWarning]] = []
    for place, (name, build) in enumerate(manifest.get("phases", {"": manifest}).items()):
        of_others = [warning for _, warning in warnings]
        warnings += [(name if place else "", each) for each in build.get("warnings", []) if each not in of_others]
    return warnings


def warning_lines(manifest: Mapping[str, Any]) -> list[str]:
    """Return a block of text on the warnings of a build; nothing without any.

    Of several phases those that the first has not are told with the name of theirs. Lines are wrapped at words where
    standard output is a terminal, as those of a table.
    """
    warnings = warnings_in(manifest)
    lines = [f"{counted(len(warnings), 'warning')} (thresholds: docs/warnings.md)"] if warnings else []
    for name, warning in warnings:
        phase = f"phase {name}, " if name else ""
        lines += wrapped(f"{phase}{warning['about']}: {warning['found']}", "  ", "    ")
        lines += wrapped(str(warning["remedy"]), "    ")
    return lines
