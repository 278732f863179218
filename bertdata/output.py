"""An output directory: claimed by one build at a time, and never one that holds something else."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from typing import Any

from bertdata import files
from bertdata.errors import OutputError

MARKER = ".bertdata.json"


@contextlib.contextmanager
def claimed(directory: str, kind: str) -> Iterator[None]:
    """Hold an output directory while a build writes in it; `kind` is what it holds ("documents", "build"...).

    Makes it where there is none, and deletes what an interrupted build left half-written. Raises OutputError where it
    holds something that is not a build of this kind, or where another build holds it.
    """
    marker = files.join(directory, MARKER)
    if not files.exists(marker):
        _refuse_others(directory)
    with _lock(marker, directory):
        _check_kind(marker, directory, kind)
        files.remove_temporaries(directory)
        yield


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
    """Note that a build is finished, and from which settings and inputs."""
    files.write_json(files.join(directory, "stages", "build.json"), {"fingerprint": mark})


def finished_manifest(directory: str, mark: str) -> dict[str, Any] | None:
    """Return the manifest of a finished build of these settings and inputs whose shards are all in place, else None.

    Of a build of several phases it holds their manifests by name.
    """
    paths = [files.join(directory, name) for name in ("manifest.json", os.path.join("stages", "build.json"))]
    if not all(files.exists(path) for path in paths):
        return None
    manifest: dict[str, Any] = files.read_json(paths[0])
    if files.read_json(paths[1]).get("fingerprint") != mark:
        return None
    if "phases" not in manifest:
        return manifest if _is_in_place(directory, manifest) else None
    phases = {}
    for name in manifest["phases"]:
        folder = files.join(directory, name)
        path = files.join(folder, "manifest.json")
        phases[name] = files.read_json(path) if files.exists(path) else {}
        if not phases[name] or not _is_in_place(folder, phases[name]):
            return None
    return manifest | {"phases": phases}


def _is_in_place(directory: str, manifest: dict[str, Any]) -> bool:
    shards = [shard for split in manifest["splits"].values() for shard in split["shards"]]
    there = (files.join(directory, shard["file"]) for shard in shards)
    sizes = [files.size(path) if files.exists(path) else -1 for path in there]
    return sizes == [shard["bytes"] for shard in shards]
