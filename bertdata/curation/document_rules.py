"""What is done to documents where they are written, as a task says it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from bertdata.engine.parts import Task


@dataclass(frozen=True)
class DocumentRules:
    """The cleaners that change texts and the filters that drop some, by name; language: what tells their languages."""

    cleaners: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    language: str = ""


def rules_of(task: Task) -> DocumentRules:
    """Return the rules of a task; none where it has no such."""
    return task.rules if isinstance(task.rules, DocumentRules) else DocumentRules()


def with_rules(task: Task, fingerprint: str, **changed: Any) -> Task:
    """Return a task with other rules, and the fingerprint that they make."""
    return replace(task, rules=replace(rules_of(task), **changed), fingerprint=fingerprint)
