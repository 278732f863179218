"""Export: the rows of shards in the formats of others, file by file in bounded memory.

Every shard becomes one file, in some formats several, of the same name below OUTPUT/train or OUTPUT/validation, written
whole or not at all; export.json, written last, names the files and how the shards were made, so a folder without it is
not finished. The tokenizer is written beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bertdata import __version__
from bertdata.engine.origin import Origin
from bertdata.engine.output_lock import output_lock
from bertdata.errors import ConfigError
from bertdata.finetune.task import TASK_SPLITS
from bertdata.formats import EXPORT_FORMATS
from bertdata.formats.names import static_formats
from bertdata.formats.shard import ExportedShard
from bertdata.formats.static import static_rows
from bertdata.io import files
from bertdata.shards.reader import open_splits


def export(
    path: str,
    to: str,
    output: str,
    splits: Sequence[str] = (),
    *,
    dialect: str = "",
    epoch: int = 0,
    max_predictions_per_seq: int = 0,
    report: Callable[[int, int], None] | None = None,
    force: bool = False,
) -> dict[str, Any]:
    """Write splits of a build (all if none is named) in the format `to`; returns what export.json says.

    dialect: the form of the format that a certain trainer reads, where it has several (see docs/formats.md).

    In formats with static masks, dynamic masks are those of `epoch`, and a row has room for `max_predictions_per_seq`
    predictions (0: see `static_rows`). `report` is called with (files done, files in all). An earlier export of the
    same build is replaced, one of another build only if `force` is given. Raises ConfigError for an unknown format or
    options that do not fit it, InputError for a split that is not there, OutputError where the folder holds something
    else, MissingExtraError where a format needs what is not installed.
    """
    chosen = EXPORT_FORMATS[to].dialect(dialect)
    opened = open_splits(path, splits)
    tokenizer = opened[0].tokenizer()
    if files.real_path(output) == files.real_path(opened[0].build):
        raise ConfigError("--output is the build itself; choose another folder", path=output)
    if chosen.check:
        chosen.check()
    rows, settings = None, {}
    if chosen.static:
        rows = static_rows(opened, epoch, max_predictions_per_seq)
        settings = {"settings": {"epoch": epoch, "max_predictions_per_seq": rows.max_predictions_per_seq}}
    elif epoch or max_predictions_per_seq:
        raise ConfigError(
            f"--epoch and --max-predictions-per-seq are for {static_formats()}; leave them out with --to {to}, "
            "which has the rows as they are"
        )
    if chosen.accepts:
        chosen.accepts(opened[0].info)
    total = sum(len(shards.paths) for shards in opened)
    origin = Origin.of("export", [files.join(opened[0].build, "manifest.json")])
    with output_lock(output, f"{to} export", origin, force=force):
        for name in ("export.json", "manifest.json", "dataset_dict.json", *TASK_SPLITS):
            files.remove(files.join(output, name))
        entries: dict[str, Any] = {}
        done = 0
        for shards in opened:
            entries[shards.split] = []
            for shard, local in zip(shards.paths, shards.local_paths, strict=True):
                name = f"{shards.split}/{files.name(shard).removesuffix('.arrow')}{chosen.suffix}"
                target = files.join(output, *name.split("/"))
                exported = ExportedShard(local, shards.table.schema, rows and rows.of(shards), chosen.examples)
                with files.atomic_write(target) as file:
                    chosen.write(exported, file)
                entry: dict[str, Any] = {"file": name, "rows": exported.rows, "bytes": files.size(target)}
                for suffix, write in chosen.beside.items():
                    other = f"{target.removesuffix(chosen.suffix)}{suffix}"
                    with files.atomic_write(other) as file:
                        write(exported, file)
                    entry.setdefault("beside", []).append(files.name(other))
                entries[shards.split].append(entry)
                done += 1
                if report:
                    report(done, total)
        tokenizer.save_pretrained(files.join(output, "tokenizer"))
        if chosen.finish:
            chosen.finish(output, opened, entries)
        info = opened[0].info.values()
        named = {"format": to} | ({"dialect": dialect} if dialect else {})
        described = {"bertdata": __version__, **named, "info": info, **settings, "splits": entries}
        files.write_json(files.join(output, "export.json"), described)
    return described
