"""One file over HTTP: against a server on this machine that cuts, refuses and lies."""

from __future__ import annotations

import errno
import hashlib
import os
import random
import re
import socket
from pathlib import Path
from typing import Any

import pytest

from bertdata import __version__
from bertdata.errors import InputError, OutputError
from bertdata.io import http, http_body, http_request
from bertdata.io.http import Client
from bertdata.io.http_request import NotThereError
from tests.server import File, Server

DATA = random.Random(7).randbytes(3 << 20)
SHA1 = hashlib.sha1(DATA).hexdigest()


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def client(pauses: list[float]) -> Client:
    return Client(attempts=4, timeout=5.0, sleep=pauses.append, quiet=True)


def test_a_file_comes_whole_under_its_name_and_leaves_no_part(server: Server, client: Client, tmp_path: Path) -> None:
    server.files["/a.bin"] = File(DATA)
    target = tmp_path / "new" / "a.bin"
    assert client.fetch(f"{server.url}/a.bin", str(target), checksum=SHA1) == str(target)
    assert target.read_bytes() == DATA
    assert os.listdir(target.parent) == ["a.bin"]
    [(_, headers)] = server.requests
    assert headers["User-Agent"] == f"bertdata/{__version__}"
    assert "Range" not in headers


def test_a_cut_connection_is_gone_on_with_from_the_byte_where_it_was_cut(
    server: Server, client: Client, tmp_path: Path, pauses: list[float]
) -> None:
    server.files["/a.bin"] = File(DATA, faults=[1_500_000, 1_000_000])
    client.fetch(f"{server.url}/a.bin", str(tmp_path / "a.bin"))
    assert (tmp_path / "a.bin").read_bytes() == DATA
    assert [headers.get("Range") for _, headers in server.requests] == [None, "bytes=1500000-", "bytes=2500000-"]
    assert server.requests[1][1]["If-Range"] == '"one"'
    assert pauses == [1.0, 1.0, 0.0]


def test_a_cut_is_noticed_where_the_server_does_not_say_the_length(
    server: Server, client: Client, tmp_path: Path
) -> None:
    server.files["/a.bin"] = File(DATA, faults=[2_000_000], chunked=True)
    client.fetch(f"{server.url}/a.bin", str(tmp_path / "a.bin"))
    assert (tmp_path / "a.bin").read_bytes() == DATA
    assert len(server.requests) == 2


def test_a_part_of_an_earlier_run_is_gone_on_with(server: Server, client: Client, tmp_path: Path) -> None:
    server.files["/a.bin"] = File(DATA)
    (tmp_path / "a.bin.part").write_bytes(DATA[:1234])
    client.fetch(f"{server.url}/a.bin", str(tmp_path / "a.bin"), checksum=SHA1)
    assert (tmp_path / "a.bin").read_bytes() == DATA
    assert [headers.get("Range") for _, headers in server.requests] == ["bytes=1234-"]


def test_a_whole_part_of_an_earlier_run_only_needs_its_name(server: Server, client: Client, tmp_path: Path) -> None:
    server.files["/a.bin"] = File(DATA)
    (tmp_path / "a.bin.part").write_bytes(DATA)
    client.fetch(f"{server.url}/a.bin", str(tmp_path / "a.bin"), checksum=SHA1)
    assert (tmp_path / "a.bin").read_bytes() == DATA
    assert len(server.requests) == 1


def test_a_part_that_nothing_can_check_is_not_trusted(server: Server, client: Client, tmp_path: Path) -> None:
    server.files["/a.txt"] = File(b"new text")
    (tmp_path / "a.txt.part").write_bytes(b"old")
    client.fetch(f"{server.url}/a.txt", str(tmp_path / "a.txt"))
    assert (tmp_path / "a.txt").read_bytes() == b"new text"


@pytest.mark.parametrize("part", [b"not what the server has", DATA + b"longer"])
def test_a_part_of_another_file_is_thrown_away_and_fetched_from_the_start(
    server: Server, client: Client, tmp_path: Path, part: bytes
) -> None:
    server.files["/a.bin"] = File(DATA)
    (tmp_path / "a.bin.part").write_bytes(part)
    client.fetch(f"{server.url}/a.bin", str(tmp_path / "a.bin"), checksum=SHA1)
    assert (tmp_path / "a.bin").read_bytes() == DATA


