"""The formats that rows of shards are exported to and imported from, one file each, listed in a registry.

A package outside bertdata adds one with `EXPORT_FORMATS.add(name, ExportFormat(...))` or
`IMPORT_FORMATS.add(name, ImportFormat(...))` in a module that `bertdata.registry` loads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa
from numpy.typing import NDArray

from bertdata.errors import ConfigError
from bertdata.registry import Registry

if TYPE_CHECKING:
    from bertdata.formats.static import StaticRows
    from bertdata.shards import Shards

Fields = dict[str, NDArray[Any]]
"""Rows in the fields of Google's create_pretraining_data, each (N,) or (N, width); see `bertdata.formats.static`."""

ShardWriter = Callable[[str, pa.Schema, BinaryIO], int]
"""Writes the shard at a path, which has a schema, to a file, and returns its rows."""

StaticWriter = Callable[["StaticRows", str, BinaryIO], int]
"""Writes the shard at a path as rows with static masks to a file, and returns its rows."""


@dataclass(frozen=True, kw_only=True)
class ExportFormat:
    """A format that shards are written to, one file for each shard; exactly one of `write` and `write_static` is given.

    help: what it is, for --help and docs/formats.md; suffix: the ending of its files.
    write: writes a shard's rows as they are. write_static: writes rows with static masks, padded; such a format takes
    --epoch and --max-predictions-per-seq, and no fine-tuning data.
    finish: called once with the output, the exported splits, and for each split the files written, each with `file`,
    `rows` and `bytes`.
    check: called first; raises MissingExtraError where the format needs what is not installed; `extra` names it.
    """

    help: str
    suffix: str
    write: ShardWriter | None = None
    write_static: StaticWriter | None = None
    finish: Callable[[str, Sequence[Shards], Mapping[str, Any]], None] | None = None
    check: Callable[[], object] | None = None
    extra: str = ""

    def __post_init__(self) -> None:
        if (self.write is None) == (self.write_static is None):
            raise ConfigError("an export format needs either `write` or `write_static`")


@dataclass(frozen=True, kw_only=True)
class ImportFormat:
    """A format that pretraining rows are read from.

    read: yields the rows of a file as `Fields`, some at a time; `bertdata import` checks them, so it only raises
    InputError where the file itself is damaged.
    A file is of the format whose `signature` it begins with, the longest if several do; between formats with the same
    signature, of the one with a suffix that its name ends in (`*` in a suffix stands for anything).
    """

    help: str
    suffixes: tuple[str, ...]
    read: Callable[[str], Iterator[Fields]]
    signature: bytes = b""


EXPORT_FORMATS: Registry[ExportFormat] = Registry(
    "export format",
    {
        "parquet": "bertdata.formats.parquet:PARQUET",
        "jsonl": "bertdata.formats.jsonl:JSONL",
        "hf": "bertdata.formats.hf:HF",
        "mds": "bertdata.formats.mds:MDS",
        "tfrecord": "bertdata.formats.tfrecord:TFRECORD",
        "hdf5": "bertdata.formats.hdf5:HDF5",
    },
)
IMPORT_FORMATS: Registry[ImportFormat] = Registry(
    "import format",
    {
        "tfrecord": "bertdata.formats.tfrecord:TFRECORD_IMPORT",
        "hdf5": "bertdata.formats.hdf5:HDF5_IMPORT",
    },
)


def static_formats(static: bool = True) -> str:
    """Return the names of the export formats with static masks, or of those without, for a message.

    >>> static_formats(), static_formats(False)
    ('tfrecord, hdf5', 'parquet, jsonl, hf, mds')
    """
    return ", ".join(name for name in EXPORT_FORMATS if (EXPORT_FORMATS[name].write_static is not None) == static)
