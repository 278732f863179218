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
from bertdata.formats.base import ExportFormat, ImportFormat
from bertdata.formats.crc32c import checksums, masked
from bertdata.formats.example import decode_examples, encode_examples
from bertdata.formats.shard import ExportedShard
from bertdata.formats.static import FIELDS, Fields
from bertdata.io import compression, files

MOST_BYTES = 64 << 20
"""The longest record that is read; a longer one counts as damaged."""
_OTHER_NAMES = {"input_word_ids": "input_ids", "input_type_ids": "segment_ids"}
"""What TensorFlow's Model Garden calls the same fields."""


def write_tfrecord(shard: ExportedShard, file: BinaryIO) -> None:
    """Write a shard as TFRecords of tf.train.Example with Google's fields."""
    for fields in shard.fields():
        file.write(frame(encode_examples(fields)))


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
    """Yield the records of a file in lists of `batch`, checked; it may be compressed by gzip, zlib, zstd or bzip2.

    Raises InputError, with the byte offset of the record (of the decompressed bytes), where one is cut off or its
    checksum is wrong.
    """
    with compression.open_decompressed(path, compression_of(path)) as file:
        framed = _framed(file, path)
        while records := list(islice(framed, batch)):
            ends = np.concatenate([[0], np.cumsum([len(data) for _, data, _ in records])])
            actual = masked(checksums(b"".join(data for _, data, _ in records), ends))
            expected = np.frombuffer(b"".join(checksum for _, _, checksum in records), "<u4")
            if (actual != expected).any():
                raise InputError(
                    "this record does not have its checksum: the file is damaged; get it again",
                    path=path,
                    offset=records[int((actual != expected).argmax())][0],
                )
            yield [data for _, data, _ in records]


def compression_of(path: str) -> str | None:
    """Return how a file of TFRecords is compressed, by its first bytes: TensorFlow writes gzip and zlib to any name.

    A file whose first length has its checksum is not compressed, whatever the length looks like.
    """
    with files.open_raw(path) as raw:
        head = raw.read(12)
    if _has_checksum(head):
        return None
    if head[:1] == b"\x78" and int.from_bytes(head[:2], "big") % 31 == 0:  # RFC 1950
        return "zlib"
    return compression.compression_of(head)


def _has_checksum(head: bytes) -> bool:
    """Tell whether the 12 bytes in front of a record are its length and the checksum of that."""
    return len(head) == 12 and masked(checksums(head[:8], np.array([0, 8])))[0] == int.from_bytes(head[8:], "little")


def _framed(file: BinaryIO, path: str) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield (offset, data, checksum) of each record, its length checked."""
    offset = 0
    while head := file.read(12):
        size = int.from_bytes(head[:8], "little")
        if len(head) == 12 and not _has_checksum(head):
            if not offset:
                raise InputError(
                    f"begins with the bytes {head.hex(' ')}, which are no length of a record with its checksum, nor "
                    "gzip, zlib, zstd or bzip2: it is another file, or damaged here; expected TFRecords",
                    path=path,
                    offset=offset,
                )
            problem = "the length of this record does not have its checksum: the file is damaged"
            raise InputError(f"{problem}; get it again", path=path, offset=offset)
        if len(head) == 12 and size > MOST_BYTES:
            raise InputError(
                f"this record has {size:,} bytes; expected {MOST_BYTES:,} at most", path=path, offset=offset
            )
        data, checksum = (file.read(size), file.read(4)) if len(head) == 12 else (b"", b"")
        if len(data) < size or len(checksum) < 4:
            raise InputError(
                "the file ends inside this record: it was cut off; check its size with where it is from",
                path=path,
                offset=offset,
            )
        yield offset, data, checksum
        offset += 16 + size


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
    write=write_tfrecord,
    static=True,
)
TFRECORD_IMPORT = ImportFormat(
    help="TFRecords of Google's create_pretraining_data or TensorFlow's Model Garden",
    suffixes=(".tfrecord", ".tfrecord.gz", ".tfrecord-*-of-*", ".tfrecords"),
    read=read_tfrecord,
)
