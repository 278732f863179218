"""Legacy dumps of Wikipedia and Gutenberg books from a mirror on this machine."""

from __future__ import annotations

import hashlib
import os
from functools import partial
from pathlib import Path

import pytest

from bertdata.cli.main import dispatch
from bertdata.errors import BertDataError, ConfigError, InputError
from bertdata.io.http import Client
from bertdata.sources import download
from bertdata.sources.download import gutenberg
from tests.server import File, Server

DUMP, INDEX = b"dump " * 1000, b"index " * 10
wikipedia = partial(download.wikipedia, dataset="pages-articles-multistream")


@pytest.fixture
def client() -> Client:
    return Client(attempts=2, timeout=5.0, sleep=lambda _: None, quiet=True)


def add_dump(server: Server, wiki: str, day: str, *, dump: bytes = DUMP, finished: bool = True) -> None:
    """Put a dump on the server; one that is not finished has a list of checksums without its files."""
    stem = f"{wiki}-{day}-pages-articles-multistream"
    dump_files = {f"{stem}.xml.bz2": dump, f"{stem}-index.txt.bz2": INDEX, f"{wiki}-{day}-page.sql.gz": b"other"}
    listed = dump_files if finished else {f"{wiki}-{day}-page.sql.gz": b"other"}
    sums = "".join(f"{hashlib.sha1(data).hexdigest()}  {name}\n" for name, data in listed.items())
    for name, data in listed.items():
        server.files[f"/{wiki}/{day}/{name}"] = File(data)
    server.files[f"/{wiki}/{day}/{wiki}-{day}-sha1sums.txt"] = File(sums.encode())


def add_listing(server: Server, wiki: str, *days: str) -> None:
    page = "".join(f'<a href="{name}/">{name}/</a>\n' for name in ("..", *days, "latest"))
    server.files[f"/{wiki}/"] = File(page.encode(), content_type="text/html")


def test_a_dump_comes_with_its_index_and_its_checksums(server: Server, client: Client, tmp_path: Path) -> None:
    add_dump(server, "dewiki", "20250101")
    paths = wikipedia("de", str(tmp_path), client, date="20250101", mirror=server.url + "/")
    assert [os.path.basename(path) for path in paths] == [
        "dewiki-20250101-pages-articles-multistream-index.txt.bz2",
        "dewiki-20250101-pages-articles-multistream.xml.bz2",
        "dewiki-20250101-sha1sums.txt",
    ]
    assert sorted(os.listdir(tmp_path)) == sorted(map(os.path.basename, paths))
    assert Path(paths[1]).read_bytes() == DUMP


def test_the_newest_finished_dump_is_taken(server: Server, client: Client, tmp_path: Path) -> None:
    for day, finished in (("20241201", True), ("20250101", True), ("20250120", False)):
        add_dump(server, "simplewiki", day, finished=finished)
    add_listing(server, "simplewiki", "20241201", "20250101", "20250120", "20250201")
    paths = wikipedia("simple", str(tmp_path), client, mirror=server.url)
    assert all("simplewiki-20250101" in path for path in paths)


def test_a_mirror_without_listings_is_asked_for_its_latest_dump(server: Server, client: Client, tmp_path: Path) -> None:
    add_dump(server, "enwiki", "20250101")
    server.files["/enwiki/latest/enwiki-latest-sha1sums.txt"] = server.files[
        "/enwiki/20250101/enwiki-20250101-sha1sums.txt"
    ]
    assert len(wikipedia("en", str(tmp_path), client, mirror=server.url)) == 3


@pytest.mark.parametrize(("language", "wiki"), [("zh-min-nan", "zh_min_nanwiki"), ("be-tarask", "be_x_oldwiki")])
def test_a_language_code_becomes_the_wikis_name(
    server: Server, client: Client, tmp_path: Path, language: str, wiki: str
) -> None:
    add_dump(server, wiki, "20250101")
    paths = wikipedia(language, str(tmp_path), client, date="20250101", mirror=server.url)
    assert [os.path.basename(path).split("-")[0] for path in paths] == [wiki] * 3
    assert server.paths()
    assert all(path.startswith(f"/{wiki}/20250101/{wiki}-20250101-") for path in server.paths())


def test_a_dump_with_a_wrong_checksum_never_gets_its_name(server: Server, client: Client, tmp_path: Path) -> None:
    add_dump(server, "dewiki", "20250101")
    server.files["/dewiki/20250101/dewiki-20250101-pages-articles-multistream.xml.bz2"] = File(DUMP[1:] + b"x")
    with pytest.raises(InputError, match="SHA-1"):
        wikipedia("de", str(tmp_path), client, date="20250101", mirror=server.url)
    assert "dewiki-20250101-pages-articles-multistream.xml.bz2" not in os.listdir(tmp_path)


