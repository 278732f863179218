"""A build at a URL is counted again shard by shard: each is asked for once, with no other on this machine meanwhile."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import fsspec
import pytest

from bertdata.errors import VerificationError
from bertdata.shards.cache import fetched
from bertdata.verify import claims
from bertdata.verify.build import verify
from tests.server import File, Server


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_over_http_each_shard_is_asked_for_once(static_build: Path, server: Server, folder: Path) -> None:
    pytest.importorskip("aiohttp", reason="lists of files over HTTP are fsspec's")
    for path in static_build.rglob("*"):
        if path.is_file():
            server.files[f"/{path.relative_to(static_build)}"] = File(path.read_bytes())
    assert verify(server.url) == verify(static_build)
    asked = Counter(path for path in server.paths() if path.endswith(".arrow"))
    assert set(asked.values()) == {1}
    assert list(folder.iterdir()) == []


def test_in_a_store_one_shard_at_a_time_is_on_disk_and_an_altered_one_is_named(
    static_build: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = fsspec.filesystem("memory")
    memory.put(str(static_build), "/verified-build", recursive=True)
    most: list[int] = []

    def counted(url: str, path: str) -> str:
        paths = fetched(url, path)
        most.append(len(list(folder.rglob("*.arrow"))))
        return paths

    monkeypatch.setattr(claims, "fetched", counted)
    assert verify("memory://verified-build") == verify(static_build)
    assert set(most) == {1}
    assert len(most) >= 2
    [name, *_] = sorted(memory.glob("/verified-build/train/*.arrow"))
    data = bytearray(memory.cat_file(name))
    data[len(data) // 2] ^= 1
    memory.pipe_file(name, bytes(data))
    with pytest.raises(VerificationError, match=r"train/data-00000-of-\d+.arrow: its SHA-256 is"):
        verify("memory://verified-build")
    assert list(folder.iterdir()) == []
