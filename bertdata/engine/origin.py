"""What an output was made from, kept beside it: so that inputs may be left out, and nothing is replaced unsaid.

`.bertdata-origin.json` in the output says of the last finished run, and of one that has begun since, which command it
was, its inputs as they were given, the files they stood for, and the settings. It is not part of the manifest, which
names no path, so that it can be published and is the same wherever it was built.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from bertdata.engine.parts import is_sealed, sealed
from bertdata.errors import InputError, OutputError
from bertdata.io import files

ORIGIN = ".bertdata-origin.json"
_SHOWN = 3


@dataclass(frozen=True)
class Origin:
    """What a run reads: the files it takes, by path with their identity, how they were given, and its settings.

    given: the sources by kind, with their names, as a later run takes them; None for the sample corpus.
    """

    command: str
    files: dict[str, str]
    given: dict[str, Any] | None = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def of(
        command: str,
        paths: Iterable[str],
        given: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
        *,
        sample: bool = False,
    ) -> Origin:
        """Return the origin of a run that reads the files at `paths`, which are there."""
        found = {absolute(path): files.identity(path) for path in paths}
        plain = json.loads(json.dumps([dict(given or {}), dict(settings or {})]))
        return Origin(command, found, None if sample else plain[0], plain[1])

    def left_out(self, other: Origin) -> list[str]:
        """Return the files of this run that another one does not read, at their path, moved or under another name."""
        moved = {_size_and_time(one) for one in other.files.values()}
        return [
            path for path, one in self.files.items() if path not in other.files and _size_and_time(one) not in moved
        ]


def _size_and_time(identity: str) -> tuple[str, ...]:
    return tuple(identity.rsplit(":", 2)[1:])


def absolute(path: str) -> str:
    """Return a path that means the same from another working directory; a URL as it is."""
    return path if files.is_remote(path) else os.path.abspath(os.path.expanduser(path))


def read_origin(directory: str) -> tuple[Origin | None, Origin | None]:
    """Return what the last finished run in an output was made from, and the last that began; None where nobody said."""
    path = files.join(directory, ORIGIN)
    if not files.exists(path):
        return None, None
    value = files.read_json(path)
    try:
        if not is_sealed(value):
            raise KeyError("checksum")
        finished, begun = (Origin(**value[name]) if value[name] else None for name in ("finished", "begun"))
    except (KeyError, TypeError) as error:
        raise InputError("is damaged; delete it, and name all sources of the next build", path=path) from error
    return finished, begun


def begin(directory: str, origin: Origin, *, force: bool = False) -> list[str]:
    """Note that a run of this origin begins; returns what the user should know of what it replaces.

    Raises OutputError where `refusal` says so, unless `force` is given.
    """
    refused = refusal(directory, origin)
    if refused and not force:
        raise OutputError(refused, path=directory)
    said = [f"{what}: {text}" for what, text in changes(directory, origin)]
    finished, begun = read_origin(directory)
    if (finished, begun) != (origin, origin):
        _write(directory, None if refused else finished, origin)
    return said


def refusal(directory: str, origin: Origin) -> str:
    """Return why a run needs --force: what is finished here was made from files that it leaves out; else nothing.

    The sample corpus is replaced by any other.
    """
    finished, _ = read_origin(directory)
    lost = finished.left_out(origin) if finished and finished.given is not None else []
    if finished is None or not lost:
        return ""
    return (
        f"was made by `bertdata {finished.command}` from {_some(lost)} too, which this command leaves out; add --force "
        "to replace it, or choose another --output"
    )


def finish(directory: str, origin: Origin) -> None:
    """Note that a run of this origin is finished."""
    if read_origin(directory) != (origin, origin):
        _write(directory, origin, origin)


def _write(directory: str, finished: Origin | None, begun: Origin) -> None:
    value = {"finished": asdict(finished) if finished else None, "begun": asdict(begun)}
    files.write_json(files.join(directory, ORIGIN), sealed(value))


def changes(directory: str, origin: Origin) -> list[tuple[str, str]]:
    """Return what is different from the last run in an output: what is replaced, added or set in another way."""
    finished, begun = read_origin(directory)
    last = finished or begun
    if last is None:
        return []
    found = []
    if lost := last.left_out(origin):
        state = "is" if finished else "was to be, had it not been interrupted,"
        what = "the sample corpus" if last.given is None else f"{_some(lost)}, left out now"
        found.append(("replaced", f"{directory} {state} made by `bertdata {last.command}` from {what}"))
    if last.given is not None and (added := origin.left_out(last)):
        found.append(("added", _some(added)))
    if changed := [path for path, one in origin.files.items() if last.files.get(path, one) != one]:
        found.append(("changed since", _some(changed)))
    if last.command == origin.command:
        old, new = _flat(last.settings), _flat(origin.settings)
        found += [
            (f"changed {name}", f"{_shown(old.get(name))} -> {_shown(new.get(name))}")
            for name in sorted({*old, *new})
            if old.get(name) != new.get(name)
        ]
    return found


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of all groups by the names of their flags."""
    found: dict[str, Any] = {}
    for name, value in settings.items():
        found |= _flat(value) if isinstance(value, Mapping) else {f"--{name.replace('_', '-')}": value}
    return found


def _shown(value: Any) -> str:
    if value is None or value == []:
        return "none"
    return json.dumps(value) if isinstance(value, (bool, list)) else str(value)


def _some(paths: list[str]) -> str:
    shown = ", ".join(paths[:_SHOWN])
    return shown + (f" and {len(paths) - _SHOWN:,} more files" if len(paths) > _SHOWN else "")
