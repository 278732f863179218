"""TFRecord files without TensorFlow: records with their lengths and masked CRC-32C, as Google's tools write them.

A record is its length, uint64; the masked checksum of these eight bytes, uint32; the data; its masked checksum, uint32;
all little endian. The message inside is a tf.train.Example (`example`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import BinaryIO

import numpy as np

from bertdata.errors import InputError
from bertdata.formats.crc32c import checksums, masked
from bertdata.formats.example import decode_examples, encode_examples
from bertdata.formats.registry import ExportFormat, Fields, ImportFormat
from bertdata.formats.static import FIELDS, StaticRows
from bertdata.io import compression

MOST_BYTES = 64 << 20
"""The longest record that is read; a longer one is taken for damage."""
_OTHER_NAMES = {"input_word_ids": "input_ids", "input_type_ids": "segment_ids"}
"""What TensorFlow's Model Garden calls the same fields."""


def write_tfrecord(rows: StaticRows, path: str, file: BinaryIO) -> int:
    """Write a shard as TFRecords of tf.train.Example with Google's fields; returns the rows."""
    written = 0
    for fields in rows.batches(path):
        messages = encode_examples(fields)
        file.write(frame(messages))
        written += len(messages)
    return written


def frame(records: Sequence[bytes]) -> bytes:
    """Return records with their lengths and checksums around them, one after another."""
    sizes = np.array([len(record) for record in records], np.int64)
    lengths = sizes.astype("<u8").tobytes()
    heads = masked(checksums(lengths, 8 * np.arange(len(records) + 1, dtype=np.int64))).astype("<u4").tobytes()
    data = b"".join(records)
    tails = masked(checksums(data, np.concatenate([[0], np.cumsum(sizes)]))).astype("<u4").tobytes()
    return b"".join(
        lengths[8 * i : 8 * i + 8] + heads[4 * i : 4 * i + 4] + record + tails[4 * i : 4 * i + 4]
        for i, record in enumerate(records)
    )


def read_records(path: str, batch: int = 1000) -> Iterator[list[bytes]]:
    """Yield the records of a file in lists of `batch`, checked; the file may be compressed (.gz, .zst, .bz2).

    Raises InputError, with the byte offset of the record (of the decompressed bytes), where one is cut off or its
    checksum is wrong.
    """
    with compression.open_decompressed(path) as file:
        found = _framed(file, path)
        while some := list(islice(found, batch)):
            _check(some, path)
            yield [data for _, _, data, _ in some]


def _framed(file: BinaryIO, path: str) -> Iterator[tuple[int, bytes, bytes, bytes]]:
    """Yield (offset, head, data, checksum) of each record, the head checked."""
    offset = 0
    while head := file.read(12):
        if len(head) == 12:
            size = int.from_bytes(head[:8], "little")
            if int(masked(checksums(head[:8], np.array([0, 8])))[0]) != int.from_bytes(head[8:], "little"):
                raise InputError(
                    "the length of this record does not have its checksum: the file is damaged, or not a TFRecord; get "
                    "it again",
                    path=path,
                    offset=offset,
                )
            if size > MOST_BYTES:
                raise InputError(
                    f"this record has {size:,} bytes; expected {MOST_BYTES:,} at most", path=path, offset=offset
                )
            data, tail = file.read(size), file.read(4)
        if len(head) < 12 or len(data) < size or len(tail) < 4:
            raise InputError("the file ends inside this record: it was cut off; get it again", path=path, offset=offset)
        yield offset, head, data, tail
        offset += 16 + size


def _check(records: Sequence[tuple[int, bytes, bytes, bytes]], path: str) -> None:
    ends = np.concatenate([[0], np.cumsum([len(data) for _, _, data, _ in records])])
    found = masked(checksums(b"".join(data for _, _, data, _ in records), ends))
    claimed = np.frombuffer(b"".join(tail for _, _, _, tail in records), "<u4")
    for number in np.flatnonzero(found != claimed)[:1].tolist():
        raise InputError(
            "this record does not have its checksum: the file is damaged; get it again",
            path=path,
            offset=records[number][0],
        )


def read_tfrecord(path: str) -> Iterator[Fields]:
    """Yield the rows of a file of TFRecords as Google's fields, 1,000 at a time.

    Raises InputError, with the record, where one is damaged, is not a tf.train.Example, or is not padded as the others.
    """
    begin = 0
    for records in read_records(path):
        try:
            lists = decode_examples(records, {*FIELDS, *_OTHER_NAMES})
        except InputError as error:
            raise InputError(f"after record {begin}: {error}", path=path) from error
        for name, rows in lists.items():
            if len({len(row) for row in rows}) > 1:
                raise InputError(
                    f"after record {begin}: `{name}` has lists of different lengths; expected padded rows",
                    path=path,
                )
        yield {_OTHER_NAMES.get(name, name): np.stack(rows) for name, rows in lists.items()}
        begin += len(records)


TFRECORD = ExportFormat(
    help="`tf.train.Example` with the fields of Google's create_pretraining_data",
    suffix=".tfrecord",
    write_static=write_tfrecord,
)
TFRECORD_IMPORT = ImportFormat(
    help="TFRecords of Google's create_pretraining_data or TensorFlow's Model Garden",
    suffixes=(".tfrecord", ".tfrecord.gz", ".tfrecord-*-of-*", ".tfrecords"),
    read=read_tfrecord,
)
