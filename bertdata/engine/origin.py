"""What an output was made from: later runs need not name the inputs again, and nothing is replaced without a message.

`.bertdata-origin.json` in the output has the command, the inputs as given, their files, and the settings of the last
finished run, and of one that was started since. It is not part of the manifest, which names no paths: that can be
published, and is the same wherever it was built.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from bertdata.engine.fingerprints import is_sealed, sealed
from bertdata.engine.versions import differences, versions
from bertdata.errors import InputError, OutputError, without_passwords
from bertdata.io import files
from bertdata.options.option import flag_of

ORIGIN = ".bertdata-origin.json"
_SHOWN = 3
_RECIPE = "--recipe"


@dataclass(frozen=True)
class Origin:
    """What a run reads: its files by path with their identity, the arguments that name them, and its settings.

    given: the sources by kind, as a later run takes them; None for the sample corpus. settings: some in groups, None
    for one without effect, as how a vocabulary is trained where one is given. versions: what decides bytes beside the
    settings; none where an earlier version of bertdata wrote it. named: the values that the command gave itself, by
    the names of its settings, for a later run that names no sources; runs that differ in these alone are the same, so
    that a finished output is left as it is.
    """

    command: str
    files: dict[str, str]
    given: dict[str, Any] | None = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    named: dict[str, Any] = field(default_factory=dict, compare=False)

    @staticmethod
    def of(
        command: str,
        paths: Iterable[str],
        given: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
        named: Mapping[str, Any] | None = None,
        *,
        sample: bool = False,
    ) -> Origin:
        """Return the origin of a run that reads the existing files at `paths`; passwords in URLs are left out."""
        identities = {without_passwords(absolute(path)): files.identity(path) for path in paths}
        plain = json.loads(without_passwords(json.dumps([dict(given or {}), dict(settings or {}), dict(named or {})])))
        sources, plain_settings, plain_named = plain
        return Origin(command, identities, None if sample else sources, plain_settings, versions(), plain_named)

    def left_out(self, other: Origin) -> list[str]:
        """Return the files of this run that another run does not read, neither at their paths nor moved or renamed."""
        sizes_and_times = {path: identity.rsplit(":", 2)[1:] for path, identity in self.files.items()}
        others = [identity.rsplit(":", 2)[1:] for identity in other.files.values()]
        return [
            path
            for path, size_and_time in sizes_and_times.items()
            if path not in other.files and size_and_time not in others
        ]

    @property
    def phases(self) -> list[str]:
        """The names of the phases, where there are several."""
        return list(self.settings.get("phases", ()))

    def settings_left_out(self, other: Origin, named: Collection[str]) -> list[str]:
        """Return, as flags, the settings of this run that another neither has nor names; a recipe is one setting.

        named: the names of its settings. One that names another recipe leaves nothing out.
        """
        old, new = _compared(self.settings, other.settings)
        flags = {flag_of(name) for name in named}
        names = [name for name in sorted(old) if old[name] != new.get(name) and name not in flags]
        names = [name for name in names if name not in (_RECIPE, flag_of("phases"))]
        if names and (recipe := old.get(_RECIPE)) != new.get(_RECIPE):
            return [] if new.get(_RECIPE) else [f"{_RECIPE} {recipe}"]
        return [as_flag(name, old[name]) for name in names]


_Recorded = tuple[Origin | None, Origin | None]
"""The origins of the last finished run in an output, and of the last that was started."""


def absolute(path: str) -> str:
    """Return a path that means the same from another working directory; a URL as it is."""
    return path if files.is_remote(path) else os.path.abspath(os.path.expanduser(path))


def read_origin(directory: str) -> _Recorded:
    """Return the origins of the last finished run in an output and of the last that was started, or None."""
    path = files.join(directory, ORIGIN)
    value = files.read_json_if_there(path)
    if value is None:
        return None, None
    try:
        if not is_sealed(value):
            raise KeyError("checksum")
        finished, begun = (Origin(**value[name]) if value[name] else None for name in ("finished", "begun"))
    except (KeyError, TypeError) as error:
        raise InputError("is damaged; delete it, and name all sources of the next build", path=path) from error
    return finished, begun


def begin(directory: str, origin: Origin, *, force: bool = False, named: Collection[str] | None = None) -> list[str]:
    """Record that a run of this origin starts; returns messages to the user on what it replaces.

    Raises OutputError for the reason that `refusal` returns, unless `force` is given.
    """
    recorded = read_origin(directory)
    refused = _refusal(recorded, origin, named)
    if refused and not force:
        raise OutputError(refused, path=directory)
    _write(directory, recorded, (None if refused else recorded[0], origin))
    return [f"{what}: {text}" for what, text in _changes(directory, recorded, origin)]


def refusal(directory: str, origin: Origin, named: Collection[str] | None = None) -> str:
    """Return why a run needs --force: the finished output has something that the run leaves out. Else "".

    These are files, phases, and settings where a command takes the sources of the output: `named` are the names of
    the settings that it gives, itself or by a recipe. The sample corpus may always be replaced.
    """
    return _refusal(read_origin(directory), origin, named)


def _refusal(recorded: _Recorded, origin: Origin, named: Collection[str] | None) -> str:
    finished, _ = recorded
    if finished is None or finished.given is None:
        return ""
    if lost := finished.left_out(origin):
        return (
            f"was made by `bertdata {finished.command}` from {_some(lost)} too, which this command leaves out; add "
            "--force to replace it, or choose another --output"
        )
    if unnamed := [] if named is None else finished.settings_left_out(origin, named):
        return (
            f"was made with {_some(unnamed, 'settings')}, which this command leaves out, and the sources; name them "
            "again, choose another --output, or add --force to replace it (`bertdata build --dry-run` tells "
            "what changes)"
        )
    names = [name for name in finished.phases if name not in origin.phases]
    if names:
        return (
            f"has the {'phase' if len(names) == 1 else 'phases'} {', '.join(names)}, which this command leaves out; "
            "name the recipe or the lengths of all phases, choose another --output, or add --force to delete them"
        )
    return ""


def settings_changed(directory: str, origin: Origin) -> list[str]:
    """Return the settings of a finished output that a run of the same command has otherwise, each as a flag.

    As `--max-seq-length 128 -> 64`; none of an output that no run finished.
    """
    finished, _ = read_origin(directory)
    if finished is None or finished.command != origin.command:
        return []
    return [f"{name} {change}" for name, change in _settings_changed(finished, origin)]


def finish(directory: str, origin: Origin) -> None:
    """Record that a run of this origin is finished."""
    _write(directory, read_origin(directory), (origin, origin))


def _write(directory: str, recorded: _Recorded, wanted: _Recorded) -> None:
    if recorded != wanted:
        value = {
            name: asdict(origin) if origin else None for name, origin in zip(("finished", "begun"), wanted, strict=True)
        }
        files.write_json(files.join(directory, ORIGIN), sealed(value))


def changes(directory: str, origin: Origin) -> list[tuple[str, str]]:
    """Return the differences from the last run in an output: files left out, added or changed, and settings."""
    return _changes(directory, read_origin(directory), origin)


def _changes(directory: str, recorded: _Recorded, origin: Origin) -> list[tuple[str, str]]:
    finished, begun = recorded
    last = finished or begun
    if last is None:
        return []
    rows = []
    if lost := last.left_out(origin):
        state = "is" if finished else "was to be, had it not been interrupted,"
        what = "the sample corpus" if last.given is None else f"{_some(lost)}, left out now"
        rows.append(("replaced", f"{directory} {state} made by `bertdata {last.command}` from {what}"))
    if last.given is not None and (added := origin.left_out(last)):
        rows.append(("added", _some(added)))
    if changed := [path for path, identity in origin.files.items() if last.files.get(path, identity) != identity]:
        rows.append(("changed since the last build", _some(changed)))
    if last.command == origin.command:
        rows += [(f"changed {name}", change) for name, change in _settings_changed(last, origin)]
    if other := differences((begun or last).versions, origin.versions):
        remedy = "what is done was made by those and is kept; --force makes all of it again"
        rows.append(("made under other versions", f"{', '.join(other)}: {remedy}"))
    return rows


def _settings_changed(last: Origin, origin: Origin) -> list[tuple[str, str]]:
    old, new = _compared(last.settings, origin.settings)
    return [
        (name, f"{_shown(old.get(name))} -> {_shown(new.get(name))}")
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    ]


def _compared(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the settings of two runs by the names of their flags, without groups that have no effect in one of them.

    >>> _compared({"vocab": None, "vocabulary": {"vocab_size": 300}}, {"vocab": "x", "vocabulary": None})
    ({'--vocab': None}, {'--vocab': 'x'})
    """
    without_effect = {name for run in (old, new) for name in run if run[name] is None and _is_group(name, old, new)}
    first, second = ({name: run[name] for name in run if name not in without_effect} for run in (old, new))
    return _flat(first), _flat(second)


def _is_group(name: str, *runs: Mapping[str, Any]) -> bool:
    """Tell whether a name is that of several settings, in one of some runs."""
    return any(isinstance(run.get(name), Mapping) for run in runs)


def _flat(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of all groups by the names of their flags."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        flat |= _flat(value) if isinstance(value, Mapping) else {flag_of(name): value}
    return flat


def as_flag(name: str, value: Any) -> str:
    """Return a setting as a command line gives it.

    >>> as_flag("--max-seq-length", [128, 512]), as_flag("--pack", True), as_flag("--pack", False)
    ('--max-seq-length 128 512', '--pack', '--no-pack')
    """
    if isinstance(value, bool):
        return name if value else name.replace("--", "--no-", 1)
    return f"{name} {' '.join(map(str, value)) if isinstance(value, list) else _shown(value)}"


def _shown(value: Any) -> str:
    if value is None or value == []:
        return "none"
    return json.dumps(value) if isinstance(value, (bool, list)) else str(value)


def _some(names: list[str], what: str = "files") -> str:
    listed = ", ".join(names[:_SHOWN])
    return listed + (f" and {len(names) - _SHOWN:,} more {what}" if len(names) > _SHOWN else "")
