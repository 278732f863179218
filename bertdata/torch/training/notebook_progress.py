"""The progress of a run in a notebook: its plan, a bar, the figures and the curves of its log, in one output."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta

from bertdata.errors import MissingExtraError
from bertdata.io import files
from bertdata.io.notebook import escaped, html_table, live_output
from bertdata.torch.training import curves, metrics_log
from bertdata.torch.training.metrics_log import LogRecord
from bertdata.torch.training.plan import RunPlan
from bertdata.torch.training.progress import Progress, line

_WAIT = 0.5
"""Seconds between two states that show steps alone."""
_CURVES_WAIT = 5.0
"""Seconds between two drawings of the curves."""
_ROWS = 10
"""Records with a validation loss that are shown."""


class NotebookProgress(Progress):
    """Shows a run below its cell.

    show: takes each state as HTML, which replaces the one before; by default an output of the cell.
    """

    def __init__(self, show: Callable[[str], None] | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._show, self._clock = show, clock
        self._plan: RunPlan | None = None
        self._step = 0
        self._from: tuple[int, float] | None = None
        self._shown = self._drawn = float("-inf")
        self._rows: list[dict[str, str]] = []
        self._last: dict[str, str] = {}
        self._curves = ""

    def begin(self, plan: RunPlan) -> None:
        self._plan, self._step = plan, plan.first
        self._show = self._show or live_output()
        if plan.finished or plan.first:
            self._draw(plan)
        self._update(plan)

    def step(self, step: int) -> None:
        self._step = step
        if self._plan is not None and self._clock() - self._shown >= _WAIT:
            self._update(self._plan)

    def __call__(self, record: LogRecord) -> None:
        self._step = int(record["step"])
        self._from = self._from or (self._step, self._clock())  # the first step has compiling and loading in it
        self._last = {"step": f"{self._step:,}", **line(record)}
        if "validation_loss" in record:
            self._rows = [*self._rows, self._last][-_ROWS:]
        if self._plan is not None:
            if self._clock() - self._drawn >= _CURVES_WAIT:
                self._draw(self._plan)
            self._update(self._plan)

    def close(self) -> None:
        """Show the last state, with the curves of the whole log."""
        if self._plan is not None and not self._plan.finished:
            self._draw(self._plan)
            self._update(self._plan)

    def _update(self, plan: RunPlan) -> None:
        assert self._show is not None, "`begin` sets it"
        rows = self._rows if self._last in self._rows or not self._last else [*self._rows, self._last]
        names = list(dict.fromkeys(name for row in rows for name in row))
        parts = ["<br>".join(map(escaped, plan.lines()))]
        if not plan.finished:
            bar = f'<progress value="{self._step}" max="{plan.steps}" style="width:20em"></progress>'
            parts.append(f"{bar} step {self._step:,} of {plan.steps:,}{self._left(plan)}")
        parts += [html_table([[row.get(name, "") for name in names] for row in rows], names)] if rows else []
        self._show("".join(f"<div>{part}</div>" for part in [*parts, self._curves] if part))
        self._shown = self._clock()

    def _left(self, plan: RunPlan) -> str:
        first, began = self._from or (self._step, 0.0)
        if not first < self._step < plan.steps:
            return ""
        each = (self._clock() - began) / (self._step - first)
        return f", {timedelta(seconds=round(each * (plan.steps - self._step)))} left"

    def _draw(self, plan: RunPlan) -> None:
        """Draw the curves of the log, where there are some and matplotlib is installed."""
        self._drawn = self._clock()
        path = files.join(plan.output, metrics_log.LOG)
        panels = curves.panels_of(metrics_log.read(path)) if files.exists(path) and files.size(path) else {}
        if panels:
            try:
                picture = curves.draw(panels, x_label="step").decode()
            except MissingExtraError:
                return
            self._curves = picture[picture.index("<svg") :]