def test_the_same_command_again_only_asks_for_the_list(server: Server, client: Client, tmp_path: Path) -> None:
    add_dump(server, "dewiki", "20250101")
    first = wikipedia("de", str(tmp_path), client, date="20250101", mirror=server.url)
    server.requests.clear()
    assert wikipedia("de", str(tmp_path), client, date="20250101", mirror=server.url) == first
    assert server.paths() == ["/dewiki/20250101/dewiki-20250101-sha1sums.txt"]


@pytest.mark.parametrize("date", ["latest", "20200101"])
def test_a_wiki_without_a_dump_says_what_was_looked_at(
    server: Server, client: Client, tmp_path: Path, date: str
) -> None:
    with pytest.raises(InputError, match=r"no finished multistream dump of xxwiki .* `language`"):
        wikipedia("xx", str(tmp_path), client, date=date, mirror=server.url)


@pytest.mark.parametrize(
    ("language", "date", "mirror"),
    [
        ("../x", "latest", "http://h"),
        ("en", "2025", "http://h"),
        ("en", "2025-0101", "http://h"),
        ("en", "latest", "ftp://h"),
        ("en", "latest", "/x"),
    ],
)
def test_a_wrong_language_date_or_mirror_is_refused_before_any_request(
    client: Client, tmp_path: Path, language: str, date: str, mirror: str
) -> None:
    with pytest.raises(ConfigError, match="expected"):
        wikipedia(language, str(tmp_path), client, date=date, mirror=mirror)


def test_books_are_taken_in_the_best_form_the_mirror_has(server: Server, client: Client, tmp_path: Path) -> None:
    server.files |= {
        "/1/11/11-0.txt": File("Alice — UTF-8".encode()),
        "/1/11/11.txt": File(b"Alice ASCII"),
        "/8/84/84-8.txt": File(b"Latin-1"),
        "/cache/epub/5/pg5.txt": File(b"five"),
    }
    paths = gutenberg([11, 84, 5, 11], str(tmp_path), client, mirror=server.url)
    assert [os.path.basename(path) for path in paths] == ["11-0.txt", "84-8.txt", "pg5.txt"]
    assert sorted(os.listdir(tmp_path)) == ["11-0.txt", "84-8.txt", "pg5.txt"]
    assert Path(paths[0]).read_text("utf-8") == "Alice — UTF-8"


def test_a_book_that_is_there_is_not_asked_for_again(server: Server, client: Client, tmp_path: Path) -> None:
    server.files["/8/84/84-8.txt"] = File(b"Latin-1")
    gutenberg([84], str(tmp_path), client, mirror=server.url)
    server.requests.clear()
    gutenberg([84], str(tmp_path), client, mirror=server.url)
    assert server.requests == []


def test_a_missing_book_is_named_after_the_others_have_come(server: Server, client: Client, tmp_path: Path) -> None:
    server.files["/8/84/84-0.txt"] = File(b"text")
    with pytest.raises(InputError, match="no plain text of 12, 13; the other 1 are in"):
        gutenberg([12, 84, 13], str(tmp_path), client, mirror=server.url)
    assert os.listdir(tmp_path) == ["84-0.txt"]


def test_the_command_prints_the_paths(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add_dump(server, "dewiki", "20250101")
    output = str(tmp_path / "out")
    flags = ["--language", "de", "--mirror", server.url, "--date", "20250101", "--output", output]
    assert dispatch(["download", "wikipedia", *flags]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert sorted(map(os.path.basename, printed)) == sorted(os.listdir(output))


@pytest.mark.parametrize("flags", [["--ids", "0", "--output", "x"], ["--ids", "1", "--output", "s3://bucket/x"]])
def test_the_command_refuses_what_makes_no_sense(flags: list[str]) -> None:
    with pytest.raises(BertDataError, match=r"expected|local folder"):
        dispatch(["download", "gutenberg", "--mirror", "http://127.0.0.1:9", *flags])


def test_books_have_a_mirror_that_is_meant_for_programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[str] = []

    def fetch(_: Client, url: str, path: str, **__: object) -> str:
        asked.append(url)
        return path

    monkeypatch.setattr(Client, "fetch", fetch)
    assert dispatch(["download", "gutenberg", "--ids", "84", "--output", str(tmp_path)]) == 0
    assert asked == ["https://aleph.pglaf.org/8/84/84-0.txt"]
