"""Several files at once: three connections, room before the start, and a stop that loses nothing."""

from __future__ import annotations

import _thread
import fcntl
import hashlib
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from bertdata.errors import InputError, OutputError
from bertdata.io.downloads import RemoteFile, fetch_all
from bertdata.io.http import Client
from tests.server import File, Server, serve

NAMES = [f"{letter}.bin" for letter in "abcdefg"]


def content(name: str) -> bytes:
    return name.encode() * 40_000


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serve() as running:
        running.files |= {f"/{name}": File(content(name)) for name in NAMES}
        yield running


@pytest.fixture
def client() -> Client:
    return Client(attempts=3, timeout=5.0, sleep=lambda _: None)


def wanted(server: Server, folder: Path) -> list[RemoteFile]:
    return [
        RemoteFile(f"{server.url}/{name}", str(folder / name), hashlib.sha256(content(name)).hexdigest())
        for name in NAMES
    ]


def test_three_files_come_at_once_and_no_more(server: Server, client: Client, tmp_path: Path) -> None:
    for file in server.files.values():
        file.pause = 0.1
    paths = fetch_all(wanted(server, tmp_path / "new"), client, "x")
    assert paths == [str(tmp_path / "new" / name) for name in NAMES]
    assert [Path(path).read_bytes() for path in paths] == [content(name) for name in NAMES]
    assert server.most_at_once == 3


def test_what_is_to_come_is_said_first_and_one_bar_shows_all(
    server: Server, client: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.bin").write_bytes(content("a.bin"))
    (tmp_path / "b.bin.part").write_bytes(content("b.bin")[:50_000])
    fetch_all(wanted(server, tmp_path), client, "xwiki 2026-09-01")
    shown = capsys.readouterr()
    assert "xwiki 2026-09-01: 7 files, 1.1 MB to fetch, " in shown.err
    assert " free; 1 are there already, and are checked\n" in shown.err
    assert "xwiki 2026-09-01, 7 of 7 files" in shown.err
    assert re.search(r"7 of 7 files  1.2 MB in .*, 50.0 kB of it before\n", shown.err)
    assert shown.out == ""


def test_a_server_that_tells_no_sizes_is_asked_for_the_files(
    server: Server, client: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.refuses_head = True
    paths = fetch_all(wanted(server, tmp_path), client, "x")
    assert [Path(path).read_bytes() for path in paths] == [content(name) for name in NAMES]
    assert "x: 7 files, 0 B and 7 files of unknown size to fetch, " in capsys.readouterr().err


def test_too_little_room_is_refused_before_anything_is_fetched(
    server: Server, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 999_000}))
    with pytest.raises(OutputError, match=r"1\.4 MB are to be fetched, 999\.0 kB are free"):
        fetch_all(wanted(server, tmp_path / "new"), client, "x")
    assert (server.requests, os.listdir(tmp_path)) == ([], [])


def test_cuts_pauses_and_busy_servers_end_in_whole_files(server: Server, tmp_path: Path) -> None:
    pauses: list[float] = []
    server.files["/a.bin"].faults = [1000, 70_000]
    server.files["/b.bin"].faults = [(429, {"Retry-After": "9"}), 50]
    server.files["/c.bin"].faults = [(503, {}), (503, {})]
    fetch_all(wanted(server, tmp_path), Client(attempts=3, sleep=pauses.append, quiet=True), "x")
    assert {name: (tmp_path / name).read_bytes() for name in NAMES} == {name: content(name) for name in NAMES}
    assert sorted(pause for pause in pauses if pause) == [1.0, 1.0, 1.0, 1.0, 2.0, 9.0]
    ranges = [headers.get("Range") for path, headers in server.requests if path == "/a.bin"]
    assert ranges == [None, "bytes=1000-", "bytes=71000-"]


def test_a_failure_ends_all_and_the_next_call_goes_on(
    server: Server, client: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.refuses_head = True  # without sizes, what has come does not tell that it is not all
    server.files["/a.bin"].data = content("b.bin")
    for name in NAMES[1:]:
        server.files[f"/{name}"].pause = 0.5
    with pytest.raises(InputError, match=r"/a\.bin: has the SHA-256 .* the download was deleted"):
        fetch_all(wanted(server, tmp_path), client, "x")
    assert not {"a.bin", "a.bin.part", "g.bin"} & set(os.listdir(tmp_path))
    assert re.search(r"x, \d of 7 files +stopped after ", capsys.readouterr().err)
    for name in NAMES:
        server.files[f"/{name}"] = File(content(name))
    assert len(fetch_all(wanted(server, tmp_path), client, "x")) == 7


def test_an_interrupt_ends_all_and_the_next_call_goes_on(server: Server, client: Client, tmp_path: Path) -> None:
    for file in server.files.values():
        file.pause = 0.6
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        fetch_all(wanted(server, tmp_path), client, "x")
    assert {path.name.removesuffix(".part") for path in tmp_path.iterdir()} == set(NAMES[:3])
    for (
        path
    ) in tmp_path.iterdir():  # a loaded machine may take longer to end a connection than `fetch_all` waits for it
        with path.open("rb") as part:
            fcntl.flock(part, fcntl.LOCK_EX)
    server.requests.clear()
    for file in server.files.values():
        file.pause = 0.0
    fetch_all(wanted(server, tmp_path), client, "x")
    assert {name: (tmp_path / name).read_bytes() for name in NAMES} == {name: content(name) for name in NAMES}
    assert {path[1:] for path, headers in server.requests if "Range" in headers} <= set(NAMES[:3])
    assert {path[1:] for path, headers in server.requests if "Range" not in headers} == set(NAMES[3:])
