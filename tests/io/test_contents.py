"""What is made of equal contents is made once."""

from __future__ import annotations

import pytest

from bertdata.errors import InputError
from bertdata.io.contents import once_for_contents, parse_once, parsing_once


def test_equal_contents_are_made_into_something_once_and_others_anew() -> None:
    calls: list[str] = []

    @once_for_contents
    def joined(path: str, *contents: bytes | None) -> list[bytes]:
        calls.append(path)
        return [data or b"-" for data in contents]

    first = joined("a", b"x", b"y")
    assert joined("b", b"x", b"y") is first
    assert joined("c", b"xy", b"") == [b"xy", b"-"]
    assert joined("d", b"xy", None) == [b"xy", b"-"]
    assert joined("e", b"y", b"x") == [b"y", b"x"]
    assert calls == ["a", "c", "d", "e"]


def test_an_error_is_raised_each_time_with_the_path_of_its_file() -> None:
    @once_for_contents
    def refused(path: str, data: bytes) -> None:
        raise InputError("is damaged", path=path)

    for path in ("one.txt", "another.txt"):
        with pytest.raises(InputError, match=f"^{path}: is damaged"):
            refused(path, b"")


def test_the_last_sixteen_are_kept() -> None:
    calls: list[bytes] = []

    @once_for_contents
    def noted(path: str, data: bytes) -> bytes:
        calls.append(data)
        return data

    for number in [*range(17), 16, 1, 0]:
        assert noted("", bytes([number])) == bytes([number])
    assert calls == [*map(bytes, [[number] for number in range(17)]), b"\0"]


def test_equal_bytes_are_parsed_once_until_a_context_is_left() -> None:
    with parsing_once():
        first = parse_once(b"[1]", "a.json")
        with parsing_once():
            assert parse_once(bytes(bytearray(b"[1]")), "b.json") is first
        assert parse_once(b"[1]", "a.json") is first
        assert parse_once(b"[2]", "a.json") == [2]
    assert parse_once(b"[1]", "a.json") is not first
    with pytest.raises(InputError, match=r"c\.json: is not valid JSON"), parsing_once():
        parse_once(b"[", "c.json")
