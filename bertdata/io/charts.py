"""HTML and SVG as elements of `xml.etree.ElementTree`, which escapes texts and attributes, and charts of curves."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from xml.etree.ElementTree import Element, tostring

_COLORS = ("#1f5fa8", "#c2571a", "#2c8a4b", "#8a3fa0", "#7a6a00", "#b0305c")
_DASHES = ("none", "7 3", "2 3", "9 3 2 3", "none", "7 3")
Points = Sequence[tuple[float, float]]
"""The points (x, y) of a curve in order of x."""


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


def smoothed(points: Points, window: int) -> list[tuple[float, float]]:
    """Return the mean of each block of `window` points, at the last of them; blocks do not overlap.

    >>> smoothed([(1, 4.0), (2, 2.0), (3, 3.0)], 2)
    [(2, 3.0), (3, 3.0)]
    """
    blocks = [points[start : start + window] for start in range(0, len(points), window)]
    return [(block[-1][0], sum(y for _, y in block) / len(block)) for block in blocks]


def line_chart(panels: Mapping[str, Mapping[str, Points]], *, x_label: str, title: str = "") -> Element:
    """Return panels one below another: one range of x for all, and for each panel a range of y of its own.

    panels: for the label of each y-axis the curves by name; points that are not finite are left out. It is a whole SVG
    picture, whose colours do not depend on a page.
    """
    width, height = 720, 420 if len(panels) == 1 else 260
    total = height * max(len(panels), 1)
    finite = {
        label: {name: [point for point in points if math.isfinite(point[1])] for name, points in curves.items()}
        for label, curves in panels.items()
    }
    x_range = _range([x for curves in finite.values() for points in curves.values() for x, _ in points], margin=0.0)
    picture = element(
        "svg",
        element("title", title or ", ".join(panels)),
        element("rect", width=width, height=total, fill="#ffffff"),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {total}",
        font_family="sans-serif",
        font_size=13,
        role="img",
    )
    for number, (label, curves) in enumerate(finite.items()):
        picture.extend(_panel(label, curves, number * height, width, height, x_range, x_label))
    return picture


def _panel(
    label: str,
    curves: Mapping[str, Points],
    start: int,
    width: int,
    height: int,
    x_range: tuple[float, float],
    x_label: str,
) -> Iterator[Element]:
    """Yield the parts of a panel whose upper edge is at `start`."""
    left, right, top, bottom = 64, width - 16, start + 16, start + height - 48
    y_range = _range([y for points in curves.values() for _, y in points], margin=0.05)

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
    yield element("g", _text(16, middle + 4, label, fill="#333333"), transform=turned)
    for number, (name, points) in enumerate(curves.items()):
        style = {
            "stroke": _COLORS[number % len(_COLORS)],
            "stroke_width": 1.8,
            "stroke_dasharray": _DASHES[number % len(_DASHES)],
        }
        places = " ".join(f"{x_at(x):.1f},{y_at(y):.1f}" for x, y in points)
        yield element("polyline", points=places, fill="none", **style)
        y = top + 18 + 20 * number
        yield _line(width - 230, y - 4, width - 200, y - 4, **style)
        yield _text(width - 192, y, name, "start", fill="#333333")


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
