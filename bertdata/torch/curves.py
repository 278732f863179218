"""Curves as SVG, without a plotting library: lines over steps, axes with round numbers, a legend.

What this module does not do: logarithmic axes, several pictures in one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 720, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 16, 48
_COLORS = ("#1f5fa8", "#c2571a", "#2c8a4b", "#8a3fa0", "#7a6a00", "#b0305c")
_DASHES = ("", "7 3", "2 3", "9 3 2 3", "", "7 3")


@dataclass(frozen=True)
class Curve:
    """A name and its points, (x, y) in order of x."""

    name: str
    points: Sequence[tuple[float, float]]


def smoothed(points: Sequence[tuple[float, float]], window: int) -> list[tuple[float, float]]:
    """Return the means of each `window` points in a row, at the last of them.

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


def draw(curves: Sequence[Curve], *, x_label: str, y_label: str, title: str = "") -> str:
    """Return an SVG picture of curves; without a point, of empty axes."""
    points = [point for curve in curves for point in curve.points if math.isfinite(point[1])] or [(0.0, 0.0)]
    x_low, x_high = _range([x for x, _ in points], margin=0.0)
    y_low, y_high = _range([y for _, y in points], margin=0.05)

    def x_at(x: float) -> float:
        return _LEFT + (x - x_low) / (x_high - x_low) * (WIDTH - _LEFT - _RIGHT)

    def y_at(y: float) -> float:
        return HEIGHT - _BOTTOM - (y - y_low) / (y_high - y_low) * (HEIGHT - _TOP - _BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        f'font-size="13" role="img"><title>{escape(title or y_label)}</title>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
    ]
    for x in ticks(x_low, x_high):
        parts += [_line(x_at(x), _TOP, x_at(x), HEIGHT - _BOTTOM), _text(x_at(x), HEIGHT - _BOTTOM + 18, f"{x:g}")]
    for y in ticks(y_low, y_high):
        parts += [_line(_LEFT, y_at(y), WIDTH - _RIGHT, y_at(y)), _text(_LEFT - 8, y_at(y) + 4, f"{y:g}", "end")]
    parts.append(_text((_LEFT + WIDTH - _RIGHT) / 2, HEIGHT - 8, x_label))
    middle = (_TOP + HEIGHT - _BOTTOM) / 2
    parts.append(f'<g transform="rotate(-90 16 {middle})">{_text(16, middle + 4, y_label)}</g>')
    for number, curve in enumerate(curves):
        places = " ".join(f"{x_at(x):.1f},{y_at(y):.1f}" for x, y in curve.points if math.isfinite(y))
        style = _style(number)
        parts.append(f'<polyline points="{places}" fill="none" {style}/>')
        height = _TOP + 18 + 20 * number
        parts.append(f'<line x1="{WIDTH - 230}" y1="{height - 4}" x2="{WIDTH - 200}" y2="{height - 4}" {style}/>')
        parts.append(_text(WIDTH - 192, height, curve.name, "start"))
    return "\n".join([*parts, "</svg>", ""])


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
