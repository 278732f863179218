"""An output directory: never one that holds something else, and a local one locked by one build at a time.

A local directory is locked as long as a process writes in it. A remote one is not: object stores have no lock that a
killed process lets go of. Two builds of the same settings at once into one URL write the same files, each whole; two
of different settings must not be started at once.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Sequence

from bertdata.engine.origin import Origin, begin, finish
from bertdata.errors import ConfigError, OutputError
from bertdata.io import files

MARKER = ".bertdata.json"
MANIFEST = "manifest.json"


@contextlib.contextmanager
def output_lock(directory: str, kind: str, origin: Origin | None = None, *, force: bool = False) -> Iterator[list[str]]:
    """Hold an output directory while a build writes in it; `kind` is what it holds ("documents", "build"...).

    Makes it where there is none, and deletes what an interrupted build left half-written. Gives what the user should
    know of what is replaced (see `bertdata.engine.origin`), and keeps the origin once the block has ended well. Raises
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


def _place(path: str) -> str:
    return path.rpartition("://")[2].strip("/")
