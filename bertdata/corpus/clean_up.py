"""`bertdata clean-up`: deletes the stages of a build, after a check that its shards are whole without them.

Nothing reads the stages of a finished build but a later build in its place, and `report` and `show --dropped`, which
show documents. An unfinished build, or one whose files are damaged, would be made again from them, so they stay.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from bertdata.engine.origin import read_origin
from bertdata.engine.output_lock import MANIFEST, locked
from bertdata.errors import ConfigError, InputError, printable
from bertdata.io import files, remote
from bertdata.io.console import counted
from bertdata.io.digests import damaged
from bertdata.io.engine_outputs import MARKER
from bertdata.shards.contents import changed_files, check_manifest, finished_manifests, inside, reading_values

STAGES = "stages"
_SHOWN = 5


def clean_up(corpus: str, *, dry_run: bool = False) -> dict[str, Any]:
    """Delete the stages of a finished build; returns the files and bytes that this frees.

    dry_run: check and count alone. Raises ConfigError where `corpus` is not the output of a build, InputError where the
    build is unfinished or damaged, and OutputError while a build writes in it.
    """
    _require_build(corpus)
    with locked(corpus, "build"):
        _require_finished(corpus)
        if problems := list(_problems(corpus)):
            shown = "; ".join(f"{printable(name)} {problem}" for name, problem in problems[:_SHOWN])
            more = f"; and {counted(len(problems) - _SHOWN, 'other problem')}" if len(problems) > _SHOWN else ""
            raise InputError(
                f"is not whole, and its stages are what it can be repaired from ({shown}{more}); build again, then "
                "clean up",
                path=corpus,
            )
        place = files.join(corpus, STAGES)
        sizes = _sizes(place)
        if not dry_run:
            files.remove(place)
    return {"directory": corpus, "files": len(sizes), "bytes": sum(sizes), "removed": not dry_run}


def _require_build(corpus: str) -> None:
    marker = files.read_json_if_there(files.join(corpus, MARKER))
    kind = marker.get("kind") if isinstance(marker, dict) else None
    if kind == "build":
        return
    above = corpus.rstrip("/").rpartition("/")[0]
    remedy = "name the --output of `bertdata build` or `build-shards`"
    if kind:
        raise ConfigError(f"holds {kind}, and clean-up is for builds; {remedy}", path=corpus)
    if above and files.exists(files.join(above, MARKER)):
        raise ConfigError(f"is a part of the build {printable(above)}; name that", path=corpus)
    raise ConfigError(f"is not a build: it has no {MARKER}; {remedy}", path=corpus)


def _require_finished(corpus: str) -> None:
    """Raise InputError where a run was begun and not finished, which would go on from the stages."""
    finished, begun = read_origin(corpus)
    if begun is not None and begun != finished:
        raise InputError(
            f"`bertdata {begun.command}` was begun here and is not finished: it goes on from the stages; run it to its "
            "end, then clean up",
            path=corpus,
        )
    if not files.exists(files.join(corpus, MANIFEST)):
        raise InputError(
            "is not finished: it has no manifest.json; run the build to its end, then clean up", path=corpus
        )


def _problems(corpus: str) -> Iterator[tuple[str, str]]:
    """Yield the files of a build that are not as its manifests say, each with what was found; reads all of them."""
    root = _manifest(corpus)
    names = [f"{name}/{MANIFEST}" for name in root.get("phases", [])]
    manifests = {"": root} if "splits" in root else {}
    for name in names:
        if not files.exists(inside(corpus, name)):
            yield name, "is missing"
        else:
            folder = name.removesuffix(f"/{MANIFEST}")
            manifests[folder] = _manifest(files.join(corpus, folder))
    yield from finished_manifests(corpus)
    expected: dict[str, str] = {}
    for folder, manifest in manifests.items():
        place = files.join(corpus, folder) if folder else corpus
        yield from ((f"{folder}/{name}".lstrip("/"), problem) for name, problem in changed_files(place, manifest))
        with reading_values(place):
            shards = [shard for split in manifest["splits"].values() for shard in split["shards"]]
            expected |= {inside(place, shard["file"]): shard["sha256"] for shard in shards}
    for path, problem in damaged(list(expected.items()), "check shards"):
        yield path.removeprefix(corpus).lstrip("/"), problem


def _manifest(folder: str) -> dict[str, Any]:
    path = files.join(folder, MANIFEST)
    manifest = files.read_json_object(path)
    check_manifest(manifest, path)
    return manifest


def _sizes(folder: str) -> list[int]:
    """Return the bytes of each file below a folder."""
    if not files.is_remote(folder):
        return [os.lstat(os.path.join(place, name)).st_size for place, _, names in os.walk(folder) for name in names]
    try:
        with remote.reading(folder) as (fs, place):
            fs.invalidate_cache()
            return [int(info.get("size") or 0) for info in fs.find(place, detail=True).values()]
    except FileNotFoundError:
        return []
