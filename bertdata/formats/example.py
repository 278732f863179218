"""`tf.train.Example`, the protobuf in Google's TFRecords: named lists of numbers.

    Example { Features features = 1 }
    Features { map<string, Feature> feature = 1 }
    Feature { BytesList bytes_list = 1 | FloatList float_list = 2 | Int64List int64_list = 3 }

Lists are written packed, as protobuf does, and read packed or not. Numbers are 0 or more. `tfrecord` writes the
messages as records.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.errors import InputError

_FLOATS, _INTEGERS = 2, 3
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def varints(values: NDArray[np.int64]) -> tuple[bytes, NDArray[np.int64]]:
    """Return numbers of 0 or more as varints, one after another, and their offsets (N+1,).

    >>> varints(np.array([1, 300]))
    (b'\\x01\\xac\\x02', array([0, 1, 3]))
    """
    sizes = np.ones(len(values), np.int64)
    for size in range(1, 10):
        longer = values >> np.int64(7 * size) > 0
        if not longer.any():
            break
        sizes += longer
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    out = np.zeros(offsets[-1], np.uint8)
    for place in range(int(sizes.max(initial=0))):
        has = sizes > place
        more = (sizes > place + 1)[has].astype(np.int64) << 7
        out[offsets[:-1][has] + place] = values[has] >> np.int64(7 * place) & 0x7F | more
    return out.tobytes(), offsets


def numbers_of(data: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the numbers of concatenated varints; raises ValueError where the last one is cut off.

    >>> numbers_of(np.frombuffer(bytes([1, 172, 2]), np.uint8)).tolist()
    [1, 300]
    """
    if not len(data):
        return np.zeros(0, np.int64)
    ends = np.flatnonzero(data < 0x80)
    if not len(ends) or ends[-1] != len(data) - 1:
        raise ValueError("a varint is cut off")
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1] + 1])
    places = np.arange(len(data)) - np.repeat(starts, ends - starts + 1)
    if places.max() > 9:
        raise ValueError("a varint has over ten bytes")
    parts = (data & 0x7F).astype(np.uint64) << (7 * places).astype(np.uint64)
    return np.bitwise_or.reduceat(parts, starts).astype(np.int64)


def _field(number: int, data: bytes) -> bytes:
    return bytes([number << 3 | _BYTES]) + _length(len(data)) + data


def _length(number: int) -> bytes:
    data = bytearray()
    while number > 0x7F:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(data + bytes([number]))


def encode_examples(fields: Mapping[str, NDArray[Any]]) -> list[bytes]:
    """Return a message for each row; a field is (N,) or (N, width), integers of 0 or more, or floats.

    >>> encode_examples({"a": np.array([[7]])})
    [b'\\n\\x0c\\n\\n\\n\\x01a\\x12\\x05\\x1a\\x03\\n\\x01\\x07']
    """
    columns = []
    for name, values in fields.items():
        rows = values.reshape(len(values), math.prod(values.shape[1:]))
        if rows.dtype.kind == "f":
            data, width, kind = rows.astype("<f4").tobytes(), 4 * rows.shape[1], _FLOATS
            ends = np.arange(len(rows) + 1, dtype=np.int64) * width
        else:
            data, offsets = varints(rows.ravel().astype(np.int64))
            ends, kind = offsets[:: rows.shape[1]] if rows.size else np.zeros(len(rows) + 1, np.int64), _INTEGERS
        columns.append((_field(1, name.encode()), kind, data, ends.tolist()))
    messages = []
    for row in range(len(next(iter(fields.values())))):
        features = [
            _field(1, name + _field(2, _field(kind, _field(1, data[ends[row] : ends[row + 1]]))))
            for name, kind, data, ends in columns
        ]
        messages.append(_field(1, b"".join(features)))
    return messages


