"""What users give as paths becomes text of ours, or is refused by name; URLs keep all that they say."""

from __future__ import annotations

import os
import pathlib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bertdata
from bertdata.cli import command_line
from bertdata.errors import ConfigError
from bertdata.io import files, paths
from bertdata.io.patterns import expand
from tests.io.hosted import HostedFileSystem


@pytest.fixture
def hosted() -> Iterator[str]:
    """The URL of a folder at a host, with a file in it, and none of that name at another host."""
    fsspec.register_implementation("hosted", HostedFileSystem, clobber=True)
    HostedFileSystem.hosts.clear()
    HostedFileSystem("near").pipe_file("/in/a.txt", b"Salt.\nIt is white.\n")
    HostedFileSystem("far").pipe_file("/in/a.txt", b"Other text.\n")
    yield "hosted://me@near:21/in"
    HostedFileSystem.hosts.clear()


class Listed(os.PathLike[str]):
    """A path of a class of somebody else's, whose text is no path."""

    def __fspath__(self) -> str:
        return "folder/a.txt"


class OfBytes(os.PathLike[bytes]):
    def __fspath__(self) -> bytes:
        return b"folder/a.txt"


@pytest.mark.parametrize(
    ("given_path", "text"),
    [
        ("folder/a.txt", "folder/a.txt"),
        (pathlib.Path("folder") / "a.txt", "folder/a.txt"),
        (pathlib.PurePosixPath("/folder"), "/folder"),
        (Listed(), "folder/a.txt"),
        ("file:///folder/a%20b.txt", "/folder/a b.txt"),
        ("file://localhost/folder", "/folder"),
        ("FILE:/folder", "/folder"),
        ("local:///folder", "/folder"),
        ("S3://bucket/Key", "s3://bucket/Key"),
        ("zip://a.txt::file:///folder/b.zip", "zip://a.txt::file:///folder/b.zip"),
        ("notes:/a.txt", "notes:/a.txt"),
        ("a:b/c", "a:b/c"),
    ],
)
def test_a_path_is_the_text_that_names_it(given_path: Any, text: str) -> None:
    assert paths.path_text(given_path) == text


@pytest.mark.parametrize(
    ("given_path", "refusal"),
    [
        (
            pathlib.Path("s3://bucket/x"),
            "one slash after s3:, as pathlib leaves it; give the URL as text: s3://bucket/x",
        ),
        ("gs:/bucket/x", "give the URL as text: gs://bucket/x"),
        ("https:/host/x", "give the URL as text: https://host/x"),
        ("file://server/share", "is a file of the machine server; expected one of this machine"),
        (b"folder", "expected a path as text or a pathlib.Path, found bytes"),
        (OfBytes(), "expected a path as text or a pathlib.Path, found OfBytes"),
        (
            type("Dataset", (), {"__module__": "datasets.arrow_dataset"})(),
            "Dataset of datasets; name the folder that it ",
        ),
        (None, "found NoneType"),
        (["a"], "found list"),
        (zipfile.ZipInfo("a"), "found ZipInfo"),
        ("a\0b", "NUL character"),
    ],
)
def test_what_is_no_path_of_here_is_refused_by_name(given_path: Any, refusal: str) -> None:
    with pytest.raises(ConfigError) as raised:
        paths.path_text(given_path)
    assert refusal in str(raised.value)


