"""Content File Exports from a server that is slow, busy, unfinished, wrong and changing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bertdata.cli.main import dispatch
from bertdata.errors import ConfigError, InputError, OutputError
from bertdata.io.http import Client
from bertdata.sources.download import wikipedia
from bertdata.sources.wikipedia.dump.exports import check_folders
from tests.server import File, Server
from tests.sources.test_download import add_dump, add_listing
from tests.sources.wikipedia.exports import DATE, export, sha256sums

FOLDER = "/other/mediawiki_content_current/xxwiki"
FILES = {name.replace("xwiki", "xxwiki"): data for name, data in export().items()}
LARGEST = max(FILES, key=lambda name: len(FILES[name]))


@pytest.fixture
def client() -> Client:
    return Client(attempts=3, timeout=5.0, sleep=lambda _: None, quiet=True)


def path_of(name: str, date: str = DATE) -> str:
    return f"{FOLDER}/{date}/xml/bzip2/{name}"


def add_export(server: Server, date: str = DATE, *, finished: bool = True) -> dict[str, bytes]:
    """Put an export on the server, and list it; returns its files."""
    files = {name.replace(DATE, date): data for name, data in FILES.items()}
    for name, data in {**files, "SHA256SUMS": sha256sums(files), **({"_SUCCESS": b""} if finished else {})}.items():
        server.files[path_of(name, date)] = File(data)
    listed = server.files.setdefault(f"{FOLDER}/", File(b'<a href="../">../</a>\n', content_type="text/html"))
    listed.data += f'<a href="{date}/">{date}/</a>\n'.encode()
    return files


def fetch(server: Server, folder: Path, client: Client, **settings: str) -> list[str]:
    return wikipedia("xx", str(folder), client, mirror=server.url, **settings)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_an_export_comes_whole_with_its_sums_and_its_mark(server: Server, client: Client, tmp_path: Path) -> None:
    add_export(server)
    paths = fetch(server, tmp_path / "new", client)
    assert contents(tmp_path / "new") == {**FILES, "SHA256SUMS": sha256sums(FILES), "_SUCCESS": b""}
    assert [os.path.basename(path) for path in paths] == [*FILES, "SHA256SUMS", "_SUCCESS"]
    assert check_folders(paths) == []


def test_the_newest_finished_export_is_taken(server: Server, client: Client, tmp_path: Path) -> None:
    for date, finished in (("2026-07-01", True), ("2026-08-01", True), (DATE, False)):
        add_export(server, date, finished=finished)
    assert os.path.basename(fetch(server, tmp_path, client)[0]).startswith("xxwiki-2026-08-01-")


def test_an_export_without_sums_is_not_finished(server: Server, client: Client, tmp_path: Path) -> None:
    add_export(server, "2026-08-01")
    add_export(server)
    server.files[path_of("SHA256SUMS")] = File(b"\n")
    assert os.path.basename(fetch(server, tmp_path, client)[0]).startswith("xxwiki-2026-08-01-")


@pytest.mark.parametrize("date", ["2026-08-01", "20260801"])
def test_a_date_is_taken_in_both_spellings(server: Server, client: Client, tmp_path: Path, date: str) -> None:
    add_export(server, "2026-08-01")
    add_export(server)
    assert os.path.basename(fetch(server, tmp_path, client, date=date)[0]).startswith("xxwiki-2026-08-01-")


def test_a_server_that_lists_nothing_is_asked_for_the_last_months(
    server: Server, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_export(server, "2026-08-01")
    del server.files[f"{FOLDER}/"]
    dates = ["2026-09-01", "2026-08-01"]
    monkeypatch.setattr("bertdata.sources.wikipedia.dump.published._first_days", lambda _: dates)
    assert os.path.basename(fetch(server, tmp_path, client)[0]).startswith("xxwiki-2026-08-01-")


def test_without_an_export_the_legacy_dump_is_taken(server: Server, client: Client, tmp_path: Path) -> None:
    add_dump(server, "xxwiki", "20260801")
    add_listing(server, "xxwiki", "20260801")
    assert all("xxwiki-20260801-" in path for path in fetch(server, tmp_path / "latest", client))
    assert all("xxwiki-20260801-" in path for path in fetch(server, tmp_path / "date", client, date="2026-08-01"))


def test_one_of_the_two_can_be_asked_for(server: Server, client: Client, tmp_path: Path) -> None:
    add_export(server)
    add_dump(server, "xxwiki", "20260901")
    add_listing(server, "xxwiki", "20260901")
    legacy = fetch(server, tmp_path / "legacy", client, dataset="pages-articles-multistream")
    assert "multistream" in legacy[0]
    del server.files[path_of("_SUCCESS")]
    with pytest.raises(InputError, match=rf"has no finished Content File Export of xxwiki \({DATE} looked at\)"):
        fetch(server, tmp_path / "export", client, dataset="content-current")
    with pytest.raises(ConfigError, match="`dataset` is 'history'"):
        fetch(server, tmp_path / "export", client, dataset="history")


def test_what_was_looked_at_is_said_where_there_is_nothing(server: Server, client: Client, tmp_path: Path) -> None:
    with pytest.raises(
        InputError,
        match=r"has no finished Content File Export of xxwiki \(2026-01-01 looked at\) and no finished multistream "
        r"dump of xxwiki \(20260101 looked at\); check `language`, give another `date`, or choose another `mirror`",
    ):
        fetch(server, tmp_path, client, date="2026-01-01")


def test_cuts_and_a_busy_server_are_waited_out(server: Server, tmp_path: Path) -> None:
    add_export(server)
    pauses: list[float] = []
    first, second, third = FILES
    server.files[path_of("_SUCCESS")].faults = [(503, {"Retry-After": "3"})]
    server.files[path_of(first)].faults = [100, (429, {"Retry-After": "9"}), 200]
    server.files[path_of(second)].faults = [(503, {})]
    fetch(server, tmp_path, Client(attempts=3, sleep=pauses.append, quiet=True))
    assert {name: (tmp_path / name).read_bytes() for name in FILES} == FILES
    assert sorted(pause for pause in pauses if pause) == [1.0, 1.0, 1.0, 3.0, 9.0]
    asked = [headers for path, headers in server.requests if path == path_of(first)]
    assert [headers.get("Range") for headers in asked] == [None, "bytes=100-", "bytes=100-", "bytes=300-"]
    assert asked[1]["If-Range"] == '"one"'
    assert len([path for path in server.paths() if path == path_of(third)]) == 1


def test_a_wrong_sum_leaves_the_export_unfinished_and_the_next_run_ends_it(
    server: Server, client: Client, tmp_path: Path
) -> None:
    add_export(server)
    server.files[path_of(LARGEST)].data = FILES[LARGEST][:-1] + b"?"
    with pytest.raises(InputError, match=rf"{LARGEST}: has the SHA-256 .* run the same command again"):
        fetch(server, tmp_path, client)
    assert not {LARGEST, f"{LARGEST}.part", "_SUCCESS"} & set(os.listdir(tmp_path))
    server.files[path_of(LARGEST)].data = FILES[LARGEST]
    fetch(server, tmp_path, client)
    assert contents(tmp_path) == {**FILES, "SHA256SUMS": sha256sums(FILES), "_SUCCESS": b""}


def test_a_part_of_a_file_that_changed_since_is_fetched_anew(server: Server, client: Client, tmp_path: Path) -> None:
    add_export(server)
    (tmp_path / f"{LARGEST}.part").write_bytes(b"of last week")
    fetch(server, tmp_path, client)
    assert (tmp_path / LARGEST).read_bytes() == FILES[LARGEST]


def test_a_file_that_changes_while_it_comes_is_fetched_anew(server: Server, tmp_path: Path) -> None:
    add_export(server)
    path = path_of(LARGEST)
    server.files[path] = File(b"old " * 1000, faults=[1000], etag='"old"')

    def change(seconds: float) -> None:
        if seconds:
            server.files[path] = File(FILES[LARGEST], etag='"new"')

    fetch(server, tmp_path, Client(attempts=3, sleep=change, quiet=True))
    assert (tmp_path / LARGEST).read_bytes() == FILES[LARGEST]


def test_the_same_command_again_fetches_only_the_list(server: Server, client: Client, tmp_path: Path) -> None:
    add_export(server)
    first = fetch(server, tmp_path, client)
    server.requests.clear()
    assert fetch(server, tmp_path, client) == first
    assert server.paths() == [f"{FOLDER}/", path_of("_SUCCESS"), path_of("SHA256SUMS")]


def test_a_finished_export_that_lost_a_file_is_not_marked_until_it_is_whole(
    server: Server, client: Client, tmp_path: Path
) -> None:
    add_export(server)
    fetch(server, tmp_path, client)
    (tmp_path / LARGEST).unlink()
    server.files[path_of(LARGEST)].faults = [(503, {})] * 3
    with pytest.raises(InputError, match="gave up after 3 tries"):
        fetch(server, tmp_path, client)
    assert not (tmp_path / "_SUCCESS").exists()
    fetch(server, tmp_path, client)
    assert (tmp_path / "_SUCCESS").exists()


@pytest.mark.parametrize("left", [f"xxwiki-{DATE}-p1p8.xml.bz2", f"xxwiki-{DATE}-p1p8.xml.bz2.part"])
def test_a_folder_holds_one_export(server: Server, client: Client, tmp_path: Path, left: str) -> None:
    add_export(server, "2026-10-01")
    (tmp_path / left).write_bytes(b"begun a month ago")
    with pytest.raises(
        OutputError, match=rf"holds {left}, which is not of the export xxwiki 2026-10-01; .* `date` {DATE}"
    ):
        fetch(server, tmp_path, client)
    assert os.listdir(tmp_path) == [left]


def test_names_that_lead_out_of_the_folder_are_not_taken(server: Server, client: Client, tmp_path: Path) -> None:
    add_export(server)
    sums = server.files[path_of("SHA256SUMS")]
    sums.data += sums.data.replace(b"  ", b"  ../").replace(b"xxwiki-2026", b"other-2026")
    fetch(server, tmp_path / "new", client)
    assert os.listdir(tmp_path) == ["new"]
    assert set(FILES) < set(os.listdir(tmp_path / "new"))


def test_the_command_takes_a_contact_from_its_flag_or_the_environment(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    add_export(server)
    flags = ["download", "wikipedia", "--language", "xx", "--mirror", server.url, "--output", str(tmp_path)]
    monkeypatch.setenv("BERTDATA_CONTACT", "https://example.org/me")
    assert dispatch(flags) == 0
    assert dispatch([*flags, "--contact", "me@example.org"]) == 0
    agents = [headers["User-Agent"].partition(" ")[2] for _, headers in server.requests]
    assert set(agents) == {"(https://example.org/me)", "(me@example.org)"}
    shown = capsys.readouterr()
    assert shown.out.splitlines()[:3] == [str(tmp_path / name) for name in FILES]
    assert f"xxwiki {DATE}: 3 files, " in shown.err
    with pytest.raises(ConfigError, match="--contact is 'me\\\\nX: y'"):
        dispatch([*flags, "--contact", "me\nX: y"])
