"""Whether the body of an Arrow message is compressed is read from its head alone."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from bertdata.io.arrow_messages import is_compressed, read_uncompressed

TABLE = pa.table({"numbers": range(300), "words": pa.array(["a", "b"] * 150).dictionary_encode(), "none": [None] * 300})


def stream(codec: str | None) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, TABLE.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
        writer.write_table(TABLE, max_chunksize=100)
    return sink.getvalue()


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
def test_record_batches_and_dictionaries_that_are_compressed_are_told(codec: str) -> None:
    kinds = [(message.type, is_compressed(message)) for message in pa.ipc.MessageReader.open_stream(stream(codec))]
    assert kinds == [("schema", False), ("dictionary", True), *[("record batch", True)] * 3]
    with pytest.raises(pa.ArrowInvalid, match="are compressed"):
        read_uncompressed(stream(codec))


def test_others_are_read_from_a_buffer_and_from_a_file(tmp_path: Path) -> None:
    assert read_uncompressed(stream(None)).equals(TABLE)
    (tmp_path / "a.arrow").write_bytes(stream(None))
    assert read_uncompressed(pa.memory_map(str(tmp_path / "a.arrow"))).equals(TABLE)


def test_whatever_a_head_holds_no_other_error_than_one_of_arrow_escapes() -> None:
    class Message:
        def __init__(self, metadata: bytes) -> None:
            self.metadata = metadata

    draw = random.Random(5)
    heads: list[Any] = [bytes(message.metadata) for message in pa.ipc.MessageReader.open_stream(stream("zstd"))]
    for _ in range(2000):
        head = bytearray(draw.choice(heads))
        for _ in range(draw.randrange(1, 4)):
            head[draw.randrange(len(head))] = draw.randrange(256)
        with contextlib.suppress(pa.ArrowInvalid):
            assert is_compressed(Message(bytes(head))) in (True, False)
