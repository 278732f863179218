"""HTML and SVG as elements, and three charts: a stacked bar, a histogram, and curves in panels.

Elements are those of `xml.etree.ElementTree`, which escapes texts and attributes when they are written.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, tostring

_BAR_WIDTH, _BAR_HEIGHT = 480, 18
_COLORS = ("#1f5fa8", "#c2571a", "#2c8a4b", "#8a3fa0", "#7a6a00", "#b0305c")
_DASHES = ("none", "7 3", "2 3", "9 3 2 3", "none", "7 3")
Part = tuple[str, int, str]
"""A part of a bar: what it is, how many, and the CSS class that colours it."""


def element(tag: str, *contents: Element | str | Iterable[Element | str], **attributes: object) -> Element:
    """Return an element with texts, elements and lists of them in it.

    Of an attribute's name an underscore at the end is dropped, the others become hyphens; numbers are rounded to
    hundredths.

    >>> markup(element("p", "salt & ", element("b", "sea", class_="new"), aria_label="taste"))
    '<p aria-label="taste">salt &amp; <b class="new">sea</b></p>'
    """
    result = Element(tag)
    for name, value in attributes.items():
        text = f"{round(value, 2):g}" if isinstance(value, float) else str(value)
        result.set(name.rstrip("_").replace("_", "-"), text)
    for content in contents:
        for part in [content] if isinstance(content, str | Element) else content:
            if isinstance(part, Element):
                result.append(part)
            elif len(result):
                result[-1].tail = (result[-1].tail or "") + part
            else:
                result.text = (result.text or "") + part
    return result


def markup(root: Element) -> str:
    """Return an element as text that is well-formed XML and that browsers read as HTML."""
    return tostring(root, encoding="unicode", short_empty_elements=False)


def stacked_bar(name: str, parts: Sequence[Part]) -> Element:
    """Return one bar divided in proportion to the numbers of its parts; parts of 0 are not drawn.

    >>> len(stacked_bar("documents", [("kept", 3, "c0"), ("dropped", 1, "c1"), ("broken", 0, "c2")]))
    2
    """
    total, left, rects = sum(number for _, number, _ in parts), 0.0, []
    for label, number, color in parts:
        if number:
            width = _BAR_WIDTH * number / total
            title = element("title", f"{label}: {number:,} ({number / total:.1%})")
            box = {"x": left, "y": 0, "width": max(width - 1, 0.75), "height": _BAR_HEIGHT}
            rects.append(element("rect", title, class_=color, **box))
            left += width
    label = f"{name}: " + ", ".join(f"{label} {number:,}" for label, number, _ in parts)
    size = f"0 0 {_BAR_WIDTH} {_BAR_HEIGHT}"
    return element("svg", rects, class_="bar", role="img", aria_label=label, viewBox=size, preserveAspectRatio="none")


def histogram(name: str, axis: str, bins: Sequence[tuple[int, int, int]]) -> Element:
    """Return a histogram of bins (first value, last value, how many), in the order given.

    Pointing at a bar shows its numbers. `axis` says what the values count, such as "tokens".

    >>> len(histogram("row lengths", "tokens", [(1, 8, 5), (9, 16, 20)]).findall("rect"))
    2
    """
    left, right, top, base = 56, _BAR_WIDTH, 12, 192
    ticks = count_ticks(max([number for _, _, number in bins], default=1))
    step, total = (right - left) / max(1, len(bins)), max(1, sum(number for _, _, number in bins))
    marks = []
    for tick in ticks:
        y = base - (base - top) * tick / ticks[-1]
        marks += [_line(left, y, right, y, class_="grid"), _text(left - 8, y + 4, f"{tick:,}", "end")]
    labelled = max(1, -(-len(bins) // 6))
    for place, (first, last, number) in enumerate(bins):
        x, height = left + place * step, (base - top) * number / ticks[-1]
        title = element("title", f"{first} to {last} {axis}: {number:,} ({number / total:.1%})")
        box = {"x": x + 1, "y": base - height, "width": step - 2, "height": height}
        marks.append(element("rect", title, class_="c0", **box))
        if (len(bins) - 1 - place) % labelled == 0:
            marks.append(_text(x + step / 2, base + 17, str(last)))
    marks.append(_line(left, base, right, base, class_="axis"))
    marks.append(_text((left + right) / 2, base + 37, f"up to so many {axis}"))
    label = f"{name}: " + ", ".join(f"{first} to {last}: {number:,}" for first, last, number in bins)
    size = f"0 0 {right} {base + 42}"
    return element("svg", marks, class_="histogram", role="img", aria_label=label, viewBox=size)


def count_ticks(largest: int) -> list[int]:
    """Return 0 and up to five multiples of 1, 2 or 5 times a power of ten, the last one not below `largest`.

    >>> count_ticks(495), count_ticks(1), count_ticks(0)
    ([0, 100, 200, 300, 400, 500], [0, 1], [0, 1])
    """
    largest, unit = max(1, largest), 1
    while unit * 25 < largest:
        unit *= 10
    step = next(step for step in (unit, 2 * unit, 5 * unit) if step * 5 >= largest)
    return list(range(0, largest + step, step))


@dataclass(frozen=True)
class Curve:
    """A name and its points, (x, y) in order of x; points that are not finite are left out."""

    name: str
    points: Sequence[tuple[float, float]]

    @property
    def finite(self) -> list[tuple[float, float]]:
        """The points that can be drawn."""
        return [point for point in self.points if math.isfinite(point[1])]


@dataclass(frozen=True)
class Panel:
    """Axes with curves: what the y-axis shows, and the curves."""

    label: str
    curves: Sequence[Curve]


def smoothed(points: Sequence[tuple[float, float]], window: int) -> list[tuple[float, float]]:
    """Return the mean of each block of `window` points, at the last of them; blocks do not overlap.

    >>> smoothed([(1, 4.0), (2, 2.0), (3, 3.0)], 2)
    [(2, 3.0), (3, 3.0)]
    """
    blocks = [points[start : start + window] for start in range(0, len(points), window)]
    return [(block[-1][0], sum(y for _, y in block) / len(block)) for block in blocks]


def line_chart(panels: Sequence[Panel], *, x_label: str, title: str = "") -> Element:
    """Return panels one below another: one range of x for all, and for each panel a range of y of its own.

    It is a whole SVG picture, whose colours do not depend on a page.
    """
    width, height = 720, 420 if len(panels) == 1 else 260
    total = height * max(len(panels), 1)
    x_range = _range([x for panel in panels for curve in panel.curves for x, _ in curve.finite], margin=0.0)
    picture = element(
        "svg",
        element("title", title or ", ".join(panel.label for panel in panels)),
        element("rect", width=width, height=total, fill="#ffffff"),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {total}",
        font_family="sans-serif",
        font_size=13,
        role="img",
    )
    for number, panel in enumerate(panels):
        picture.extend(_panel(panel, number * height, width, height, x_range, x_label))
    return picture


def _panel(
    panel: Panel, start: int, width: int, height: int, x_range: tuple[float, float], x_label: str
) -> Iterator[Element]:
    """Yield the parts of a panel whose upper edge is at `start`."""
    left, right, top, bottom = 64, width - 16, start + 16, start + height - 48
    y_range = _range([y for curve in panel.curves for _, y in curve.finite], margin=0.05)

    def x_at(x: float) -> float:
        return left + (x - x_range[0]) / (x_range[1] - x_range[0]) * (right - left)

    def y_at(y: float) -> float:
        return bottom - (y - y_range[0]) / (y_range[1] - y_range[0]) * (bottom - top)

    for x in ticks(*x_range):
        yield _line(x_at(x), top, x_at(x), bottom, stroke="#dddddd")
        yield _text(x_at(x), bottom + 18, f"{x:g}", fill="#333333")
    for y in ticks(*y_range):
        yield _line(left, y_at(y), right, y_at(y), stroke="#dddddd")
        yield _text(left - 8, y_at(y) + 4, f"{y:g}", "end", fill="#333333")
    yield _text((left + right) / 2, start + height - 8, x_label, fill="#333333")
    middle = (top + bottom) / 2
    turned = f"rotate(-90 16 {middle})"
    yield element("g", _text(16, middle + 4, panel.label, fill="#333333"), transform=turned)
    for number, curve in enumerate(panel.curves):
        style = {
            "stroke": _COLORS[number % len(_COLORS)],
            "stroke_width": 1.8,
            "stroke_dasharray": _DASHES[number % len(_DASHES)],
        }
        points = " ".join(f"{x_at(x):.1f},{y_at(y):.1f}" for x, y in curve.finite)
        yield element("polyline", points=points, fill="none", **style)
        y = top + 18 + 20 * number
        yield _line(width - 230, y - 4, width - 200, y - 4, **style)
        yield _text(width - 192, y, curve.name, "start", fill="#333333")


def ticks(low: float, high: float, number: int = 6) -> list[float]:
    """Return about `number` round numbers from `low` to `high`.

    >>> ticks(0, 3000), ticks(5.8, 9.1)
    ([0, 500, 1000, 1500, 2000, 2500, 3000], [6.0, 6.5, 7.0, 7.5, 8.0, 8.5, 9.0])
    """
    rough = (high - low) / number
    scale = 10 ** math.floor(math.log10(rough))
    step = min((1, 2, 5, 10), key=lambda factor: abs(factor * scale - rough)) * scale
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(place * step, 10) for place in range(first, last + 1)]


def _range(values: Sequence[float], margin: float) -> tuple[float, float]:
    low, high = min(values, default=0.0), max(values, default=0.0)
    room = (high - low) * margin or (0.0 if high > low else 1.0)
    return low - room, high + room


def _line(x1: float, y1: float, x2: float, y2: float, **style: object) -> Element:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, **style)


def _text(x: float, y: float, text: str, anchor: str = "middle", **style: object) -> Element:
    return element("text", text, x=x, y=y, text_anchor=anchor, **style)
