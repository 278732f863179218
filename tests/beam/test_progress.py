"""Progress shows what is on disk: one moving line on a terminal, elsewhere a line now and then, and the last once."""

from __future__ import annotations

import io
import re
import sys
import uuid
from dataclasses import replace
from pathlib import Path

import fsspec
import pytest

from bertdata.beam.progress import Expected, Progress
from bertdata.io import files
from tests.beam.jobs import tasks


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    one = Clock()
    monkeypatch.setattr("bertdata.beam.progress.time.monotonic", one)
    return one


def stage(folder: Path | str, weights: list[int], title: str = "clean books", unit: str = "B") -> Expected:
    return Expected(title, {files.join(str(folder), f"part-{n:05d}.json"): one for n, one in enumerate(weights)}, unit)


def finish(step: Expected, *numbers: int) -> None:
    for number in numbers:
        files.write_bytes(list(step.sizes)[number], b"{}")


def shown(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().err.splitlines()


def test_what_is_done_is_the_weight_of_the_records_that_are_there(tmp_path: Path) -> None:
    one = stage(tmp_path, [5, 30, 65])
    assert one.done() == 0
    finish(one, 1)
    (tmp_path / "part-00000.parquet").touch()
    (tmp_path / "part-00007.json").touch()
    assert one.done() == 30
    finish(one, 0, 2)
    assert one.done() == 100


def test_progress_weighs_tasks_by_bytes_and_counts_other_units(tmp_path: Path) -> None:
    some = [replace(task, weight=weight) for task, weight in zip(tasks(tmp_path, 3), (0, 7, 50), strict=True)]
    assert Expected.of("clean", some).sizes == dict(zip((task.record_path for task in some), (1, 7, 50), strict=True))
    assert Expected.of("clean", some).total() == 58
    assert Expected.of("write", some, "shard").total() == 3


def test_records_may_lie_in_several_folders(tmp_path: Path) -> None:
    one = Expected("write shards", {str(tmp_path / "a" / "x.json"): 1, str(tmp_path / "b" / "x.json"): 2})
    assert one.directories() == {str(tmp_path / "a"), str(tmp_path / "b")}
    finish(one, 1)
    assert one.done() == 2


def test_a_stage_at_a_url_is_looked_at_every_five_seconds(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    folder = f"memory://{uuid.uuid4().hex}"
    one = stage(folder, [1, 1])
    progress = Progress([one])
    progress.update()
    finish(one, 0, 1)
    clock.now += 4.9
    progress.update()
    assert shown(capsys) == []
    clock.now += 0.2
    progress.update()
    assert len(shown(capsys)) == 1
    fsspec.filesystem("memory").rm(folder, recursive=True)


def test_a_local_stage_is_not_looked_at_more_than_three_times_a_second(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []

    def look(self: Expected) -> int:
        looks.append(self.title)
        return 0

    monkeypatch.setattr(Expected, "done", look)
    progress = Progress([stage(tmp_path, [1])])
    for _ in range(20):
        clock.now += 0.1
        progress.update()
    assert 5 <= len(looks) <= 7


def test_the_last_line_of_each_stage_is_shown_once(
    tmp_path: Path, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = stage(tmp_path / "a", [1, 1]), stage(tmp_path / "b", [1, 1, 1], "write shards", "shard")
    progress = Progress([first, second])
    for _ in range(3):
        clock.now += 1
        progress.update()
    finish(first, 0, 1)
    finish(second, 0, 1, 2)
    for _ in range(3):
        clock.now += 1
        progress.update()
    progress.update(final=True)
    progress.update(final=True)
    lines = shown(capsys)
    assert [line.partition(":")[0].strip() for line in lines] == ["clean books", "write shards"]
    assert all("100%" in line for line in lines)
    assert "3/3" in lines[1]
    assert "shard/s" in lines[1]


def test_a_later_stage_waits_for_the_one_before_it(
    tmp_path: Path, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = stage(tmp_path / "a", [1, 1]), stage(tmp_path / "b", [1], "write shards")
    progress = Progress([first, second])
    finish(first, 0)
    finish(second, 0)
    progress.update()
    assert not any("write shards" in line for line in shown(capsys))


def test_plain_lines_come_now_and_then_and_only_with_something_done(
    tmp_path: Path, clock: Clock, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tqdm.std.time", clock)
    one = stage(tmp_path, [10] * 10)
    progress = Progress([one])
    for number in range(5):
        progress.update()
        assert shown(capsys) == []
        finish(one, number)
        clock.now += 1
    clock.now += 30
    progress.update()
    [line] = shown(capsys)
    assert re.match(r"clean books +: +50%\|#####", line)
    progress.update(final=True)


def test_a_resumed_stage_starts_where_it_was(tmp_path: Path, clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    one = stage(tmp_path, [10] * 10)
    finish(one, *range(6))
    progress = Progress([one])
    progress.update()
    assert "60%" in shown(capsys)[0]
    assert progress._line is not None
    assert (progress._line.initial, progress._line.n) == (60, 60)
    progress.update(final=True)


def test_a_stage_that_fails_is_left_at_what_is_done(
    tmp_path: Path, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    one, next_one = stage(tmp_path / "a", [10] * 10), stage(tmp_path / "b", [1], "write shards")
    progress = Progress([one, next_one])
    progress.update()
    finish(one, 0, 1)
    progress.update(final=True)
    lines = shown(capsys)
    assert [line.partition("%")[0] for line in lines] == ["clean books     :  20"]


def test_a_terminal_gets_one_moving_line(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    one = stage(tmp_path, [10] * 10)
    progress = Progress([one])
    for number in range(10):
        finish(one, number)
        clock.now += 1
        progress.update()
    text = terminal.getvalue()
    assert text.count("\n") == 1
    assert text.endswith("\n")
    assert text.count("\r") > 1
    assert "100%" in text.rpartition("\r")[2]
