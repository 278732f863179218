"""An output directory: refused if it holds something else, and locked by one build at a time.

A local one is locked by the operating system, one at a URL by a lease (`bertdata.engine.remote_lock`).
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Collection, Iterator, Sequence

from bertdata.engine.origin import Origin, begin, finish
from bertdata.engine.remote_lock import LOCK, remote_lock
from bertdata.errors import ConfigError, OutputError
from bertdata.io import files, listing
from bertdata.io.engine_outputs import MARKER

MANIFEST = "manifest.json"


@contextlib.contextmanager
def output_lock(directory: str, kind: str, origin: Origin | None = None, *, force: bool = False) -> Iterator[list[str]]:
    """Lock an output directory while a build writes in it, as `locked` does, and record its origin, as `made_from`.

    Yields messages on what is replaced.
    """
    with locked(directory, kind), made_from(directory, origin, force=force) as messages:
        yield messages


@contextlib.contextmanager
def locked(directory: str, kind: str) -> Iterator[None]:
    """Lock an output directory; `kind` is what it holds ("documents", "build"...).

    Creates the directory if need be, and removes it again where the block fails before anything is written. Raises
    OutputError where the directory holds something else or another kind, and where another process writes in it.
    """
    marker = files.join(directory, MARKER)
    is_new, is_there = not files.exists(marker), files.exists(directory)
    if is_new:
        _refuse_others(directory)
    with _lock(marker, directory):
        _check_kind(marker, directory, kind)
        try:
            yield
        except BaseException:
            if is_new and {*listing.names(directory)} - {LOCK} == {MARKER}:
                files.remove(marker if is_there else directory)
            raise


@contextlib.contextmanager
def made_from(
    directory: str, origin: Origin | None, *, force: bool = False, named: Collection[str] | None = None
) -> Iterator[list[str]]:
    """Record what a locked output is made from: as begun before the block, and as finished after it.

    Deletes the temporary files of an interrupted build, and yields messages on what is replaced (see
    `bertdata.engine.origin`). Raises OutputError where the output has something that is left out now, unless `force` is
    given; `named` are the settings that a command names, if these are to be compared.
    """
    messages = begin(directory, origin, force=force, named=named) if origin else []
    files.remove_temporaries(directory)
    yield messages
    if origin:
        finish(directory, origin)


def refuse_own(directory: str, paths: Sequence[str]) -> None:
    """Raise ConfigError where a source lies in the output directory."""
    output, *places = (os.path.realpath(path).rpartition("://")[2].strip("/") + "/" for path in [directory, *paths])
    for path, place in zip(paths, places, strict=True):
        if place.startswith(output):
            raise ConfigError("lies in --output; name other files, or another --output", path=path)


def _check_kind(marker: str, directory: str, kind: str) -> None:
    """Write the kind into a new marker: in place, since the lock is held on this file."""
    data = files.read_if_there(marker)
    if not data:
        if files.is_remote(marker):
            files.write_json(marker, {"kind": kind})
            return
        with open(marker, "wb") as file:
            file.write(json.dumps({"kind": kind}).encode())
        return
    content = files.parse_json(data, marker)
    held_kind = content.get("kind") if isinstance(content, dict) else None
    if held_kind != kind:
        raise OutputError(
            f"holds {held_kind or 'something else'}, and {kind} was to be written; choose another --output",
            path=directory,
        )


def _refuse_others(directory: str) -> None:
    if files.is_remote(directory) and "::" in directory:
        raise OutputError("is a chained URL, which can only be read; choose a folder or a plain URL", path=directory)
    if not files.is_remote(directory) and os.path.exists(directory) and not os.path.isdir(directory):
        raise OutputError("is a file; choose a directory for --output", path=directory)
    if others := [name for name in listing.names(directory) if not name.startswith((files.TEMPORARY, LOCK))]:
        listed = ", ".join(others[:5]) + (f" and {len(others) - 5} more" if len(others) > 5 else "")
        raise OutputError(
            f"holds something else ({listed}); choose an empty or new directory for --output", path=directory
        )


@contextlib.contextmanager
def _lock(marker: str, directory: str) -> Iterator[None]:
    if files.is_remote(marker):
        with remote_lock(directory):
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
            is_locked = os.path.exists(marker) and os.path.samestat(os.stat(marker), os.fstat(file.fileno()))
        except BlockingIOError:
            is_locked = False
        if not is_locked:  # locked by another process, or removed by one that was refused just now
            raise OutputError("another build is writing here; wait for it, or choose another --output", path=directory)
        yield
