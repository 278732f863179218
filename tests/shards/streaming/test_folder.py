"""A cache folder: what is whole in it, what goes first, who waits for room, and what others leave in it."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bertdata.errors import OutputError
from bertdata.shards.cache import ShardFile
from bertdata.shards.streaming import CacheFolder
from bertdata.shards.streaming import folder as module

SIZE = 1000


def shard(name: str) -> ShardFile:
    return ShardFile(f"memory://shards/{name}", SIZE, hashlib.sha256(bytes_of(name)).hexdigest())


def bytes_of(name: str) -> bytes:
    return name.encode() * SIZE


def put(folder: CacheFolder, name: str) -> bool:
    return folder.fetch(shard(name), lambda path: void(Path(path).write_bytes(bytes_of(name))))


def void(_: object) -> None:
    """Return nothing of what was called for its effect."""


def test_a_shard_is_compared_again_only_where_somebody_wrote_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    digest = hashlib.file_digest

    def counted(file: Any, name: str) -> Any:
        read.append(file.name)
        return digest(file, name)

    monkeypatch.setattr(hashlib, "file_digest", counted)
    folder = CacheFolder(str(tmp_path), 10 * SIZE)
    put(folder, "a")
    for _ in range(3):
        memory = CacheFolder(str(tmp_path), 10 * SIZE).map(shard("a"))
        assert memory is not None
        assert memory[:] == bytes_of("a")
        del memory
    assert read == []
    path = Path(folder.path(shard("a")))
    path.write_bytes(bytes_of("a"))
    for _ in range(2):
        assert folder.map(shard("a")) is not None
    assert read == [str(path)]
    path.write_bytes(b"b" + bytes_of("a")[1:])
    assert folder.map(shard("a")) is None
    assert not path.exists()


def test_what_was_used_longest_ago_goes_first(tmp_path: Path) -> None:
    folder = CacheFolder(str(tmp_path), 3 * SIZE)
    for name in "abc":
        put(folder, name)
    for moment, name in enumerate("cab"):
        path = folder.path(shard(name))
        os.utime(path, ns=(moment, os.stat(path).st_mtime_ns))
    folder.map(shard("c"))
    put(folder, "d")
    assert [name for name in "abcd" if folder.has(shard(name))] == ["b", "c", "d"]


def test_the_state_changes_while_a_shard_comes_and_stays_where_nothing_does(tmp_path: Path) -> None:
    folder = CacheFolder(str(tmp_path), 3 * SIZE)
    states = []

    def slowly(path: str) -> None:
        with open(path, "wb") as file:
            for part in range(4):
                file.write(bytes_of("a")[part * SIZE // 4 : (part + 1) * SIZE // 4])
                file.flush()
                states.append(folder.state())

    folder.fetch(shard("a"), slowly)
    assert len(set(states)) == 4
    assert folder.state() == folder.state()


def test_a_list_of_needs_for_which_the_disk_is_full_does_not_hinder_others(tmp_path: Path) -> None:
    folder = CacheFolder(str(tmp_path), 2 * SIZE)

    class Full:
        """A file that takes 4 bytes, and no more."""

        def __init__(self, file: Any) -> None:
            self.file, self.room = file, 4

        def __getattr__(self, name: str) -> Any:
            return getattr(self.file, name)

        def write(self, data: Any) -> int:
            if not self.room:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self.room = 0
            return int(self.file.write(bytes(data[:4])))

    with folder.needs_file() as file:
        with pytest.raises(OutputError, match="No space left on device"):
            folder.write_needs(Full(file), ["a", "b"])  # type: ignore[arg-type]
        for name in "abc":
            assert put(CacheFolder(str(tmp_path), 2 * SIZE), name)
        folder.write_needs(file, [shard("d").sha256 or ""])
        [needs] = (tmp_path / "needs").iterdir()
        assert json.loads(needs.read_bytes()) == [shard("d").sha256]
    assert not list((tmp_path / "needs").iterdir())


def test_a_reader_waits_for_room_as_long_as_something_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the reader of a slow store waits for is longer than its patience."""
    now = 0.0
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now))
    folder = CacheFolder(str(tmp_path), SIZE)

    def slowly(path: str) -> None:
        nonlocal now
        patience = module.Patience(folder)
        with open(path, "wb") as file:
            for part in range(10):
                file.write(bytes_of("a")[part * SIZE // 10 : (part + 1) * SIZE // 10])
                file.flush()
                now += 0.6 * module.PATIENCE
                assert not put(CacheFolder(str(tmp_path), SIZE), "b")
                assert not patience.is_over()

    assert folder.fetch(shard("a"), slowly)
    held = folder.map(shard("a"))
    assert not put(folder, "b")
    patience = module.Patience(folder)
    assert not patience.is_over()
    now += 1.1 * module.PATIENCE
    assert patience.is_over()
    del held
    assert put(folder, "b")
