"""Whether a manifest, the files it names, and a whole finished build are as they were written.

A manifest has its own checksum under "checksum" and the SHA-256 of the files beside the shards under "files": the
tokenizer, the sentence parameters, the files for `datasets`. Manifests of earlier versions have neither, and are read
unchecked. A manifest may come from anyone, so a path in it that leads out of its build is refused.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from bertdata.engine.fingerprints import is_sealed, sealed
from bertdata.engine.output_lock import MANIFEST
from bertdata.errors import BertDataError, InputError, printable
from bertdata.io import files, listing, remote
from bertdata.shards.checked import changed, is_wanted
from bertdata.shards.info_numbers import check_counts
from bertdata.shards.manifest_shape import check_values

FINISHED = ".bertdata-finished.json"
_SHARD = re.compile(r"data-[^/]*\.arrow")
_OF_DATASETS = re.compile(r"(cache|indices)-[^/]*\.arrow|tmp[a-z0-9_]{8}|[^/]*\.lock")
"""Files that `datasets` keeps beside the shards: results of map, filter and sort, the order of shuffle, one that a map
which was killed did not finish, locks."""
SENTENCES = "sentences"
FOLDERS = ("tokenizer", SENTENCES, "similar_words", "token_counts", "accounts", "pieces")
"""The folders beside the shards that the manifest has the digests of."""


def saved_languages(folder: str) -> list[str]:
    """Return the codes of the languages whose sentence parameters are in folders of their own below one."""
    return list(filter(_is_language, listing.names(folder)))


def _is_language(name: str) -> bool:
    return "." not in name


def file_digests(output: str, others: Mapping[str, Any]) -> dict[str, str]:
    """Return the SHA-256 of the files of a build that are not shards, by path: `others`, and those in `FOLDERS`."""

    def listed(folders: Sequence[str]) -> dict[str, list[str]]:
        names = remote.at_once(lambda folder: listing.names(files.join(output, folder)), folders)
        return dict(zip(folders, names, strict=True))

    names_in = listed(FOLDERS)
    below = [f"{SENTENCES}/{name}" for name in names_in[SENTENCES] if _is_language(name)]
    names_in |= listed(below) if below else {}
    paths = [f"{folder}/{name}" for folder, names in names_in.items() for name in names]
    names = sorted({*others, *paths} - {*below})
    digests = remote.at_once(lambda name: _sha256(inside(output, name)), names)
    return {name: digest for name, digest in zip(names, digests, strict=True) if digest}


def _sha256(path: str) -> str | None:
    """Return the SHA-256 of a small file, by one request at a URL; None where there is none."""
    data = files.read_if_there(path)
    return None if data is None else hashlib.sha256(data).hexdigest()


def changed_files(build: str, manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the files that are missing or changed, each with what was found."""
    with reading_values(build):
        expected = {str(name): str(digest) for name, digest in manifest.get("files", {}).items()}
    paths = [inside(build, name) for name in expected]
    digests = remote.at_once(_sha256, paths)
    for (name, digest), actual in zip(expected.items(), digests, strict=True):
        if actual is None:
            yield name, "is missing"
        elif actual != digest:
            yield name, f"its SHA-256 is {actual[:12]}, manifest.json says {digest[:12]}: it was changed"


def inside(build: str, name: Any, manifest: str = "") -> str:
    """Return the path of what a manifest names; raises InputError where that is not a path below the build.

    >>> inside("gs://bucket/corpus", "train/data-00000-of-00001.arrow")
    'gs://bucket/corpus/train/data-00000-of-00001.arrow'
    """
    if not files.is_below(name):
        raise InputError(
            f"names the file {name!r}, which is not a path below its folder; the manifest was changed: restore it, or "
            "build again",
            path=manifest or files.join(build, MANIFEST),
        )
    return files.join(build, *name.split("/"))


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
            path=files.join(build, MANIFEST),
        ) from error


def is_of_datasets(name: str) -> bool:
    """Return whether a file of a split's folder has a name that `datasets` gives to what it keeps there.

    >>> [is_of_datasets(name) for name in ("cache-f50d53545.arrow", "tmpx3_8k2ab", "tmp-notes.txt", "data-0.arrow")]
    [True, True, False, False]
    """
    return _OF_DATASETS.fullmatch(name) is not None


