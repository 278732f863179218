from __future__ import annotations

import json
import os
import threading
import uuid
from pathlib import Path

import fsspec
import pytest

from bertdata.engine.output_lock import locked, output_lock
from bertdata.errors import BertDataError, OutputError
from bertdata.io import files, listing
from bertdata.io.engine_outputs import MARKER


def claim(directory: Path | str, kind: str = "build") -> None:
    with output_lock(str(directory), kind):
        pass


def marker(directory: Path) -> object:
    return json.loads((directory / MARKER).read_bytes())


def test_a_new_or_empty_directory_is_claimed_and_marked(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "new" / "deep"):
        with output_lock(str(folder), "build"):
            assert marker(folder) == {"kind": "build"}
        assert os.listdir(folder) in ([MARKER], ["new", MARKER], [MARKER, "new"])
    claim(tmp_path / "new" / "deep")


def test_a_claim_is_repeated_with_what_was_built_in_place(tmp_path: Path) -> None:
    with output_lock(str(tmp_path), "build"):
        (tmp_path / "train").mkdir()
    claim(tmp_path)
    assert (tmp_path / "train").is_dir()


def test_a_directory_of_another_kind_is_refused(tmp_path: Path) -> None:
    claim(tmp_path, "documents")
    with pytest.raises(OutputError, match=r"holds documents, and build was to be written; choose another `output`"):
        claim(tmp_path)
    assert marker(tmp_path) == {"kind": "documents"}


def test_a_directory_that_holds_something_else_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    for number in range(7):
        (tmp_path / f"my-{number}").touch()
    with pytest.raises(OutputError, match=r"holds something else \(my-0, .*my-4 and 2 more\)"):
        claim(tmp_path)
    assert len(os.listdir(tmp_path)) == 7


def test_a_file_is_no_output_directory(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"mine")
    for path in (tmp_path / "x", tmp_path / "x" / "below"):
        with pytest.raises(OutputError):
            claim(path)
    assert (tmp_path / "x").read_bytes() == b"mine"


@pytest.mark.parametrize("content", [b"[]", b'"build"', b"{}", b'{"kind": null}', b"not json"])
def test_a_marker_of_someone_else_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / MARKER).write_bytes(content)
    with pytest.raises(BertDataError):
        claim(tmp_path)
    assert (tmp_path / MARKER).read_bytes() == content


def test_a_marker_that_a_killed_build_left_empty_is_written_again(tmp_path: Path) -> None:
    (tmp_path / MARKER).touch()
    claim(tmp_path)
    assert marker(tmp_path) == {"kind": "build"}


def test_a_second_build_is_refused_while_the_first_one_writes(tmp_path: Path) -> None:
    with output_lock(str(tmp_path), "build"):
        with pytest.raises(OutputError, match="another build is writing here"):
            claim(tmp_path)
        assert marker(tmp_path) == {"kind": "build"}
    claim(tmp_path)


def test_an_output_is_free_again_after_a_failure(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), output_lock(str(tmp_path), "build"):
        raise RuntimeError
    claim(tmp_path)


@pytest.mark.parametrize("name", [".", "new"])
def test_a_new_directory_in_which_nothing_was_written_is_as_before_after_a_failure(name: str, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), locked(str(tmp_path / name), "build"):
        raise RuntimeError
    assert os.listdir(tmp_path) == []


def test_a_url_in_which_nothing_was_written_is_as_before_after_a_failure() -> None:
    folder = f"memory://{uuid.uuid4().hex}"
    with pytest.raises(RuntimeError), locked(folder, "build"):
        raise RuntimeError
    assert listing.names(folder) == []


def test_what_was_written_before_a_failure_stays(tmp_path: Path) -> None:
    def write() -> None:
        (tmp_path / "train").mkdir()
        raise RuntimeError

    with pytest.raises(RuntimeError), locked(str(tmp_path), "build"):
        write()
    assert sorted(os.listdir(tmp_path)) == [MARKER, "train"]
    with pytest.raises(RuntimeError), locked(str(tmp_path), "build"):
        raise RuntimeError
    assert sorted(os.listdir(tmp_path)) == [MARKER, "train"]


def test_a_lock_on_a_marker_that_is_gone_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def removed(*arguments: object) -> None:
        (tmp_path / MARKER).unlink()

    monkeypatch.setattr("fcntl.flock", removed)
    with pytest.raises(OutputError, match="another build is writing here"):
        claim(tmp_path)


def test_of_builds_started_at_once_in_a_new_directory_one_at_a_time_holds_it(tmp_path: Path) -> None:
    for attempt in range(20):
        folder, barrier = str(tmp_path / str(attempt)), threading.Barrier(4)
        held: list[int] = []
        most: list[int] = []
        done = threading.Barrier(4)

        def start(
            folder: str = folder,
            barrier: threading.Barrier = barrier,
            done: threading.Barrier = done,
            held: list[int] = held,
            most: list[int] = most,
        ) -> None:
            barrier.wait()
            try:
                with output_lock(folder, "build"):
                    held.append(1)
                    most.append(len(held))
                    done.wait()
                    held.pop()
            except OutputError:
                done.wait()

        threads = [threading.Thread(target=start) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert most == [1]


def test_what_an_interrupted_build_left_is_deleted_and_nothing_else(tmp_path: Path) -> None:
    claim(tmp_path)
    (tmp_path / "train").mkdir()
    (tmp_path / "train" / (files.TEMPORARY + "abc")).touch()
    (tmp_path / "train" / "kept").touch()
    with output_lock(str(tmp_path), "build"):
        assert os.listdir(tmp_path / "train") == ["kept"]


def test_leftovers_alone_do_not_make_a_directory_someone_elses(tmp_path: Path) -> None:
    (tmp_path / (files.TEMPORARY + "abc")).touch()
    claim(tmp_path)
    assert os.listdir(tmp_path) == [MARKER]


def test_a_url_is_claimed_by_kind_too() -> None:
    folder = f"memory://{uuid.uuid4().hex}"
    claim(folder)
    claim(folder)
    with pytest.raises(OutputError, match="holds build"):
        claim(folder, "documents")
    files.write_bytes(f"{folder}/other/x", b"1")
    with pytest.raises(OutputError, match="holds something else"):
        claim(f"{folder}/other")
    fsspec.filesystem("memory").rm(folder, recursive=True)
