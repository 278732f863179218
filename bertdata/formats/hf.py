"""Shards as they are, in a folder that `datasets.load_from_disk` opens."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

from bertdata.corpus.manifest import write_dataset_files
from bertdata.formats.base import ExportFormat
from bertdata.formats.shard import ExportedShard
from bertdata.io import files
from bertdata.shards import Shards


def copy_shard(shard: ExportedShard, file: BinaryIO) -> None:
    """Write the bytes of a shard."""
    with files.open_raw(shard.path) as source:
        shutil.copyfileobj(source, file)


def finish_hf(output: str, splits: Sequence[Shards], entries: Mapping[str, Any]) -> None:
    """Write the files beside the shards that `datasets.load_from_disk` needs."""
    manifest = splits[0].manifest
    chosen = {shards.split: manifest["splits"][shards.split] for shards in splits}
    without_account = {name: value for name, value in manifest.items() if name != "accounts"}
    write_dataset_files(output, without_account | {"splits": chosen}, splits[0].info)


HF = ExportFormat(help="a folder for `datasets.load_from_disk`", suffix=".arrow", write=copy_shard, finish=finish_hf)
