"""Corpora of any size for what is measured with streams: the rows of a build again and again, with ids of their own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa

from bertdata.engine.fingerprints import sealed
from bertdata.io import files
from bertdata.shards import open_shards, pieces

_IDS_APART = 0x9E3779B97F4A7C15
_BATCH_ROWS = 1000


def write_copies(
    build: Path, output: Path, shards: int, rows: int = 0, *, copies: int = 1, piece_bytes: int = 0
) -> Path:
    """Write so many shards, each with the first training rows of a build, 0: all, and ids of its own.

    copies: how often a shard has these rows, with other ids each time; piece_bytes: write the digests of pieces of so
    many bytes, 0: none. Returns the folder.
    """
    table = open_shards(build, "train").table.slice(0, rows or None).combine_chunks()
    place = table.schema.get_field_index("example_id")
    ids = table["example_id"].to_numpy()
    (output / "train").mkdir(parents=True)
    manifest = json.loads((build / "manifest.json").read_text())
    counts = {"row_tokens": len(table["input_ids"].combine_chunks().flatten())}
    entries, cut = [], {}
    for number in range(shards):
        name = f"train/data-{number:05d}-of-{shards:05d}.arrow"
        with pa.OSFile(str(output / name), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
            for copy in range(number * copies, (number + 1) * copies):
                moved = ids ^ np.uint64(copy * _IDS_APART % (1 << 64)).astype(ids.dtype)
                part = table.set_column(place, table.schema.field(place), pa.array(moved, table.schema.types[place]))
                stream.write_table(part, max_chunksize=_BATCH_ROWS)
        written = output / name
        entries.append(
            {
                "file": name,
                "bytes": written.stat().st_size,
                "sha256": files.sha256(str(written)),
                "counts": {"examples": len(table) * copies, "row_tokens": counts["row_tokens"] * copies},
            }
        )
        if piece_bytes:
            cut[name] = {"sha256": entries[-1]["sha256"], "pieces": pieces.cut(str(written), piece_bytes)}
    numbers = {"examples": len(table), "row_tokens": counts["row_tokens"]}
    totals = {what: number * shards * copies for what, number in numbers.items()}
    manifest["splits"] = {"train": {"counts": totals, "shards": entries}}
    if cut:
        pieces.save_pieces(str(output), {"train": cut})
        manifest["files"] = {pieces.path_of("train"): files.sha256(str(output / pieces.path_of("train")))}
    (output / "manifest.json").write_text(json.dumps(sealed(manifest)))
    shutil.copytree(build / "tokenizer", output / "tokenizer")
    return output
