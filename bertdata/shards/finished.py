"""Whether a build is finished: its settings and inputs, and whether all its files are still there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bertdata.engine.output_lock import MANIFEST
from bertdata.engine.parts import is_sealed, sealed
from bertdata.errors import InputError, printable
from bertdata.io import files
from bertdata.shards.checked import changed, is_wanted
from bertdata.shards.contents import changed_files

FINISHED = ".bertdata-finished.json"
_SHARD = re.compile(r"data-[^/]*\.arrow")


def mark_finished(directory: str, made_from: str) -> None:
    """Note that a build is finished, from which settings and inputs, and what its manifests are."""
    phases = files.read_json(files.join(directory, MANIFEST)).get("phases", [])
    paths = [MANIFEST, *(f"{name}/{MANIFEST}" for name in phases)]
    manifests = {path: files.sha256(files.join(directory, path)) for path in paths}
    files.write_json(files.join(directory, FINISHED), sealed({"fingerprint": made_from, "manifests": manifests}))


def finished_manifest(
    directory: str, made_from: str, say: Callable[[str], None] = lambda text: None
) -> dict[str, Any] | None:
    """Return the manifest of a finished build of these settings and inputs that is whole, else None.

    A build is whole if its manifests are those that were written, all files have the SHA-256 in these, and there are no
    other shards. Local shards are read once for that, as for the loader (`bertdata.shards.checked`); of shards at a URL
    only the sizes are compared, and readers compare the SHA-256. `say` is called with what is damaged. The manifest of
    a build of several phases holds theirs by name.
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


def _problems(place: str, manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what is not as a manifest says: files by their path, each with what was found."""
    if not files.exists(files.join(place, "README.md")) and "splits" in manifest:
        yield "README.md", "is missing"
    yield from changed_files(place, manifest)
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
