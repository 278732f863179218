"""A manifest names files of its own build alone, and it and a finished build are known to be as they were written."""

from __future__ import annotations

import argparse
import hashlib
import shutil
from pathlib import Path
from typing import Any

import pytest

from bertdata.cli import stats
from bertdata.errors import BertDataError, InputError, VerificationError
from bertdata.formats import export
from bertdata.inspect.report import report_html
from bertdata.io import files
from bertdata.shards import open_shards
from bertdata.shards.contents import check_names, finished_manifest, inside, mark_finished
from bertdata.shards.phases import phase_names
from bertdata.verify.build import verify
from tests.shards.damage import disagreements, edit

OUTSIDE = [
    "../evil.arrow",
    "/etc/passwd",
    "train/../../evil.arrow",
    "file:///evil.arrow",
    "train//x",
    ".",
    "",
    "a\\..\\b",
]


@pytest.mark.parametrize("name", [*OUTSIDE, 3, None, ["train"], "train/\0"])
def test_a_path_that_leads_out_of_the_build_is_refused(name: Any) -> None:
    with pytest.raises(InputError, match="which is not a path below its folder"):
        inside("corpus", name)


def figures(build: str) -> None:
    """Print the figures of a build."""
    parser = argparse.ArgumentParser()
    stats.add_arguments(parser)
    stats.run(parser.parse_args([build]))


def name_evil(build: Path) -> str:
    """Put a shard beside a build, and have the manifest name it."""
    shard = files.read_json(str(build / "manifest.json"))["splits"]["train"]["shards"][0]["file"]
    shutil.copy(build / shard, build.parent / "evil.arrow")
    edit(build / "manifest.json", lambda value: value["splits"]["train"]["shards"][0].update(file="../evil.arrow"))
    return "../evil.arrow"


@pytest.mark.parametrize(
    "read", [open_shards, verify, lambda build: export(str(build), "jsonl", f"{build.parent}/out")]
)
def test_a_manifest_that_names_a_file_outside_is_refused_everywhere(read: Any, own_build: Path) -> None:
    name_evil(own_build)
    with pytest.raises(InputError, match=r"names the file '\.\./evil\.arrow'"):
        read(own_build)


def test_other_names_in_a_manifest_are_confined_too(own_build: Path) -> None:
    edit(own_build / "manifest.json", lambda value: value["splits"].update({"../x": value["splits"]["train"]}))
    with pytest.raises(InputError, match=r"names the file '\.\./x'"):
        verify(own_build)
    with pytest.raises(InputError, match=r"names the phase '\.\./other'"):
        phase_names({"phases": ["128", "../other"]})


def test_a_changed_manifest_is_known_by_its_checksum(own_build: Path) -> None:
    path = own_build / "manifest.json"
    path.write_bytes(path.read_bytes().replace(b'"notes": []', b'"notes":  []'))
    verify(own_build)
    path.write_bytes(path.read_bytes().replace(b'"notes":  []', b'"notes": ["1"]'))
    with pytest.raises(InputError, match="its checksum is not that of its contents"):
        open_shards(own_build)
    [line] = disagreements(own_build)
    assert line.startswith("manifest.json: its checksum is not that of its contents")


def test_a_manifest_of_before_checksums_is_read(own_build: Path) -> None:
    path = own_build / "manifest.json"
    value = files.read_json(str(path))
    del value["checksum"], value["files"]
    files.write_json(str(path), value)
    assert len(open_shards(own_build)) > 0
    verify(own_build)


@pytest.mark.parametrize("value", [None, [], 3, "x", {}, {"splits": []}, {"splits": {"train": []}}, {"files": []}])
def test_a_manifest_of_another_shape_is_no_matter_of_the_names_in_it(value: Any) -> None:
    check_names(value, "manifest.json")


@pytest.mark.parametrize(
    ("splits", "words"),
    [
        ({"train": {}}, "KeyError"),
        ({"train": []}, "expected an object"),
        ({"train": 7}, "expected an object"),
        ({"train": {"shards": []}}, "names no shards"),
        ({"train": {"shards": 7}}, "expected a list"),
        ({"train": {"shards": [7]}}, "expected an object"),
    ],
)
def test_a_manifest_without_shards_is_told_in_words(splits: Any, words: str, own_build: Path) -> None:
    edit(own_build / "manifest.json", lambda value: value.update(splits=splits))
    with pytest.raises(InputError, match=words):
        open_shards(own_build)
    with pytest.raises(BertDataError):
        verify(own_build)


