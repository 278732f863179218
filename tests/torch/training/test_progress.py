from __future__ import annotations

import io
import sys
from typing import Any

import pytest

from bertdata.torch.training.metrics_log import PlainLines, line, shown


def record(step: int, **more: float) -> dict[str, float]:
    return {"step": step, "loss": 7.25, "mlm_accuracy": 0.125, "tokens_per_second": 4321.0, **more}


def lines_at(times: list[tuple[float, dict[str, float]]], steps: int | None = 1000) -> list[str]:
    now, stream = [0.0], io.StringIO()
    lines = PlainLines(steps, stream, lambda: now[0])
    for time, one in times:
        now[0] = time
        lines(one)
    return stream.getvalue().splitlines()


def test_a_line_says_step_loss_speed_and_what_is_left() -> None:
    assert lines_at([(0, record(1)), (99, record(100))]) == [
        "step 1 of 1,000: loss 7.250, mlm accuracy 12.5%, tokens/s 4,321",
        "step 100 of 1,000: loss 7.250, mlm accuracy 12.5%, tokens/s 4,321, 0:15:00 left",
    ]


def test_lines_come_at_growing_intervals_up_to_a_minute() -> None:
    shown_at = [
        float(one.split()[1].replace(",", "")) - 1
        for one in lines_at([(second, record(second + 1)) for second in range(400)])
    ]
    assert shown_at == [0, 1, 3, 7, 15, 31, 63, 123, 183, 243, 303, 363]


def test_the_last_step_and_a_validation_loss_are_always_shown() -> None:
    found = lines_at([(0, record(998)), (0.1, record(999, validation_loss=6.5)), (0.2, record(1000))])
    assert len(found) == 3
    assert "validation loss 6.500, tokens/s" in found[1]
    assert found[2].startswith("step 1,000 of 1,000:")
    assert not found[2].endswith("left")


def test_fine_tuning_says_its_steps_in_each_record() -> None:
    assert lines_at([(0, {"step": 1, "steps": 9, "loss": 2.0})], None) == ["step 1 of 9: loss 2.000"]
    assert line({"loss": 1.0, "replaced_accuracy": 0.5}) == {"loss": "1.000", "replaced accuracy": "50.0%"}


@pytest.mark.parametrize("terminal", [False, True])
def test_a_terminal_gets_a_bar_and_anything_else_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, terminal: bool
) -> None:
    bars: list[Any] = []

    class Bar:
        n = initial = total = 0

        def __init__(self, **options: Any) -> None:
            bars.append(self)

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *error: object) -> None:
            pass

        def update(self, number: int) -> None:
            self.n += number

        def set_postfix(self, values: Any, refresh: bool) -> None:
            self.values = values

    monkeypatch.setattr("tqdm.tqdm", Bar)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    with shown(1000) as report:
        report(record(501))
        report(record(1000))
    lines = capsys.readouterr().err.splitlines()
    if terminal:
        assert not lines
        assert (bars[0].initial, bars[0].n, bars[0].total, bars[0].values["loss"]) == (500, 1000, 1000, "7.250")
    else:
        assert not bars
        assert [one.split(":")[0] for one in lines] == ["step 501 of 1,000", "step 1,000 of 1,000"]
