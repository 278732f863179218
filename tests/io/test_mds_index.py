"""Sizes and hashes of MDS files, against hashlib, xxhash and the writer of MosaicML Streaming."""

from __future__ import annotations

import hashlib
import importlib
import json
import logging
import sys
from pathlib import Path
from typing import Any

import pytest

from bertdata.errors import InputError
from bertdata.io.mds_index import check_hashes
from tests.sources.mds_files import write_mds


def indexed(folder: Path, ending: str = "", **hashes: str) -> Path:
    """Write an MDS file and an index that names it, and return the file."""
    path = Path(write_mds(folder / f"shard.00000.mds{ending}", {"text": ["salt", "stone"]}))
    about = {"basename": path.name, "bytes": path.stat().st_size, "hashes": hashes}
    shard = {"format": "mds", "raw_data": {"basename": "shard.00000.mds", "bytes": 1, "hashes": {}}, "zip_data": None}
    shard |= {"zip_data" if ending else "raw_data": about}
    (folder / "index.json").write_text(json.dumps({"version": 2, "shards": [{"raw_data": None}, shard]}))
    return path


def digest_of(folder: Path, algorithm: str, ending: str = "") -> str:
    """Return the hash of the file that `indexed` writes."""
    data = indexed(folder, ending).read_bytes()
    make: Any = getattr(hashlib, algorithm, None) or getattr(pytest.importorskip("xxhash"), algorithm)
    return str(make(data).hexdigest())


@pytest.mark.parametrize("ending", ["", ".zstd"])
@pytest.mark.parametrize("algorithm", ["sha1", "sha256", "blake2b", "sha3_256", "md5", "xxh64", "xxh128"])
def test_a_file_with_another_hash_than_its_index_says_is_refused_by_its_name(
    algorithm: str, ending: str, tmp_path: Path
) -> None:
    path = indexed(tmp_path, ending, sha256=digest_of(tmp_path, "sha256", ending))
    check_hashes(str(path))
    path = indexed(tmp_path, ending, **{algorithm: digest_of(tmp_path, algorithm, ending)})
    check_hashes(str(path))
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(InputError, match=rf"shard\.00000\.mds.*: its {algorithm} is [0-9a-f]+, and index\.json beside"):
        check_hashes(str(path))


def test_another_size_is_refused_without_hashes(tmp_path: Path) -> None:
    path = indexed(tmp_path)
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(InputError, match=r"has \d+ bytes, and index\.json beside it says \d+; get the file again"):
        check_hashes(str(path))


def test_a_file_that_no_index_names_is_taken(tmp_path: Path) -> None:
    path = indexed(tmp_path)
    other = Path(write_mds(tmp_path / "shard.00001.mds", {"text": ["salt"]}))
    check_hashes(str(other))
    (tmp_path / "index.json").unlink()
    path.write_bytes(path.read_bytes() + b"x")
    check_hashes(str(path))


def test_an_index_that_is_written_again_is_read_again(tmp_path: Path) -> None:
    path = indexed(tmp_path)
    check_hashes(str(path))
    indexed(tmp_path, sha256="0" * 64)
    with pytest.raises(InputError, match="its sha256 is "):
        check_hashes(str(path))


def test_hashes_that_nothing_computes_are_named_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xxhash", None)
    path = indexed(tmp_path, xxh3_64="0", whirlpool7="1", sha256=digest_of(tmp_path, "sha256"))
    with caplog.at_level(logging.WARNING):
        check_hashes(str(path))
        check_hashes(str(path))
    (message,) = caplog.messages
    assert "has hashes of whirlpool7, xxh3_64, which are not compared" in message


def test_a_hash_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = indexed(tmp_path, sha256=7)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"index\.json: has a hash of shard\.00000\.mds that is no text"):
        check_hashes(str(path))


@pytest.mark.parametrize("compression", [None, "zstd:3", "gz"])
def test_the_hashes_that_mosaicml_streaming_writes_are_those_compared(compression: str | None, tmp_path: Path) -> None:
    pytest.importorskip("streaming", reason="writing MDS by its own writer needs mosaicml-streaming")
    writer: Any = importlib.import_module("streaming").MDSWriter
    hashes = ["blake2s", "sha256", "xxh3_64"]
    settings = {"out": str(tmp_path), "columns": {"text": "str"}, "compression": compression, "hashes": hashes}
    with writer(**settings, size_limit=200) as out:
        for number in range(40):
            out.write({"text": f"the salt {number}"})
    written = sorted(tmp_path.glob("shard.*"))
    assert len(written) > 2
    for path in written:
        check_hashes(str(path))
        data = path.read_bytes()
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 255]))
        with pytest.raises(InputError, match=rf"{path.name}: its (sha256|xxh3_64|blake2s) is "):
            check_hashes(str(path))