def test_an_entry_of_a_folder_is_its_path(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    with os.scandir(tmp_path) as entries:
        assert [paths.path_text(entry) for entry in entries] == [str(tmp_path / "a.txt")]


@pytest.mark.parametrize(
    "url",
    [
        "s3://bucket/folder/a.jsonl",
        "memory://folder/a.jsonl",
        "http://host/a.jsonl",
        "zip://a.txt::/folder/b.zip",
        "simplecache::http://host/a.txt",
    ],
)
def test_a_path_of_universal_pathlib_is_its_url(url: str) -> None:
    upath = pytest.importorskip("upath", reason="needs universal-pathlib")
    assert paths.path_text(upath.UPath(url)) == url


def test_a_local_path_of_universal_pathlib_is_local(tmp_path: Path) -> None:
    upath = pytest.importorskip("upath", reason="needs universal-pathlib")
    assert paths.path_text(upath.UPath(tmp_path)) == str(tmp_path)
    assert paths.path_text(upath.UPath(f"file://{tmp_path}")) == str(tmp_path)


@pytest.mark.parametrize(
    ("url", "options", "named"),
    [("memory://folder", {"skip_instance_cache": True}, "skip_instance_cache"), ("ftp://me:secret@host/x", {}, "host")],
)
def test_options_that_a_url_does_not_tell_are_refused(url: str, options: dict[str, Any], named: str) -> None:
    upath = pytest.importorskip("upath", reason="needs universal-pathlib")
    with pytest.raises(ConfigError, match=f"with options that its text does not tell .*{named}") as raised:
        paths.path_text(upath.UPath(url, **options))
    assert "secret" not in str(raised.value)


def test_paths_of_cloudpathlib_are_urls_and_never_their_copies_on_this_machine() -> None:
    cloud = pytest.importorskip("cloudpathlib", reason="needs cloudpathlib")
    pytest.importorskip("boto3", reason="needs boto3")
    client = cloud.S3Client(aws_access_key_id="a", aws_secret_access_key="b")
    other = cloud.S3Client(aws_access_key_id="c", aws_secret_access_key="d")
    elsewhere = cloud.S3Client(aws_access_key_id="a", aws_secret_access_key="b", endpoint_url="http://localhost:1")
    client.set_as_default_client()
    assert paths.path_text(cloud.S3Path("s3://bucket/folder")) == "s3://bucket/folder"
    with pytest.raises(ConfigError, match="is a S3Path with a client of its own settings"):
        paths.path_text(cloud.S3Path("s3://bucket/folder", client=other))
    elsewhere.set_as_default_client()
    with pytest.raises(ConfigError, match="with a client of its own settings"):
        paths.path_text(cloud.S3Path("s3://bucket/folder"))
    for made in (client, other, elsewhere):
        made._cache_tmp_dir.cleanup()


def test_a_stand_in_of_cloudpathlib_for_tests_is_refused() -> None:
    cloud = pytest.importorskip("cloudpathlib.local", reason="needs cloudpathlib")
    with pytest.raises(ConfigError, match=r"is a path of cloudpathlib\.local"):
        paths.path_text(cloud.LocalGSPath("gs://bucket/folder"))


@pytest.mark.parametrize(
    "glob", ["hosted://me@near:21/in/*.txt", "hosted://me@near:21/in", "hosted://me@near:21/**/*.txt"]
)
def test_urls_of_files_keep_host_and_user(hosted: str, glob: str) -> None:
    assert expand([glob], (".txt",)) == [f"{hosted}/a.txt"]
    assert files.read_bytes(f"{hosted}/a.txt") == b"Salt.\nIt is white.\n"


def test_a_file_at_a_url_has_all_methods_of_a_file_on_disk(hosted: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"Salt.\nIt is white.\n")
    for path in (str(tmp_path / "a.txt"), f"{hosted}/a.txt"):
        with files.open_raw(path) as file:
            assert file.readline(3) == b"Sal"
            assert file.peek(2)[:2] == b"t."  # type: ignore[attr-defined]
            assert [*file] == [b"t.\n", b"It is white.\n"]
            assert file.seek(-7, os.SEEK_END) == file.tell() == 12
            assert file.read() == b"white.\n"


def test_members_of_archives_are_documents_with_their_own_names(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "books.zip", "w") as archive:
        for name in ("a.txt", "b/c.txt", "b/.d.txt", "b/e.md"):
            archive.writestr(name, f"Text of {name}.\n")
    url = f"zip://**/*.txt::{tmp_path}/books.zip"
    members = expand([url], (".txt",))
    assert members == [f"zip://a.txt::{tmp_path}/books.zip", f"zip://b/c.txt::{tmp_path}/books.zip"]
    assert [files.name(member) for member in members] == ["a.txt", "c.txt"]
    assert files.read_bytes(members[1]) == b"Text of b/c.txt.\n"
    assert files.identity(members[0]) == files.identity(members[0])
    with files.open_raw(members[0]) as file:
        assert file.readline(9) == b"Text of a"


def test_a_build_of_a_file_url_and_of_an_archive_is_that_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "in folder").mkdir()
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as archive:
        for name in ("a", "b"):
            rows = "".join(f'{{"id": "{name}{n}", "text": "Salt is white. It is {n} years old."}}\n' for n in range(20))
            (tmp_path / "in folder" / f"{name}.jsonl").write_text(rows)
            archive.writestr(f"{name}.jsonl", rows)
    digests = set()
    for number, documents in enumerate(
        [tmp_path / "in folder", (tmp_path / "in folder").as_uri(), f"zip://*.jsonl::{tmp_path}/in.zip"]
    ):
        output = (tmp_path / f"out{number}").as_uri()
        built = bertdata.build(
            output, documents=documents, vocab="bertdata-30k-uncased", objective="full-sentences", quiet=True, workers=1
        )
        assert built.path == str(tmp_path / f"out{number}")
        digests.add(files.sha256(f"{built.path}/train/data-00000-of-00001.arrow"))
    assert len(digests) == 1