def test_a_server_without_ranges_sends_everything_again(server: Server, client: Client, tmp_path: Path) -> None:
    server.files["/a.bin"] = File(DATA, faults=[1000], ranges=False)
    client.fetch(f"{server.url}/a.bin", str(tmp_path / "a.bin"))
    assert (tmp_path / "a.bin").read_bytes() == DATA


def test_a_file_that_changed_in_the_middle_is_fetched_from_the_start(server: Server, tmp_path: Path) -> None:
    server.files["/a.bin"] = File(DATA, faults=[1000])

    def change(_: float) -> None:
        server.files["/a.bin"] = File(DATA[::-1], etag='"two"')

    Client(sleep=change, quiet=True).fetch(f"{server.url}/a.bin", str(tmp_path / "a.bin"))
    assert (tmp_path / "a.bin").read_bytes() == DATA[::-1]


def test_another_range_than_asked_for_is_not_pasted_in(server: Server, client: Client, tmp_path: Path) -> None:
    server.files["/a.bin"] = File(DATA, faults=[1000], range_shift=5)
    client.fetch(f"{server.url}/a.bin", str(tmp_path / "a.bin"))
    assert (tmp_path / "a.bin").read_bytes() == DATA


def test_a_wrong_checksum_is_an_error_that_leaves_nothing_behind(
    server: Server, client: Client, tmp_path: Path
) -> None:
    server.files["/a.bin"] = File(DATA[:-1] + b"?")
    with pytest.raises(InputError, match=rf"a\.bin: has the SHA-1 [0-9a-f]{{40}}, and the server's list says {SHA1}"):
        client.fetch(f"{server.url}/a.bin", str(tmp_path / "a.bin"), checksum=SHA1)
    assert os.listdir(tmp_path) == []


def test_a_file_that_is_there_is_checked_and_not_asked_for(server: Server, client: Client, tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(DATA)
    client.fetch(f"{server.url}/a.bin", str(tmp_path / "a.bin"), checksum=SHA1)
    (tmp_path / "a.bin").write_bytes(b"damaged")
    with pytest.raises(InputError, match=r"exists, but has the SHA-1 .* delete it"):
        client.fetch(f"{server.url}/a.bin", str(tmp_path / "a.bin"), checksum=SHA1)
    assert server.requests == []


def test_a_busy_server_is_asked_again_after_growing_pauses(
    server: Server, client: Client, tmp_path: Path, pauses: list[float]
) -> None:
    server.files["/a.bin"] = File(b"x", faults=[(503, {}), (500, {}), (502, {})])
    client.fetch(f"{server.url}/a.bin", str(tmp_path / "a.bin"))
    assert pauses == [1.0, 2.0, 4.0, 0.0]


def test_the_server_decides_how_long_to_wait(
    server: Server, client: Client, tmp_path: Path, pauses: list[float]
) -> None:
    server.files["/a.bin"] = File(b"x", faults=[(429, {"Retry-After": "9"})])
    client.fetch(f"{server.url}/a.bin", str(tmp_path / "a.bin"))
    assert pauses == [9.0, 0.0]
    server.files["/b.bin"] = File(b"x", faults=[(429, {"Retry-After": "600"}), (429, {"Retry-After": "601"})])
    with pytest.raises(InputError, match="come back in 601 seconds"):
        client.fetch(f"{server.url}/b.bin", str(tmp_path / "b.bin"))
    assert pauses == [9.0, 0.0, 600.0]


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504])
def test_an_answer_that_may_pass_is_asked_for_again(
    server: Server, client: Client, tmp_path: Path, pauses: list[float], status: int
) -> None:
    server.files["/a.bin"] = File(b"x", faults=[(status, {})])
    client.fetch(f"{server.url}/a.bin", str(tmp_path / "a.bin"))
    assert pauses == [1.0, 0.0]


