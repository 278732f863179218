"""MDS files of MosaicML Streaming, read sample by sample: version 2 of the format, plain, zst, gz or bz2.

A file holds, all little endian: the number of samples, uint32; where each begins and the last one ends, uint32; the
JSON of its columns; the samples. A sample holds the sizes in bytes of its columns without a fixed one, uint32, then the
columns. A list of numbers has its number of dimensions and its length in front (`ndarray:TYPE`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from bertdata.errors import InputError, parse_problem
from bertdata.io.compression import open_decompressed

SUFFIXES = tuple(f".mds{ending}" for ending in ("", ".zstd", ".zst", ".gz", ".bz2"))
"""What the names of such files end in; MosaicML Streaming calls zst so, `.zstd`."""
_SCALARS = {"int": "int64"}
TEXTS = ("str", "json")
"""The encodings of columns that hold texts."""
_MOST_HEAD, _MOST_SAMPLES = 1 << 20, 1 << 26
_AT_A_TIME = 1 << 20
Columns = Mapping[str, tuple[str, int | None]]


@dataclass(frozen=True)
class MdsHead:
    """Where the samples of a file begin and the last one ends, int64 (N + 1,); the encoding and size of each column."""

    offsets: NDArray[np.int64]
    columns: Columns


def read_head(path: str) -> MdsHead:
    """Return the head of an MDS file; raises InputError where it is another file."""
    with closing(open_decompressed(path)) as file:
        return _head(file, path)


def read_samples(path: str, *, first: int = 0, texts: bool = False) -> Iterator[dict[str, Any]]:
    """Yield the samples of an MDS file: numbers, lists of numbers and, with `texts`, strings and JSON by column.

    first: the sample to begin at. Columns of other kinds are left out. Raises InputError where the file is damaged or
    another file.
    """
    with closing(open_decompressed(path)) as file:
        head = _head(file, path)
        _pass_over(file, int(head.offsets[first] - head.offsets[0]))
        for row, size in enumerate(np.diff(head.offsets[first:]).tolist(), first):
            data = file.read(size)
            if len(data) != size:
                raise _not_whole(path, int(head.offsets[-1]), int(head.offsets[row]) + len(data))
            yield _sample(data, head.columns, row, path, texts)
        if file.read(1):
            raise _not_whole(path, int(head.offsets[-1]), "more")


def _pass_over(file: BinaryIO, size: int) -> None:
    """Read so many bytes, or up to the end of a file, without keeping them."""
    while size > 0 and (data := file.read(min(size, _AT_A_TIME))):
        size -= len(data)


def _not_whole(path: str, end: int, size: int | str) -> InputError:
    return InputError(f"says that its samples end at byte {end}, and has {size}; expected a whole MDS file", path=path)


def _head(file: BinaryIO, path: str) -> MdsHead:
    number = int.from_bytes(file.read(4), "little")
    begin = 8 + 4 * number
    if number > _MOST_SAMPLES:
        raise InputError(f"says that it has {number:,} samples; expected an MDS file of version 2", path=path)
    places = file.read(begin - 4)
    if len(places) < begin - 4:
        raise InputError("is too short for an MDS file; expected MDS of version 2", path=path)
    offsets = np.frombuffer(places, "<u4").astype(np.int64)
    if (np.diff(offsets) < 0).any() or not begin <= offsets[0] <= begin + _MOST_HEAD:
        raise _not_whole(path, int(offsets[-1]), "samples that begin elsewhere")
    try:
        header = json.loads(file.read(int(offsets[0]) - begin))
        names, encodings, sizes = (header[f"column_{what}"] for what in ("names", "encodings", "sizes"))
        columns = {str(name): (str(kind), size) for name, kind, size in zip(names, encodings, sizes, strict=True)}
        if wrong := [name for name, (_, size) in columns.items() if size is not None and type(size) is not int]:
            raise ValueError(f"the size of {wrong[0]!r} is not a whole number")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(
            f"does not say its columns ({parse_problem(error)}); expected an MDS file of version 2", path=path
        ) from error
    return MdsHead(offsets, columns)


def number_type(name: str) -> np.dtype[Any] | None:
    """Return the type of numbers that a name stands for, None where it stands for another type, or for none."""
    if name not in np.sctypeDict:
        return None
    kind = np.dtype(name).newbyteorder("<")
    return kind if kind.kind in "iuf" else None


def _sample(data: bytes, columns: Columns, row: int, path: str, texts: bool) -> dict[str, Any]:
    sized = [name for name, (_, size) in columns.items() if size is None]
    lengths = dict(zip(sized, np.frombuffer(data, "<u4", min(len(data) // 4, len(sized))).tolist(), strict=False))
    place, values = 4 * len(sized), dict[str, Any]()
    for name, (encoding, size) in columns.items():
        length = size if size is not None else lengths.get(name, -1)
        part = data[place : place + length]
        if len(part) != length:
            raise InputError(f"sample {row} ends inside its column {name}; expected a whole MDS file", path=path)
        place += length
        if encoding.startswith("ndarray:"):
            values[name] = _array(part, encoding, row, path)
        elif (kind := number_type(_SCALARS.get(encoding, encoding))) is not None and size == kind.itemsize:
            values[name] = np.frombuffer(part, kind)[0].item()
        elif texts and encoding in TEXTS:
            values[name] = _text(part, encoding, row, name, path)
    if place != len(data):
        raise InputError(
            f"sample {row} has {len(data)} bytes, and its columns {place}; expected a whole MDS file", path=path
        )
    return values


def _text(data: bytes, encoding: str, row: int, name: str, path: str) -> Any:
    try:
        return json.loads(data) if encoding == "json" else data.decode()
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"sample {row} has no {encoding} in its column {name} ({parse_problem(error)})", path=path
        ) from error


def _array(data: bytes, encoding: str, row: int, path: str) -> NDArray[Any]:
    """Return a list of numbers: its number of dimensions and its length are in front of it, or in its encoding."""
    kind, _, shape = encoding.removeprefix("ndarray:").partition(":")
    try:
        values = number_type(kind)
        if values is None:
            raise ValueError("it holds no numbers")
        head = 0 if shape else 1 + (1 << (data[0] & 3))
        dimensions = shape.count(",") + 1 if shape else data[0] >> 2
        if dimensions != 1:
            raise ValueError(f"it has {dimensions} dimensions")
        array: NDArray[Any] = np.frombuffer(data, values, offset=head)
        if len(array) != (int(shape) if shape else int.from_bytes(data[1:head], "little")):
            raise ValueError("its length is not that of its values")
    except (ValueError, TypeError, IndexError) as error:
        raise InputError(f"sample {row} has no list in a column {encoding} ({error})", path=path) from error
    return array
