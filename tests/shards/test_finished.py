"""A build is finished if it was made from the same and all of it is there as it was written."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from bertdata.io import files
from bertdata.shards.contents import finished_manifest, mark_finished


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
