"""Paths, folders and globs name files: each once, sorted, hidden ones left out; at URLs as on this machine."""

from __future__ import annotations

import fnmatch
import glob
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import fsspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata.errors import InputError
from bertdata.io import files
from bertdata.io.patterns import ends_in, expand
from tests.io.test_files import write


def test_folders_globs_and_paths_give_each_file_once_and_sorted(tmp_path: Path) -> None:
    for name in ("b/2.txt", "b/1.TXT", "a.txt", "c/deep/er/3.txt.gz", "skip.md"):
        write(tmp_path / name, b"1")
    expected = [str(tmp_path / name) for name in ("a.txt", "b/1.TXT", "b/2.txt", "c/deep/er/3.txt.gz")]
    suffixes = (".txt", ".txt.gz")
    given = [str(tmp_path / "c"), str(tmp_path), str(tmp_path / "*.txt"), str(tmp_path / "b" / ".." / "a.txt")]
    listed = expand(given, suffixes)
    assert [os.path.realpath(path) for path in listed] == expected
    assert expand([str(tmp_path / "**" / "*.txt")], suffixes) == [expected[0], expected[2]]
    assert expand([str(tmp_path / "[bc]")], suffixes) == expected[1:]


def test_a_file_named_outright_is_taken_whatever_its_ending(tmp_path: Path) -> None:
    path = write(tmp_path / "odd[1].data", b"1")
    assert expand([path], (".txt",)) == [path]


def test_hidden_files_and_folders_are_left_out(tmp_path: Path) -> None:
    for name in (".x.txt", ".git/y.txt", "a/.b/z.txt", "a/z.txt"):
        write(tmp_path / name, b"1")
    assert expand([str(tmp_path)], (".txt",)) == [str(tmp_path / "a" / "z.txt")]


def test_a_folder_leaves_out_what_bertdata_wrote_into_it_but_documents(tmp_path: Path) -> None:
    outputs = {
        "a": None,
        "corpus": "build",
        "model": "a pretrained model",
        "clean": "documents",
        "odd": "",
        "b/old": "build",
    }
    memory = fsspec.filesystem("memory")
    for folder, kind in outputs.items():
        content = {"kind": kind} if kind else {}
        for name, data in {
            "stages/x.txt": b"1",
            **({".bertdata.json": json.dumps(content).encode()} if kind is not None else {}),
        }.items():
            write(tmp_path / "in" / folder / name, data)
            memory.pipe_file(f"/written/{folder}/{name}", data)
    for start in (f"{tmp_path}/in", "memory://written"):
        expected = [f"{start}/{folder}/stages/x.txt" for folder in ("a", "clean", "odd")]
        assert expand([start], (".txt",)) == expected
        assert expand([f"{start}/corpus"], (".txt",)) == [f"{start}/corpus/stages/x.txt"]  # asked for
    memory.rm("/written", recursive=True)


def test_a_folder_that_may_not_be_read_is_told_wherever_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    (closed / "a.txt").touch()
    (tmp_path / "b.txt").touch()
    scan, access, isfile = os.scandir, os.access, os.path.isfile

    def scandir(path: str) -> Any:
        if Path(path) == closed:
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", scandir)  # root may read everything
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != closed and access(path, mode))
    monkeypatch.setattr(os.path, "isfile", lambda path: Path(path).parent != closed and isfile(path))
    monkeypatch.setattr(glob, "glob", lambda *_, **__: [])
    for path in (closed, tmp_path, closed / "a.txt"):
        with pytest.raises(InputError, match=r"closed: cannot be read \(Permission denied\); make it readable \(chmod"):
            expand([str(path)], [".txt"])


def test_links_to_one_file_count_once(tmp_path: Path) -> None:
    path = write(tmp_path / "x.txt", b"1")
    os.symlink(path, tmp_path / "y.txt")
    assert len(expand([str(tmp_path)], (".txt",))) == 1


def test_a_pattern_that_matches_nothing_is_refused_by_name(tmp_path: Path, memory: str) -> None:
    write(tmp_path / "x.md", b"1")
    with pytest.raises(InputError, match=r"holds no file ending in \.txt, \.zip"):
        expand([str(tmp_path)], (".txt", ".zip"))
    with pytest.raises(InputError, match=r"holds no file ending in \.txt, plain or compressed; check the path"):
        expand([str(tmp_path)], (".txt", ".txt.gz"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"this folder is empty; expected files ending in \.txt"):
        expand([str(tmp_path / "empty")], (".txt",))
    for pattern in (str(tmp_path / "none"), str(tmp_path / "*.txt"), f"{memory}/none", f"{memory}/*.txt"):
        with pytest.raises(InputError, match="this path matches nothing") as caught:
            expand([str(tmp_path / "x.md"), pattern], (".txt",))
        assert pattern in str(caught.value)


def test_a_url_is_no_local_folder_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memory: str) -> None:
    monkeypatch.chdir(tmp_path)
    os.makedirs(f"{memory}/none")
    with pytest.raises(InputError, match="this path matches nothing"):
        expand([f"{memory}/none"], (".txt",))


