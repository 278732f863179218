"""Bars and histograms as inline SVG: no library, no script, colours from the page's style.

Every mark has a title that a reader sees when pointing at it, and every figure an accessible name.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_WIDTH, _LEFT, _TOP, _HEIGHT, _BOTTOM = 480, 56, 12, 180, 42
Part = tuple[str, int, str]
"""A part of a bar: what it is, how many, and the class that colours it."""


def stacked_bar(name: str, parts: Sequence[Part]) -> str:
    """Return one bar cut into parts in proportion to their numbers; what there is none of is not drawn.

    >>> stacked_bar("kept", [("kept", 3, "c0"), ("dropped", 1, "c1")]).count("<rect")
    2
    """
    total = sum(number for _, number, _ in parts)
    rects = []
    at = 0.0
    for label, number, kind in parts:
        if number:
            width = _WIDTH * number / total
            shown = max(width - 1, 0.75)
            text = f"{label}: {number:,} ({number / total:.1%})"
            title = f"<title>{escape(text)}</title>"
            rects.append(f'<rect class="{kind}" x="{at:.2f}" y="0" width="{shown:.2f}" height="18">{title}</rect>')
            at += width
    label = escape(f"{name}: " + ", ".join(f"{one} {number:,}" for one, number, _ in parts))
    return (
        f'<svg class="bar" role="img" aria-label="{label}" viewBox="0 0 {_WIDTH} 18" preserveAspectRatio="none">'
        f"{''.join(rects)}</svg>"
    )


def histogram(name: str, axis: str, runs: Sequence[tuple[int, int, int]]) -> str:
    """Return a histogram of runs (first value, last value, how many), in the order given.

    >>> histogram("row lengths", "tokens", [(1, 8, 5), (9, 16, 20)]).count('<rect class="c0"')
    2
    """
    most = max([number for _, _, number in runs] or [0])
    ceiling, ticks = _ticks(most)
    step = (_WIDTH - _LEFT) / max(1, len(runs))
    total = max(1, sum(number for _, _, number in runs))
    marks = []
    for tick in ticks:
        y = _TOP + _HEIGHT * (1 - tick / ceiling)
        marks.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>')
        marks.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{tick:,}</text>')
    every = max(1, -(-len(runs) // 6))
    for place, (first, last, number) in enumerate(runs):
        height = _HEIGHT * number / ceiling
        x = _LEFT + place * step
        title = f"<title>{first} to {last} {escape(axis)}: {number:,} ({number / total:.1%})</title>"
        box = f'x="{x + 1:.2f}" y="{_TOP + _HEIGHT - height:.2f}" width="{step - 2:.2f}" height="{height:.2f}"'
        marks.append(f'<rect class="c0" {box}>{title}</rect>')
        if (len(runs) - 1 - place) % every == 0:
            middle = x + step / 2
            marks.append(f'<text x="{middle:.1f}" y="{_TOP + _HEIGHT + 17}" text-anchor="middle">{last}</text>')
    base = _TOP + _HEIGHT
    marks.append(f'<line class="axis" x1="{_LEFT}" x2="{_WIDTH}" y1="{base}" y2="{base}"/>')
    caption = f"up to so many {axis}"
    middle = (_LEFT + _WIDTH) / 2
    marks.append(f'<text x="{middle:.0f}" y="{base + 37}" text-anchor="middle">{escape(caption)}</text>')
    label = escape(f"{name}: " + ", ".join(f"{first} to {last}: {number:,}" for first, last, number in runs))
    size = f"0 0 {_WIDTH} {_TOP + _HEIGHT + _BOTTOM}"
    return f'<svg class="histogram" role="img" aria-label="{label}" viewBox="{size}">{"".join(marks)}</svg>'


def _ticks(most: int) -> tuple[int, list[int]]:
    """Return the top of an axis and its ticks: at most five, at 1, 2 or 5 times a power of ten.

    >>> _ticks(495), _ticks(1), _ticks(0)
    ((500, [0, 100, 200, 300, 400, 500]), (1, [0, 1]), (1, [0, 1]))
    """
    most = max(1, most)
    unit = 1
    while True:
        for step in (unit, 2 * unit, 5 * unit):
            if step * 5 >= most:
                top = -(-most // step) * step
                return top, list(range(0, top + 1, step))
        unit *= 10
