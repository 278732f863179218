"""Sizes and tags of inputs at URLs are kept while a build reads them, and asked for again by the next."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import fsspec
import pytest

from bertdata.io import files, listed
from bertdata.io.listed import kept_listings
from bertdata.io.patterns import expand


@pytest.fixture
def folder() -> Iterator[str]:
    place = f"memory://{uuid.uuid4().hex}"
    for name in ("a.txt", "b.txt"):
        files.write_bytes(f"{place}/{name}", name.encode())
    yield place
    fsspec.filesystem("memory").rm(place, recursive=True)


@pytest.mark.parametrize("pattern", ["{}", "{}/*.txt", "{}/a.txt"])
def test_an_identity_is_the_same_from_a_listing_and_without_one(pattern: str, folder: str) -> None:
    path = f"{folder}/a.txt"
    alone, size = files.identity(path), files.size(path)
    with kept_listings():
        [entry] = [entry for entry in expand([pattern.format(folder)], (".txt",)) if entry.endswith("a.txt")]
        assert listed.info(entry) is not None
        assert (files.identity(entry), files.size(entry)) == (alone, size)


def test_a_blob_of_azure_has_one_tag_alone_and_in_a_listing_which_says_less_of_it() -> None:
    class Azure:
        protocol = ("abfs", "az", "abfss")

    alone = {"name": "c/a.txt", "size": 4, "etag": '"0x26"', "deleted": False}
    assert listed.tag(Azure(), alone) == listed.tag(Azure(), alone | {"deleted": None}) == '"0x26"'
    assert listed.tag(Azure(), alone | {"etag": '"0x27"'}) == '"0x27"'


def test_what_is_kept_ends_with_the_outermost_context(folder: str) -> None:
    with kept_listings():
        with kept_listings():
            [path, _] = expand([folder], (".txt",))
        before = files.identity(path)
        files.write_bytes(path, b"longer than before")
        assert files.identity(path) == before
    assert listed.info(path) is None
    assert files.identity(path) != before
    assert files.size(path) == 18


def test_nothing_is_kept_outside_of_a_context(folder: str) -> None:
    [path, _] = expand([folder], (".txt",))
    assert listed.info(path) is None
