"""Reading shards: a split of a build as one memory-mapped Arrow table.

It needs pyarrow alone; `datasets.load_from_disk` reads the same files. What it does not do: batching, shuffling and
padding (see `bertdata.torch`).
"""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata import files
from bertdata.errors import ConfigError, InputError
from bertdata.shards.schema import ShardInfo
from bertdata.wordpiece import WordPieceTokenizer


def open_shards(path: str | os.PathLike[str], split: str | None = None) -> Shards:
    """Open one split of a build: its own directory, or the build's directory and the split's name (train if none).

    Raises InputError where there are no shards, or where they are not what the manifest says; ConfigError where the
    tokenizer beside them is not the one they were made with.
    """
    directory = os.fspath(path).rstrip("/")
    if os.path.basename(directory) in ("", ".", ".."):
        directory = os.path.abspath(directory)
    if files.exists(files.join(directory, "manifest.json")):
        build, split = directory, split or "train"
    else:
        build, split = os.path.dirname(directory) or ".", split or os.path.basename(directory)
    manifest_path = files.join(build, "manifest.json")
    if not files.exists(manifest_path):
        raise InputError(
            "holds no finished build: there is no manifest.json here or one level up; "
            "expected the --output of `bertdata build`, or its train or validation folder",
            path=directory,
        )
    manifest = files.read_json(manifest_path)
    if not isinstance(manifest, dict) or not isinstance(manifest.get("splits"), dict):
        raise InputError("is not a whole manifest; build again", path=manifest_path)
    if split not in manifest["splits"]:
        raise InputError(f"has no split {split!r}; it has {', '.join(manifest['splits'])}", path=build)
    shards = Shards(build, split, manifest)
    if files.exists(files.join(build, "tokenizer")):
        shards.tokenizer()
    return shards


class Shards:
    """The examples of one split; picklable, the memory map is opened again where it arrives.

    table: all shards as one pyarrow Table; info: how they were made; manifest: the build's manifest; paths: the files.
    """

    def __init__(self, build: str, split: str, manifest: dict[str, Any]) -> None:
        self.build, self.split, self.manifest = build, split, manifest
        shards = manifest["splits"][split]["shards"]
        self.paths = [files.join(build, shard["file"]) for shard in shards]
        tables = [_map(path, shard["bytes"]) for path, shard in zip(self.paths, shards, strict=True)]
        infos = [ShardInfo.from_schema(table.schema, path) for table, path in zip(tables, self.paths, strict=True)]
        for info, path in zip(infos, self.paths, strict=True):
            if info != infos[0]:
                raise InputError(f"was not built like {self.paths[0]}; build all shards in one run", path=path)
        self.info: ShardInfo = infos[0]
        if manifest.get("info", asdict(self.info)) != asdict(self.info):
            raise InputError(
                "was made with other settings than its manifest.json says; build again", path=self.paths[0]
            )
        self.table: pa.Table = pa.concat_tables(tables)

    def __reduce__(self) -> tuple[type[Shards], tuple[str, str, dict[str, Any]]]:
        return type(self), (self.build, self.split, self.manifest)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __getitem__(self, index: int) -> dict[str, Any]:
        """Return one example: lists as NumPy arrays, numbers as int; negative indices count from the end."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"example {index} of {len(self)}")
        row = self.table.slice(index % len(self), 1)
        return {name: _value(row[name].chunk(0)) for name in row.column_names}

    def tokenizer(self) -> WordPieceTokenizer:
        """Return the tokenizer saved beside the shards; raises ConfigError where they were made with another."""
        path = files.join(self.build, "tokenizer")
        tokenizer = WordPieceTokenizer.load(path)
        if tokenizer.fingerprint != self.info.tokenizer:
            raise ConfigError(
                f"the tokenizer in {path} is not the one the shards were made with "
                f"({tokenizer.fingerprint[:12]} here, {self.info.tokenizer[:12]} in the shards); "
                "restore it, or build again"
            )
        return tokenizer

    @property
    def replacement_ids(self) -> NDArray[np.int64]:
        """The ids that may stand in for a masked token: neither special nor [unused], int64."""
        return self.tokenizer().replacement_ids.astype(np.int64)


def _map(path: str, size: int) -> pa.Table:
    found = files.size(path)
    if found != size:
        raise InputError(
            f"has {found} bytes, the manifest says {size}: it was cut off or changed; build again", path=path
        )
    try:
        if files.is_remote(path):
            with files.open_raw(path) as source:
                return pa.ipc.open_stream(source).read_all()
        return pa.ipc.open_stream(pa.memory_map(path)).read_all()
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"is not an Arrow stream ({error}); build again", path=path) from error


def _value(column: pa.Array) -> Any:
    if pa.types.is_list(column.type):
        return column.flatten().to_numpy()
    return column[0].as_py()