@pytest.mark.parametrize("status", [400, 401, 405, 424, 501])
def test_an_answer_that_will_not_pass_is_an_error_at_once(
    server: Server, client: Client, tmp_path: Path, status: int
) -> None:
    server.files["/a.bin"] = File(b"x", faults=[(status, {})])
    with pytest.raises(InputError, match=rf"the server refused \(HTTP {status}"):
        client.fetch(f"{server.url}/a.bin", str(tmp_path / "a.bin"))


def test_eight_tries_wait_twice_as_long_each_time_up_to_a_minute(
    server: Server, tmp_path: Path, pauses: list[float]
) -> None:
    server.files["/a.bin"] = File(b"x", faults=[(503, {})] * 99)
    with pytest.raises(InputError, match="gave up after 8 tries"):
        Client(sleep=pauses.append, quiet=True).fetch(f"{server.url}/a.bin", str(tmp_path / "a.bin"))
    assert pauses == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0]


def test_giving_up_names_the_reason_and_keeps_the_part(server: Server, client: Client, tmp_path: Path) -> None:
    server.files["/a.bin"] = File(DATA, faults=[1000, (503, {}), (503, {}), (503, {}), (503, {})])
    with pytest.raises(InputError, match=r"gave up after 4 tries without progress \(HTTP 503"):
        client.fetch(f"{server.url}/a.bin", str(tmp_path / "a.bin"), checksum=SHA1)
    assert os.listdir(tmp_path) == ["a.bin.part"]
    assert (tmp_path / "a.bin.part").read_bytes() == DATA[:1000]


def test_a_missing_file_is_one_request_and_leaves_nothing(server: Server, client: Client, tmp_path: Path) -> None:
    with pytest.raises(NotThereError, match=r"nope: is not there \(HTTP 404\)"):
        client.fetch(f"{server.url}/nope", str(tmp_path / "nope"))
    assert len(server.requests) == 1
    assert os.listdir(tmp_path) == []


def test_a_refusal_is_not_tried_again(server: Server, client: Client, tmp_path: Path) -> None:
    server.files["/a.bin"] = File(b"x", faults=[(401, {})])
    with pytest.raises(InputError, match=r"refused \(HTTP 401"):
        client.fetch(f"{server.url}/a.bin", str(tmp_path / "a.bin"))
    assert len(server.requests) == 1


def test_a_web_page_is_not_taken_for_the_file(server: Server, client: Client, tmp_path: Path) -> None:
    server.files["/a.txt"] = File(b"<html>Log in</html>", content_type="text/html; charset=utf-8")
    with pytest.raises(InputError, match="web page"):
        client.fetch(f"{server.url}/a.txt", str(tmp_path / "a.txt"))
    assert os.listdir(tmp_path) == []


