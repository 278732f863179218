"""Bytes of files as text: what is UTF-8, and where a file is not."""

from __future__ import annotations

import pytest

from bertdata.errors import InputError
from bertdata.io.decoding import decode_utf8


def test_a_byte_order_mark_is_left_out_where_the_encoding_says_so() -> None:
    assert decode_utf8("\ufeffBär".encode(), "a.txt", encoding="utf-8-sig") == "Bär"
    assert decode_utf8("\ufeffBär".encode(), "a.txt") == "\ufeffBär"


@pytest.mark.parametrize(("encoding", "named"), [("utf-16", "utf-16"), ("latin-1", "cp1252")])
def test_the_message_names_the_encoding_that_the_file_seems_to_have(encoding: str, named: str) -> None:
    with pytest.raises(InputError, match=f"iconv -f {named} -t utf-8 FILE > NEW"):
        decode_utf8("Bär".encode(encoding), "a.txt")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize(("data", "place"), [(b"B\xe4r", 1), (b"\xef\xbb\xbfB\xe4r", 4), (b"\xe4", 0)])
def test_the_message_names_the_byte_of_the_file(data: bytes, place: int, encoding: str) -> None:
    with pytest.raises(InputError, match=rf"a\.txt, byte {100 + place}: is not UTF-8 \(byte 0xe4\)"):
        decode_utf8(data, "a.txt", 100, hint="save it anew", encoding=encoding)
