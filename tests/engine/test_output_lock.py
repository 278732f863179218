from __future__ import annotations

import hashlib
import json
import os
import threading
import uuid
from pathlib import Path

import fsspec
import pytest

from bertdata.engine.output_lock import MARKER, finished_manifest, mark_finished, output_lock
from bertdata.errors import BertDataError, OutputError
from bertdata.io import files


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
    with pytest.raises(OutputError, match=r"holds documents, and build was to be written; choose another --output"):
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


def finished(directory: Path) -> None:
    (directory / "train").mkdir()
    (directory / "train" / "data-0.arrow").write_bytes(b"12345")
    (directory / "README.md").touch()
    shards = [{"file": "train/data-0.arrow", "bytes": 5, "sha256": hashlib.sha256(b"12345").hexdigest()}]
    files.write_json(str(directory / "manifest.json"), {"splits": {"train": {"shards": shards}}})
    mark_finished(str(directory), "mark")


def test_a_finished_build_is_known_by_its_mark_and_its_shards(tmp_path: Path) -> None:
    assert finished_manifest(str(tmp_path), "mark") is None
    finished(tmp_path)
    found = finished_manifest(str(tmp_path), "mark")
    assert found is not None
    assert [shard["file"] for shard in found["splits"]["train"]["shards"]] == ["train/data-0.arrow"]
    assert finished_manifest(str(tmp_path), "other") is None


def test_a_finished_build_of_phases_has_the_manifest_of_each(tmp_path: Path) -> None:
    for name in ("128", "512"):
        (tmp_path / name).mkdir()
        files.write_json(str(tmp_path / name / "manifest.json"), {"rows": name})
    files.write_json(str(tmp_path / "manifest.json"), {"phases": ["128", "512"]})
    mark_finished(str(tmp_path), "mark")
    assert finished_manifest(str(tmp_path), "mark") == {"phases": {"128": {"rows": "128"}, "512": {"rows": "512"}}}
    files.write_json(str(tmp_path / "512" / "manifest.json"), {"rows": "513"})
    told: list[str] = []
    assert finished_manifest(str(tmp_path), "mark", told.append) is None
    assert told == [f"{tmp_path / '512' / 'manifest.json'}: is missing or was changed: it is made again"]


@pytest.mark.parametrize("name", ["manifest.json", ".bertdata-finished.json", "train/data-0.arrow", "README.md"])
def test_a_build_with_a_file_missing_is_not_finished(name: str, tmp_path: Path) -> None:
    finished(tmp_path)
    (tmp_path / name).unlink()
    assert finished_manifest(str(tmp_path), "mark") is None


def test_a_build_with_a_shard_of_another_size_is_not_finished(tmp_path: Path) -> None:
    finished(tmp_path)
    (tmp_path / "train" / "data-0.arrow").write_bytes(b"1234")
    assert finished_manifest(str(tmp_path), "mark") is None


def test_a_build_with_a_damaged_shard_of_the_same_size_is_not_finished_and_says_which(tmp_path: Path) -> None:
    finished(tmp_path)
    (tmp_path / "train" / "data-0.arrow").write_bytes(b"12344")
    told: list[str] = []
    assert finished_manifest(str(tmp_path), "mark", told.append) is None
    assert told[0].startswith(str(tmp_path / "train" / "data-0.arrow") + ": its SHA-256 is ")


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"fingerprint": "mark"}', b"\xff\xfe"])
def test_a_damaged_note_of_a_finished_build_is_none(data: bytes, tmp_path: Path) -> None:
    finished(tmp_path)
    (tmp_path / ".bertdata-finished.json").write_bytes(data)
    assert finished_manifest(str(tmp_path), "mark") is None


def test_a_flipped_bit_in_the_note_of_a_finished_build_is_noticed(tmp_path: Path) -> None:
    finished(tmp_path)
    note = tmp_path / ".bertdata-finished.json"
    note.write_bytes(note.read_bytes().replace(b'"mark"', b'"nark"'))
    assert finished_manifest(str(tmp_path), "nark") is None


def test_files_that_others_leave_beside_the_shards_change_nothing(tmp_path: Path) -> None:
    finished(tmp_path)
    (tmp_path / "train" / "cache-0123456789abcdef.arrow").touch()
    (tmp_path / "README.md").write_text("edited")
    assert finished_manifest(str(tmp_path), "mark") is not None


def test_a_changed_manifest_or_a_shard_too_many_is_no_finished_build(tmp_path: Path) -> None:
    finished(tmp_path)
    manifest = (tmp_path / "manifest.json").read_bytes()
    (tmp_path / "manifest.json").write_bytes(manifest.replace(b"5", b"6"))
    assert finished_manifest(str(tmp_path), "mark") is None
    (tmp_path / "manifest.json").write_bytes(manifest)
    (tmp_path / "train" / "data-1.arrow").touch()
    assert finished_manifest(str(tmp_path), "mark") is None


def test_a_finished_build_stays_so_without_its_stages_and_with_notes_beside_it(tmp_path: Path) -> None:
    finished(tmp_path)
    (tmp_path / "notes.txt").touch()
    (tmp_path / "stages").mkdir()
    (tmp_path / "stages" / "part").touch()
    assert finished_manifest(str(tmp_path), "mark") is not None