def test_a_server_that_is_not_there_is_an_error_with_the_address(client: Client, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/a.bin"
    with pytest.raises(InputError, match=rf"{url}: the server cannot be reached \(Connection refused\)"):
        client.fetch(url, str(tmp_path / "a.bin"))


def no_network(kind: str, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Break the network in one way; returns the timeouts that connections were tried with."""
    timeouts: list[float] = []

    def lookup(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    def connect(address: object, timeout: float, *_: object) -> None:
        timeouts.append(timeout)
        raise TimeoutError("timed out") if kind == "silence" else OSError(errno.ENETUNREACH, "Network is unreachable")

    if kind == "no name":
        monkeypatch.setattr(socket, "getaddrinfo", lookup)
    else:
        monkeypatch.setattr(socket, "create_connection", connect)
    return timeouts


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("no name", "Temporary failure in name resolution"),
        ("unreachable", "Network is unreachable"),
        ("silence", "timed out"),
    ],
)
def test_without_a_network_there_is_one_message_at_once(
    kind: str,
    reason: str,
    pauses: list[float],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    timeouts = no_network(kind, monkeypatch)
    client = Client(sleep=pauses.append)
    for scheme in ("http", "https"):
        for ask in (client.read, client.size, lambda url: client.fetch(url, str(tmp_path / "a"))):
            with pytest.raises(InputError, match=rf"cannot be reached \({reason}\); check the network, .* `mirror`"):
                ask(f"{scheme}://dumps.example.org/a")
    assert (pauses, os.listdir(tmp_path)) == ([], [])
    assert "again in" not in capsys.readouterr().err
    assert set(timeouts) <= {10.0}


def test_a_network_that_fails_later_is_waited_for(
    server: Server, client: Client, pauses: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.files["/a.bin"] = File(DATA, faults=[1000])
    monkeypatch.setattr(server, "requests", Cutting(monkeypatch))
    with pytest.raises(InputError, match=r"gave up after 4 tries without progress \(Network is unreachable\)"):
        client.fetch(f"{server.url}/a.bin", str(tmp_path / "a.bin"), checksum=SHA1)
    assert pauses == [1.0, 2.0, 4.0, 8.0][: len(pauses)]
    assert (tmp_path / "a.bin.part").stat().st_size == 1000


class Cutting(list[tuple[str, dict[str, str]]]):
    """Requests, with the first of which the network goes away."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self.monkeypatch = monkeypatch

    def append(self, item: tuple[str, dict[str, str]]) -> None:
        super().append(item)
        no_network("unreachable", self.monkeypatch)


def test_connecting_may_take_ten_seconds_and_an_answer_the_timeout(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, timeouts = socket.create_connection, []

    def connect(address: tuple[str, int], timeout: float, *rest: Any) -> socket.socket:
        timeouts.append(timeout)
        return original(address, timeout, *rest)

    monkeypatch.setattr(socket, "create_connection", connect)
    for patience in (33.0, 5.0):
        connection = http_request._QuickConnect("127.0.0.1", int(server.url.rpartition(":")[2]), timeout=patience)
        connection.connect()
        assert (connection.timeout, connection.sock.gettimeout()) == (patience, patience)
        connection.close()
    assert timeouts == [10.0, 5.0]


def test_a_sha256_is_known_by_its_length(server: Server, client: Client, tmp_path: Path) -> None:
    server.files["/a.bin"] = File(DATA)
    sha256 = hashlib.sha256(DATA).hexdigest()
    client.fetch(f"{server.url}/a.bin", str(tmp_path / "a.bin"), checksum=sha256)
    with pytest.raises(InputError, match=rf"has the SHA-256 {sha256}, and the server's list says {'0' * 64}"):
        client.fetch(f"{server.url}/a.bin", str(tmp_path / "b.bin"), checksum="0" * 64)
    assert os.listdir(tmp_path) == ["a.bin"]


def test_the_user_agent_has_the_contact_that_is_given(server: Server) -> None:
    server.files["/a"] = File(b"x")
    Client(quiet=True, contact="me@example.org").read(f"{server.url}/a")
    [(_, headers)] = server.requests
    assert headers["User-Agent"] == f"bertdata/{__version__} (me@example.org)"


def test_the_size_of_a_file_is_asked_for_without_its_bytes(server: Server, client: Client) -> None:
    server.files["/a"] = File(DATA)
    assert client.size(f"{server.url}/a") == len(DATA)
    assert server.requests == []
    with pytest.raises(NotThereError):
        client.size(f"{server.url}/b")


def test_no_room_is_said_before_anything_is_fetched(
    server: Server, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.files["/a.bin"] = File(DATA)
    usage = type("Usage", (), {"free": 1000})
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    with pytest.raises(OutputError, match=f"{len(DATA):,} bytes are missing, 1,000 are free"):
        client.fetch(f"{server.url}/a.bin", str(tmp_path / "a.bin"))
    assert os.listdir(tmp_path) == []


def test_a_full_disk_is_an_error_of_the_output_and_not_tried_again(
    server: Server, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pauses: list[float]
) -> None:
    server.files["/a.bin"] = File(DATA)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OutputError, match="No space left on device"):
        client.fetch(f"{server.url}/a.bin", str(tmp_path / "a.bin"))
    assert pauses == []


def test_two_downloads_of_one_file_do_not_mix(server: Server, client: Client, tmp_path: Path) -> None:
    server.files["/a.bin"] = File(DATA)
    path = str(tmp_path / "a.bin")
    with http._open_part(path + ".part"), pytest.raises(OutputError, match="another download"):
        client.fetch(f"{server.url}/a.bin", path, checksum=SHA1)


def test_a_list_that_does_not_end_is_refused(server: Server, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "LARGEST_LIST", 1000)
    monkeypatch.setattr(http_body, "LARGEST_LIST", 1000)
    for chunked in (False, True):
        server.files["/sums.txt"] = File(DATA, chunked=chunked)
        with pytest.raises(InputError, match="check `mirror`"):
            client.read(f"{server.url}/sums.txt")


def test_progress_and_retries_are_shown_on_stderr(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.files["/a.bin"] = File(DATA, faults=[1000])
    Client(sleep=lambda _: None).fetch(f"{server.url}/a.bin", str(tmp_path / "a.bin"))
    shown = capsys.readouterr()
    assert "a.bin: the connection was cut at byte 1,000 of 3,145,728; again in 1 s" in shown.err
    assert re.search(r"^\d\d:\d\d:\d\d a.bin +3.1 MB in ", shown.err, re.M)
    assert shown.out == ""


def test_progress_of_a_file_of_unknown_length_is_shown(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.files["/a.bin"] = File(DATA, chunked=True)
    Client(sleep=lambda _: None).fetch(f"{server.url}/a.bin", str(tmp_path / "a.bin"))
    assert " 3.1 MB in " in capsys.readouterr().err


def test_a_redirect_is_followed_over_http(server: Server, client: Client, tmp_path: Path) -> None:
    server.files["/a.bin"] = File(b"", faults=[(302, {"Location": "/b.bin"})])
    server.files["/b.bin"] = File(DATA)
    client.fetch(f"{server.url}/a.bin", str(tmp_path / "a.bin"), checksum=SHA1)
    assert (tmp_path / "a.bin").read_bytes() == DATA


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("address", ["ftp://127.0.0.1/a.bin", "FTP://127.0.0.1/a.bin", "file:///etc/passwd", "data:,x"])
def test_a_redirect_to_anything_but_http_is_refused_at_once(
    server: Server, client: Client, tmp_path: Path, pauses: list[float], address: str, status: int
) -> None:
    server.files["/a.bin"] = File(b"", faults=[(status, {"Location": address})])
    with pytest.raises(InputError, match=r"(?i)/a.bin: the server .*(ftp|file|data):"):
        client.fetch(f"{server.url}/a.bin", str(tmp_path / "a.bin"))
    assert os.listdir(tmp_path) == []
    assert pauses == []


@pytest.mark.parametrize("address", [f"http://{'a' * 70}.com/", "http://[/", "http://127.0.0.1:x/"])
def test_a_redirect_to_no_address_is_refused(server: Server, client: Client, tmp_path: Path, address: str) -> None:
    server.files["/a.bin"] = File(b"", faults=[(302, {"Location": address})] * 9)
    with pytest.raises(InputError, match=r"/a\.bin: "):
        client.fetch(f"{server.url}/a.bin", str(tmp_path / "a.bin"))


def test_a_redirect_to_itself_ends(server: Server, client: Client, tmp_path: Path) -> None:
    server.files["/a.bin"] = File(b"", faults=[(302, {"Location": "/a.bin"})] * 99)
    with pytest.raises(InputError, match="HTTP 302"):
        client.fetch(f"{server.url}/a.bin", str(tmp_path / "a.bin"))


@pytest.mark.parametrize("length", ["²", "-1", "1e3", "9" * 5000])
def test_a_length_that_is_no_number_is_as_none(server: Server, client: Client, tmp_path: Path, length: str) -> None:
    server.files["/a.bin"] = File(DATA, faults=[(200, {"Content-Length": length})])
    with pytest.raises(InputError, match="SHA-1"):
        client.fetch(f"{server.url}/a.bin", str(tmp_path / "a.bin"), checksum=SHA1)
