"""An output directory: never one that holds something else, and a local one locked by one build at a time.

A local directory is locked as long as a process writes in it. A remote one is not: object stores have no lock that a
killed process lets go of. Two builds of the same settings at once into one URL write the same files, each whole; two
of different settings must not be started at once.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from bertdata.engine.origin import Origin, begin, finish
from bertdata.engine.parts import is_sealed, sealed
from bertdata.errors import ConfigError, InputError, OutputError, printable
from bertdata.io import files

MARKER = ".bertdata.json"
FINISHED = ".bertdata-finished.json"
MANIFEST = "manifest.json"
_SHARD = re.compile(r"data-[^/]*\.arrow")


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


def mark_finished(directory: str, made_from: str) -> None:
    """Note that a build is finished, from which settings and inputs, and what its manifests are."""
    manifests = {path: files.sha256(files.join(directory, path)) for path in _manifests(directory)}
    files.write_json(files.join(directory, FINISHED), sealed({"fingerprint": made_from, "manifests": manifests}))


def finished_manifest(
    directory: str, made_from: str, say: Callable[[str], None] = lambda text: None
) -> dict[str, Any] | None:
    """Return the manifest of a finished build of these settings and inputs that is whole, else None.

    Whole: the manifests are those that were written, all files have the SHA-256 that these name, and there is no shard
    more. Local shards are read for that once, as the loader reads them (`bertdata.shards.checked`); of shards at a URL
    only the sizes are looked at: whoever reads them compares their SHA-256. `say` is told of what is damaged. Of a
    build of several phases it holds their manifests by name.
    """
    path = files.join(directory, FINISHED)
    try:
        finished = files.read_json(path) if files.exists(path) else {}
    except InputError:
        return None
    if not is_sealed(finished) or finished.get("fingerprint") != made_from:
        return None
    for path, digest in finished.get("manifests", {}).items():
        place = files.join(directory, path)
        if not files.exists(place) or files.sha256(place) != digest:
            say(f"{printable(place)}: is missing or was changed: it is made again")
            return None
    found = {path: files.read_json(files.join(directory, path)) for path in finished["manifests"]}
    for path, one in found.items():
        place = files.join(directory, path).removesuffix(MANIFEST).rstrip("/")
        if problems := list(_problems(place, one)):
            for name, problem in problems:
                say(f"{printable(files.join(place, name))}: {problem}: it is made again")
            return None
    manifest: dict[str, Any] = found.pop(MANIFEST)
    if found:
        manifest["phases"] = {name: found[f"{name}/{MANIFEST}"] for name in manifest["phases"]}
    return manifest


def _manifests(directory: str) -> list[str]:
    """Return the paths of the manifests of a build: its own, and those of its phases."""
    phases = files.read_json(files.join(directory, MANIFEST)).get("phases", [])
    return [MANIFEST, *(f"{name}/{MANIFEST}" for name in phases)]


def _problems(place: str, manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what is not as a manifest says: files by their path, each with what was found."""
    if not files.exists(files.join(place, "README.md")) and "splits" in manifest:
        yield "README.md", "is missing"
    for name, digest in manifest.get("files", {}).items():
        path = files.join(place, name)
        if not files.exists(path) or files.sha256(path) != digest:
            yield name, "is missing or was changed"
    from bertdata.shards.checked import changed, is_wanted

    local: list[tuple[str, str]] = []
    for split, entry in manifest.get("splits", {}).items():
        known = {files.name(shard["file"]) for shard in entry["shards"]}
        for name in files.names(files.join(place, split)):
            if _SHARD.fullmatch(name) and name not in known:
                yield f"{split}/{name}", "is not a shard of this build"
        for shard in entry["shards"]:
            path = files.join(place, shard["file"])
            if not files.exists(path) or files.size(path) != shard["bytes"]:
                yield shard["file"], f"is missing or has not its {shard['bytes']:,} bytes"
            elif not files.is_remote(path):
                local.append((path, shard["sha256"]))
    for path, problem in (changed(local) if is_wanted() else {}).items():
        yield path.removeprefix(place).lstrip("/"), problem


def _place(path: str) -> str:
    return path.rpartition("://")[2].strip("/")
