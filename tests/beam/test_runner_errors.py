"""An error of a worker comes back as what it was."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

import bertdata
from bertdata import errors
from bertdata.beam.failures import without_beam
from bertdata.beam.runner import Runner
from bertdata.errors import BertDataError, InputError
from tests.beam.jobs import fail, fail_elsewhere, make, tasks

ROOT = Path(__file__).resolve().parents[2]
HERE = Runner(1, quiet=True)
TWO = Runner(2, quiet=True)


@pytest.fixture(autouse=True)
def the_checkout_is_importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


@pytest.mark.parametrize("kind", ["ConfigError", "InputError", "OutputError", "VerificationError", "BertDataError"])
@pytest.mark.parametrize("is_named", [True, False], ids=["by the failure file", "by the error"])
def test_an_error_of_ours_comes_back_as_the_class_it_was(kind: str, is_named: bool, tmp_path: Path) -> None:
    _check_told(HERE, kind, is_named, tmp_path)


def _check_told(runner: Runner, kind: str, is_named: bool, folder: Path) -> None:
    [task] = tasks(folder, 1, kind)
    if not is_named:
        (folder / "a file").touch()
        task = replace(task, records=str(folder / "a file"))
    with pytest.raises(BertDataError) as caught:
        make(runner, [task], fail)
    assert type(caught.value) is getattr(errors, kind)
    assert str(caught.value) == "wiki.xml.bz2, byte 4096: found this\nand more; do that"
    assert os.listdir(folder) == ([] if is_named else ["a file"])


@pytest.mark.costly
@pytest.mark.parametrize("kind", ["ConfigError", "InputError", "OutputError", "VerificationError", "BertDataError"])
def test_an_error_of_a_worker_process_comes_back_as_the_class_it_was(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    with pytest.raises(BertDataError) as caught:
        make(TWO, tasks(folder, 4, (os.getpid(), kind)), fail_elsewhere)
    assert type(caught.value) is getattr(errors, kind)
    assert str(caught.value) == "wiki.xml.bz2, byte 4096: found this\nand more; do that"
    assert not [name for name in os.listdir(folder) if name.endswith(".failure")]


def test_an_error_that_is_not_ours_passes_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        make(HERE, tasks(tmp_path, 1, "not an error of ours"), fail)
    assert os.listdir(tmp_path) == []


@pytest.mark.costly
def test_an_error_of_a_worker_process_that_is_not_ours_brings_its_traceback(tmp_path: Path) -> None:
    some = tasks(tmp_path, 4, (os.getpid(), "not an error of ours"))
    message = r"(?s)worker process \d+ failed.*jobs\.py.*ZeroDivisionError: not an error of ours"
    with pytest.raises(RuntimeError, match=message):
        make(TWO, some, fail_elsewhere)


def test_of_several_failures_the_first_by_name_is_told_and_none_is_left(tmp_path: Path) -> None:
    some = tasks(tmp_path, 3, "InputError")
    Path(some[2].failure_path).write_text('{"kind": "OutputError", "message": "of an earlier run"}')
    (tmp_path / "my-00001.failure").write_text("of the user")
    with pytest.raises(InputError, match="found this"):
        make(HERE, some, fail)
    assert os.listdir(tmp_path) == ["my-00001.failure"]


def test_the_error_of_a_traceback_is_found_whole() -> None:
    text = (
        "Traceback (most recent call last):\n  File x\nbertdata.errors.InputError: a.bz2, byte 3: cut\noff [again]\n\n"
        "During handling of the above exception, another exception occurred:\n\nTraceback ...\n"
        "bertdata.errors.InputError: a.bz2, byte 3: cut\noff [again] [while running 'MakeParts/ParDo(MakePart)']\n"
    )
    message = without_beam(RuntimeError(text))
    assert type(message) is InputError
    assert str(message) == "a.bz2, byte 3: cut\noff [again]"
    other = RuntimeError("Traceback ...\nValueError: bertdata.errors.InputError: not at a line's start")
    assert without_beam(other) is other


def test_a_version_that_beam_cannot_be_compatible_with_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "Salt is white."}\n')
    flags = ("--update_compatibility_version=2.60.0",)
    with pytest.raises(errors.ConfigError, match=r"Beam refuses these flags: .* needs dill==0\.3\.1\.1; name 2\.6"):
        bertdata.build(
            tmp_path / "out", documents=tmp_path / "a.jsonl", objective="single-segment", quiet=True, runner_flags=flags
        )
