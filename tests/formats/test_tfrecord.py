"""TFRecord: checksums and messages are those of the tools that define them, and damage is named by its byte."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import subprocess
import sys
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from bertdata.errors import InputError
from bertdata.formats.crc32c import checksums, crc32c, masked
from bertdata.formats.example import decode_examples, encode_examples
from bertdata.formats.tfrecord import frame, read_records

RECORDS = st.lists(st.binary(max_size=70), min_size=1, max_size=6)


@cache
def example_class() -> Any:
    """Return tf.train.Example, made by protobuf itself of its definition."""
    pytest.importorskip("google.protobuf")
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="example.proto", package="test", syntax="proto3")

    def message(holder: Any, name: str, *parts: tuple[str, int, int, int, str]) -> Any:
        message_kind = holder.add(name=name)
        for part, number, kind, label, of in parts:
            message_kind.field.add(name=part, number=number, type=kind, label=label, type_name=of or None)
        return message_kind

    one, many = field.LABEL_OPTIONAL, field.LABEL_REPEATED
    types = file.message_type
    message(types, "FloatList", ("value", 1, field.TYPE_FLOAT, many, ""))
    message(types, "Int64List", ("value", 1, field.TYPE_INT64, many, ""))
    message(
        types,
        "Feature",
        ("float_list", 2, field.TYPE_MESSAGE, one, ".test.FloatList"),
        ("int64_list", 3, field.TYPE_MESSAGE, one, ".test.Int64List"),
    )
    features = message(types, "Features", ("feature", 1, field.TYPE_MESSAGE, many, ".test.Features.FeatureEntry"))
    entry = message(
        features.nested_type,
        "FeatureEntry",
        ("key", 1, field.TYPE_STRING, one, ""),
        ("value", 2, field.TYPE_MESSAGE, one, ".test.Feature"),
    )
    entry.options.map_entry = True
    message(types, "Example", ("features", 1, field.TYPE_MESSAGE, one, ".test.Features"))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("test.Example"))


@pytest.mark.parametrize(
    ("data", "crc"),
    [(b"", 0), (b"123456789", 0xE3069283), (bytes(32), 0x8A9136AA), (b"\xff" * 32, 0x62A8AB43)],
)
def test_checksums_are_those_of_the_standard(data: bytes, crc: int) -> None:
    assert crc32c(data) == crc
    assert checksums(data, np.array([0, len(data)])).tolist() == [crc]


@settings(deadline=None)
@given(RECORDS)
def test_compiled_checksums_are_those_of_the_readable_twin(records: list[bytes]) -> None:
    ends = np.concatenate([[0], np.cumsum([len(record) for record in records])])
    assert checksums(b"".join(records), ends).tolist() == [crc32c(record) for record in records]


def test_checksums_of_runs_outside_the_data_are_refused() -> None:
    for offsets in ([0, 5], [-1, 2], [3, 1]):
        with pytest.raises(ValueError, match="do not lie in 4 bytes"):
            checksums(b"salt", np.array(offsets))


_CHECK = """
import numpy as np
from bertdata.formats.crc32c import checksums, crc32c
data = bytes(range(256)) * 3
ends = np.array([0, 0, 1, 8, 17, 300, 768])
found = checksums(data, ends).tolist()
assert found == [crc32c(data[a:b]) for a, b in zip(ends, ends[1:])], found
"""


@pytest.mark.parametrize(
    "variables",
    [{"NUMBA_DISABLE_JIT": "1"}, pytest.param({"NUMBA_BOUNDSCHECK": "1"}, marks=pytest.mark.slow)],
)
def test_checksums_hold_without_compilation_and_under_bounds_checks(variables: dict[str, str], tmp_path: Path) -> None:
    environment = os.environ | variables | {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", _CHECK], env=environment, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr


@settings(deadline=None)
@given(RECORDS)
def test_beam_writes_and_reads_the_same_file(records: list[bytes]) -> None:
    tfrecordio = pytest.importorskip("apache_beam.io.tfrecordio")
    util = tfrecordio._TFRecordUtil

    class Framing(util):  # type: ignore[misc, valid-type]
        @classmethod
        def _masked_crc32c(cls, value: bytes, crc32c_fn: Any = crc32c) -> int:
            return int(util._masked_crc32c(value, crc32c_fn))

    file = io.BytesIO()
    for record in records:
        Framing.write_record(file, record)
    assert frame(records) == file.getvalue()
    file.seek(0)
    assert [Framing.read_record(file) for _ in records] == records


@settings(deadline=None)
@given(RECORDS, st.data())
def test_a_file_that_is_cut_off_or_changed_is_named_with_the_byte_of_the_record(
    records: list[bytes], data: st.DataObject
) -> None:
    whole = frame(records)
    starts = np.cumsum([0, *(16 + len(record) for record in records)])
    place = data.draw(st.integers(0, len(whole) - 1))
    record = int(np.searchsorted(starts, place, side="right")) - 1
    if place not in starts:
        with pytest.raises(InputError, match=rf"byte {starts[record]}: .*cut off"):
            _read(whole[:place])
    changed = bytearray(whole)
    changed[place] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(InputError, match=rf"byte {starts[record]}: "):
        _read(bytes(changed))


def _read(data: bytes) -> list[bytes]:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.tfrecord"
        path.write_bytes(data)
        return [record for records in read_records(str(path), 2) for record in records]


@pytest.mark.parametrize("name", ["x.tfrecord", "x.tfrecord.gz", "x.tfrecord.zst"])
@pytest.mark.parametrize("written", ["plain", "gzip", "zlib", "zlib 1", "zstd", "bz2"])
def test_compressed_files_are_read_whatever_their_name(tmp_path: Path, name: str, written: str) -> None:
    """TFRecordOptions("GZIP") and ("ZLIB") of TensorFlow compress, and the name stays."""
    data = frame([b"salt", b"", bytes(70_000)])
    compress: dict[str, Callable[[], bytes]] = {
        "plain": lambda: data,
        "gzip": lambda: gzip.compress(data),
        "zlib": lambda: zlib.compress(data),
        "zlib 1": lambda: zlib.compress(data, 1),
        "zstd": lambda: zstandard.compress(data),
        "bz2": lambda: bz2.compress(data),
    }
    (tmp_path / name).write_bytes(compress[written]())
    assert list(read_records(str(tmp_path / name))) == [[b"salt", b"", bytes(70_000)]]


@pytest.mark.parametrize("size", [0x8B1F, 0x088B1F, 0x0178, 0x9C78, 0x685A42])
def test_a_length_that_looks_like_a_compression_is_a_length(tmp_path: Path, size: int) -> None:
    (tmp_path / "x").write_bytes(frame([bytes(size)]))
    assert [len(record) for records in read_records(str(tmp_path / "x")) for record in records] == [size]


def test_what_is_no_file_of_records_is_told_as_that_and_only_damage_is_to_be_got_again(tmp_path: Path) -> None:
    path = tmp_path / "x.tfrecord"
    path.write_bytes(b"Salt is white, and iron rusts.")
    with pytest.raises(InputError, match=r"begins with the bytes 53 61 6c 74 .* expected TFRecords$") as caught:
        list(read_records(str(path)))
    assert "get it again" not in str(caught.value)
    whole = bytearray(frame([b"salt", b"iron"]))
    whole[13] ^= 1
    path.write_bytes(bytes(whole))
    with pytest.raises(InputError, match="does not have its checksum: the file is damaged; get it again"):
        list(read_records(str(path)))


@settings(deadline=None)
@given(st.integers(1, 4), st.integers(1, 5), st.data())
def test_protobuf_reads_our_messages_and_we_read_its(rows: int, width: int, data: st.DataObject) -> None:
    whole = data.draw(npst.arrays(np.int64, (rows, width), elements=st.integers(0, 70_000)))
    parts = data.draw(npst.arrays(np.float32, (rows, width), elements=st.floats(0, 1, width=32)))
    fields = {"input_ids": whole, "weights": parts, "label": whole[:, 0]}
    messages = encode_examples(fields)
    theirs = []
    for row, message in enumerate(messages):
        parsed = example_class().FromString(message).features.feature
        assert set(parsed) == set(fields)
        assert list(parsed["input_ids"].int64_list.value) == whole[row].tolist()
        assert list(parsed["weights"].float_list.value) == parts[row].tolist()
        assert list(parsed["label"].int64_list.value) == [whole[row, 0]]
        again = example_class()()
        for name in parsed:
            again.features.feature[name].CopyFrom(parsed[name])
        theirs.append(again.SerializeToString())
    for decoded in (decode_examples(messages), decode_examples(theirs)):
        assert [token_id.tolist() for token_id in decoded["input_ids"]] == whole.tolist()
        assert [weight.tolist() for weight in decoded["weights"]] == parts.tolist()


@pytest.mark.parametrize("value", [0, 1, 127, 128, 129, 16_383, 16_384, 16_385, 1 << 21, (1 << 63) - 1])
def test_numbers_at_the_borders_of_varints_are_read_back(value: int) -> None:
    [decoded] = decode_examples(encode_examples({"a": np.array([[value, 5, value]])}))["a"]
    assert decoded.tolist() == [value, 5, value]


def test_fields_that_are_not_known_are_passed_over_whatever_their_wire_type() -> None:
    message = encode_examples({"a": np.array([[7, 300]])})[0]
    assert message[:2] == bytes([0x0A, len(message) - 2])
    others = [b"\x78\x80\x01", b"\x79salt sea", b"\x7a\x03abc", b"\x7dsalt"]
    for other in (*others, b"".join(others)):
        inner = other + message[2:]
        for whole in (other + message, message + other, bytes([0x0A, len(inner)]) + inner):
            assert [values.tolist() for values in decode_examples([whole])["a"]] == [[7, 300]]
    for other in (b"\x7b", b"\x7c", b"\x7e", b"\x7dsal", b"\x79salt se", b"\x7a\x03ab", b"\x78\x80"):
        with pytest.raises(InputError, match=r"record 0 is not a tf\.train\.Example"):
            decode_examples([message + other])


def test_a_varint_of_over_ten_bytes_is_refused() -> None:
    with pytest.raises(InputError, match=r"record 0 is not a tf\.train\.Example"):
        decode_examples([b"\x78" + b"\xff" * 10 + b"\x01"])


def test_lists_that_are_not_packed_are_read() -> None:
    values = b"\x08\x07\x08\xac\x02"
    feature = b"\x0a\x01a\x12" + bytes([len(values) + 2, 0x1A, len(values)]) + values
    entry = bytes([0x0A, len(feature)]) + feature
    message = bytes([0x0A, len(entry)]) + entry
    assert list(example_class().FromString(message).features.feature["a"].int64_list.value) == [7, 300]
    assert [values.tolist() for values in decode_examples([message])["a"]] == [[7, 300]]


@settings(deadline=None)
@given(st.binary(max_size=40))
@example(b"\t" + bytes(8))
@example(bytes(3))
@example(b"\x00\x80\x80\x80\x80\x10\x00")
def test_other_bytes_are_refused_or_read_as_protobuf_reads_them(data: bytes) -> None:
    from google.protobuf.message import DecodeError

    whole = encode_examples({"a": np.array([[7, 300]])})[0]
    assert {name: values[0].tolist() for name, values in decode_examples([whole]).items()} == {"a": [7, 300]}
    cuts = [whole[:size] + data for size in range(1, len(whole))]
    for message in (data, whole + data, *cuts):
        try:
            decoded = {name: values[0].tolist() for name, values in decode_examples([message]).items()}
        except InputError:
            continue
        try:
            features = example_class().FromString(message).features.feature
            theirs = {name: list(values.int64_list.value) for name, values in features.items()}
        except DecodeError:
            theirs = {}
        for name, numbers in decoded.items():  # protobuf leaves out an entry with something unknown in it
            assert numbers in ([], theirs.get(name, [7, 300]))
        assert set(theirs) <= set(decoded)


def test_masked_checksums_are_rotated_and_shifted() -> None:
    assert masked(np.array([0, 1 << 15], np.uint32)).tolist() == [0xA282EAD8, 0xA282EAD9]
