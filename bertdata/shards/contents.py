"""Whether a manifest and the files it names are as they were written.

A manifest has its own checksum under "checksum" and the SHA-256 of the files beside the shards under "files": the
tokenizer, the sentence parameters, the files for `datasets`. Manifests of earlier versions have neither, and are read
unchecked. A manifest may come from anyone, so a path in it that leads out of its build is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from bertdata.engine.parts import is_sealed
from bertdata.errors import BertDataError, InputError
from bertdata.io import files

FOLDERS = ("tokenizer", "sentences")
"""The folders beside the shards that the manifest has the digests of."""


def file_digests(output: str, others: Mapping[str, Any]) -> dict[str, str]:
    """Return the SHA-256 of the files of a build that are not shards, by path: `others`, and those in `FOLDERS`."""
    names = [f"{folder}/{name}" for folder in FOLDERS for name in files.names(files.join(output, folder))]
    return {name: files.sha256(inside(output, name)) for name in sorted([*names, *others])}


def changed_files(build: str, manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the files that are missing or changed, each with what was found."""
    with reading_values(build):
        expected = {str(name): str(digest) for name, digest in manifest.get("files", {}).items()}
    for name, digest in expected.items():
        path = inside(build, name)
        if not files.exists(path):
            yield name, "is missing"
        elif (found := files.sha256(path)) != digest:
            yield name, f"its SHA-256 is {found[:12]}, manifest.json says {digest[:12]}: it was changed"


def inside(build: str, name: Any, manifest: str = "") -> str:
    """Return the path of what a manifest names; raises InputError where that is not a path below the build.

    >>> inside("gs://bucket/corpus", "train/data-00000-of-00001.arrow")
    'gs://bucket/corpus/train/data-00000-of-00001.arrow'
    """
    parts = name.split("/") if isinstance(name, str) else []
    if not parts or files.is_remote(name) or {"", ".", ".."} & {*parts} or {"\\", "\0"} & {*name}:
        raise InputError(
            f"names the file {name!r}, which is not a path below its folder; the manifest was changed: restore it, or "
            "build again",
            path=manifest or files.join(build, "manifest.json"),
        )
    return files.join(build, *parts)


@contextmanager
def reading_values(build: str, kind: type[BertDataError] = InputError) -> Iterator[None]:
    """Raise BertDataError instead of KeyError and TypeError, as missing values in a manifest raise them."""
    try:
        yield
    except BertDataError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise kind(
            f"is not a whole manifest ({type(error).__name__}: {error}); restore it, or build again",
            path=files.join(build, "manifest.json"),
        ) from error


def is_changed(manifest: Any) -> bool:
    """Return whether a manifest has a checksum that is not that of its contents."""
    return isinstance(manifest, dict) and "checksum" in manifest and not is_sealed(manifest)


def check_manifest(manifest: Any, path: str) -> None:
    """Raise InputError where a manifest was changed, or names a file outside its build."""
    if is_changed(manifest):
        raise InputError(
            "its checksum is not that of its contents: it was damaged or edited; restore it, or build again", path=path
        )
    check_names(manifest, path)


def check_names(manifest: Any, path: str) -> None:
    """Raise InputError where a manifest names a file outside its build."""
    if not isinstance(manifest, dict):
        return
    splits = manifest.get("splits")
    splits = splits if isinstance(splits, dict) else {}
    lists = [split.get("shards") for split in splits.values() if isinstance(split, dict)]
    shards = [shard for one in lists if isinstance(one, list) for shard in one]
    named = manifest.get("files")
    for name in [*splits, *(named if isinstance(named, dict) else [])]:
        inside("", name, path)
    for shard in shards:
        if isinstance(shard, dict) and "file" in shard:
            inside("", shard["file"], path)
