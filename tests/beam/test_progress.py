"""Progress shows what is on disk: one moving line on a terminal, elsewhere a line for each step when it ends."""

from __future__ import annotations

import io
import json
import re
import sys
import uuid
from dataclasses import replace
from pathlib import Path

import fsspec
import pytest

from bertdata.beam.progress import Expected, Progress
from bertdata.io import files, log
from tests.beam.jobs import tasks


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    time_now = Clock()
    monkeypatch.setattr("time.monotonic", time_now)
    return time_now


def stage(folder: Path | str, weights: list[int], title: str = "clean books", unit: str = "B") -> Expected:
    return Expected(
        title, {files.join(str(folder), f"part-{n:05d}.json"): weight for n, weight in enumerate(weights)}, unit
    )


def finish(step: Expected, *numbers: int) -> None:
    for number in numbers:
        files.write_bytes(list(step.sizes)[number], b"{}")


def shown(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().err.splitlines()


def test_what_is_done_is_the_weight_of_the_records_that_are_there(tmp_path: Path) -> None:
    expected = stage(tmp_path, [5, 30, 65])
    assert expected.done() == 0
    finish(expected, 1)
    (tmp_path / "part-00000.parquet").touch()
    (tmp_path / "part-00007.json").touch()
    assert expected.done() == 30
    finish(expected, 0, 2)
    assert expected.done() == 100


def test_progress_weighs_tasks_by_bytes_and_counts_other_units(tmp_path: Path) -> None:
    some = [replace(task, weight=weight) for task, weight in zip(tasks(tmp_path, 3), (0, 7, 50), strict=True)]
    assert Expected.of("clean", some).sizes == dict(zip((task.record_path for task in some), (1, 7, 50), strict=True))
    assert Expected.of("clean", some).total() == 58
    assert Expected.of("write", some, "shard").total() == 3


def test_records_may_lie_in_several_folders(tmp_path: Path) -> None:
    expected = Expected("write shards", {str(tmp_path / "a" / "x.json"): 1, str(tmp_path / "b" / "x.json"): 2})
    assert expected.directories() == {str(tmp_path / "a"), str(tmp_path / "b")}
    finish(expected, 1)
    assert expected.done() == 2


def test_a_stage_at_a_url_is_looked_at_every_five_seconds(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    folder = f"memory://{uuid.uuid4().hex}"
    expected = stage(folder, [1, 1])
    progress = Progress([expected])
    progress.update()
    finish(expected, 0, 1)
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
    assert 5 <= len(looks) <= 8


def test_a_log_has_one_line_for_each_step_with_the_time_of_day(
    tmp_path: Path, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = stage(tmp_path / "a", [1000, 1000]), stage(tmp_path / "b", [1, 1, 1], "write shards", "shard")
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
    assert [re.sub(r"^\d\d:\d\d:\d\d ", "T ", line) for line in shown(capsys)] == [
        "T clean books       2.0 kB in 4.0 s (500 B/s)",
        "T write shards      3 shards in 1.0 s",
    ]


def test_an_interrupt_shows_what_is_done_of_the_step_that_is_shown_and_opens_none(
    tmp_path: Path, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    first = stage(tmp_path / "a", [1000, 1000])
    progress = Progress([first])
    progress.interrupted()
    assert shown(capsys) == []
    clock.now += 1
    progress.update()
    finish(first, 0)
    progress.interrupted()
    assert [re.sub(r"^\d\d:\d\d:\d\d ", "T ", line) for line in shown(capsys)] == [
        "T clean books       stopped after 1.0 kB of 2.0 kB",
    ]


def test_the_json_of_a_step_says_where_it_is(
    tmp_path: Path, clock: Clock, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", log.EventStream(sys.stderr, clock=lambda: "now"))
    steps = stage(tmp_path / "a", [10, 30]), stage(tmp_path / "b", [7, 7], "write shards", "shard")
    finish(steps[0], 0)
    progress = Progress(steps)
    progress.update()
    clock.now += 12
    progress.update()
    clock.now += 1
    finish(steps[0], 1)
    progress.update()
    finish(steps[1], 0)
    clock.now += 1
    progress.update(final=True)
    events = [json.loads(line) for line in shown(capsys)]
    assert events[1] == {
        "time": "now",
        "event": "stage",
        "stage": "clean books",
        "state": "running",
        "done": 10,
        "total": 40,
        "unit": "byte",
        "bytes": 10,
        "seconds": 12.0,
    }
    assert [(event["stage"], event["state"], event["done"], event["total"]) for event in events] == [
        ("clean books", "begun", 10, 40),
        ("clean books", "running", 10, 40),
        ("clean books", "done", 40, 40),
        ("write shards", "begun", 0, 2),
        ("write shards", "stopped", 1, 2),
    ]
    assert (events[-1]["unit"], events[-1]["bytes"]) == ("shard", None)


def test_a_later_stage_waits_for_the_one_before_it(
    tmp_path: Path, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = stage(tmp_path / "a", [1, 1]), stage(tmp_path / "b", [1], "write shards")
    progress = Progress([first, second])
    finish(first, 0)
    finish(second, 0)
    progress.update()
    assert not any("write shards" in line for line in shown(capsys))


def test_a_long_step_has_a_line_after_a_minute_and_then_ever_more_seldom(
    tmp_path: Path, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = stage(tmp_path, [10] * 10)
    progress, began, times = Progress([expected]), clock.now, []
    for second in range(0, 2400, 10):
        clock.now = began + second
        progress.update()
        times += [second for _ in shown(capsys)]
    assert times == [60, 180, 420, 900, 1500, 2100]
    progress.update(final=True)
    [line] = shown(capsys)
    assert line.endswith("clean books       stopped after 0 B of 100 B")


def test_a_long_step_says_how_far_it_is_and_what_is_left(
    tmp_path: Path, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = stage(tmp_path, [10] * 10)
    finish(expected, 0, 1)
    progress = Progress([expected])
    finish(expected, 2, 3)
    clock.now += 60
    progress.update()
    [line] = shown(capsys)
    assert line.endswith("clean books       40%, 40 B of 100 B, 0:03:00 left")


def test_a_step_that_is_done_is_not_shown_and_a_resumed_one_starts_where_it_was(
    tmp_path: Path, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    before, resumed_stage = stage(tmp_path / "a", [5], "clean wikipedia"), stage(tmp_path / "b", [10] * 10)
    finish(before, 0)
    finish(resumed_stage, *range(6))
    progress = Progress([before, resumed_stage])
    progress.update()
    finish(resumed_stage, *range(6, 10))
    clock.now += 4
    progress.update()
    [line] = shown(capsys)
    assert line.endswith("clean books       100 B in 4.0 s (10 B/s), 60 B of it before")


def test_a_step_that_fails_is_left_at_what_is_done(
    tmp_path: Path, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    failing, next_one = stage(tmp_path / "a", [10] * 10), stage(tmp_path / "b", [1], "write shards")
    progress = Progress([failing, next_one])
    progress.update()
    finish(failing, 0, 1)
    progress.update(final=True)
    [line] = shown(capsys)
    assert line.endswith("clean books       stopped after 20 B of 100 B")


def test_no_bar_ends_without_a_rate(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    steps = [stage(tmp_path / name, [100, 100], title) for name, title in (("a", "clean wikipedia"), ("b", "books"))]
    finish(steps[1], 0)
    progress = Progress(steps)
    clock.now += 1
    progress.update()
    finish(steps[0], 0, 1)
    finish(steps[1], 1)
    clock.now += 1
    progress.update()
    last = [line.rstrip("\r").rpartition("\r")[2] for line in terminal.getvalue().rstrip("\n").split("\n")]
    assert len(last) == 2
    for line in last:
        assert "100%" in line
        assert "?B/s" not in line
    rate = re.search(r", ([\d.]+)B/s\]", last[1])
    assert rate is not None
    assert float(rate[1]) <= 100.5  # the second ended within the second in which the first did


def test_a_terminal_gets_one_moving_line(tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    expected = stage(tmp_path, [10] * 10)
    progress = Progress([expected])
    for number in range(10):
        finish(expected, number)
        clock.now += 1
        progress.update()
    text = terminal.getvalue()
    assert text.count("\n") == 1
    assert text.endswith("\n")
    assert text.count("\r") > 1
    assert "100%" in text.rpartition("\r")[2]
