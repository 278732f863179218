"""`bertdata export`: the rows of shards in the formats of others, file by file in bounded memory.

Every shard becomes one file of the same name below OUTPUT/train or OUTPUT/validation, written whole or not at all;
export.json, written last, names the files and how the shards were made, so a folder without it is not finished. The
tokenizer comes along. A format is an `Exporter`: how its shards are written, and what stands beside them in the end.
What it does not do: sampling, shuffling.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, BinaryIO

import pyarrow as pa

from bertdata import __version__
from bertdata.cli.command_line import add_force
from bertdata.engine.origin import Origin
from bertdata.engine.output_lock import claimed
from bertdata.errors import ConfigError
from bertdata.formats import arrow, hdf5, mds, tfrecord
from bertdata.formats.static import StaticRows, static_rows
from bertdata.inspect.stats import open_splits
from bertdata.io import files
from bertdata.shards import Shards
from bertdata.shards.task_info import TASK_SPLITS

ShardWriter = Callable[[str, pa.Schema, BinaryIO], int]
"""Writes the shard of a path and a schema to a file, and returns its rows."""


@dataclass(frozen=True)
class ExportOptions:
    """What formats with static masks need: the epoch whose dynamic masks are drawn, and the room for predictions."""

    epoch: int = 0
    max_predictions_per_seq: int = 0


@dataclass(frozen=True)
class Exporter:
    """One format: the ending of its files, how a shard is written to one, and what is written at the end.

    masked: makes the writer where rows are written with static masks; then `write` is None.
    """

    suffix: str
    write: ShardWriter | None
    finish: Callable[[str, Sequence[Shards], Mapping[str, Any]], None] | None = None
    masked: Callable[[StaticRows], ShardWriter] | None = None


EXPORTERS = {
    "parquet": Exporter(".parquet", arrow.write_parquet),
    "jsonl": Exporter(".jsonl", arrow.write_jsonl),
    "tfrecord": Exporter(".tfrecord", None, masked=tfrecord.writer),
    "hdf5": Exporter(".hdf5", None, masked=hdf5.writer),
    "mds": Exporter(".mds", mds.write_mds, mds.finish_mds),
    "hf": Exporter(".arrow", arrow.copy_shard, arrow.finish_hf),
}


def export(
    path: str,
    to: str,
    output: str,
    splits: Sequence[str] = (),
    options: ExportOptions | None = None,
    *,
    report: Callable[[int, int], None] | None = None,
    force: bool = False,
) -> dict[str, Any]:
    """Write splits of a build (all if none is named) in the format `to`; returns what export.json says.

    `report` is called with (files done, files in all). An export of the same build that is there is replaced; one of
    another build only if `force` is given. Raises ConfigError for an unknown format or options that do not fit it,
    InputError for a split that is not there, OutputError where the folder holds something else, MissingExtraError where
    a format needs what is not installed.
    """
    if to not in EXPORTERS:
        raise ConfigError(f"there is no format {to!r}; expected one of {', '.join(EXPORTERS)}")
    exporter = EXPORTERS[to]
    found = open_splits(path, splits)
    tokenizer = found[0].tokenizer()
    if _same_place(output, found[0].build):
        raise ConfigError("--output is the build itself; choose another folder", path=output)
    write, settings = _writer(to, exporter, found, options or ExportOptions())
    total = sum(len(shards.paths) for shards in found)
    origin = Origin.of("export", [files.join(found[0].build, "manifest.json")])
    with claimed(output, f"{to} export", origin, force=force):
        for name in ("export.json", "manifest.json", "dataset_dict.json", *TASK_SPLITS):
            files.remove(files.join(output, name))
        entries: dict[str, Any] = {}
        done = 0
        for shards in found:
            entries[shards.split] = []
            schema = shards.table.schema
            for shard, local in zip(shards.paths, shards.local_paths, strict=True):
                name = f"{shards.split}/{files.name(shard).removesuffix('.arrow')}{exporter.suffix}"
                target = files.join(output, *name.split("/"))
                with files.atomic_write(target) as file:
                    rows = write(local, schema, file)
                entries[shards.split].append({"file": name, "rows": rows, "bytes": files.size(target)})
                done += 1
                if report:
                    report(done, total)
        tokenizer.save(files.join(output, "tokenizer"))
        if exporter.finish:
            exporter.finish(output, found, entries)
        info = found[0].info.values()
        described = {"bertdata": __version__, "format": to, "info": info, **settings, "splits": entries}
        files.write_json(files.join(output, "export.json"), described)
    return described


def _writer(
    to: str, exporter: Exporter, splits: Sequence[Shards], options: ExportOptions
) -> tuple[ShardWriter, dict[str, Any]]:
    """Return what writes a shard, and what export.json says of the options."""
    if exporter.masked is None:
        if options != ExportOptions():
            masked = ", ".join(name for name, one in EXPORTERS.items() if one.masked)
            raise ConfigError(
                f"--epoch and --max-predictions-per-seq are for {masked}; leave them out with --to {to}, which has the "
                "rows as they are"
            )
        assert exporter.write is not None
        return exporter.write, {}
    rows = static_rows(splits, options.epoch, options.max_predictions_per_seq)
    settings = asdict(options) | {"max_predictions_per_seq": rows.max_predictions_per_seq}
    return exporter.masked(rows), {"settings": settings}


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
        "--to",
        required=True,
        choices=tuple(EXPORTERS),
        help="tfrecord: Google's create_pretraining_data; hdf5: NVIDIA's BERT; mds: MosaicML Streaming; hf: a folder "
        "for datasets.load_from_disk",
    )
    parser.add_argument("--output", required=True, metavar="DIR", help="where to write; a new folder or a URL")
    add_force(parser)
    parser.add_argument("--split", nargs="+", default=[], metavar="NAME", help="only these splits (default: all)")
    parser.add_argument(
        "--epoch", type=int, default=0, metavar="N", help="tfrecord, hdf5: the epoch whose dynamic masks are drawn"
    )
    parser.add_argument(
        "--max-predictions-per-seq",
        type=int,
        default=0,
        metavar="N",
        help="tfrecord, hdf5: room for predictions in a row (default: the build's limit, or the most that a row has)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Export as parsed arguments say and print what was written."""
    from tqdm import tqdm

    from bertdata.inspect.summary import table

    with tqdm(unit="file", disable=None) as bar:

        def report(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        options = ExportOptions(arguments.epoch, arguments.max_predictions_per_seq)
        described = export(
            arguments.shards,
            arguments.to,
            arguments.output,
            arguments.split,
            options,
            report=report,
            force=arguments.force,
        )
    rows = []
    if settings := described.get("settings"):
        rows.append(("predictions", f"room for {settings['max_predictions_per_seq']:,} in a row"))
    for split, entries in described["splits"].items():
        number, size = (sum(entry[name] for entry in entries) for name in ("rows", "bytes"))
        rows.append((split, f"{number:,} rows in {len(entries):,} files, {size:,} bytes"))
    print(table(rows))
    return 0
