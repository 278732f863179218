"""MDS shards, which MosaicML Streaming's `StreamingDataset` reads: version 2 of the format, uncompressed.

A file holds, all little endian: the number of samples, uint32; where each begins and the last one ends, uint32; the
JSON of its columns; the samples. A sample holds the sizes in bytes of its columns of lists, uint32, then the columns,
sorted by name: a number as it is; a list with its number of dimensions and its length in front. `index.json` names the
files of a split. They are neither compressed nor hashed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from bertdata.errors import InputError
from bertdata.formats.record_batches import read_batches
from bertdata.formats.registry import ExportFormat
from bertdata.io import files
from bertdata.shards import Shards
from bertdata.shards.schema import numpy_type

_MOST_BYTES = 2**32 - 1


def columns_of(schema: pa.Schema) -> dict[str, str]:
    """Return the MDS encoding of each column, names sorted.

    >>> columns_of(pa.schema([("input_ids", pa.list_(pa.uint16())), ("example_id", pa.int64())]))
    {'example_id': 'int64', 'input_ids': 'ndarray:uint16'}
    """

    def encoding(kind: pa.DataType) -> str:
        if pa.types.is_list(kind):
            return f"ndarray:{numpy_type(kind.value_type).name}"
        return "str" if pa.types.is_string(kind) else numpy_type(kind).name

    return {field.name: encoding(field.type) for field in sorted(schema, key=lambda field: str(field.name))}


def config_of(schema: pa.Schema) -> dict[str, Any]:
    """Return what a shard and its entry in the index say of the columns."""
    columns = columns_of(schema)
    sizes = [None if _has_size(one) else np.dtype(one).itemsize for one in columns.values()]
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
    return encoding == "str" or encoding.startswith("ndarray:")


def write_mds(path: str, schema: pa.Schema, file: BinaryIO) -> int:
    """Write a shard as one MDS file; returns the rows. Raises InputError where it would be over 4 GiB."""
    columns = columns_of(schema)
    config = json.dumps(config_of(schema), sort_keys=True).encode()
    sizes = np.concatenate(
        [np.zeros(0, np.int64), *(_sample_sizes(batch, columns) for batch in read_batches(path))], dtype=np.int64
    )
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]) + 4 + 4 * (len(sizes) + 1) + len(config)
    if offsets[-1] > _MOST_BYTES:
        raise InputError(
            f"makes an MDS file of {offsets[-1]:,} bytes, and MDS has room for {_MOST_BYTES:,}; build with smaller "
            "--shard-bytes",
            path=path,
        )
    file.write(np.uint32(len(sizes)).tobytes() + offsets.astype("<u4").tobytes() + config)
    for batch in read_batches(path):
        file.write(b"".join(_samples(batch, columns)))
    return len(sizes)


def _sample_sizes(batch: pa.RecordBatch, columns: Mapping[str, str]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the bytes of each sample, int64 (N,)."""
    total = np.zeros(batch.num_rows, np.int64)
    for name, encoding in columns.items():
        column = batch[name]
        if encoding == "str":
            total += 4 + np.array([len(text.encode()) for text in column.to_pylist()], np.int64)
        elif _has_size(encoding):
            lengths = np.diff(column.offsets.to_numpy()).astype(np.int64)
            total += 4 + 1 + _length_bytes(lengths) + lengths * np.dtype(encoding.removeprefix("ndarray:")).itemsize
        else:
            total += np.dtype(encoding).itemsize
    return total


def _length_bytes(lengths: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.where(lengths < 1 << 8, 1, np.where(lengths < 1 << 16, 2, 4))


def _samples(batch: pa.RecordBatch, columns: Mapping[str, str]) -> Iterator[bytes]:
    encoded = [list(_values(batch[name], encoding)) for name, encoding in columns.items()]
    sized = [place for place, encoding in enumerate(columns.values()) if _has_size(encoding)]
    for row in zip(*encoded, strict=True):
        yield np.array([len(row[place]) for place in sized], "<u4").tobytes() + b"".join(row)


def _values(column: pa.Array, encoding: str) -> Iterator[bytes]:
    if encoding == "str":
        yield from (text.encode() for text in column.to_pylist())
        return
    kind = np.dtype(encoding.removeprefix("ndarray:")).newbyteorder("<")
    if not _has_size(encoding):
        data = column.to_numpy().astype(kind).tobytes()
        yield from (data[at : at + kind.itemsize] for at in range(0, len(data), kind.itemsize))
        return
    offsets = column.offsets.to_numpy()
    data = column.values.to_numpy().astype(kind, copy=False).tobytes()
    for start, end in zip(offsets.tolist(), offsets[1:].tolist(), strict=False):
        code = {1: 0, 2: 1, 4: 2}[int(_length_bytes(np.int64(end - start)))]  # type: ignore[arg-type]
        length = (end - start).to_bytes(1 << code, "little")
        yield bytes([1 << 2 | code]) + length + data[start * kind.itemsize : end * kind.itemsize]


def finish_mds(output: str, splits: Sequence[Shards], entries: Mapping[str, Any]) -> None:
    """Write `index.json` into the folder of each split; files without samples are not in it."""
    for shards in splits:
        config = config_of(shards.table.schema)
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


MDS = ExportFormat(
    help="the rows for MosaicML Streaming's `StreamingDataset`: format version 2, `index.json` in each split's folder",
    suffix=".mds",
    write=write_mds,
    finish=finish_mds,
)