def decode_examples(messages: Sequence[bytes], names: Collection[str] = ()) -> dict[str, list[NDArray[Any]]]:
    """Return the lists of each name, one for each message: int64 or float32; of all names unless some are given.

    Raises InputError, with the number of the message, where one is not a tf.train.Example or has other fields than the
    first.

    >>> decode_examples(encode_examples({"a": np.array([[7, 300]]), "b": np.array([0.5])}))
    {'a': [array([  7, 300])], 'b': [array([0.5], dtype=float32)]}
    """
    found: dict[str, list[tuple[int, bytes]]] = {}
    for number, message in enumerate(messages):
        try:
            features = {name: one for name, one in _features(message).items() if not names or name in names}
        except (IndexError, ValueError, UnicodeDecodeError) as error:
            raise InputError(f"record {number} is not a tf.train.Example ({error})") from error
        if number and set(features) != set(found):
            raise InputError(f"record {number} has the fields {', '.join(features)}, the first {', '.join(found)}")
        for name, value in features.items():
            found.setdefault(name, []).append(value)
    return {name: _decoded(name, values) for name, values in found.items()}


def _decoded(name: str, values: list[tuple[int, bytes]]) -> list[NDArray[Any]]:
    kinds = {kind for kind, data in values if data}
    if kinds == {_FLOATS}:
        return [np.frombuffer(data, "<f4").astype(np.float32) for _, data in values]
    if not kinds <= {_INTEGERS}:
        raise InputError(f"the field {name!r} does not hold numbers of one kind")
    joined = np.frombuffer(b"".join(data for _, data in values), np.uint8)
    numbers = np.concatenate([np.zeros(1, np.int64), np.cumsum(joined < 0x80)])
    ends = numbers[np.cumsum([len(data) for _, data in values])].tolist()
    whole = numbers_of(joined)
    return [whole[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]


def _features(message: bytes) -> dict[str, tuple[int, bytes]]:
    """Return (kind, packed data) of each feature; raises ValueError or IndexError where it is damaged."""
    features: dict[str, tuple[int, bytes]] = {}
    for number, wire, body in _parts(message):
        if (number, wire) != (1, _BYTES):
            continue
        for other, other_wire, entry in _parts(body):
            if (other, other_wire) == (1, _BYTES):
                name, kind, data = _entry(entry)
                features[name] = (kind, data)
    return features


def _entry(entry: bytes) -> tuple[str, int, bytes]:
    name, kind, data = "", 0, b""
    for number, wire, body in _parts(entry):
        if wire != _BYTES:  # a field of another type is skipped
            continue
        if number == 1:
            name = body.decode("utf-8")
        elif number == 2:
            for one, one_wire, values in _parts(body):
                if one_wire == _BYTES:
                    kind, data = one, _list(one, values)
    return name, kind, data


def _list(kind: int, values: bytes) -> bytes:
    """Return the numbers of a list as packed bytes; in the message they may be packed or not, or both."""
    wires = (_BYTES, _VARINT if kind == _INTEGERS else _FIXED32)
    data = b"".join(value for place, wire, value in _parts(values) if place == 1 and wire in wires)
    if kind == _INTEGERS and data and data[-1] >= 0x80:
        raise ValueError("a varint is cut off")
    return data


def _parts(message: bytes) -> list[tuple[int, int, bytes]]:
    """Return (field, wire type, bytes) of each part of a message; a number that is not packed as in a packed list."""
    found, at = [], 0
    while at < len(message):
        tag, at = _varint(message, at)
        wire, start = tag & 7, at
        if wire == _VARINT:
            _, at = _varint(message, at)
        elif wire == _BYTES:
            size, start = _varint(message, at)
            at = start + size
        elif wire in (_FIXED32, _FIXED64):
            at += 4 if wire == _FIXED32 else 8
        else:
            raise ValueError(f"there is no wire type {wire}")
        if not 0 < tag >> 3 < 1 << 29:
            raise ValueError(f"there is no field {tag >> 3}")
        if at > len(message):
            raise ValueError("a field is longer than its message")
        found.append((tag >> 3, wire, message[start:at]))
    return found


def _varint(message: bytes, at: int) -> tuple[int, int]:
    if message[at] < 0x80:
        return message[at], at + 1
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
        if shift > 63:
            raise ValueError("a varint has over ten bytes")
