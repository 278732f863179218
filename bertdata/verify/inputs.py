"""Whether the files that a build was made from are still what it read, as far as they are on this machine."""

from __future__ import annotations

from bertdata.engine.origin import read_origin
from bertdata.errors import InputError, printable
from bertdata.io import files
from bertdata.io.console import Row, counted

_NAMED = 3


def input_rows(directory: str) -> list[Row]:
    """Return a row on the inputs of a finished build that have changed since; none where none has, or none is here.

    Inputs at URLs, and files that are not where they were, are not looked at: the build does not need them. The shards
    are what the build read before.
    """
    try:
        finished, _ = read_origin(directory)
    except InputError:
        return [("inputs", "the note of what they were is damaged; the shards do not need it")]
    if finished is None or finished.given is None or not isinstance(finished.files, dict):  # None: the sample corpus
        return []
    changed = [path for path, identity in sorted(finished.files.items()) if _has_changed(path, identity)]
    if not changed:
        return []
    named = ", ".join(map(printable, changed[:_NAMED]))
    if len(changed) > _NAMED:
        named += f" and {len(changed) - _NAMED:,} more"
    return [("inputs", f"{counted(len(changed), 'file')} changed since the build read them: {named}")]


def _has_changed(path: str, identity: object) -> bool:
    try:
        return not files.is_remote(path) and files.identity(path) != identity
    except (InputError, ValueError):  # of a path with a NUL
        return False
