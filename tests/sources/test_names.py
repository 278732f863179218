"""Sources by name: what NAME=PATH is, which file is of which source, and the order that numbers them."""

from __future__ import annotations

import string
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata.errors import ConfigError, InputError
from bertdata.io import files
from bertdata.io.patterns import expand
from bertdata.sources.names import (
    KINDS,
    MOST_SOURCES,
    find_files,
    input_count,
    named,
    order_sources,
    refuse_shared,
    units_of,
)


def find(given: Sequence[str], default: str = "documents") -> dict[str, str]:
    return find_files(given, default, lambda paths: expand(paths, (".jsonl",)))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two files, which is the working directory."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text("{}")
    return tmp_path


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("dump.xml.bz2", ("documents", "dump.xml.bz2")),
        ("en=dump.xml.bz2", ("en", "dump.xml.bz2")),
        ("pub_med-2=shelf/*.parquet", ("pub_med-2", "shelf/*.parquet")),
        ("1=a=b.txt", ("1", "a=b.txt")),
        ("news=s3://bucket/key?part=1", ("news", "s3://bucket/key?part=1")),
        ("news=./x", ("news", "./x")),
        ("s3://bucket/key?part=1", ("documents", "s3://bucket/key?part=1")),
        ("http://host:8080/x=y.jsonl", ("documents", "http://host:8080/x=y.jsonl")),
        ("/data/year=2024/x.parquet", ("documents", "/data/year=2024/x.parquet")),
        ("./year=2024", ("documents", "./year=2024")),
        ("data/*=*.jsonl", ("documents", "data/*=*.jsonl")),
    ],
)
def test_a_name_is_letters_digits_and_dashes_in_front_of_the_first_equals_sign(
    given: str, expected: tuple[str, str], folder: Path
) -> None:
    assert named(given, "documents") == expected


def test_what_is_there_by_its_whole_text_is_a_path(folder: Path) -> None:
    (folder / "a=b.jsonl").write_text("{}")
    (folder / "year=2024" / "month=1").mkdir(parents=True)
    (folder / "year=2024" / "month=1" / "x.jsonl").write_text("{}")
    (folder / "x=[1].jsonl").write_text("{}")
    assert named("x=[1].jsonl", "documents") == ("documents", "x=[1].jsonl")
    for whole in (
        "a=b.jsonl",
        "a=*.jsonl",
        "year=2024",
        "year=2024/month=1/x.jsonl",
        "year=*/**/*.jsonl",
        "year=*/**/month=1/*",
    ):
        assert named(whole, "documents") == ("documents", whole)
    assert named("a=./b.jsonl", "documents") == ("a", "./b.jsonl")
    assert find(["a=b.jsonl", "year=*/*/*.jsonl", "a=./b.jsonl"]) == {
        "./b.jsonl": "a",
        "a=b.jsonl": "documents",
        "year=2024/month=1/x.jsonl": "documents",
    }


@pytest.mark.parametrize("given", ["=a.jsonl", "-x=a.jsonl", "my news=a.jsonl", "nöws=a.jsonl", "a.b=a.jsonl", "news="])
def test_what_is_neither_a_path_nor_a_name_and_a_path_is_refused(given: str, folder: Path) -> None:
    with pytest.raises(ConfigError, match=f"^{given} is neither an existing path nor NAME=PATH"):
        named(given, "documents")


def test_the_home_folder_behind_a_name_is_known(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder))
    assert find(["news=~/a.jsonl"]) == {f"{folder}/a.jsonl": "news"}


@given(st.text(string.ascii_letters + string.digits + "_-", min_size=1), st.text(min_size=1))
def test_any_name_is_told_from_any_path_behind_it(name: str, path: str) -> None:
    given = f"{name}=./no/{path}"
    if name.startswith("-"):
        with pytest.raises(ConfigError):
            named(given, "documents")
    else:
        assert named(given, "documents") == (name, f"./no/{path}")


def test_a_name_given_twice_collects_and_the_order_is_no_matter(folder: Path) -> None:
    sources = find(["news=b.jsonl", "a.jsonl", "news=b.jsonl", "news=./b.jsonl"])
    assert sources == {"a.jsonl": "documents", "b.jsonl": "news"}
    assert find(["a.jsonl", "news=./b.jsonl", "news=b.jsonl"], "books").keys() == {"a.jsonl", "./b.jsonl"}
    assert list(find(["two=b.jsonl", "one=a.jsonl"]).items()) == [("a.jsonl", "one"), ("b.jsonl", "two")]


def test_a_file_of_two_sources_is_refused_by_whatever_path(folder: Path) -> None:
    (folder / "link.jsonl").symlink_to(folder / "a.jsonl")
    with pytest.raises(ConfigError, match=r"^link\.jsonl: is given twice, with one= and two=; expected one source$"):
        find(["one=a.jsonl", "two=link.jsonl"])
    with pytest.raises(ConfigError, match=r"with documents= and two="):
        find(["*.jsonl", "two=a.jsonl"])
    with pytest.raises(ConfigError, match=r"with no name and two="):
        find([".", "two=a.jsonl"], "")


def test_a_file_of_two_kinds_is_refused(folder: Path) -> None:
    refuse_shared({"books": ["a.jsonl"], "documents": ["b.jsonl"]})
    with pytest.raises(ConfigError, match=r"^\./a\.jsonl: is given twice, to `books` and to `documents`"):
        refuse_shared({"books": ["a.jsonl"], "documents": ["./a.jsonl"]})


def test_remote_files_are_known_by_the_path_they_are_found_at() -> None:
    for place in ("memory://named/a.jsonl", "memory://named/b/c.jsonl"):
        files.write_bytes(place, b"{}")
    sources = find(["news=memory://named/*.jsonl", "memory://named/b"])
    assert list(sources.values()) == ["news", "documents"]
    assert find([f"{name}={path}" for path, name in sources.items()]) == sources
    with pytest.raises(ConfigError, match="with news= and documents="):
        find(["news=memory://named/*.jsonl", "memory://named"])


def test_a_named_path_that_matches_nothing_is_an_error_of_the_path(folder: Path) -> None:
    with pytest.raises(InputError, match=r"^c\.jsonl: this path matches nothing"):
        find(["news=c.jsonl"])


def test_sources_are_numbered_by_kind_and_name_whatever_the_order() -> None:
    names = ["zoo", "books", "arxiv", "documents", "wikipedia"]
    assert order_sources(names) == order_sources(names[::-1]) == ["wikipedia", "books", "documents", "arxiv", "zoo"]


def test_more_sources_than_a_column_numbers_are_refused() -> None:
    names = [f"s{number}" for number in range(MOST_SOURCES + 1)]
    assert len(order_sources(names[1:])) == 32_767
    with pytest.raises(ConfigError, match="there are 32,768 sources; expected 32,767 at most: put some under one name"):
        order_sources(names)


def test_names_that_differ_in_capitals_alone_are_refused() -> None:
    with pytest.raises(ConfigError, match="the sources News and news differ only in capitals"):
        order_sources(["news", "News"])
    with pytest.raises(ConfigError, match="the sources wikipedia and Wikipedia differ"):
        order_sources(["Wikipedia", "wikipedia"])


def test_what_came_in_is_counted_in_the_units_of_all_kinds() -> None:
    counts = dict.fromkeys(KINDS.values(), 2) | {"documents": 9}
    assert units_of(counts) == ["pages", "books", "rows"]
    assert input_count(counts) == 6
    assert input_count({}) == 0
    assert input_count({"books": 3, "chapters": 5, "books_in_chapters": 2}) == 6
