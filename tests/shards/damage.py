"""Damage to a finished build: changes to its manifest and its shards, and what `verify` then says of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from bertdata.corpus.manifest import dataset_files
from bertdata.engine.fingerprints import sealed
from bertdata.errors import VerificationError
from bertdata.io import files
from bertdata.shards.schema import ShardInfo
from bertdata.verify.build import verify

Change = Callable[[Any], object]


def edit(path: Path, change: Change) -> None:
    """Change a JSON file in place, and its checksum where it has one; `change` gets its value."""
    value = files.read_json(str(path))
    change(value)
    files.write_json(str(path), sealed(value) if isinstance(value, dict) and "checksum" in value else value)


def put(*keys: str | int, value: Any) -> Change:
    """Return a change of one value, found by its keys; a number is added to."""

    def change(place: Any) -> None:
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = place[keys[-1]] + value if isinstance(value, int) else value

    return change


def disagreements(build: Path) -> list[str]:
    """Return the lines of what disagrees in a build, without the head."""
    with pytest.raises(VerificationError) as raised:
        verify(build)
    head, *lines = str(raised.value).split("\n")
    assert head == f"{len(lines)} disagreement{'s' * (len(lines) > 1)} in {build}:"
    return lines


def claim(build: Path, shard: str) -> None:
    """Make the manifest and the files for `datasets` say the size and SHA-256 that a shard has now."""
    path = build / shard

    def change(manifest: Any) -> None:
        [entry] = [shard_entry for shard_entry in manifest["splits"]["train"]["shards"] if shard_entry["file"] == shard]
        entry.update(bytes=path.stat().st_size, sha256=files.sha256(str(path)))
        for name, value in dataset_files(manifest["splits"], ShardInfo.from_values(manifest["info"], "")).items():
            files.write_json(str(build / name), value)
            manifest["files"][name] = files.sha256(str(build / name))

    edit(build / "manifest.json", change)


def rewrite(build: Path, shard: str, change: Callable[[pa.Table], pa.Table]) -> None:
    """Change the rows of a shard and have the manifest know its bytes."""
    path = build / shard
    changed = change(pa.ipc.open_stream(path.read_bytes()).read_all())
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, changed.schema) as writer:
        writer.write_table(changed)
    claim(build, shard)
