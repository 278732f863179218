"""Export: the rows of shards in the formats of others, file by file in bounded memory.

Every shard becomes one file of the same name below OUTPUT/train or OUTPUT/validation, written whole or not at all;
export.json, written last, names the files and how the shards were made, so a folder without it is not finished. The
tokenizer is written beside them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, BinaryIO

import pyarrow as pa

from bertdata import __version__
from bertdata.engine.origin import Origin
from bertdata.engine.output_lock import output_lock
from bertdata.errors import ConfigError
from bertdata.formats.registry import EXPORT_FORMATS, ExportFormat, ShardWriter, StaticWriter, static_formats
from bertdata.formats.static import StaticRows, static_rows
from bertdata.io import files
from bertdata.shards import Shards
from bertdata.shards.reader import open_splits
from bertdata.shards.task_info import TASK_SPLITS


@dataclass(frozen=True)
class ExportOptions:
    """What formats with static masks need: the epoch whose dynamic masks are drawn, and the room for predictions."""

    epoch: int = 0
    max_predictions_per_seq: int = 0


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
    chosen = EXPORT_FORMATS[to]
    found = open_splits(path, splits)
    tokenizer = found[0].tokenizer()
    if _same_place(output, found[0].build):
        raise ConfigError("--output is the build itself; choose another folder", path=output)
    write, settings = _shard_writer(to, chosen, found, options or ExportOptions())
    total = sum(len(shards.paths) for shards in found)
    origin = Origin.of("export", [files.join(found[0].build, "manifest.json")])
    with output_lock(output, f"{to} export", origin, force=force):
        for name in ("export.json", "manifest.json", "dataset_dict.json", *TASK_SPLITS):
            files.remove(files.join(output, name))
        entries: dict[str, Any] = {}
        done = 0
        for shards in found:
            entries[shards.split] = []
            schema = shards.table.schema
            for shard, local in zip(shards.paths, shards.local_paths, strict=True):
                name = f"{shards.split}/{files.name(shard).removesuffix('.arrow')}{chosen.suffix}"
                target = files.join(output, *name.split("/"))
                with files.atomic_write(target) as file:
                    rows = write(local, schema, file)
                entries[shards.split].append({"file": name, "rows": rows, "bytes": files.size(target)})
                done += 1
                if report:
                    report(done, total)
        tokenizer.save_pretrained(files.join(output, "tokenizer"))
        if chosen.finish:
            chosen.finish(output, found, entries)
        info = found[0].info.values()
        described = {"bertdata": __version__, "format": to, "info": info, **settings, "splits": entries}
        files.write_json(files.join(output, "export.json"), described)
    return described


def _shard_writer(
    to: str, chosen: ExportFormat, splits: Sequence[Shards], options: ExportOptions
) -> tuple[ShardWriter, dict[str, Any]]:
    """Return what writes a shard, and what export.json says of the options."""
    if chosen.check:
        chosen.check()
    if chosen.write:
        if options != ExportOptions():
            raise ConfigError(
                f"--epoch and --max-predictions-per-seq are for {static_formats()}; leave them out with --to {to}, "
                "which has the rows as they are"
            )
        return chosen.write, {}
    assert chosen.write_static is not None
    rows = static_rows(splits, options.epoch, options.max_predictions_per_seq)
    settings = asdict(options) | {"max_predictions_per_seq": rows.max_predictions_per_seq}
    return partial(_write_static, chosen.write_static, rows), {"settings": settings}


def _write_static(write: StaticWriter, rows: StaticRows, path: str, schema: pa.Schema, file: BinaryIO) -> int:
    return write(rows, path, file)


def _same_place(one: str, other: str) -> bool:
    return (
        one == other
        if files.is_remote(one) or files.is_remote(other)
        else os.path.realpath(one) == os.path.realpath(other)
    )
