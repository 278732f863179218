"""An output directory: never one that holds something else, and a local one claimed by one build at a time.

A local directory is locked as long as a process writes in it. A remote one is not: object stores have no lock that a
killed process lets go of. Two builds of the same settings at once into one URL write the same files, each whole; two
of different settings must not be started at once.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bertdata import files
from bertdata.errors import ConfigError, InputError, OutputError
from bertdata.origin import Origin, begin, finish

MARKER = ".bertdata.json"
FINISHED = ".bertdata-finished.json"
_SHARD = re.compile(r"(^|/)(train|validation)/data-[^/]*\.arrow$")


@contextlib.contextmanager
def claimed(directory: str, kind: str, origin: Origin | None = None, *, force: bool = False) -> Iterator[list[str]]:
    """Hold an output directory while a build writes in it; `kind` is what it holds ("documents", "build"...).

    Makes it where there is none, and deletes what an interrupted build left half-written. Gives what the user should
    know of what is replaced (see `bertdata.origin`), and keeps the origin once the block has ended well. Raises
    OutputError where it holds something that is not a build of this kind or, unless `force` is given, one that was made
    from files which this one leaves out, and where another process writes in it.
    """
    marker = files.join(directory, MARKER)
    if not files.exists(marker):
        _refuse_others(directory)
    with _lock(marker, directory):
        _check_kind(marker, directory, kind)
        said = begin(directory, origin, force=force) if origin else []
        files.remove_temporaries(directory)
        yield said
        if origin:
            finish(directory, origin)


def refuse_own(directory: str, paths: Sequence[str]) -> None:
    """Raise ConfigError where a source lies in the output directory: a build does not read what it writes."""
    for path in paths:
        if f"{_place(os.path.realpath(path))}/".startswith(f"{_place(os.path.realpath(directory))}/"):
            raise ConfigError("lies in --output; name another --output", path=path)


def _check_kind(marker: str, directory: str, kind: str) -> None:
    """Write the kind into a new marker, under the lock and in place, so that two builds never hold two markers."""
    if not files.exists(marker) or files.size(marker) == 0:
        if files.is_remote(marker):
            files.write_json(marker, {"kind": kind})
            return
        with open(marker, "wb") as file:
            file.write(json.dumps({"kind": kind}).encode())
        return
    held = files.read_json(marker)
    found = held.get("kind") if isinstance(held, dict) else None
    if found != kind:
        raise OutputError(
            f"holds {found or 'something else'}, and {kind} was to be written; choose another --output", path=directory
        )


def _refuse_others(directory: str) -> None:
    if not files.is_remote(directory) and os.path.exists(directory) and not os.path.isdir(directory):
        raise OutputError("is a file; choose a directory for --output", path=directory)
    entries = files.names(directory)
    others = [name for name in entries if not name.startswith(files.TEMPORARY)]
    if others:
        shown = ", ".join(others[:5]) + (f" and {len(others) - 5} more" if len(others) > 5 else "")
        raise OutputError(
            f"holds something else ({shown}); choose an empty or new directory for --output", path=directory
        )


@contextlib.contextmanager
def _lock(marker: str, directory: str) -> Iterator[None]:
    if files.is_remote(marker):
        yield
        return
    import fcntl

    try:
        os.makedirs(directory, exist_ok=True)
        file = open(marker, "ab")  # noqa: SIM115
    except OSError as error:
        raise OutputError(f"cannot be written ({error.strerror}); choose another --output", path=directory) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise OutputError(
                "another build is writing here; wait for it, or choose another --output", path=directory
            ) from error
        yield


def mark_finished(directory: str, mark: str) -> None:
    """Note that a build is finished, from which settings and inputs, and what files it is."""
    files.write_json(files.join(directory, FINISHED), {"fingerprint": mark, "files": _outputs(directory)})


def finished_manifest(directory: str, mark: str) -> dict[str, Any] | None:
    """Return the manifest of a finished build of these settings and inputs that is whole, else None.

    Whole: every shard has its size, what stands beside them is what was written, and there is no shard more. Of a build
    of several phases it holds their manifests by name.
    """
    path = files.join(directory, FINISHED)
    if not files.exists(path):
        return None
    finished = files.read_json(path)
    if finished["fingerprint"] != mark or finished["files"] != _outputs(directory, finished["files"]):
        return None
    manifest: dict[str, Any] = files.read_json(files.join(directory, "manifest.json"))
    if "phases" not in manifest:
        return manifest
    phases = {name: files.read_json(files.join(directory, name, "manifest.json")) for name in manifest["phases"]}
    return manifest | {"phases": phases}


def _outputs(directory: str, known: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return what tells the files of a build, by path: the size of a shard, the SHA-256 of another (if `known`)."""
    result: dict[str, Any] = {}
    try:
        paths = files.expand([directory], [""])
    except InputError:  # nothing is there
        return {}
    for path in paths:
        name = _place(path).removeprefix(_place(directory) + "/")
        if _SHARD.search(name):
            result[name] = files.size(path)
        elif not name.startswith("stages/") and (known is None or name in known):
            result[name] = files.sha256(path)
    return result


def _place(path: str) -> str:
    return path.rpartition("://")[2].strip("/")
