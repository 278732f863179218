"""`bertdata export`: the rows of shards in the formats of others, file by file in bounded memory.

Every shard becomes one file of the same name below OUTPUT/train or OUTPUT/validation, written whole or not at all;
export.json, written last, names the files and how the shards were made, so a folder without it is not finished. The
tokenizer comes along. A format is an `Exporter`: how one shard is written, and what stands beside the shards in the
end. What it does not do: sampling, shuffling, masks that are not in the shards.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO

import pyarrow as pa

from bertdata import __version__, files
from bertdata.errors import ConfigError, InputError
from bertdata.output import claimed
from bertdata.shards import Shards
from bertdata.shards.schema import SPLITS
from bertdata.stats import open_splits

_ROW_GROUP_BYTES = 32 << 20


@dataclass(frozen=True)
class Exporter:
    """One format: the ending of its files, how a shard is written to one, and what is written at the end."""

    suffix: str
    write: Callable[[str, pa.Schema, BinaryIO], int]
    finish: Callable[[str, list[Shards]], None] | None = None


def read_batches(path: str) -> Iterator[pa.RecordBatch]:
    """Yield the record batches of one shard, one in memory at a time; raises InputError where it is damaged."""
    try:
        with files.open_raw(path) if files.is_remote(path) else pa.memory_map(path) as source:
            yield from pa.ipc.open_stream(source)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"is not a whole Arrow stream ({error}); build again", path=path) from error


def write_parquet(path: str, schema: pa.Schema, file: BinaryIO) -> int:
    """Write a shard as Parquet (zstd, row groups of about 32 MiB) with its schema's metadata; returns the rows."""
    import pyarrow.parquet as pq

    rows = size = 0
    held: list[pa.RecordBatch] = []
    with pq.ParquetWriter(file, schema, compression="zstd", write_statistics=False) as writer:
        for batch in read_batches(path):
            held.append(batch)
            rows += batch.num_rows
            size += batch.nbytes
            if size >= _ROW_GROUP_BYTES:
                writer.write_table(pa.Table.from_batches(held))
                held, size = [], 0
        if held:
            writer.write_table(pa.Table.from_batches(held))
    return rows


def write_jsonl(path: str, schema: pa.Schema, file: BinaryIO) -> int:
    """Write a shard as JSON lines, an object with the columns' names in each; returns the rows."""
    rows = 0
    for batch in read_batches(path):
        lines = (json.dumps(row, separators=(",", ":")) for row in batch.select(schema.names).to_pylist())
        file.write("".join(f"{line}\n" for line in lines).encode())
        rows += batch.num_rows
    return rows


def copy_shard(path: str, schema: pa.Schema, file: BinaryIO) -> int:
    """Write a shard as it is, the same bytes; returns the rows."""
    with files.open_raw(path) as source:
        for _, data in files.decompress(source, None, path):
            file.write(data)
    return sum(batch.num_rows for batch in read_batches(path))


def finish_hf(output: str, splits: list[Shards]) -> None:
    """Write what makes the folder one that `datasets.load_from_disk` opens."""
    from bertdata.shards.manifest import write_dataset_files

    manifest = splits[0].manifest
    chosen = {shards.split: manifest["splits"][shards.split] for shards in splits}
    write_dataset_files(output, manifest | {"splits": chosen}, splits[0].info)


EXPORTERS = {
    "parquet": Exporter(".parquet", write_parquet),
    "jsonl": Exporter(".jsonl", write_jsonl),
    "hf": Exporter(".arrow", copy_shard, finish_hf),
}


def export(
    path: str, to: str, output: str, splits: Sequence[str] = (), *, report: Callable[[int, int], None] | None = None
) -> dict[str, Any]:
    """Write splits of a build (all if none is named) in the format `to`; returns what export.json says.

    `report` is called with (files done, files in all). An export of the same format that is there is replaced. Raises
    ConfigError for an unknown format, InputError for a split that is not there, and OutputError where the folder holds
    something else.
    """
    if to not in EXPORTERS:
        raise ConfigError(f"there is no format {to!r}; expected one of {', '.join(EXPORTERS)}")
    exporter = EXPORTERS[to]
    found = open_splits(path, splits)
    tokenizer = found[0].tokenizer()
    if _same_place(output, found[0].build):
        raise ConfigError("--output is the build itself; choose another folder", path=output)
    total = sum(len(shards.paths) for shards in found)
    with claimed(output, f"{to} export"):
        for name in ("export.json", "manifest.json", "dataset_dict.json", *SPLITS):
            files.remove(files.join(output, name))
        entries: dict[str, Any] = {}
        done = 0
        for shards in found:
            entries[shards.split] = []
            for shard in shards.paths:
                name = f"{shards.split}/{files.name(shard).removesuffix('.arrow')}{exporter.suffix}"
                target = files.join(output, *name.split("/"))
                with files.atomic_write(target) as file:
                    rows = exporter.write(shard, shards.table.schema, file)
                entries[shards.split].append({"file": name, "rows": rows, "bytes": files.size(target)})
                done += 1
                if report:
                    report(done, total)
        tokenizer.save(files.join(output, "tokenizer"))
        if exporter.finish:
            exporter.finish(output, found)
        info = asdict(found[0].info)
        described = {"bertdata": __version__, "format": to, "info": info, "splits": entries}
        files.write_json(files.join(output, "export.json"), described)
    return described


def _same_place(one: str, other: str) -> bool:
    return (
        one == other
        if files.is_remote(one) or files.is_remote(other)
        else os.path.realpath(one) == os.path.realpath(other)
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata export` to a parser."""
    parser.add_argument("shards", metavar="DIR", help="a finished build, or one of its splits")
    parser.add_argument(
        "--to", required=True, choices=tuple(EXPORTERS), help="hf: a folder for datasets.load_from_disk"
    )
    parser.add_argument("--output", required=True, metavar="DIR", help="where to write; a new folder or a URL")
    parser.add_argument("--split", nargs="+", default=[], metavar="NAME", help="only these splits (default: all)")


def run(arguments: argparse.Namespace) -> int:
    """Export as parsed arguments say and print what was written."""
    from tqdm import tqdm

    from bertdata.summary import table

    with tqdm(unit="file", disable=None) as bar:

        def report(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        described = export(arguments.shards, arguments.to, arguments.output, arguments.split, report=report)
    rows = []
    for split, entries in described["splits"].items():
        number, size = (sum(entry[name] for entry in entries) for name in ("rows", "bytes"))
        rows.append((split, f"{number:,} rows in {len(entries):,} files, {size:,} bytes"))
    print(table(rows))
    return 0
