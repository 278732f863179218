"""Builds cut into many small shards, as those that are streamed are many."""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path

import pyarrow as pa

from bertdata.io import files
from bertdata.shards import open_shards
from bertdata.shards.streaming import CacheFolder


def cut(build: Path, output: Path, rows: int, times: int = 1) -> Path:
    """Write the train split of a build as shards of so many rows, all of them `times`, and return the folder.

    The last shard has fewer rows where they do not come out even.
    """
    table = open_shards(build, "train").table
    (output / "train").mkdir(parents=True)
    manifest = json.loads((build / "manifest.json").read_text())
    entries = []
    starts = [start for _ in range(times) for start in range(0, len(table), rows)]
    for number, start in enumerate(starts):
        name = f"train/data-{number:05d}-of-{len(starts):05d}.arrow"
        part = table.slice(start, rows).combine_chunks()
        with pa.OSFile(str(output / name), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
            stream.write_table(part, max_chunksize=1000)
        entries.append(
            {
                "file": name,
                "bytes": (output / name).stat().st_size,
                "sha256": files.sha256(str(output / name)),
                "counts": {"examples": len(part)},
            }
        )
    manifest["splits"] = {"train": {"counts": {"examples": len(table) * times}, "shards": entries}}
    (output / "manifest.json").write_text(json.dumps(manifest))
    shutil.copytree(build / "tokenizer", output / "tokenizer")
    return output


def bytes_in(folder: Path) -> int:
    """Return the bytes that the shards of a cache folder take, places kept for what is being fetched included."""
    sizes: dict[str, int] = {}
    with CacheFolder(str(folder), 1 << 60)._locked():  # nobody makes room meanwhile
        for path in folder.iterdir():
            with contextlib.suppress(FileNotFoundError):
                if path.suffix in (".arrow", ".fetching"):
                    sizes[path.stem] = path.stat().st_size
    return sum(sizes.values())
