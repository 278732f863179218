"""Compressed files are read as one stream; errors of damaged or truncated ones have the byte offset."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, cast

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.errors import InputError
from bertdata.io import compression, files

TEXT = "".join(f"line {number} {number**5}\n" for number in range(30_000)).encode()
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gz": lambda data: gzip.compress(data, mtime=0),
    "bz2": bz2.compress,
    "zst": zstandard.compress,
    "xz": lzma.compress,
}
KINDS = list(COMPRESS)


def write(path: Path, data: bytes) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return str(path)


def read(path: str) -> bytes:
    with compression.open_decompressed(path) as file:
        return file.read()


@pytest.mark.parametrize("kind", [*KINDS, "bgz", "GZ", "txt"])
def test_a_file_is_read_through_the_compression_its_name_tells(kind: str, tmp_path: Path) -> None:
    inside = {"bgz": "gz", "GZ": "gz"}.get(kind, kind)
    path = write(tmp_path / f"x.{kind}", COMPRESS[inside](TEXT) if inside in COMPRESS else TEXT)
    assert read(path) == TEXT
    with compression.open_decompressed(path) as file:
        assert [next(file), next(file)] == TEXT.splitlines(keepends=True)[:2]


@pytest.mark.parametrize("kind", KINDS)
def test_streams_one_after_another_are_read_as_one(kind: str, tmp_path: Path) -> None:
    pieces = [TEXT, b"", b"x", TEXT[:70_000]] + [b"small"] * 500
    path = write(tmp_path / f"x.{kind}", b"".join(COMPRESS[kind](piece) for piece in pieces))
    assert read(path) == b"".join(pieces)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("zeros", [1, 512, 200_000])
def test_zero_bytes_behind_a_stream_are_padding(kind: str, zeros: int, tmp_path: Path) -> None:
    stream = COMPRESS[kind](TEXT) + bytes(zeros)
    assert read(write(tmp_path / f"x.{kind}", stream)) == TEXT
    assert read(write(tmp_path / f"y.{kind}", stream + stream)) == TEXT + TEXT


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_of_zero_bytes_alone_is_corrupt_and_not_empty(kind: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"byte 0: the {kind} stream"):
        read(write(tmp_path / f"x.{kind}", bytes(3000)))


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=20)
@given(data=st.data())
def test_pieces_come_with_the_offset_of_their_stream_however_the_file_is_read(kind: str, data: st.DataObject) -> None:
    pieces = data.draw(st.lists(st.binary(min_size=1, max_size=300), min_size=1, max_size=5))
    streams = [COMPRESS[kind](piece) for piece in pieces]
    before = b"not a stream"
    raw = io.BytesIO(before + b"".join(streams))
    raw.seek(len(before))
    by_offset: dict[int, bytes] = {}
    for offset, output in compression.decompress(raw, kind, "x", data.draw(st.integers(1, 400))):
        by_offset[offset] = by_offset.get(offset, b"") + output
    starts = [len(before) + sum(map(len, streams[:number])) for number in range(len(streams))]
    assert by_offset == dict(zip(starts, pieces, strict=True))


def test_plain_bytes_come_with_their_own_offset() -> None:
    raw = io.BytesIO(b"0123456789")
    raw.seek(3)
    assert list(compression.decompress(raw, None, "x", 4)) == [(3, b"3456"), (7, b"789")]


@pytest.mark.parametrize("kind", KINDS)
def test_a_truncated_stream_names_where_it_starts_and_where_the_file_ends(kind: str, tmp_path: Path) -> None:
    first, second = COMPRESS[kind](b"whole"), COMPRESS[kind](TEXT)
    for kept in (1, len(second) // 2, len(second) - 1):
        path = write(tmp_path / f"x.{kind}", first + second[:kept])
        with pytest.raises(InputError) as caught:
            read(path)
        assert str(caught.value).startswith(f"{path}, byte {len(first)}: ")
        assert f"ends at byte {len(first) + kept}, inside the {kind} stream" in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_no_truncation_of_a_file_is_read_as_if_it_were_whole(kind: str, tmp_path: Path) -> None:
    whole = COMPRESS[kind](TEXT[:200])
    for kept in range(1, len(whole)):
        with pytest.raises(InputError):
            read(write(tmp_path / f"x.{kind}", whole[:kept]))


@pytest.mark.parametrize("kind", KINDS)
def test_a_corrupt_stream_names_its_byte(kind: str, tmp_path: Path) -> None:
    first, second = COMPRESS[kind](TEXT), bytearray(COMPRESS[kind](TEXT[:1000]))
    second[:20] = b"\xff" * 20
    path = write(tmp_path / f"x.{kind}", first + second)
    with pytest.raises(InputError) as caught:
        read(path)
    message = str(caught.value)
    assert message.startswith(f"{path}, byte {len(first)}: the {kind} stream that starts here is corrupt; get the file")


@pytest.mark.parametrize("kind", ["gz", "bz2"])
def test_a_flipped_bit_is_found_by_the_checksum(kind: str, tmp_path: Path) -> None:
    data = bytearray(COMPRESS[kind](TEXT[:1000]))
    data[len(data) // 2] ^= 1
    with pytest.raises(InputError, match="byte 0"):
        read(write(tmp_path / f"x.{kind}", bytes(data)))


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_read_before_the_damage_was_given_out(kind: str, tmp_path: Path) -> None:
    path = write(tmp_path / f"x.{kind}", COMPRESS[kind](b"good") + b"bad bytes")
    with files.open_raw(path) as raw:
        chunks = compression.decompress(raw, kind, path)
        assert next(chunks) == (0, b"good")
        with pytest.raises(InputError):
            next(chunks)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", KINDS)
def test_a_name_that_says_another_compression_is_told_by_the_bytes(kind: str, other: str, tmp_path: Path) -> None:
    path = write(tmp_path / f"x.{kind}", COMPRESS[other](TEXT))
    if kind == other:
        assert read(path) == TEXT
        return
    with pytest.raises(InputError, match=rf"compressed by {other}, .*rename it to end in \.{other}$"):
        read(path)
    os.rename(path, tmp_path / f"x.{other}")
    assert read(str(tmp_path / f"x.{other}")) == TEXT


@pytest.mark.parametrize("kind", KINDS)
def test_text_whose_name_says_a_compression_is_told_to_be_plain(kind: str, tmp_path: Path) -> None:
    path = write(tmp_path / f"x.txt.{kind}", TEXT)
    with pytest.raises(InputError, match=f"is not compressed, and its name says {kind}"):
        read(path)
    os.rename(path, tmp_path / "x.txt")
    assert read(str(tmp_path / "x.txt")) == TEXT


def test_a_frame_of_zst_without_text_is_passed_over(tmp_path: Path) -> None:
    skipped = b"\x5a\x2a\x4d\x18\x03\0\0\0abc"
    assert read(write(tmp_path / "x.zst", skipped + zstandard.compress(TEXT) + skipped)) == TEXT


def test_a_zip_archive_is_not_called_a_corrupt_stream(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="zip archives are not read here"):
        read(write(tmp_path / "x.zip", b"PK\x03\x04"))


@pytest.mark.costly
@pytest.mark.parametrize("kind", KINDS)
def test_a_few_bytes_that_hold_much_come_in_pieces(kind: str) -> None:
    bomb = COMPRESS[kind](bytes(64 << 20))
    assert len(bomb) < 100_000
    sizes = [len(output) for _, output in compression.decompress(io.BytesIO(bomb), kind, "x")]
    assert sum(sizes) == 64 << 20
    if kind != "zst":
        assert max(sizes) <= 4 << 20


@pytest.mark.parametrize("kind", KINDS)
def test_bytes_are_fed_in_small_pieces_so_that_many_tiny_streams_do_not_copy_the_file_each(kind: str) -> None:
    asked = []

    class Watched(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            asked.append(size)
            return super().read(size)

    data = COMPRESS[kind](b"x") * 10_000
    assert sum(len(output) for _, output in compression.decompress(Watched(data), kind, "x")) == 10_000
    assert max(size or 0 for size in asked) <= 1 << 16


class Failing(io.RawIOBase):
    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        raise OSError(5, "Input/output error")

    def tell(self) -> int:
        return 0


@pytest.mark.parametrize("kind", [None, "gz"])
def test_a_disk_that_fails_is_told_as_the_input(kind: str | None) -> None:
    with pytest.raises(InputError, match=r"x: cannot be read: the disk .* failed"):
        list(compression.decompress(cast("BinaryIO", io.BufferedReader(Failing())), kind, "x"))


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.gz", "gz"), ("a.tar", None), ("gz", "gz"), ("a.BZ2", "bz2"), ("a.zst", "zst"), ("a.zip", "zip")],
)
def test_the_ending_of_a_name_tells_the_compression(name: str, kind: str | None) -> None:
    assert compression.compression(name) == kind


def test_an_xz_stream_with_a_large_dictionary_is_not_called_corrupt(tmp_path: Path) -> None:
    header = bytes([2, 0, 0x21, 1, 38]) + bytes(3)  # the head of a block: LZMA2 with a dictionary of 2 GiB
    head = b"\0\x04"
    stream = b"\xfd7zXZ\0" + head + zlib.crc32(head).to_bytes(4, "little")
    stream += header + zlib.crc32(header).to_bytes(4, "little") + bytes(64)
    path = tmp_path / "rows.jsonl.xz"
    path.write_bytes(stream)
    with pytest.raises(InputError, match=r"byte 0: .* a dictionary of over 1 GiB.*\(xz -dk FILE\)"):
        compression.open_decompressed(str(path)).read()
