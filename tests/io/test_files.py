from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.errors import ConfigError, InputError, OutputError
from bertdata.io import compression, files, listing, remote
from bertdata.io.patterns import expand
from bertdata.loader import ShardExamples
from bertdata.shards import open_shards
from tests.generated import examples


def write(path: Path, data: bytes) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return str(path)


def read(path: str) -> bytes:
    with files.open_raw(path) as file:
        return file.read()


# Reading


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"x\.bz2: this file is empty"):
        files.open_raw(write(tmp_path / "x.bz2", b""))


def test_a_pipe_is_not_called_empty(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.jsonl")
    with pytest.raises(InputError, match=r"x\.jsonl: is a pipe or a device, which can be read only once"):
        files.open_raw(str(tmp_path / "x.jsonl"))


def test_a_folder_in_place_of_a_file_is_refused_by_name(tmp_path: Path) -> None:
    for read in (files.open_raw, compression.open_decompressed, files.read_json):
        with pytest.raises(InputError, match="is a folder; expected a file: name those in it") as caught:
            read(str(tmp_path))
        assert str(tmp_path) in str(caught.value)


def test_a_missing_file_is_refused_by_name(tmp_path: Path, memory: str) -> None:
    there = write(tmp_path / "x", b"1")
    for path in (str(tmp_path / "none"), f"{there}/below", f"{memory}/none"):
        for operation in (files.size, files.open_raw, compression.open_decompressed, files.read_json, files.sha256):
            with pytest.raises(InputError, match="there is no such file") as caught:
                operation(path)
            assert path in str(caught.value)


# Writing


def fail_after_half(path: str, error: BaseException) -> None:
    with files.atomic_write(path) as file:
        file.write(b"half")
        raise error


def test_a_file_is_written_whole_and_readable_by_others(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "x.bin"
    for data in (b"first, and longer", b"second"):
        with files.atomic_write(str(path)) as file:
            file.write(data)
            assert not path.exists() or path.read_bytes() != data
        assert path.read_bytes() == data
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert os.listdir(path.parent) == ["x.bin"]


def test_a_file_without_a_folder_in_its_name_lands_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files.write_bytes("x", b"1")
    assert (tmp_path / "x").read_bytes() == b"1"


@pytest.mark.parametrize("error", [RuntimeError("bug"), KeyboardInterrupt(), InputError("bad"), OSError(5, "disk")])
def test_what_fails_in_the_block_leaves_nothing_and_passes_as_it_is(error: BaseException, tmp_path: Path) -> None:
    path = write(tmp_path / "x", b"before")
    with pytest.raises(type(error)) as caught:
        fail_after_half(path, error)
    assert caught.value is error
    assert os.listdir(tmp_path) == ["x"]
    assert read(path) == b"before"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this system")
@pytest.mark.parametrize("data", [b"x", b"x" * (1 << 20)])
def test_a_full_disk_says_to_make_room_and_run_again(
    data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = tmp_path / (files.TEMPORARY + "x")

    def full(**_: Any) -> tuple[int, str]:
        left.touch()
        return os.open("/dev/full", os.O_WRONLY), str(left)

    monkeypatch.setattr(tempfile, "mkstemp", full)
    path = str(tmp_path / "x")
    with (
        pytest.raises(OutputError, match=r"x: no space left .* run the same command again"),
        files.atomic_write(path) as file,
    ):
        file.write(data)
    assert os.listdir(tmp_path) == []


def test_a_place_that_cannot_be_made_is_an_output_error(tmp_path: Path) -> None:
    there = write(tmp_path / "x", b"1")
    with pytest.raises(OutputError, match="cannot be written"):
        files.write_bytes(f"{there}/below", b"1")
    with pytest.raises(OutputError, match=r"cannot be written \(File name too long\)"):
        files.write_bytes(str(tmp_path / ("x" * 300)), b"1")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError):
        files.write_bytes(str(tmp_path / "folder"), b"1")
    assert sorted(os.listdir(tmp_path)) == ["folder", "x"]


def test_what_an_interrupted_write_left_is_removed_at_any_depth_and_nothing_else(tmp_path: Path) -> None:
    write(tmp_path / "a" / (files.TEMPORARY + "1-x"), b"1")
    write(tmp_path / (files.TEMPORARY + "2-x"), b"1")
    write(tmp_path / "a" / "kept", b"1")
    assert files.remove_temporaries(str(tmp_path)) == 2
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["kept"]
    assert files.remove_temporaries(str(tmp_path / "none")) == 0


def test_a_url_is_written_whole_or_not_at_all(memory: str) -> None:
    path = files.join(memory, "a", "x.bin")
    with pytest.raises(RuntimeError):
        fail_after_half(path, RuntimeError())
    assert not files.exists(path)
    files.write_bytes(path, b"whole")
    assert read(path) == b"whole"
    assert listing.names(files.join(memory, "a")) == ["x.bin"]
    assert files.size(path) == 5
    files.remove(memory)
    assert not files.exists(path)


def test_nothing_is_left_in_the_temporary_folder_by_writing_to_a_url(
    memory: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    files.write_bytes(f"{memory}/x", b"1")
    with pytest.raises(RuntimeError), files.atomic_write(f"{memory}/y"):
        raise RuntimeError
    assert os.listdir(tmp_path) == []


def test_a_scheme_without_a_file_system_says_what_to_install() -> None:
    with pytest.raises(ConfigError, match="no file system for nosuch://"):
        files.exists("nosuch://bucket/x")
    with pytest.raises(ConfigError, match="`::` parts the URLs of a chain"):
        files.exists("s3://bucket/a::b.jsonl")


class Unreachable:
    """A remote file system whose every call fails with an error of its own, as httpx has it."""

    class ConnectError(Exception):
        pass

    def __getattr__(self, name: str) -> Any:
        def fail(*arguments: Any, **options: Any) -> Any:
            raise self.ConnectError("no route\nand a long story")

        return fail


@pytest.mark.parametrize(
    "call",
    [
        files.exists,
        files.size,
        listing.names,
        files.open_raw,
        lambda path: expand([path], (".txt",)),
    ],
)
def test_an_error_of_a_remote_file_system_is_told_in_one_line(
    call: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "file_system", lambda path: (Unreachable(), path))
    with pytest.raises(InputError) as caught:
        call("hf://datasets/x/y")
    assert str(caught.value) == (
        "hf://datasets/x/y: cannot be reached (ConnectError: no route); "
        "check the address, the network and the credentials"
    )


def test_a_disk_that_fails_while_a_file_is_read_is_told_with_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"text")
    broken = os.open("/proc/self/mem", os.O_RDONLY)  # reading its first page is an input/output error
    try:
        reads: list[Callable[[BinaryIO], bytes]]
        reads = [lambda opened: opened.read(), lambda opened: opened.read(3), lambda opened: opened.readline()]
        for read in reads:
            with files.open_raw(str(tmp_path / "a.txt")) as file:
                os.dup2(broken, file.fileno())
                with pytest.raises(InputError, match=r"a\.txt: cannot be read: the disk .* failed"):
                    read(file)
    finally:
        os.close(broken)


@pytest.mark.parametrize("path", [None, b"corpus", 3, ["corpus"], object()])
def test_what_is_no_path_is_refused_by_its_type(path: Any) -> None:
    with pytest.raises(ConfigError, match=rf"expected a path .*, found {type(path).__name__}$"):
        files.path_text(path)
    with pytest.raises(ConfigError, match="expected a path"):
        open_shards(path)
    if not isinstance(path, list):
        with pytest.raises(ConfigError, match="expected a path"):
            ShardExamples(path)


def test_a_path_with_a_nul_character_is_refused() -> None:
    with pytest.raises(ConfigError, match="NUL"):
        open_shards("a\0b")


def test_names_are_sorted_and_none_where_there_is_no_folder(tmp_path: Path, memory: str) -> None:
    for name in ("b", "a", "c"):
        write(tmp_path / name, b"1")
        files.write_bytes(f"{memory}/{name}", b"1")
    assert listing.names(str(tmp_path)) == listing.names(memory) == ["a", "b", "c"]
    assert listing.names(str(tmp_path / "none")) == listing.names(f"{memory}/none") == []


# Small things


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
@settings(deadline=None, max_examples=examples(50))
def test_json_comes_back_as_it_was(value: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.json")
        files.write_json(path, value)
        assert files.read_json(path) == value


def test_a_name_that_is_no_utf8_goes_through_json(tmp_path: Path) -> None:
    path = str(tmp_path / "x.json")
    files.write_json(path, {"path": "caf\udce9.txt", "title": "Café"})
    assert files.read_json(path) == {"path": "caf\udce9.txt", "title": "Café"}
    assert "Café".encode() in read(path)


def test_the_same_value_gives_the_same_json_bytes(tmp_path: Path) -> None:
    one, other = str(tmp_path / "1"), str(tmp_path / "2")
    files.write_json(one, {"b": 1, "a": 2})
    files.write_json(other, {"a": 2, "b": 1})
    assert read(one) == read(other) == b'{\n "a": 2,\n "b": 1\n}\n'


@pytest.mark.parametrize("data", [b"{", b"\xff\xfe\xff", b"not json"])
def test_a_file_that_is_no_json_is_refused(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not valid JSON"):
        files.read_json(write(tmp_path / "x.json", data))


def test_the_hash_of_a_file_is_that_of_its_bytes(tmp_path: Path) -> None:
    path = write(tmp_path / "x.gz", b"abc")
    assert files.sha256(path) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_an_identity_changes_with_the_file_and_not_with_its_folder(tmp_path: Path) -> None:
    one, other = write(tmp_path / "x", b"1"), write(tmp_path / "folder" / "x", b"1")
    os.utime(one, ns=(5, 5))
    os.utime(other, ns=(5, 5))
    assert files.identity(one) == files.identity(other)
    os.utime(other, ns=(5, 6))
    assert files.identity(one) != files.identity(other)
    write(tmp_path / "x", b"12")
    os.utime(one, ns=(5, 6))
    assert files.identity(one) != files.identity(other)


def test_a_file_without_an_identity_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name, words in (("loop", "symbolic links"), ("missing", "there is no such file")):
        with pytest.raises(InputError, match=words) as caught:
            files.identity(str(tmp_path / name))
        assert str(caught.value).startswith(str(tmp_path / name))


def test_remove_takes_files_folders_and_nothing(tmp_path: Path) -> None:
    write(tmp_path / "a" / "b" / "x", b"1")
    path = write(tmp_path / "y", b"1")
    for place in (str(tmp_path / "a"), path, str(tmp_path / "none")):
        files.remove(place)
    assert os.listdir(tmp_path) == []


def test_paths_and_urls_are_joined_and_named() -> None:
    assert files.join("gs://b/out/", "x") == "gs://b/out/x"
    assert files.join("/a", "b", "c") == "/a/b/c"
    assert files.name("/a/b/") == "b"
    assert files.name("x") == "x"


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "no space left to write this file; make room and run the same command again"),
        (errno.EDQUOT, "no space left to write this file; make room and run the same command again"),
        (errno.EROFS, "cannot be written .*; choose another place"),
        (errno.EIO, "cannot be written .*; choose another place"),
    ],
)
def test_a_disk_or_a_quota_that_is_full_is_told_apart_from_what_cannot_be_written(
    number: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OutputError, match=words):
        files.write_bytes(str(tmp_path / "x"), b"1")
    assert os.listdir(tmp_path) == []


def test_json_nested_too_deep_is_not_valid_json(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not valid JSON"):
        files.read_json(write(tmp_path / "x.json", b"[" * 100_000))


def test_a_file_at_a_url_is_created_once() -> None:
    url = "memory://created/once"
    files.create(url, b"first")
    with pytest.raises(FileExistsError):
        files.create(url, b"second")
    assert files.read_if_there(url) == b"first"
