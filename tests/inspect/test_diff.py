"""Two builds are compared by what they were made from, what was counted, and the bytes of their shards."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bertdata.cli.main import dispatch
from bertdata.engine.fingerprints import sealed
from bertdata.errors import InputError
from bertdata.inspect.diff import Change, Difference, conclusion, diff, difference_text
from bertdata.io import files
from bertdata.objectives.settings import ExamplesConfig
from tests.small_build import write_build


def test_a_build_is_the_same_as_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_build(tmp_path / "a", documents=20)
    difference = diff(str(tmp_path / "a"), str(tmp_path / "a"))
    assert difference.same
    assert difference.same_shards > 0
    assert not any(difference.sections.values())
    assert dispatch(["diff", str(tmp_path / "a"), str(tmp_path / "a")]) == 0
    assert capsys.readouterr().out.rstrip().endswith("have the same bytes.")
    assert conclusion(Difference({}, 1, [])) == "The one shard has the same bytes."


def test_counts_and_shards_that_differ_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_build(tmp_path / "a", documents=20)
    write_build(tmp_path / "b", documents=30)
    difference = diff(str(tmp_path / "a"), str(tmp_path / "b"))
    assert not difference.same
    counts = {change.name: (change.first, change.second) for change in difference.sections["counts"]}
    manifests = [json.loads((tmp_path / name / "manifest.json").read_text()) for name in "ab"]
    numbers = tuple(manifest["splits"]["train"]["counts"]["documents"] for manifest in manifests)
    assert counts["train: documents"] == numbers
    assert dispatch(["diff", str(tmp_path / "a"), str(tmp_path / "b"), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["same"] is False
    assert {shard["name"] for shard in shown["shards"]["others"]} == {change.name for change in difference.other_shards}


def test_the_reasons_are_what_a_build_is_made_from() -> None:
    sections = {"settings": [Change("seed", 0, 1)], "counts": [Change("train: rows", 1, 2)]}
    difference = Difference(sections, 1, [Change("train/a", "12", "34")])
    assert difference.reasons == ["settings"]
    assert conclusion(difference).endswith("made with other settings: seed.")
    assert "verify" in conclusion(Difference({"counts": sections["counts"]}, 0, difference.other_shards))


def test_another_version_of_bertdata_is_a_reason(tmp_path: Path) -> None:
    for name in "ab":
        place = write_build(tmp_path / name, documents=20) / "manifest.json"
    files.write_json(str(place), sealed(files.read_json(str(place)) | {"bertdata": "0.0.1"}))
    difference = diff(str(tmp_path / "a"), str(tmp_path / "b"))
    assert difference.reasons == ["version"]
    assert [(change.name, change.second) for change in difference.sections["version"]] == [("bertdata", "0.0.1")]
    assert conclusion(difference).endswith("although these differ: version.")


def printed(capsys: pytest.CaptureFixture[str], first: Path, second: Path) -> str:
    capsys.readouterr()
    assert dispatch(["diff", str(first), str(second)]) == 0
    return capsys.readouterr().out


def encoded(folder: Path, build: Path, rows: int, *flags: str) -> Path:
    """Encode a task of `rows` rows with the vocabulary of a build."""
    folder.mkdir()
    lines = [json.dumps({"text": f"the lamp holds salt {number}", "label": "ab"[number % 2]}) for number in range(rows)]
    (folder / "train.jsonl").write_text("\n".join(lines) + "\n")
    names = ["--train", str(folder / "train.jsonl"), "--text-columns", "text", "--vocab", str(build)]
    assert dispatch(["encode-task", *names, "--output", str(folder / "task"), *flags]) == 0
    return folder / "task"


def test_a_build_and_a_task_are_compared_in_a_few_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build = write_build(tmp_path / "a", documents=20)
    shown = printed(capsys, build, encoded(tmp_path / "b", build, 9))
    assert f"A  {build}, nsp examples of up to 32 tokens\n" in shown
    assert "rows of the task classification of up to 128 tokens" in shown
    assert "settings that only one has" in shown
    assert "the same in both" in shown
    assert re.search(r"examples +\d+ → 9 ", shown)
    assert "predictions" not in shown
    assert shown.endswith("They hold different things, so only what both have was compared.\n")
    assert shown.count("\n") < 20


def test_tasks_differ_by_their_settings_and_their_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build = write_build(tmp_path / "a", documents=20)
    other_task = encoded(tmp_path / "b", build, 9)
    other = encoded(tmp_path / "c", build, 6, "--max-seq-length", "16")
    why, how = printed(capsys, other_task, other).split("how they differ")
    assert "    max_seq_length" in why
    assert "    train: train.jsonl" in why
    assert "the same in both" in why
    assert re.search(r"examples +9 → 6 \(-3, -33.3%\)", how)
    assert "made with other settings and other inputs" in how


def test_many_changes_of_a_group_are_counted_and_what_one_build_alone_has_is_one_line() -> None:
    settings = [Change(f"rule_{number}", number, 9) for number in range(14)]
    counts = [Change(f"validation: {name}", None, 7) for name in ("examples", "tokens", "predictions")]
    counts += [Change("train: examples", 8, 6), Change("train: tokens_of_books", 1, 2), Change("train: pairs", 0, None)]
    shown = difference_text("a", "b", Difference({"settings": settings, "counts": counts}, 0, [Change("x", "1", "2")]))
    lines = [" ".join(line.split()) for line in shown.split("\n")]
    assert "rule_9 9 → 9" in lines
    assert not any(line.startswith("rule_10") for line in lines)
    assert "... 4 more; --json has them" in lines
    assert "validation only in B: 7 examples, 7 tokens" in lines
    assert "examples 8 → 6 (-2, -25.0%)" in lines
    assert "other counts 1 differ, too; --json has them" in lines
    assert not any("pairs" in line for line in lines), "0 and not counted are the same"


def test_the_settings_of_several_phases_stand_under_one_name(tmp_path: Path) -> None:
    build = write_build(tmp_path / "a", documents=20)
    for length in (16, 32):
        write_build(tmp_path / "b" / str(length), ExamplesConfig(max_seq_length=length), documents=20)
    files.write_json(str(tmp_path / "b" / "manifest.json"), sealed({"format": 1, "phases": ["16", "32"]}))
    settings = {setting.name: setting for setting in diff(str(build), str(tmp_path / "b")).sections["settings"]}
    assert settings["max_seq_length"] == Change("max_seq_length", 32, [16, 32])
    assert "objective" not in settings


def test_a_folder_without_a_build_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no finished build or task"):
        diff(str(tmp_path), str(tmp_path))
