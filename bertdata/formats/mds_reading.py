"""MDS shards read: version 2 of the format, uncompressed (`mds` has its layout), for rows of ids.

Columns of lists of numbers, `ndarray:TYPE` with one dimension, and of numbers are read; others, such as text, are not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.errors import InputError
from bertdata.formats.base import ImportFormat
from bertdata.formats.static import Fields
from bertdata.formats.tokenised import record_fields
from bertdata.io import files
from bertdata.tokenizers.base import Tokenizer

_SCALARS = {"int": "int64"}
_ROWS = 1000


def read_mds(path: str, tokenizer: Tokenizer) -> Iterator[Fields]:
    """Yield the rows of an MDS file as Google's fields; raises InputError where it is damaged or another file."""
    with files.open_raw(path) as raw:
        data = raw.read()
    offsets, columns = _head(data, path)
    for begin in range(0, len(offsets) - 1, _ROWS):
        rows = [
            _sample(data[offsets[row] : offsets[row + 1]], columns, row, path)
            for row in range(begin, min(begin + _ROWS, len(offsets) - 1))
        ]
        if not rows[0]:
            kinds = ", ".join(f"{name} ({kind})" for name, (kind, _) in columns.items())
            raise InputError(f"has no column of numbers; its columns are {kinds or 'none'}", path=path)
        table = {name: pa.array([row[name] for row in rows]) for name in rows[0]}
        yield from record_fields([pa.record_batch(table)], path, tokenizer)


def _head(data: bytes, path: str) -> tuple[list[int], dict[str, tuple[str, int | None]]]:
    """Return where samples begin and the last one ends, and the encoding and the size of each column."""
    number = int.from_bytes(data[:4], "little")
    if len(data) < 8 + 4 * number:
        raise InputError("is too short for an MDS file; expected MDS, uncompressed", path=path)
    offsets = np.frombuffer(data, "<u4", number + 1, 4).astype(np.int64)
    begin = 8 + 4 * number
    if (np.diff(offsets) < 0).any() or offsets[0] < begin or offsets[-1] != len(data):
        raise InputError(
            f"says that its samples end at byte {int(offsets[-1])}, and has {len(data)}; expected a whole MDS file, "
            "uncompressed",
            path=path,
        )
    try:
        header = json.loads(data[begin : offsets[0]])
        names, encodings, sizes = (header[f"column_{what}"] for what in ("names", "encodings", "sizes"))
        columns = {str(name): (str(kind), size) for name, kind, size in zip(names, encodings, sizes, strict=True)}
        if wrong := [name for name, (_, size) in columns.items() if size is not None and type(size) is not int]:
            raise ValueError(f"the size of {wrong[0]!r} is not a whole number")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"does not say its columns ({error}); expected an MDS file of version 2", path=path) from error
    return offsets.tolist(), columns


def _number_type(name: str) -> np.dtype[Any] | None:
    """Return the type of numbers that a name stands for, None where it stands for another type, or for none."""
    if name not in np.sctypeDict:
        return None
    kind = np.dtype(name).newbyteorder("<")
    return kind if kind.kind in "iuf" else None


def _sample(data: bytes, columns: Mapping[str, tuple[str, int | None]], row: int, path: str) -> dict[str, Any]:
    """Return the numbers and lists of numbers of a sample by the names of their columns."""
    sized = [name for name, (_, size) in columns.items() if size is None]
    lengths = dict(zip(sized, np.frombuffer(data[: 4 * len(sized)], "<u4").tolist(), strict=False))
    place, values = 4 * len(sized), dict[str, Any]()
    for name, (encoding, size) in columns.items():
        length = size if size is not None else lengths.get(name, -1)
        part = data[place : place + length]
        if len(part) != length:
            raise InputError(f"sample {row} ends inside its column {name}; expected a whole MDS file", path=path)
        place += length
        if encoding.startswith("ndarray:"):
            values[name] = _array(part, encoding, row, path)
        elif (kind := _number_type(_SCALARS.get(encoding, encoding))) is not None and size == kind.itemsize:
            values[name] = np.frombuffer(part, kind)[0].item()
    return values


def _array(data: bytes, encoding: str, row: int, path: str) -> NDArray[Any]:
    """Return a list of numbers, in front of which are its number of dimensions and its length."""
    kind, _, shape = encoding.removeprefix("ndarray:").partition(":")
    try:
        values = _number_type(kind)
        if values is None:
            raise ValueError("it holds no numbers")
        head = 0 if shape else 1 + (1 << (data[0] & 3))
        if not shape and data[0] >> 2 != 1:
            raise ValueError(f"it has {data[0] >> 2} dimensions")
        array: NDArray[Any] = np.frombuffer(data, values, offset=head)
        if not shape and len(array) != int.from_bytes(data[1:head], "little"):
            raise ValueError("its length is not that of its values")
    except (ValueError, TypeError, IndexError) as error:
        raise InputError(f"sample {row} has no list in a column {encoding} ({error})", path=path) from error
    return array


MDS_IMPORT = ImportFormat(help="MDS of ids, uncompressed", suffixes=(".mds",), read_tokens=read_mds)
