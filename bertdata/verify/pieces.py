"""The digests of pieces of shards (`bertdata.shards.pieces`), written for a build once it is verified."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bertdata.engine.fingerprints import is_sealed, sealed
from bertdata.io import files
from bertdata.shards.contents import FINISHED, finished_manifests, mark_finished
from bertdata.shards.pieces import path_of, save_pieces
from bertdata.verify.claims import MANIFEST, Claims


def write_pieces(claims: Claims, manifest: Mapping[str, Any]) -> None:
    """Write the pieces of the shards that were cut, and their SHA-256 into the manifest; no byte of a shard changes."""
    entries: dict[str, dict[str, Any]] = {}
    for split, of_split in claims.splits.items():
        entries[split] = {
            shard.file: {"sha256": shard.sha256, "pieces": claims.cut[shard.file]}
            for shard in of_split.shards
            if shard.file in claims.cut
        }
    save_pieces(claims.path, entries)
    names = [path_of(split) for split, shards in entries.items() if shards]
    others = {name: digest for name, digest in manifest.get("files", {}).items() if not name.startswith("pieces/")}
    digests = {name: files.sha256(files.join(claims.path, *name.split("/"))) for name in names}
    written = {**manifest, "files": {**others, **digests}}
    files.write_json(files.join(claims.path, MANIFEST), sealed(written) if is_sealed(manifest) else written)


def finished_as(directory: str) -> str | None:
    """Return what a finished build says that it was made from, None where it is not as it was finished."""
    finished = files.read_json_if_there(files.join(directory, FINISHED))
    if not is_sealed(finished) or any(finished_manifests(directory)):
        return None
    made_from: str = finished["fingerprint"]
    return made_from


def finish_again(directory: str, made_from: str | None) -> None:
    """Say of a build that was finished that it is, with the manifests that it has now."""
    if made_from is not None:
        mark_finished(directory, made_from)
