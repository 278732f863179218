"""HTML and SVG as elements of `xml.etree.ElementTree`, which escapes texts and attributes.

Control characters in them, and those that change the direction of text, become escapes as on a terminal.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element, tostring

from bertdata.errors import printable_lines


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
    r"""Return an element as text that is well-formed XML and that browsers read as HTML.

    >>> markup(element("b", "salt" + chr(0x202E) + chr(27) + "[2J"))
    '<b>salt\\u202e\\x1b[2J</b>'
    """
    return printable_lines(tostring(root, encoding="unicode", short_empty_elements=False))
