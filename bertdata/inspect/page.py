"""Parts of a page of `bertdata report`: bars, histograms, tables, samples, and the page around them.

A bar is elements of HTML that the style colours, as wide as their share; its numbers are text beside it. So it needs no
library, follows the reader's light or dark style, and is as readable on a phone and by a screen reader.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from xml.etree.ElementTree import Element

from bertdata.inspect.report_style import STYLE
from bertdata.io.markup import element, markup

GENERATOR = "bertdata report"
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Nothing may be loaded, even if a text were not escaped."""
Part = tuple[str, int, str]
"""A part of a bar: what it is, how many, and the CSS class that colours it."""
SERIES = 6
"""The colours d0 to d5 of parts."""


def page(title: str, made: str, tiles: Mapping[str, str], sections: Mapping[str, Sequence[Element]]) -> str:
    """Return a page: a title, a line on how it was made, tiles with figures, and the sections that hold something.

    It is well-formed XML after its first line.
    """
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="generator", content=GENERATOR),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", STYLE),
    )
    cells = [element("div", element("dt", name), element("dd", value)) for name, value in tiles.items()]
    main = element("main", element("h1", title), element("p", code_spans(made), class_="quiet"))
    main.append(element("dl", cells, class_="tiles"))
    main.extend(element("section", element("h2", name), parts) for name, parts in sections.items() if parts)
    return f"<!DOCTYPE html>\n{markup(element('html', head, element('body', main), lang='en'))}\n"


def bar(
    title: str, parts: Sequence[Part], keys: Iterable[tuple[str, str]] = (), remarks: Iterable[Element | str] = ()
) -> Element:
    """Return a bar with its title, remarks on it, and keys (colour, text), those of its parts unless given."""
    total = max(1, sum(number for _, number, _ in parts))
    texts = [f"{label}: {number:,} ({number / total:.1%})" for label, number, _ in parts]
    legend = keys or [(color, text) for (*_, color), text in zip(parts, texts, strict=True)]
    items = [element("li", [element("i", class_=f"swatch {color}")] if color else [], text) for color, text in legend]
    pieces = [
        element("span", class_=color, style=_width(number / total), title=text)
        for text, (_, number, color) in zip(texts, parts, strict=True)
        if number
    ]
    strip = element("div", pieces, class_="strip", aria_hidden="true")
    return element("div", element("h3", title, remarks), strip, element("ul", items, class_="keys"), class_="step")


def histogram(text: str, unit: str, bins: Sequence[tuple[float, float, int]], of: str) -> Element:
    """Return a histogram with a caption: a table of the values of bins (least, most, number), each with a bar.

    unit, of: what is measured, and what is counted, as the heads of the table. The longest bar is that of the largest
    number.
    """
    total, largest = max(1, sum(number for _, _, number in bins)), max([1, *(number for *_, number in bins)])
    rows = []
    for first, last, number in bins:
        values = element("th", f"{first:,} to {last:,}" if first < last else f"{first:,}", scope="row")
        length = element("span", style=_width(number / largest), class_="c0")
        bar_of_bin = element("td", [length] if number else [], class_="bar", aria_hidden="true")
        rows.append(element("tr", values, bar_of_bin, element("td", f"{number:,} ({number / total:.1%})")))
    head = element("tr", element("th", unit, scope="col"), element("td"), element("th", of, scope="col"))
    table = element("table", element("thead", head), element("tbody", rows), class_="histogram")
    return element("figure", element("figcaption", text), table)


def _width(share: float) -> str:
    return f"width: {share:.4%}"


def stacked(title: str, numbers: Mapping[str, int], most: int = SERIES) -> Element:
    """Return a bar of the shares of named numbers, the largest first, those over `most` as one."""
    names = sorted(numbers, key=lambda name: -numbers[name])
    parts = [(name, numbers[name], f"s{place}") for place, name in enumerate(names[:most])]
    if len(names) > most:
        parts[-1:] = [
            (f"{len(names) - most + 1} others", sum(numbers[name] for name in names[most - 1 :]), f"s{most - 1}")
        ]
    return bar(title, parts)


def facts(rows: Iterable[tuple[str, str]], used_by: str = "") -> Element:
    """Return a table of names and values; used_by: a last row, what is between backticks in it as code."""
    body = [
        element(
            "tr",
            element("th", name.strip(), class_="inner" if name[:1] == " " else "outer"),
            element("td", value),
        )
        for name, value in rows
    ]
    if used_by:
        body.append(element("tr", element("th", "used by", class_="outer"), element("td", code_spans(used_by))))
    return element("div", element("table", body, class_="facts"), class_="scroll")


def code_spans(text: str) -> list[Element | str]:
    """Return a text with what is between backticks as code."""
    parts = text.split("`")
    return [element("code", part) if place % 2 and place < len(parts) - 1 else part for place, part in enumerate(parts)]


def grid(names: Iterable[str], rows: Iterable[Iterable[str]]) -> Element:
    head = element("tr", [element("th", name) for name in names])
    body = [element("tr", [element("td", cell) for cell in row]) for row in rows]
    return element("div", element("table", element("thead", head), element("tbody", body)), class_="scroll")