@pytest.mark.parametrize("digest", [7, ["x"], {}])
def test_a_digest_of_another_kind_is_told_in_words(digest: Any, own_build: Path) -> None:
    edit(own_build / "manifest.json", lambda value: value["splits"]["train"]["shards"][0].update(sha256=digest))
    with pytest.raises(InputError, match=r"does not say what the shards of train are \(TypeError: sha256 is"):
        open_shards(own_build)
    with pytest.raises(BertDataError):
        verify(own_build)


@pytest.mark.parametrize(
    "change",
    [
        {"sources": None},
        {"sources": {"books": 7}},
        {"sources": {"books": {"counts": {}, "drops": {"short": "x"}, "broken": []}}},
        {"mix": {"books": {}, "wikipedia": {}}},
        {"vocabulary": {}},
    ],
)
@pytest.mark.parametrize("read", [report_html, figures])
def test_values_of_another_kind_are_told_in_words(read: Any, change: dict[str, Any], own_build: Path) -> None:
    edit(own_build / "manifest.json", lambda value: value.update(change))
    with pytest.raises(InputError, match=r"manifest\.json: is not a whole manifest \(\w+Error: "):
        read(str(own_build))


@pytest.mark.parametrize("value", [None, {"README.md": None}, ["README.md"]])
def test_digests_of_files_of_another_kind_are_told_in_words(value: Any, own_build: Path) -> None:
    edit(own_build / "manifest.json", lambda manifest: manifest.update(files=value))
    with pytest.raises(BertDataError):
        verify(own_build)


@pytest.mark.parametrize("change", [{"epochs": "x"}, {"epochs": [None]}, {"sources": [7]}])
def test_sources_of_another_kind_are_told_in_words(change: dict[str, Any], own_build: Path) -> None:
    edit(own_build / "manifest.json", lambda manifest: manifest["info"].update(change))
    with pytest.raises(InputError, match="does not say which sources it was made of"):
        verify(own_build)


@pytest.mark.parametrize("name", ["vocab.txt", "tokenizer.json", "tokenizer_config.json"])
@pytest.mark.parametrize("change", ["cut", "edit", "delete"])
def test_every_file_of_the_tokenizer_is_compared(name: str, change: str, own_build: Path) -> None:
    path = own_build / "tokenizer" / name
    data = path.read_bytes()
    if change == "delete":
        path.unlink()
    else:
        path.write_bytes(data[: data.rindex(b"\n", 0, -1) + 1] if change == "cut" else data.replace(b"[CLS]", b"[cls]"))
    assert all(line.startswith("tokenizer") for line in disagreements(own_build))


def test_a_file_of_a_split_that_is_not_as_it_was_written_is_found(own_build: Path) -> None:
    path = own_build / "train" / "state.json"
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(VerificationError, match=r"train/state\.json: its SHA-256 is"):
        verify(own_build)


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
    manifest = finished_manifest(str(tmp_path), "mark")
    assert manifest is not None
    assert [shard["file"] for shard in manifest["splits"]["train"]["shards"]] == ["train/data-0.arrow"]
    assert finished_manifest(str(tmp_path), "other") is None


def test_a_finished_build_of_phases_has_the_manifest_of_each(tmp_path: Path) -> None:
    for name in ("128", "512"):
        (tmp_path / name).mkdir()
        files.write_json(str(tmp_path / name / "manifest.json"), {"rows": name})
    files.write_json(str(tmp_path / "manifest.json"), {"phases": ["128", "512"]})
    mark_finished(str(tmp_path), "mark")
    assert finished_manifest(str(tmp_path), "mark") == {"phases": {"128": {"rows": "128"}, "512": {"rows": "512"}}}
    files.write_json(str(tmp_path / "512" / "manifest.json"), {"rows": "513"})
    messages: list[str] = []
    assert finished_manifest(str(tmp_path), "mark", messages.append) is None
    assert messages == [f"{tmp_path / '512' / 'manifest.json'}: is missing or was changed: it is made again"]


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
    messages: list[str] = []
    assert finished_manifest(str(tmp_path), "mark", messages.append) is None
    assert messages[0].startswith(str(tmp_path / "train" / "data-0.arrow") + ": its SHA-256 is ")


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
