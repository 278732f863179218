"""A manifest may come from anyone: whatever stands in it, what reads it ends with a result or an error of ours."""

from __future__ import annotations

import contextlib
import copy
import json
import random
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bertdata.cli.main import main
from bertdata.errors import BertDataError, InputError
from bertdata.inspect.diff import diff
from bertdata.shards import open_shards
from bertdata.shards.contents import check_manifest
from bertdata.verify.build import verify
from tests.shards.damage import edit
from tests.small_build import write_build

VALUES: list[Any] = [None, True, -1, 1 << 63, 10**30, 1.5, float("nan"), "", "x", "../x", "\ud800", "\x1b[1m", [], {}]
VALUES += [[None], {"a": 1}, ["x"] * 9]
Place = tuple[str | int, ...]


def places(value: Any, place: Place = ()) -> Iterator[Place]:
    """Yield the keys to each value of a manifest, of long lists to the first ones."""
    if place:
        yield place
    items = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*place, key))


def with_value(manifest: Any, place: Place, value: Any, *, there: bool) -> None:
    """Put a value at a place of a manifest, or take away what stands there."""
    for key in place[:-1]:
        manifest = manifest[key]
    if there:
        manifest[place[-1]] = value
    else:
        del manifest[place[-1]]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    build = write_build(tmp_path_factory.mktemp("builds") / "whole", documents=6, shards=1)
    shutil.rmtree(build / "stages")
    return build


@pytest.mark.costly
@pytest.mark.parametrize("share", [0, *(pytest.param(share, marks=pytest.mark.slow) for share in range(1, 12))])
def test_whatever_stands_in_a_manifest_is_read_or_refused(
    share: int, whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build = Path(shutil.copytree(whole, tmp_path / "build"))
    manifest = json.loads((whole / "manifest.json").read_text())
    readers: list[Callable[[str], object]] = [open_shards, verify, lambda path: diff(path, str(whole))]
    readers += [lambda path: main(["show", path, "--dropped"])]
    draw = random.Random(share)
    for place in places(manifest):
        value, there = copy.deepcopy(draw.choice(VALUES)), draw.random() > 0.1
        shutil.copyfile(whole / "manifest.json", build / "manifest.json")
        edit(build / "manifest.json", partial(with_value, place=place, value=value, there=there))
        for read in readers:
            try:
                with contextlib.suppress(BertDataError):
                    read(str(build))
            except Exception as error:
                raise AssertionError(f"{place} is {value!r}{'' if there else ', missing'}: {error!r}") from error
    said = capsys.readouterr()
    assert "\x1b" not in said.out + said.err


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ([], ""),
        ({"splits": {"train": {"shards": {}}}}, "splits.train.shards is {}, expected a list"),
        ({"sources": {"web": "s"}}, "sources.web is 's', expected an object"),
        ({"vocabulary": {"pieces": True}}, "vocabulary.pieces is True, expected a whole number"),
        ({"notes": {}}, "notes is {}, expected a list"),
    ],
)
def test_values_of_another_kind_are_named(manifest: Any, message: str) -> None:
    with contextlib.nullcontext() if not message else pytest.raises(InputError, match=message):
        check_manifest(manifest, "manifest.json")


def test_brackets_in_brackets_are_refused_by_all_that_read_a_manifest(whole: Path, tmp_path: Path) -> None:
    build = Path(shutil.copytree(whole, tmp_path / "build"))
    (build / "manifest.json").write_text("[" * 100_000 + "]" * 100_000, encoding="utf-8")
    for read in (open_shards, verify, lambda path: diff(path, str(whole))):
        with pytest.raises(BertDataError, match="nested too deeply"):
            read(str(build))
