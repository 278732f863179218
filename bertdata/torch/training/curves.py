"""Curves as SVG, without a plotting library: lines over steps, axes with round numbers, a legend, several panels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 720, 420
_PANEL_HEIGHT = 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 16, 48
_COLORS = ("#1f5fa8", "#c2571a", "#2c8a4b", "#8a3fa0", "#7a6a00", "#b0305c")
_DASHES = ("", "7 3", "2 3", "9 3 2 3", "", "7 3")


@dataclass(frozen=True)
class Curve:
    """A name and its points, (x, y) in order of x."""

    name: str
    points: Sequence[tuple[float, float]]


def smoothed(points: Sequence[tuple[float, float]], window: int) -> list[tuple[float, float]]:
    """Return the mean of each block of `window` points, at the last of them; blocks do not overlap.

    >>> smoothed([(1, 4.0), (2, 2.0), (3, 3.0)], 2)
    [(2, 3.0), (3, 3.0)]
    """
    parts = [points[start : start + window] for start in range(0, len(points), window)]
    return [(part[-1][0], sum(y for _, y in part) / len(part)) for part in parts]


def ticks(low: float, high: float, number: int = 6) -> list[float]:
    """Return about `number` round numbers that lie between two.

    >>> ticks(0, 3000), ticks(5.8, 9.1)
    ([0, 500, 1000, 1500, 2000, 2500, 3000], [6.0, 6.5, 7.0, 7.5, 8.0, 8.5, 9.0])
    """
    rough = (high - low) / number
    scale = 10 ** math.floor(math.log10(rough))
    step = min((1, 2, 5, 10), key=lambda one: abs(one * scale - rough)) * scale
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(place * step, 10) for place in range(first, last + 1)]


@dataclass(frozen=True)
class Panel:
    """Axes of their own: what the y-axis shows, and the curves on it."""

    label: str
    curves: Sequence[Curve]


def draw(curves: Sequence[Curve], *, x_label: str, y_label: str, title: str = "") -> str:
    """Return an SVG picture of curves; without a point, of empty axes."""
    return draw_panels([Panel(y_label, curves)], x_label=x_label, title=title)


def draw_panels(panels: Sequence[Panel], *, x_label: str, title: str = "") -> str:
    """Return an SVG picture of panels one below another: one range of x, and for each panel its own range of y."""
    height = HEIGHT if len(panels) == 1 else _PANEL_HEIGHT
    points = [point for panel in panels for curve in panel.curves for point in _finite(curve)] or [(0.0, 0.0)]
    x_range, total = _range([x for x, _ in points], margin=0.0), height * max(len(panels), 1)
    name = title or ", ".join(panel.label for panel in panels)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {total}" font-family="sans-serif" '
        f'font-size="13" role="img"><title>{escape(name)}</title>',
        f'<rect width="{WIDTH}" height="{total}" fill="#ffffff"/>',
    ]
    for number, panel in enumerate(panels):
        parts += _panel(panel, number * height, height, x_range, x_label)
    return "\n".join([*parts, "</svg>", ""])


def _panel(panel: Panel, start: int, height: int, x_range: tuple[float, float], x_label: str) -> list[str]:
    """Return the parts of a panel whose upper edge is at `start`."""
    (x_low, x_high), (top, bottom) = x_range, (start + _TOP, start + height - _BOTTOM)
    values = [y for curve in panel.curves for _, y in _finite(curve)] or [0.0]
    y_low, y_high = _range(values, margin=0.05)

    def x_at(x: float) -> float:
        return _LEFT + (x - x_low) / (x_high - x_low) * (WIDTH - _LEFT - _RIGHT)

    def y_at(y: float) -> float:
        return bottom - (y - y_low) / (y_high - y_low) * (bottom - top)

    parts = []
    for x in ticks(x_low, x_high):
        parts += [_line(x_at(x), top, x_at(x), bottom), _text(x_at(x), bottom + 18, f"{x:g}")]
    for y in ticks(y_low, y_high):
        parts += [_line(_LEFT, y_at(y), WIDTH - _RIGHT, y_at(y)), _text(_LEFT - 8, y_at(y) + 4, f"{y:g}", "end")]
    parts.append(_text((_LEFT + WIDTH - _RIGHT) / 2, start + height - 8, x_label))
    middle = (top + bottom) / 2
    parts.append(f'<g transform="rotate(-90 16 {middle})">{_text(16, middle + 4, panel.label)}</g>')
    for number, curve in enumerate(panel.curves):
        places = " ".join(f"{x_at(x):.1f},{y_at(y):.1f}" for x, y in _finite(curve))
        style = _style(number)
        parts.append(f'<polyline points="{places}" fill="none" {style}/>')
        place = top + 18 + 20 * number
        parts.append(f'<line x1="{WIDTH - 230}" y1="{place - 4}" x2="{WIDTH - 200}" y2="{place - 4}" {style}/>')
        parts.append(_text(WIDTH - 192, place, curve.name, "start"))
    return parts


def _finite(curve: Curve) -> list[tuple[float, float]]:
    return [point for point in curve.points if math.isfinite(point[1])]


def _style(number: int) -> str:
    color, dash = _COLORS[number % len(_COLORS)], _DASHES[number % len(_DASHES)]
    return f'stroke="{color}" stroke-width="1.8"' + (f' stroke-dasharray="{dash}"' if dash else "")


def _range(values: Sequence[float], margin: float) -> tuple[float, float]:
    low, high = min(values), max(values)
    room = (high - low) * margin or (0.0 if high > low else 1.0)
    return low - room, high + room


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#dddddd"/>'


def _text(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#333333">{escape(text)}</text>'