def test_flags_of_the_command_line_take_file_urls(tmp_path: Path) -> None:
    parser = command_line.Parser()
    command_line.add_new_output(parser)
    command_line.add_documents(parser)
    parser.add_argument("--grep", metavar=command_line.FREE_TEXT)
    arguments = ["--output", tmp_path.as_uri(), "--documents", "file:/a", "--grep", "file:/a"]
    flags = parser.parse_args(arguments)
    assert (flags.output, flags.documents, flags.grep) == (str(tmp_path), ["/a"], "file:/a")


_PARTS = st.sampled_from(["a", "b.txt", ".h", "c.d"])


@given(st.lists(_PARTS, min_size=1, max_size=4), st.lists(_PARTS, max_size=3))
def test_the_url_of_a_file_is_that_of_its_folder_and_its_path_in_it(within: list[str], above: list[str]) -> None:
    assert paths.join("s3://bucket/x/") == "s3://bucket/x"
    for scheme, root in (("hosted://me@host:1/", "/"), ("s3://", ""), ("zip://", "")):
        for wrapper, archive in (("", ""), ("simplecache::", ""), ("", "::/x/b.txt.zip")):
            folder, place = "/".join(above), "/".join([*above, *within])
            url = f"{wrapper}{scheme}{folder}{archive}"
            joined = paths.with_place(url, root + folder, root + place)
            assert joined == f"{wrapper}{scheme}{place}{archive}"
            in_its_folder = paths.join(paths.folder(joined), paths.name(joined))
            assert in_its_folder == joined
            assert paths.name(joined) == within[-1]


@pytest.mark.parametrize("scheme", ["simplecache", "filecache", "blockcache", "dir", "zip", "tar"])
def test_a_scheme_alone_names_what_fsspec_takes_it_to_name(scheme: str) -> None:
    path, _, _ = fsspec.core._un_chain(f"{scheme}::memory://a/b.zip", {})[0]
    is_cache = path.endswith("a/b.zip")
    assert is_cache == (scheme not in ("zip", "tar"))
    assert paths.naming_part(f"{scheme}::memory://a/b.zip") == ("memory://a/b.zip" if is_cache else scheme)


def test_the_members_of_a_whole_archive_are_named_by_a_scheme_alone(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "books.zip", "w") as archive:
        archive.writestr("a.txt", "Salt.")
    for begin in ("zip", "zip://"):
        members = expand([f"{begin}::file://{tmp_path}/books.zip"], (".txt",))
        assert members == [f"zip://a.txt::file://{tmp_path}/books.zip"]
