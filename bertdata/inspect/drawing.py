"""Charts of `bertdata report`, drawn by matplotlib as SVG that stands in the page and has the colours of its style.

matplotlib knows fixed colours only, so a chart is drawn with a colour for each name of `report_style`, which then is
replaced by the variable of that name: the reader's light or dark style applies. Texts have the font of the page. No two
bytes depend on the time, the fonts or the settings of the machine.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from xml.etree.ElementTree import Element, fromstring

from bertdata.errors import MissingExtraError
from bertdata.inspect.report_style import COLORS
from bertdata.io.markup import element
from bertdata.io.plotting import matplotlib, plain_style, svg_bytes

WIDTH, HEIGHT = 360, 150
"""The size of a histogram, in points of its own; the page scales it."""
_LABELS = 6
_POINTS_PER_INCH = 72
_FIXED = {f"#0000{number:02x}": name for number, name in enumerate(COLORS, 16)}
_OF_NAME = {name: color for color, name in _FIXED.items()}
_NAMESPACE = re.compile(r"^\{.*\}")


def available() -> bool:
    """Return whether matplotlib is installed."""
    try:
        matplotlib()
    except MissingExtraError:
        return False
    return True


def strip(parts: Sequence[tuple[str, int, str]]) -> Element:
    """Return a bar of parts (what it is, number, colour) side by side, each as wide as its share; 0 is not drawn."""
    with plain_style():
        figure, axes = _figure(600, 18, (0, 0, 1, 1))
        axes.set_axis_off()
        total, at = max(1, sum(number for _, number, _ in parts)), 0
        texts: list[str] = []
        for text, number, color in parts:
            if number:
                axes.barh(0, number, left=at, height=2, color=_OF_NAME[color], gid=f"part {len(texts)} {color}")
                texts.append(text)
                at += number
        axes.set(xlim=(0, total), ylim=(-1, 1))
        drawn = _inline(svg_bytes(figure), "; ".join(texts), texts)
    drawn.set("preserveAspectRatio", "none")
    drawn.set("class", "strip")
    return drawn


def histogram(bins: Sequence[tuple[int, int, int]], texts: Sequence[str], label: str) -> Element:
    """Return a bar for each bin (least, most, number), with the least of some bins below; texts: one for each bar."""
    from matplotlib.ticker import EngFormatter, MaxNLocator

    with plain_style():
        figure, axes = _figure(WIDTH, HEIGHT, (0.13, 0.17, 0.85, 0.77))
        for place, (_, _, number) in enumerate(bins):
            axes.bar(place + 0.5, number, width=0.92, color=_OF_NAME["c0"], gid=f"part {place} c0")
        every = max(1, -(-len(bins) // _LABELS))
        shown = range(0, len(bins), every)
        axes.set_xticks(list(shown), [f"{bins[place][0]:,}" for place in shown])
        most = max([1, *(number for *_, number in bins)])
        axes.set(xlim=(0, max(1, len(bins))), ylim=(0, most * 1.05))
        axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes.yaxis.set_major_formatter(EngFormatter(sep=""))
        axes.grid(axis="y", color=_OF_NAME["line"], linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.spines["bottom"].set_color(_OF_NAME["quiet"])
        axes.tick_params(length=0, labelsize=10, labelcolor=_OF_NAME["quiet"])
        axes.tick_params(axis="x", pad=8)  # below the 0 of the other axis
        drawn = _inline(svg_bytes(figure), label, texts)
    drawn.set("class", "chart")
    return drawn


def _figure(width: float, height: float, place: tuple[float, float, float, float]) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width / _POINTS_PER_INCH, height / _POINTS_PER_INCH), dpi=_POINTS_PER_INCH)
    figure.patch.set_visible(False)
    axes = figure.add_axes(place)
    axes.patch.set_visible(False)
    return figure, axes


def _inline(svg: bytes, label: str, texts: Sequence[str]) -> Element:
    """Return a picture of matplotlib's as an element of HTML: no ids, fonts and clips of its own, colours by name.

    texts: what is shown where the pointer is on one of the parts, which are those with a gid "part NUMBER COLOUR".
    """
    root = _copied(fromstring(svg.decode()), texts)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.set("role", "img")
    root.set("aria-label", label)
    return root


def _copied(old: Element, texts: Sequence[str]) -> Element:
    result = element(_NAMESPACE.sub("", old.tag))
    result.text, result.tail = (old.text or "").strip(), ""
    for name, value in old.attrib.items():
        if name in ("viewBox", "d", "x", "y", "transform"):
            result.set(name, value)
        elif name == "style" and (style := _style(value)):
            result.set(name, style)
    gid = old.get("id", "").split()
    if gid[:1] == ["part"]:
        result.set("class", gid[2])
        result.append(element("title", texts[int(gid[1])]))
    for child in old:
        if _NAMESPACE.sub("", child.tag) not in ("metadata", "defs", "use"):
            result.append(_copied(child, texts))
    return result


def _style(text: str) -> str:
    """Return a style with the colours of the page, without fonts."""
    kept = [one for one in text.split(";") if not one.strip().startswith(("font", "stroke-line", "stroke-miter"))]
    return re.sub("#0000[0-9a-f]{2}", lambda color: f"var(--{_FIXED[color[0]]})", ";".join(kept).strip())
