"""`bertdata verify --piece-bytes` writes digests of pieces once a build is verified; verify compares those there."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import fsspec
import pytest

from bertdata.cli.main import dispatch
from bertdata.engine.fingerprints import is_sealed
from bertdata.errors import ConfigError, VerificationError
from bertdata.io import files
from bertdata.loader import ShardExamples
from bertdata.shards import open_shards
from bertdata.shards.contents import FINISHED, finished_manifest, mark_finished
from bertdata.shards.pieces import read_pieces
from bertdata.verify.build import verify
from tests.loader.streamed import batches_of, digests
from tests.verify.test_unbuilt import task_data


@pytest.fixture
def build(dynamic_build: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(dynamic_build, tmp_path / "build"))


def shards_of(build: Path) -> dict[str, bytes]:
    return {str(path.relative_to(build)): path.read_bytes() for path in build.rglob("*.arrow")}


def manifest_of(build: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((build / "manifest.json").read_text())
    return manifest


def test_pieces_are_written_and_no_shard_changes(build: Path) -> None:
    before, manifest = shards_of(build), manifest_of(build)
    assert read_pieces(str(build), "train", manifest) == {}
    rows = verify(build)
    assert verify(build, piece_bytes=1) == rows
    assert shards_of(build) == before
    after = manifest_of(build)
    assert is_sealed(after) == is_sealed(manifest)
    for split, entry in after["splits"].items():
        pieces = read_pieces(str(build), split, after)
        assert [*pieces] == [shard["file"] for shard in entry["shards"]]
        for shard in entry["shards"]:
            assert sum(piece.size for piece in pieces[shard["file"]]) == shard["bytes"]
    assert verify(build) == rows
    names = [name for name in after["files"] if name.startswith("pieces/")]
    assert sorted(names) == sorted(f"pieces/{split}.json" for split in after["splits"])
    del after["files"], after["checksum"], manifest["files"], manifest["checksum"]
    assert after == manifest
    assert open_shards(build).identity == open_shards(build).identity


def test_a_build_at_a_url_gets_them_too_and_is_streamed_by_them(build: Path, tmp_path: Path) -> None:
    fsspec.filesystem("memory").put(str(build), "/cut-build", recursive=True)
    assert verify("memory://cut-build", piece_bytes=1) == verify(build)
    streamed = ShardExamples("memory://cut-build/train", cache=tmp_path / "cache", cache_bytes=1e9, by_pieces=True)
    verify(build, piece_bytes=1)
    local = ShardExamples(build / "train", by_pieces=True)
    assert digests(batches_of(streamed, shuffle_window=1)) == digests(batches_of(local, shuffle_window=1))
    assert verify("memory://cut-build") == verify(build)


def test_labelled_shards_get_them_too(tmp_path: Path) -> None:
    data = task_data(tmp_path, "classification")
    before = verify(data)
    assert dispatch(["verify", str(data), "--piece-bytes", "1e6", "--quiet"]) == 0
    assert read_pieces(str(data), "train", manifest_of(data))
    assert verify(data) == before


@pytest.mark.parametrize("change", ["missing", "text", "sizes", "rows", "digest"])
def test_pieces_that_are_not_those_of_the_shards_are_named_and_can_be_written_again(change: str, build: Path) -> None:
    rows = verify(build, piece_bytes=1)
    place, manifest = build / "pieces/train.json", manifest_of(build)
    content = json.loads(place.read_text())
    first = next(iter(content["shards"].values()))["pieces"]
    if change == "missing":
        place.unlink()
    elif change == "text":
        place.write_text("no pieces")
    else:
        value = {"sizes": first[0][0] - 8, "rows": first[0][1] - 1, "digest": "0" * 64}[change]
        first[0][["sizes", "rows", "digest"].index(change)] = value
        if change == "sizes":
            first.append([8, 0, "0" * 64])
        if change == "rows":
            first.append([first[0][0] - 8, 1, "0" * 64])
            first[0][0] = 8
        place.write_text(json.dumps(content))
        manifest["files"]["pieces/train.json"] = files.sha256(str(place))
        from bertdata.engine.fingerprints import sealed

        (build / "manifest.json").write_text(json.dumps(sealed(manifest)))
    with pytest.raises(VerificationError, match=r"pieces/train.json: |the [\d,]+ bytes from 0 on"):
        verify(build)
    assert verify(build, piece_bytes=1) == rows
    assert verify(build) == rows


def test_a_finished_build_stays_one(build: Path) -> None:
    mark_finished(str(build), "these settings")
    verify(build, piece_bytes=1)
    assert finished_manifest(str(build), "these settings") == manifest_of(build)
    assert json.loads((build / FINISHED).read_text())["fingerprint"] == "these settings"


def test_a_build_that_does_not_verify_gets_none(build: Path) -> None:
    path = next(build.glob("train/*.arrow"))
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)
    with pytest.raises(VerificationError, match="SHA-256"):
        verify(build, piece_bytes=1)
    assert not (build / "pieces").exists()


@pytest.mark.parametrize("number", [0, -1, 1e13, float("nan"), float("inf")])
def test_bytes_that_are_none_are_refused(number: float, build: Path) -> None:
    with pytest.raises(ConfigError, match=r"piece_bytes` is"):
        verify(build, piece_bytes=number)