def test_urls_are_found_like_paths(memory: str) -> None:
    for name in ("d/b.txt", "d/a.txt", "d/.hidden/x.txt", "d/.y.txt", "d/skip.md", "e/c.txt"):
        files.write_bytes(f"{memory}/{name}", b"1")
    listed = [f"{memory.replace('://', ':///')}/{name}" for name in ("d/a.txt", "d/b.txt", "e/c.txt")]

    def same(paths: list[str]) -> list[str]:
        return [path.replace(":///", "://") for path in paths]

    assert same(expand([f"{memory}/d"], (".txt",))) == same(listed[:2])
    assert same(expand([f"{memory}/*"], (".txt",))) == same(listed)
    assert same(expand([f"{memory}/d/*.txt", f"{memory}/d"], (".txt",))) == same(listed[:2])
    assert same(expand([f"{memory}/d/skip.md"], (".txt",))) == [f"{memory}/d/skip.md"]
    assert same(expand([f"{memory}/d", f"{memory}/d/a.txt"], (".txt",))) == same(listed[:2])


def test_a_hidden_folder_named_at_a_url_is_read_and_hidden_ones_below_it_are_not(memory: str) -> None:
    for name in (".kept/a.txt", ".kept/.hidden/b.txt", ".kept/.c.txt", ".kept/d/e.txt"):
        files.write_bytes(f"{memory}/{name}", b"1")
    listed = expand([f"{memory}/.kept"], (".txt",))
    assert [path.rpartition(".kept/")[2] for path in listed] == ["a.txt", "d/e.txt"]


def test_below_a_folder_that_is_not_there_a_glob_names_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="this path matches nothing"):
        expand([f"{tmp_path}/c/**"], (".txt",))


_NAMES = st.sampled_from(["a.txt", ".b.txt", "c", ".d", "e.txt"])
_GLOBS = st.lists(st.sampled_from(["**", "*", "*.txt", ".*", "c", ".d", "[ac]*", "?"]), min_size=1, max_size=4)


@given(st.lists(st.lists(_NAMES, min_size=1, max_size=4), min_size=1, max_size=12), _GLOBS)
def test_a_glob_at_a_url_names_what_it_names_on_disk(tree: list[list[str]], pattern: list[str]) -> None:
    memory = fsspec.filesystem("memory")
    with tempfile.TemporaryDirectory() as folder:
        root = f"glob{folder.replace('/', '-')}"
        try:
            for parts in tree:
                place = Path(folder, *parts)
                in_a_file = any(Path(folder, *parts[:depth]).is_file() for depth in range(1, len(parts)))
                if not in_a_file and not place.exists():
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.write_bytes(b"1")
                    memory.pipe_file(f"/{root}/{'/'.join(parts)}", b"1")
            answers = []
            for start in (f"{folder}/", f"memory://{root}/"):
                try:
                    matches = expand([start + "/".join(pattern)], (".txt",))
                except InputError:
                    matches = []
                answers.append(sorted(match.removeprefix(start) for match in matches))
            assert answers[0] == answers[1]
        finally:
            memory.rm(f"/{root}", recursive=True)


@given(
    st.text("ab.*?[]", max_size=6),
    st.lists(st.text("ab.*?[]", max_size=4), max_size=4),
)
def test_a_name_ends_in_a_suffix_as_fnmatch_matches_it(name: str, suffixes: list[str]) -> None:
    assert ends_in(name, suffixes) == any(fnmatch.fnmatchcase(name, f"*{suffix}") for suffix in suffixes)


def test_real_paths_are_those_of_each_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a" / "one.txt", b"1")
    (tmp_path / "b").symlink_to("a")
    (tmp_path / "a" / "two.txt").symlink_to("one.txt")
    monkeypatch.chdir(tmp_path)
    paths = [*("a/one.txt", "b/one.txt", "b/two.txt", "a/../b/one.txt", "b/..", "b/", ".", "", "a", "b", "no/such.txt")]
    paths += [str(tmp_path / "b" / "two.txt"), "s3://bucket/a.txt"]
    assert files.real_paths(paths) == [files.real_path(path) for path in paths]
