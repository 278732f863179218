"""Two builds are compared by what they were made from, what was counted, and the bytes of their shards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bertdata.cli.main import dispatch
from bertdata.errors import InputError
from bertdata.inspect.diff import Change, Difference, conclusion, diff
from tests.small_build import write_build


def test_a_build_is_the_same_as_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_build(tmp_path / "a", documents=20)
    found = diff(str(tmp_path / "a"), str(tmp_path / "a"))
    assert found.same
    assert found.same_shards > 0
    assert not any(found.sections.values())
    assert dispatch(["diff", str(tmp_path / "a"), str(tmp_path / "a")]) == 0
    assert capsys.readouterr().out.rstrip().endswith("have the same bytes.")
    assert conclusion(Difference({}, 1, [])) == "The one shard has the same bytes."


def test_counts_and_shards_that_differ_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_build(tmp_path / "a", documents=20)
    write_build(tmp_path / "b", documents=30)
    found = diff(str(tmp_path / "a"), str(tmp_path / "b"))
    assert not found.same
    counts = {change.name: (change.first, change.second) for change in found.sections["counts"]}
    manifests = [json.loads((tmp_path / name / "manifest.json").read_text()) for name in "ab"]
    numbers = tuple(one["splits"]["train"]["counts"]["documents"] for one in manifests)
    assert counts["train: documents"] == numbers
    assert dispatch(["diff", str(tmp_path / "a"), str(tmp_path / "b"), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["same"] is False
    assert {one["name"] for one in shown["shards"]["others"]} == {change.name for change in found.other_shards}


def test_the_reasons_are_what_a_build_is_made_from() -> None:
    sections = {"settings": [Change("seed", 0, 1)], "counts": [Change("train: rows", 1, 2)]}
    found = Difference(sections, 1, [Change("train/a", "12", "34")])
    assert found.reasons == ["settings"]
    assert conclusion(found).endswith("made with other settings: seed.")
    assert "verify" in conclusion(Difference({"counts": sections["counts"]}, 0, found.other_shards))


def test_a_folder_without_a_build_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no finished build or task"):
        diff(str(tmp_path), str(tmp_path))
