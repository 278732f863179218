"""What a run shows in a notebook."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from xml.etree import ElementTree

import pytest

from bertdata.torch.training import curves
from bertdata.torch.training.display import shown
from bertdata.torch.training.notebook_progress import NotebookProgress
from tests.torch.training.plans import plan_of


def record(step: int, **more: float) -> dict[str, float]:
    return {"step": step, "loss": 7.25, "mlm_loss": 7.25, "mlm_accuracy": 0.125, "tokens_per_second": 4321.0, **more}


@pytest.fixture
def states(tmp_path: Path) -> tuple[list[str], NotebookProgress, list[float]]:
    """The states that are shown, what shows them, and the time by its clock."""
    shown_states: list[str] = []
    now = [0.0]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(record(step)) + "\n" for step in (10, 20)))
    progress = NotebookProgress(shown_states.append, lambda: now[0])
    progress.begin(plan_of(100, output=str(tmp_path)))
    return shown_states, progress, now


def test_a_state_has_the_plan_the_bar_the_time_left_and_the_figures(
    states: tuple[list[str], NotebookProgress, list[float]],
) -> None:
    shown_states, progress, now = states
    assert "615 rows of up to 128 tokens" in shown_states[-1]
    assert '<progress value="0" max="100"' in shown_states[-1]
    now[0] = 5.0
    progress(record(1))
    assert "step 1 of 100</div>" in shown_states[-1]
    now[0] = 14.5
    progress(record(20))
    assert '<progress value="20" max="100"' in shown_states[-1]
    assert "step 20 of 100, 0:00:40 left" in shown_states[-1]
    assert '<th style="text-align:left">mlm accuracy</th>' in shown_states[-1]
    assert ">12.5%</td>" in shown_states[-1]


def test_validation_losses_stay_and_other_records_are_replaced(
    states: tuple[list[str], NotebookProgress, list[float]],
) -> None:
    shown_states, progress, _ = states
    for each_record in (record(10), record(20, validation_loss=6.5), record(30), record(40)):
        progress(each_record)
    assert shown_states[-1].count("<tr>") == 1 + 2
    assert ">6.500</td>" in shown_states[-1]
    assert ">40</td>" in shown_states[-1]
    assert ">30</td>" not in shown_states[-1]


def test_steps_without_a_record_move_the_bar_twice_a_second(
    states: tuple[list[str], NotebookProgress, list[float]],
) -> None:
    shown_states, progress, now = states
    for step in range(1, 41):
        now[0] += 0.1
        progress.step(step)
    assert 5 <= len(shown_states) - 1 <= 9


def test_the_curves_of_the_log_are_in_the_output_and_it_is_well_formed(
    states: tuple[list[str], NotebookProgress, list[float]],
) -> None:
    pytest.importorskip("matplotlib")
    shown_states, progress, _ = states
    progress.close()
    assert shown_states[-1].count("<svg") == 1
    assert ">mlm_loss</text>" in shown_states[-1] or "mlm_loss" in shown_states[-1]
    ElementTree.fromstring(f"<div>{shown_states[-1].replace('&nbsp;', ' ')}</div>")


def test_fine_tuning_has_a_curve_of_its_loss() -> None:
    assert curves.panels_of([{"step": 1, "loss": 2.0}]) == {"loss": {"training": [(1, 2.0)]}}


def test_it_is_shown_in_the_kernel_of_a_notebook_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    outputs: list[str] = []
    display = ModuleType("IPython.display")
    handle = SimpleNamespace(update=outputs.append)
    monkeypatch.setattr(display, "HTML", str, raising=False)
    monkeypatch.setattr(display, "display", lambda html, display_id: handle, raising=False)
    for application, notebook in (("IPKernelApp", True), ("TerminalIPythonApp", False)):
        shell, running = ModuleType("IPython"), SimpleNamespace(config={application: {}})
        monkeypatch.setattr(shell, "get_ipython", lambda running=running: running, raising=False)
        monkeypatch.setitem(sys.modules, "IPython", shell)
        monkeypatch.setitem(sys.modules, "IPython.display", display)
        with shown() as progress:
            assert isinstance(progress, NotebookProgress) == notebook
            progress.begin(plan_of(10))
        assert bool(outputs) == notebook
        outputs.clear()
