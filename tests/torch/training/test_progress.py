from __future__ import annotations

import contextlib
import fcntl
import io
import json
import logging
import os
import pty
import re
import struct
import sys
import termios
import time
from typing import Any

import pytest

from bertdata.io import log
from bertdata.torch.training.display import shown
from bertdata.torch.training.progress import PlainLines, line
from tests.torch.training.plans import plan_of


def record(step: int, **more: float) -> dict[str, float]:
    return {"step": step, "loss": 7.25, "mlm_accuracy": 0.125, "tokens_per_second": 4321.0, **more}


def lines_at(times: list[tuple[float, dict[str, float] | int]], steps: int = 1000, first: int = 0) -> list[str]:
    """Return what is written after the plan when records, and steps without one, come at some seconds."""
    now, stream = [0.0], io.StringIO()
    lines = PlainLines(stream, lambda: now[0])
    lines.begin(plan_of(steps, first))
    for second, event in times:
        now[0] = second
        if isinstance(event, int):
            lines.step(event)
        else:
            lines(event)
    return stream.getvalue().splitlines()[1:]


def test_a_line_says_step_loss_speed_and_what_is_left() -> None:
    assert lines_at([(9, record(1)), (108, record(100))]) == [
        "step 1 of 1,000: loss 7.250, mlm accuracy 12.5%, tokens/s 4,321",
        "step 100 of 1,000: loss 7.250, mlm accuracy 12.5%, tokens/s 4,321, 0:15:00 left",
    ]


def test_lines_come_at_growing_intervals_up_to_a_minute() -> None:
    shown_at = [
        float(shown_line.split()[1].replace(",", "")) - 1
        for shown_line in lines_at([(second, record(second + 1)) for second in range(400)])
    ]
    assert shown_at == [0, 1, 3, 7, 15, 31, 63, 123, 183, 243, 303, 363]


def test_the_last_step_and_a_validation_loss_are_always_shown() -> None:
    lines = lines_at([(0, record(998)), (0.1, record(999, validation_loss=6.5)), (0.2, record(1000))])
    assert len(lines) == 3
    assert "validation loss 6.500, tokens/s" in lines[1]
    assert lines[2].startswith("step 1,000 of 1,000:")
    assert not lines[2].endswith("left")


def test_the_time_left_of_a_resumed_run_is_that_of_the_steps_it_takes() -> None:
    shown_lines = lines_at([(10, record(901)), (20, record(911))], first=900)
    assert [line.endswith(", 0:01:29 left") for line in shown_lines] == [False, True]


def test_a_run_whose_steps_take_minutes_has_a_line_for_each() -> None:
    times: list[tuple[float, dict[str, float] | int]] = [(400, record(1)), (450, 2), (800, 3), (1200, record(4))]
    shown_lines = lines_at(times, 97)
    assert [line.partition(":")[0].partition(",")[0] for line in shown_lines] == [f"step {n} of 97" for n in (1, 3, 4)]
    assert shown_lines[0].endswith(", 10:40:00 left")
    assert shown_lines[1] == "step 3 of 97, 5:13:20 left"


def test_the_plan_is_written_before_anything_else(capsys: pytest.CaptureFixture[str]) -> None:
    with shown() as progress:
        progress.begin(plan_of(97))
        [plan] = capsys.readouterr().err.splitlines()
    assert plan[9:].startswith(
        "BertForPreTraining on cpu: 1,000 parameters; 615 rows of up to 128 tokens, 3,712 tokens a "
    )
    with shown(quiet=True) as progress:
        progress.begin(plan_of(97))
        progress(record(1))
    assert capsys.readouterr().err == ""


def test_fine_tuning_without_a_plan_says_its_steps_in_each_record() -> None:
    stream = io.StringIO()
    PlainLines(stream)({"step": 1, "steps": 9, "loss": 2.0})
    assert stream.getvalue() == "step 1 of 9: loss 2.000\n"
    assert line({"loss": 1.0, "replaced_accuracy": 0.5}) == {"loss": "1.000", "replaced accuracy": "50.0%"}


def on_terminal(
    monkeypatch: pytest.MonkeyPatch, columns: int, records: list[dict[str, float]], before: Any = None
) -> list[str]:
    """Return the lines that a terminal of some columns is given, each state of the bar as a line.

    before: called with each record before it is shown.
    """
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with open(slave, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        with shown() as report:
            report.begin(plan_of(100_000))
            for record in records:
                if before is not None:
                    before(record)
                report(record)
                time.sleep(0.12)  # tqdm shows ten states a second at most
        terminal.flush()
        written = os.read(master, 1 << 16).decode()
    os.close(master)
    return [part.rstrip() for part in re.split(r"[\r\n]+", written) if part.strip()]


@pytest.mark.parametrize("columns", [80, 60])
def test_the_bar_is_one_line_of_a_terminal_and_validation_losses_stay_above_it(
    monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    held = {"validation_loss": 6.5, "validation_128/loss": 6.5, "validation_512/loss": 7.75}
    more = {"pair_accuracy": 0.5, "replaced_accuracy": 0.5}
    steps = [record(1, **more), record(90_001, **more), record(100_000, **more, **held)]
    lines = on_terminal(monkeypatch, columns, steps)
    assert all(len(shown_line) < columns for shown_line in lines if shown_line.startswith("|"))
    assert "step 100,000: validation loss 6.500 (128: 6.500, 512: 7.750)" in lines
    [last] = [shown_line for shown_line in lines if "100000/100000" in shown_line][-1:]
    assert re.match(r"\|█+\| 100000/100000, 00:00 left, loss 7.250", last)
    assert ("4,321 tokens/s, mlm 12.5%" in last) == (columns == 80)


def test_the_bar_goes_back_with_a_run_that_does_and_its_warning_has_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def warn(each_record: dict[str, float]) -> None:
        if each_record["step"] == 400:
            logging.getLogger("bertdata").warning("the run goes back")

    lines = on_terminal(monkeypatch, 80, [record(500), record(400), record(401)], warn)
    assert " 401/100000" in lines[-1]
    assert "the run goes back" in lines


def test_anything_else_gets_lines(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    with shown() as report:
        report.begin(plan_of(1000, first=500))
        report(record(501))
        report(record(1000))
    lines = capsys.readouterr().err.splitlines()[-2:]
    assert [line[8:].split(":")[0] for line in lines] == [" step 501 of 1,000", " step 1,000 of 1,000"]


def test_a_log_of_json_has_an_event_for_the_plan_and_each_record(capsys: pytest.CaptureFixture[str]) -> None:
    with contextlib.redirect_stderr(log.EventStream(sys.stderr, clock=lambda: "now")), shown() as report:
        report.begin(plan_of(1000, first=500))
        report(record(501))
    plan, step = map(json.loads, capsys.readouterr().err.splitlines())
    assert plan == {"time": "now", "event": "plan", "plan": plan_of(1000, first=500).summary()}
    assert step == {"time": "now", "event": "step", "steps": 1000, **record(501)}
