"""`tf.train.Example`, the protobuf in Google's TFRecords: named lists of numbers.

Fields are written in their order; `tfrecord` writes the messages as records.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from google.protobuf import (  # type: ignore[import-untyped,unused-ignore]
    descriptor_pb2,
    descriptor_pool,
    message,
    message_factory,
    text_format,
)
from numpy.typing import NDArray

from bertdata.errors import InputError

_DEFINITION = """
name: "bertdata/example.proto" package: "bertdata" syntax: "proto3"
message_type { name: "BytesList" field { name: "value" number: 1 label: LABEL_REPEATED type: TYPE_BYTES } }
message_type { name: "FloatList" field { name: "value" number: 1 label: LABEL_REPEATED type: TYPE_FLOAT } }
message_type { name: "Int64List" field { name: "value" number: 1 label: LABEL_REPEATED type: TYPE_INT64 } }
message_type {
  name: "Feature"
  oneof_decl { name: "kind" }
  field { name: "bytes_list" number: 1 label: LABEL_OPTIONAL type_name: "BytesList" oneof_index: 0 }
  field { name: "float_list" number: 2 label: LABEL_OPTIONAL type_name: "FloatList" oneof_index: 0 }
  field { name: "int64_list" number: 3 label: LABEL_OPTIONAL type_name: "Int64List" oneof_index: 0 }
}
message_type {
  name: "FeatureEntry"
  field { name: "key" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING }
  field { name: "value" number: 2 label: LABEL_OPTIONAL type_name: "Feature" }
}
message_type { name: "Features" field { name: "feature" number: 1 label: LABEL_REPEATED type_name: "FeatureEntry" } }
message_type { name: "Example" field { name: "features" number: 1 label: LABEL_OPTIONAL type_name: "Features" } }
"""
"""TensorFlow's example.proto and feature.proto; the map of features is a list of its entries, to keep their order."""
_TYPES = {"float_list": np.float32, "int64_list": np.int64}


@cache
def _example_class() -> Any:
    pool = descriptor_pool.DescriptorPool()
    pool.Add(text_format.Parse(_DEFINITION, descriptor_pb2.FileDescriptorProto()))
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("bertdata.Example"))


def encode_examples(fields: Mapping[str, NDArray[Any]]) -> list[bytes]:
    """Return a message for each row; a field is (N,) or (N, width), integers or floats.

    >>> encode_examples({"a": np.array([[7]])})
    [b'\\n\\x0c\\n\\n\\n\\x01a\\x12\\x05\\x1a\\x03\\n\\x01\\x07']
    """
    kinds = {name: "float_list" if values.dtype.kind == "f" else "int64_list" for name, values in fields.items()}
    messages = []
    for row in range(len(next(iter(fields.values())))):
        example = _example_class()()
        for name, values in fields.items():
            entry = example.features.feature.add(key=name)
            getattr(entry.value, kinds[name]).value.extend(values[row].reshape(-1).tolist())
        messages.append(example.SerializeToString())
    return messages


def decode_examples(messages: Sequence[bytes], names: Collection[str] = ()) -> dict[str, list[NDArray[Any]]]:
    """Return the lists of each name, one for each message: int64 or float32; of all names unless some are given.

    Raises InputError, with the number of the message, where one is not a tf.train.Example or has other fields than the
    first.

    >>> decode_examples(encode_examples({"a": np.array([[7, 300]]), "b": np.array([0.5])}))
    {'a': [array([  7, 300])], 'b': [array([0.5], dtype=float32)]}
    """
    by_name: dict[str, list[Any]] = {}
    for number, data in enumerate(messages):
        try:
            entries = _example_class().FromString(data).features.feature
        except message.DecodeError as error:
            raise InputError(f"record {number} is not a tf.train.Example ({error})") from error
        features = {entry.key: entry.value for entry in entries if not names or entry.key in names}
        if number and set(features) != set(by_name):
            raise InputError(f"record {number} has the fields {', '.join(features)}, the first {', '.join(by_name)}")
        for name, value in features.items():
            by_name.setdefault(name, []).append(value)
    return {name: _numbers(name, values) for name, values in by_name.items()}


def _numbers(name: str, features: Sequence[Any]) -> list[NDArray[Any]]:
    """Return the lists of one name; raises InputError where they are not numbers of one kind."""
    kinds = {kind for feature in features if (kind := feature.WhichOneof("kind")) and getattr(feature, kind).value}
    kind = kinds.pop() if kinds else "int64_list"
    if kinds or kind not in _TYPES:
        raise InputError(f"the field {name!r} does not hold numbers of one kind")
    lists = [getattr(feature, kind).value for feature in features]
    return [np.fromiter(values, _TYPES[kind], len(values)) for values in lists]
