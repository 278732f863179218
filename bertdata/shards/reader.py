"""Reading shards: a split of a build as one memory-mapped Arrow table.

It needs pyarrow alone; `datasets.load_from_disk` reads the same files. Remote shards are kept in a local cache
(`cache`).
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.errors import InputError, parse_problem
from bertdata.io import files
from bertdata.io.arrow_data import reading_arrow
from bertdata.io.arrow_messages import check_uncompressed, read_uncompressed
from bertdata.io.console import counted
from bertdata.plugins import Consent, adopt, consent, use_plugins
from bertdata.shards.cache import ShardCache, ShardFile, read, require_size
from bertdata.shards.checked import is_wanted, require_whole
from bertdata.shards.columns import CU_SEQLENS
from bertdata.shards.contents import check_manifest, inside
from bertdata.shards.packed import unpacked
from bertdata.shards.phases import phase_names
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.saved_tokenizer import open_saved_tokenizer
from bertdata.shards.schema import ShardInfo
from bertdata.shards.valid_rows import require_valid
from bertdata.tokenizers.base import Tokenizer

MANIFEST = "manifest.json"
_SHA256 = re.compile(r"[0-9a-f]{64}")


def open_shards(
    path: str | os.PathLike[str],
    split: str | None = None,
    *,
    cache: ShardCache | None = None,
    check: bool | None = None,
    plugins: Sequence[str] = (),
    kind: Callable[[str, str, dict[str, Any]], Shards] | None = None,
) -> Shards:
    """Open one split of a build: its own directory, or the build's directory and the name of a split (default: train).

    Shards at a URL are fetched to a local cache first (`ShardCache.default()` unless given). A shard is compared with
    its SHA-256 before its first row is read, once on this machine (`bertdata.shards.checked`), unless `check` is False
    or BERTDATA_CHECK_SHARDS is 0. plugins: modules that may be imported where the shards name what they hold, as the
    objective `my_objects:SWAPPED`; nothing is imported otherwise (`bertdata.plugins`). kind: what makes the shards of a
    build, a split and a manifest, in the place of `Shards` (`bertdata.shards.streaming`). Raises InputError where there
    are no shards, or where they are not what the manifest says; ConfigError where the tokenizer beside them is not the
    one they were made with, or the cache is too small.
    """
    use_plugins(plugins)
    directory = files.path_text(path).rstrip("/")
    if os.path.basename(directory) in ("", ".", ".."):
        directory = os.path.abspath(directory)
    data = read(files.join(directory, MANIFEST))
    if data is not None:
        build, split = directory, split or "train"
    else:
        build, split = os.path.dirname(directory) or ".", split or os.path.basename(directory)
        data = read(files.join(build, MANIFEST))
    if data is None:
        raise InputError(
            "holds no finished build: there is no manifest.json here or one level up; "
            "expected the --output of `bertdata build` or `bertdata encode-task`, or a folder of it, as train",
            path=directory,
        )
    manifest_path = files.join(build, MANIFEST)
    try:
        manifest = json.loads(data)
    except (ValueError, RecursionError) as error:
        problem = f"is not valid JSON ({parse_problem(error)}); delete it and build again"
        raise InputError(problem, path=manifest_path) from error
    check_manifest(manifest, manifest_path)
    if names := phase_names(manifest):
        raise InputError(
            f"holds several phases: {', '.join(names)}; open one of them, as {files.join(build, names[0])}",
            path=build,
        )
    if not isinstance(manifest, dict) or not isinstance(manifest.get("splits"), dict):
        raise InputError("is not a whole manifest; build again", path=manifest_path)
    if split not in manifest["splits"]:
        raise InputError(f"has no split {split!r}; it has {', '.join(manifest['splits'])}", path=build)
    shards = Shards(build, split, manifest, cache, check) if kind is None else kind(build, split, manifest)
    shards.has_tokenizer()  # raises where it is not the one they were made with
    return shards


@contextlib.contextmanager
def open_stream(path: str, shown: str = "") -> Iterator[pa.RecordBatchStreamReader]:
    """Open a shard to read its record batches one after another; a local one is memory-mapped.

    shown: what to call it, if it is a copy of one at a URL. Raises InputError where a local one is compressed.
    """
    if not files.is_remote(path):
        with reading_arrow(shown or path, "is not an Arrow stream", "build again"):
            check_uncompressed(pa.memory_map(path))
    with (
        contextlib.closing(files.open_raw(path) if files.is_remote(path) else pa.memory_map(path)) as source,
        pa.ipc.open_stream(source) as stream,
    ):
        yield stream


def open_splits(path: str, splits: Sequence[str] = ()) -> list[Shards]:
    """Open the named splits of a build; if none is named, all of a build, or the split in the folder `path`."""
    first = open_shards(path, splits[0] if splits else None)
    whole = files.exists(files.join(path, "manifest.json"))
    names = list(splits) or (list(first.manifest["splits"]) if whole else [first.split])
    return [first if name == first.split else open_shards(first.build, name) for name in names]


def read_info(schema: pa.Schema, path: str) -> ShardInfo:
    """Return what a shard says of itself in its schema; raises InputError where its columns are not those of that."""
    info = ShardInfo.from_schema(schema, path)
    if not schema.remove_metadata().equals(pa.schema(info.columns())):
        actual, expected = (
            ", ".join(f"{field.name} {field.type}" for field in fields) for fields in (schema, info.columns())
        )
        raise InputError(f"has the columns {actual}; its settings make them {expected}: build again", path=path)
    return info


def shard_files(build: str, split: str, manifest: dict[str, Any]) -> list[ShardFile]:
    """Return the shards of a split as the manifest names them; raises InputError where it does not, or has none."""
    try:
        entries = [
            ShardFile(inside(build, shard["file"]), _size(shard["bytes"]), _digest(shard.get("sha256")))
            for shard in manifest["splits"][split]["shards"]
        ]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"does not say what the shards of {split} are ({type(error).__name__}: {error}); build again",
            path=files.join(build, MANIFEST),
        ) from error
    if not entries:
        raise InputError(f"names no shards of {split}; build again", path=files.join(build, MANIFEST))
    return entries


def _size(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise TypeError(f"bytes is {value!r}")
    return value


def _digest(value: Any) -> str | None:
    if value is not None and not (
        isinstance(value, str) and _SHA256.fullmatch(value)
    ):  # a cache's names are made of it
        raise TypeError(f"sha256 is {value!r}")
    return value


class Shards:
    """The examples of one split; can be pickled, unpickling opens the memory map again.

    table: all shards as one pyarrow Table; info: how they were made; manifest: the build's manifest; paths: the files,
    or their URLs; local_paths: the files on this machine; cache: where remote ones are kept. `check` is that of
    `open_shards`: reading the table or a row compares its shards with their SHA-256 first. Their rows are checked then
    in any case, once on this machine, so that no offset or id in them points elsewhere (`bertdata.shards.valid_rows`).
    """

    def __init__(
        self,
        build: str,
        split: str,
        manifest: dict[str, Any],
        cache: ShardCache | None = None,
        check: bool | None = None,
    ) -> None:
        self.build, self.split, self.manifest, self.cache = build, split, manifest, cache
        self._entries = shard_files(build, split, manifest)
        self.paths = [shard.url for shard in self._entries]
        self.local_paths: Sequence[str] = self.paths
        if files.is_remote(build):
            self.cache = cache or ShardCache.default()
            self.local_paths = self.cache.hold(self._entries)
        self.check_sizes()
        tables = []
        for local, path in zip(self.local_paths, self.paths, strict=True):
            try:
                tables.append(read_uncompressed(pa.memory_map(local)))
            except MemoryError:
                raise
            except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
                raise InputError(f"is not an Arrow stream ({error}); build again", path=path) from error
        infos = [read_info(table.schema, path) for table, path in zip(tables, self.paths, strict=True)]
        for info, path in zip(infos, self.paths, strict=True):
            if info != infos[0]:
                raise InputError(f"was not built like {self.paths[0]}; build all shards in one run", path=path)
        self.info: ShardInfo = infos[0]
        if "info" not in manifest and isinstance(self.info, PretrainingInfo) and self.info.draws_masks:
            raise InputError(
                "does not say how masks are drawn, which shards of dynamic masks leave to it; build again, or copy the "
                "manifest.json of the build",
                path=files.join(build, MANIFEST),
            )
        if manifest.get("info", self.info.values()) != self.info.values():
            self.info = ShardInfo.from_values(manifest["info"], files.join(build, MANIFEST))
            if self.info.of_rows() != infos[0].of_rows():
                raise InputError(
                    "was made with other settings than its manifest.json says; build again", path=self.paths[0]
                )
        self._said = infos[0]
        self.unchecked_table: pa.Table = pa.concat_tables(tables)
        self._ends = np.cumsum([table.num_rows for table in tables])
        self._digests = (is_wanted() if check is None else check) and not files.is_remote(build)
        self._unchecked = set(range(len(tables)))

    def __reduce__(self) -> tuple[Any, ...]:
        values = (self.build, self.split, self.manifest, self.cache, self._digests)
        return _opened_again, (type(self), consent(), values), {"_unchecked": self._unchecked}

    def __len__(self) -> int:
        return int(self.unchecked_table.num_rows)

    def __repr__(self) -> str:
        rows = f"{len(self):,} rows for {self.info.purpose} in {counted(len(self.paths), 'shard')}"
        return f"{type(self).__name__}({self.build!r}, {self.split!r}): {rows}"

    @property
    def table(self) -> pa.Table:
        """All shards as one pyarrow Table; raises InputError, naming the shard, where one was changed."""
        self.check()
        return self.unchecked_table

    @table.setter
    def table(self, table: pa.Table) -> None:
        self.unchecked_table, self._ends = table, np.array([table.num_rows])
        self._unchecked = set()

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Return some columns of all rows."""
        return self.table.select(names)

    @cached_property
    def shard_rows(self) -> NDArray[np.int64]:
        """The number of rows of each shard, int64 (S,)."""
        return np.diff(self._ends, prepend=0)

    @cached_property
    def digests(self) -> list[str]:
        """The SHA-256 of the shards in their order, as the manifest has them; a file without one is read for it."""
        return [shard.sha256 or files.sha256(path) for path, shard in zip(self.local_paths, self._entries, strict=True)]

    @property
    def identity(self) -> list[Any]:
        """What tells these rows and their masks from others: the digests, and masks that the shards do not say."""
        masks = self.info.masks_of(self.split) if isinstance(self.info, PretrainingInfo) else ""
        return self.digests if self.info == self._said else [*self.digests, {"masks": masks}]

    def check(self, numbers: Iterable[int] | None = None) -> None:
        """Compare shards, all unless some are given by number, with their SHA-256, and check their rows, each once.

        Raises InputError, naming the shard, where one was changed, or has a row that cannot be read.
        """
        wanted = sorted(self._unchecked if numbers is None else self._unchecked.intersection(numbers))
        if not wanted:
            return
        if self._digests:
            digests = [(self.local_paths[number], self._entries[number].sha256) for number in wanted]
            require_whole([(path, digest) for path, digest in digests if digest is not None])
        begins = [0, *self._ends.tolist()]
        slices = [self.unchecked_table.slice(begins[number], begins[number + 1] - begins[number]) for number in wanted]
        require_valid(
            [(self.local_paths[number], rows) for number, rows in zip(wanted, slices, strict=True)],
            self.info,
            dict(zip(self.local_paths, self.paths, strict=True)),
        )
        self._unchecked.difference_update(wanted)

    def _row(self, index: int) -> pa.Table:
        """Return one row as a table, its shard checked; negative indices count from the end."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"example {index} of {len(self)}")
        if self._unchecked:
            self.check([int(np.searchsorted(self._ends, index % len(self), side="right"))])
        return self.unchecked_table.slice(index % len(self), 1)

    def __getitem__(self, index: int) -> dict[str, Any]:
        """Return one example: lists as NumPy arrays, numbers as int; negative indices count from the end."""
        row = self._row(index)
        return {name: _value(row[name].chunk(0)) for name in row.column_names}

    def examples(self, index: int) -> list[dict[str, Any]]:
        """Return the examples of one row, each as `shards[index]` returns it: one, or those packed into the row."""
        row = self._row(index)
        if CU_SEQLENS not in row.column_names:
            return [self[index]]
        rows = unpacked(row.combine_chunks().to_batches()[0])
        return [{name: _value(rows[name].slice(place, 1)) for name in rows.schema.names} for place in range(len(rows))]

    def beside(self, split: str) -> Shards:
        """Open another split of the same build, with the same cache."""
        return Shards(self.build, split, self.manifest, self.cache)

    def check_sizes(self) -> None:
        """Raise InputError, naming the shard, where one is missing or has another size than the manifest says."""
        for path, shard in zip(self.local_paths, self._entries, strict=True):
            require_size(path, shard.size, shard.url)

    def expect_pretraining(self) -> PretrainingInfo:
        """Return how pretraining shards were made; raises InputError where the rows are for a task."""
        if not isinstance(self.info, PretrainingInfo):
            raise InputError(f"holds {self.info.purpose}; expected the shards of `bertdata build`", path=self.build)
        return self.info

    def has_tokenizer(self) -> bool:
        """Return whether a tokenizer is saved beside the shards; raises what `tokenizer` does of another one."""
        return self._saved_tokenizer is not None

    def tokenizer(self) -> Tokenizer:
        """Return the tokenizer saved beside the shards.

        Raises ConfigError where they were made with another, InputError where there is none.
        """
        if self._saved_tokenizer is None:
            raise InputError(
                "there is no tokenizer beside the shards; copy it from the build they are of",
                path=files.join(self.build, "tokenizer"),
            )
        return self._saved_tokenizer

    @cached_property
    def _saved_tokenizer(self) -> Tokenizer | None:
        return open_saved_tokenizer(self.build, self.info, files.join(self.build, MANIFEST))


def _opened_again(kind: type[Shards], agreed: Consent, values: tuple[Any, ...]) -> Shards:
    """Return shards that another process has open, which may name what its user consented to."""
    adopt(agreed)
    return kind(*values)


def _value(column: pa.Array) -> Any:
    if pa.types.is_list(column.type):
        return column.flatten().to_numpy(zero_copy_only=not pa.types.is_boolean(column.type.value_type))
    return column[0].as_py()
