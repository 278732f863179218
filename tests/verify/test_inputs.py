"""Inputs that changed after a build are named by `verify`, and those that are elsewhere are not looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bertdata.engine.fingerprints import sealed
from bertdata.engine.origin import ORIGIN, Origin, begin, finish
from bertdata.io import files
from bertdata.verify.build import verify
from bertdata.verify.inputs import input_rows


def recorded(folder: Path, paths: list[Path], **values: Any) -> Path:
    """Record that a run read some files and was finished."""
    origin = Origin.of("build", map(str, paths), {"documents": list(map(str, paths))}, **values)
    begin(str(folder), origin)
    finish(str(folder), origin)
    return folder


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    made = [tmp_path / f"{name}.txt" for name in "abcde"]
    for path in made:
        path.write_text("It rained.")
    return made


def test_inputs_that_changed_are_named(own_static_build: Path, paths: list[Path]) -> None:
    recorded(own_static_build, paths)
    assert input_rows(str(own_static_build)) == []
    paths[0].write_text("It rained again.")
    paths[1].unlink()
    [*_, row] = verify(str(own_static_build))
    assert row == ("inputs", f"1 file changed since the build read them: {paths[0]}")
    for path in paths[2:]:
        path.write_text("Nobody came.")
    assert input_rows(str(own_static_build))[0][1].endswith(f"{paths[3]} and 1 more")


def test_the_sample_and_builds_without_a_note_have_no_row(tmp_path: Path, paths: list[Path]) -> None:
    assert input_rows(str(tmp_path)) == []
    sample = recorded(tmp_path, paths, sample=True)
    paths[0].write_text("It rained again.")
    assert input_rows(str(sample)) == []


def test_a_note_of_somebody_else_reaches_no_url_and_no_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "identity", lambda path: str(Path(path).resolve()))
    origin = {"command": "build", "given": {}, "settings": {}}
    names = {"http://example.invalid/a": "a:1:1", "\0": "a:1:1", "/\x1b[2J": "b:1:1"}
    files.write_json(str(tmp_path / ORIGIN), sealed({"finished": origin | {"files": names}, "begun": None}))
    assert input_rows(str(tmp_path)) == [("inputs", "1 file changed since the build read them: /\\x1b[2J")]
    files.write_json(str(tmp_path / ORIGIN), sealed({"finished": origin | {"files": ["a"]}, "begun": None}))
    assert input_rows(str(tmp_path)) == []
    (tmp_path / ORIGIN).write_text("{}")
    assert "damaged" in input_rows(str(tmp_path))[0][1]
