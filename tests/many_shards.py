"""Builds cut into many small shards, as those that are streamed are many."""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path

import pyarrow as pa

from bertdata.io import files
from bertdata.shards import open_shards, pieces
from bertdata.shards.streaming import CacheFolder


def cut(build: Path, output: Path, rows: int, times: int = 1, *, batch_rows: int = 1000) -> Path:
    """Write the train split of a build as shards of so many rows, all of them `times`, and return the folder.

    The last shard has fewer rows where they do not come out even. batch_rows: the rows of a record batch.
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
            stream.write_table(part, max_chunksize=batch_rows)
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


def write_pieces(corpus: Path, piece_bytes: int) -> Path:
    """Write the digests of pieces of so many bytes of the train split of a build, and return its folder."""
    manifest = json.loads((corpus / "manifest.json").read_text())
    entries = {
        shard["file"]: {"sha256": shard["sha256"], "pieces": pieces.cut(str(corpus / shard["file"]), piece_bytes)}
        for shard in manifest["splits"]["train"]["shards"]
    }
    pieces.save_pieces(str(corpus), {"train": entries})
    manifest["files"] = {"pieces/train.json": files.sha256(str(corpus / "pieces/train.json"))}
    (corpus / "manifest.json").write_text(json.dumps(manifest))
    return corpus


def bytes_in(folder: Path) -> int:
    """Return the bytes that the shards of a cache folder take, places kept for what is being fetched included."""
    sizes: dict[str, int] = {}
    with CacheFolder(str(folder), 1 << 60)._locked():  # nobody makes room meanwhile
        for path in folder.iterdir():
            with contextlib.suppress(FileNotFoundError):
                if path.suffix in (".arrow", ".fetching"):
                    sizes[path.stem] = path.stat().st_size
    return sum(sizes.values())