def is_changed(manifest: Any) -> bool:
    """Return whether a manifest has a checksum that is not that of its contents."""
    return isinstance(manifest, dict) and "checksum" in manifest and not is_sealed(manifest)


def check_manifest(manifest: Any, path: str) -> None:
    """Raise InputError where a manifest was changed, has other kinds of values, or names a file outside its build."""
    if is_changed(manifest):
        raise InputError(
            "its checksum is not that of its contents: it was damaged or edited; restore it, or build again", path=path
        )
    check_names(manifest, path)
    if isinstance(manifest, dict):
        try:
            check_values(manifest)
            check_counts(manifest)
        except ValueError as error:
            raise InputError(
                f"is not a whole manifest (ValueError: {error}); restore it, or build again", path=path
            ) from None


def check_names(manifest: Any, path: str) -> None:
    """Raise InputError where a manifest names a file outside its build."""
    if not isinstance(manifest, dict):
        return
    splits, named = (value if isinstance(value := manifest.get(key), dict) else {} for key in ("splits", "files"))
    lists = [split.get("shards") for split in splits.values() if isinstance(split, dict)]
    shards = [shard for entries in lists if isinstance(entries, list) for shard in entries]
    for name in [*splits, *named]:
        inside("", name, path)
    for shard in shards:
        if isinstance(shard, dict) and "file" in shard:
            inside("", shard["file"], path)


def mark_finished(directory: str, made_from: str) -> None:
    """Note that a build is finished, from which settings and inputs, and what its manifests are."""
    phases = files.read_json(files.join(directory, MANIFEST)).get("phases", [])
    paths = [MANIFEST, *(f"{name}/{MANIFEST}" for name in phases)]
    manifests = {path: _sha256(files.join(directory, path)) for path in paths}
    files.write_json(files.join(directory, FINISHED), sealed({"fingerprint": made_from, "manifests": manifests}))


def finished_manifests(directory: str) -> Iterator[tuple[str, str]]:
    """Yield the manifests of a build that are not those with which it was finished, each with what was found."""
    finished = files.read_json_if_there(files.join(directory, FINISHED)) or {}
    for path, digest in finished.get("manifests", {}).items() if is_sealed(finished) else ():
        if _sha256(inside(directory, path, files.join(directory, FINISHED))) != digest:
            yield path, "is missing or was changed"


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
        finished = files.read_json_if_there(path) or {}
    except InputError:
        return None
    if not is_sealed(finished) or finished.get("fingerprint") != made_from:
        return None
    for path, digest in finished.get("manifests", {}).items():
        place = inside(directory, path, files.join(directory, FINISHED))
        if _sha256(place) != digest:
            say(f"{printable(place)}: is missing or was changed: it is made again")
            return None
    manifests = {path: files.read_json(files.join(directory, path)) for path in finished["manifests"]}
    for path, content in manifests.items():
        place = files.join(directory, path).removesuffix(MANIFEST).rstrip("/")
        if problems := list(_problems(place, content)):
            for name, problem in problems:
                say(f"{printable(files.join(place, name))}: {problem}: it is made again")
            return None
    manifest: dict[str, Any] = manifests.pop(MANIFEST)
    if manifests:
        manifest["phases"] = {name: manifests[f"{name}/{MANIFEST}"] for name in manifest["phases"]}
    return manifest


def _problems(place: str, manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what is not as a manifest says: files by their path, each with what was found."""
    if not files.exists(files.join(place, "README.md")) and "splits" in manifest:
        yield "README.md", "is missing"
    yield from changed_files(place, manifest)
    local: list[tuple[str, str]] = []
    for split, entry in manifest.get("splits", {}).items():
        named = {files.name(shard["file"]) for shard in entry["shards"]}
        there = listing.entries(files.join(place, split))
        for name in there:
            if _SHARD.fullmatch(name) and name not in named:
                yield f"{split}/{name}", "is not a shard of this build"
        for shard in entry["shards"]:
            path, status = files.join(place, shard["file"]), there.get(files.name(shard["file"]))
            if status is None or status.size != shard["bytes"]:
                yield shard["file"], f"is missing or has not its {shard['bytes']:,} bytes"
            elif not files.is_remote(path):
                local.append((path, shard["sha256"]))
    for path, problem in (changed(local) if is_wanted() else {}).items():
        yield path.removeprefix(place).lstrip("/"), problem
