"""MDS shards, which MosaicML Streaming's `StreamingDataset` reads: version 2 of the format, uncompressed.

A file holds, all little endian: the number of samples, uint32; where each begins and the last one ends, uint32; the
JSON of its columns; the samples. A sample holds the sizes in bytes of its columns of lists, uint32, then the columns,
sorted by name: a number as it is; a list with its number of dimensions and its length in front. `index.json` names the
files of a split. They are neither compressed nor hashed.

Samples are the rows, or in a dialect (`mds_dialects`) what a certain trainer reads.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from bertdata.errors import InputError
from bertdata.formats.shard import ExportedShard
from bertdata.io import files
from bertdata.shards import Shards
from bertdata.shards.schema import numpy_type

_MOST_BYTES = 2**32 - 1
ENCODING = b"mds"
"""The metadata of a column by which it has another encoding than its type says, as `json` for text."""


def columns_of(schema: pa.Schema) -> dict[str, str]:
    """Return the MDS encoding of each column, names sorted.

    >>> columns_of(pa.schema([("input_ids", pa.list_(pa.uint16())), ("example_id", pa.int64())]))
    {'example_id': 'int64', 'input_ids': 'ndarray:uint16'}
    """

    def encoding(kind: pa.DataType) -> str:
        if pa.types.is_list(kind):
            flags = pa.types.is_boolean(kind.value_type)  # MDS has no lists of them
            return f"ndarray:{'uint8' if flags else numpy_type(kind.value_type).name}"
        return "str" if pa.types.is_string(kind) else numpy_type(kind).name

    return {
        field.name: field.metadata[ENCODING].decode() if field.metadata else encoding(field.type)
        for field in sorted(schema, key=lambda field: str(field.name))
    }


def config_of(schema: pa.Schema) -> dict[str, Any]:
    """Return what a shard and its entry in the index say of the columns."""
    columns = columns_of(schema)
    sizes = [None if _has_size(column) else np.dtype(column).itemsize for column in columns.values()]
    return {
        "version": 2,
        "format": "mds",
        "compression": None,
        "hashes": [],
        "size_limit": None,
        "column_names": list(columns),
        "column_encodings": list(columns.values()),
        "column_sizes": sizes,
    }


def _has_size(encoding: str) -> bool:
    return encoding in ("str", "json") or encoding.startswith("ndarray:")


def write_mds(shard: ExportedShard, file: BinaryIO) -> None:
    """Write a shard as one MDS file; raises InputError where it would be over 4 GiB."""
    write_samples(shard.batches(), shard.schema, file, shard.path)


def write_samples(batches: Iterable[pa.RecordBatch], schema: pa.Schema, file: BinaryIO, path: str) -> None:
    """Write the rows of record batches as one MDS file; raises InputError, naming `path`, where it is over 4 GiB."""
    columns = columns_of(schema)
    config = json.dumps(config_of(schema), sort_keys=True).encode()
    with tempfile.TemporaryFile() as samples:
        sizes = []
        for batch in batches:
            for sample in _samples(batch, columns):
                samples.write(sample)
                sizes.append(len(sample))
        offsets = np.cumsum([4 + 4 * (len(sizes) + 1) + len(config), *sizes])
        if offsets[-1] > _MOST_BYTES:
            raise InputError(
                f"makes an MDS file of {offsets[-1]:,} bytes, and MDS has room for {_MOST_BYTES:,}; build with smaller "
                "--shard-bytes",
                path=path,
            )
        file.write(np.uint32(len(sizes)).tobytes() + offsets.astype("<u4").tobytes() + config)
        samples.seek(0)
        shutil.copyfileobj(samples, file)


def _samples(batch: pa.RecordBatch, columns: Mapping[str, str]) -> Iterator[bytes]:
    encoded = [list(_values(batch[name], encoding)) for name, encoding in columns.items()]
    sized = [place for place, encoding in enumerate(columns.values()) if _has_size(encoding)]
    for row in zip(*encoded, strict=True):
        yield np.array([len(row[place]) for place in sized], "<u4").tobytes() + b"".join(row)


def _values(column: pa.Array, encoding: str) -> Iterator[bytes]:
    if encoding in ("str", "json"):
        yield from (text.encode() for text in column.to_pylist())
        return
    kind = np.dtype(encoding.removeprefix("ndarray:")).newbyteorder("<")
    if not _has_size(encoding):
        data = column.to_numpy().astype(kind).tobytes()
        yield from (data[at : at + kind.itemsize] for at in range(0, len(data), kind.itemsize))
        return
    offsets = column.offsets.to_numpy()
    data = column.values.to_numpy(zero_copy_only=False).astype(kind, copy=False).tobytes()
    for start, end in pairwise(offsets.tolist()):
        code = 0 if end - start < 1 << 8 else 1 if end - start < 1 << 16 else 2
        length = (end - start).to_bytes(1 << code, "little")
        yield bytes([1 << 2 | code]) + length + data[start * kind.itemsize : end * kind.itemsize]


def finish_mds(output: str, splits: Sequence[Shards], entries: Mapping[str, Any]) -> None:
    """Write `index.json` into the folder of each split; files without samples are not in it."""
    write_indices(output, splits, entries, splits[0].table.schema)


def write_indices(output: str, splits: Sequence[Shards], entries: Mapping[str, Any], schema: pa.Schema) -> None:
    """Write `index.json` into the folder of each split, for samples of the columns of `schema`."""
    config = config_of(schema)
    for shards in splits:
        listed = [
            config
            | {
                "samples": entry["rows"],
                "raw_data": {"basename": files.name(entry["file"]), "bytes": entry["bytes"], "hashes": {}},
                "zip_data": None,
            }
            for entry in entries[shards.split]
            if entry["rows"]
        ]
        files.write_json(files.join(output, shards.split, "index.json"), {"version": 2, "shards": listed})
