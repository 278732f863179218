"""`curves.svg`: the losses and accuracies of a run, drawn by matplotlib."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from typing import Any

from bertdata.errors import MissingExtraError
from bertdata.io import files
from bertdata.io.plotting import matplotlib, plain_style, svg_bytes
from bertdata.torch.training.metrics_log import LogRecord, parsed_name

PLOT = "curves.svg"
Points = Sequence[tuple[float, float]]
"""The points (x, y) of a curve in order of x."""
Panels = Mapping[str, Mapping[str, Points]]
"""The curves of a panel by their name, by the name of the panel."""
_LOG = logging.getLogger("bertdata")
_MOST_POINTS = 1000
"""Points of a curve; longer logs are plotted as means of neighbouring lines."""
_COLORS = ("#1f5fa8", "#c2571a", "#2c8a4b", "#8a3fa0", "#7a6a00", "#b0305c")


def available() -> bool:
    """Return whether matplotlib is installed; where it is not, a warning says what to install."""
    try:
        matplotlib()
    except MissingExtraError as error:
        _LOG.warning("%s is not drawn: %s", PLOT, error)
        return False
    return True


def plot(directory: str, records: Sequence[LogRecord]) -> None:
    """Draw `curves.svg` beside a log.

    It has a panel for each loss and accuracy, in training and on the validation split of each phase. Dotted lines are
    where the length of the rows changes.
    """
    lengths = [(record["step"], record.get("max_seq_length")) for record in records]
    changes = [step for (step, length), (_, before) in zip(lengths[1:], lengths, strict=False) if length != before]
    files.write_bytes(files.join(directory, PLOT), draw(panels_of(records), x_label="step", borders=changes))


def panels_of(records: Sequence[LogRecord]) -> dict[str, dict[str, Points]]:
    """Return the curves of a log, losses before accuracies.

    >>> panels_of([{"step": 1, "mlm_loss": 9.5, "validation_mlm_loss": 9.0}, {"step": 2, "mlm_loss": 8.5}])
    {'mlm_loss': {'training': [(1, 9.5), (2, 8.5)], 'validation': [(1, 9.0)]}}

    A log whose loss has no parts, as that of fine-tuning, has the curve of its loss:

    >>> panels_of([{"step": 1, "loss": 0.5}])
    {'loss': {'training': [(1, 0.5)]}}
    """
    panels: dict[str, dict[str, list[tuple[float, float]]]] = {}
    phases = {phase for record in records for name in record if (phase := parsed_name(name)[0])}
    ends = ("_loss", "_accuracy") if any(name.endswith("_loss") for record in records for name in record) else ("loss",)
    for record in records:
        for name, value in record.items():
            phase, figure = parsed_name(name)
            if not figure.endswith(ends) or (phase == "" and phases):
                continue
            curve = "training" if phase is None else f"validation {phase}".rstrip()
            panels.setdefault(figure, {}).setdefault(curve, []).append((record["step"], value))
    return {
        figure: {
            curve: smoothed(points, -(-len(points) // _MOST_POINTS)) if curve == "training" else points
            for curve, points in panels[figure].items()
        }
        for figure in sorted(panels, key=lambda figure: figure.endswith("_accuracy"))
    }


def smoothed(points: Points, window: int) -> list[tuple[float, float]]:
    """Return the mean of each block of `window` points, at the last of them; blocks do not overlap.

    >>> smoothed([(1, 4.0), (2, 2.0), (3, 3.0)], 2)
    [(2, 3.0), (3, 3.0)]
    """
    blocks = [points[start : start + window] for start in range(0, len(points), window)]
    return [(block[-1][0], sum(y for _, y in block) / len(block)) for block in blocks]


def draw(panels: Panels, *, x_label: str, borders: Sequence[float] = ()) -> bytes:
    """Return panels as an SVG picture with one range of x, the same bytes for the same curves.

    Panels named `..._accuracy` are at the right of those of losses, in percent. Points that are not finite are left
    out. borders: where there are vertical lines. Raises MissingExtraError where matplotlib is not installed.
    """
    matplotlib()
    from matplotlib.figure import Figure

    columns = [[name for name in panels if name.endswith("_accuracy") == right] for right in (False, True)]
    columns = [names for names in columns if names] or [[""]]
    rows = max(map(len, columns))
    with plain_style():
        figure = Figure(figsize=(8, 3.2 if rows == 1 else 2.6 * rows), facecolor="white", layout="constrained")
        grid = figure.subplots(rows, len(columns), sharex=True, squeeze=False)
        for column, names in enumerate(columns):
            for row in range(rows):
                axes = grid[row][column]
                if row >= len(names):
                    axes.remove()
                    continue
                _panel(axes, names[row], panels.get(names[row], {}), borders)
                axes.tick_params(labelbottom=row == len(names) - 1)
                axes.set_xlabel(x_label if row == len(names) - 1 else "")
        return svg_bytes(figure)


def _panel(axes: Any, name: str, curves: Mapping[str, Points], borders: Sequence[float]) -> None:
    from matplotlib.ticker import MaxNLocator, PercentFormatter, StrMethodFormatter

    for border in borders:
        axes.axvline(border, color="#999999", linewidth=0.8, linestyle=":")
    for number, (curve, points) in enumerate(curves.items()):
        finite = [point for point in points if math.isfinite(point[1])]
        measured = curve.startswith("validation")
        style: dict[str, Any] = {"marker": "o", "markersize": 3.0} if measured and len(finite) < 50 else {}
        x, y = zip(*finite, strict=True) if finite else ((), ())
        style |= {"alpha": 0.7} if curve == "training" else {}
        axes.plot(x, y, label=curve, color=_COLORS[number % len(_COLORS)], linewidth=1.3, **style)
    axes.set_title(name, fontsize=10, loc="left")
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    if name.endswith("_accuracy"):
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    if curves:
        axes.legend(frameon=False, fontsize=8)
