"""What a parser of HTML would make of a page, by its tags alone: how deep it is, how often elements are opened again.

A parser opens elements that the page does not: a formatting element that is not closed (`<b>`) is opened again in each
paragraph after it. So a short page can make a parser take much memory; one that is nested deep, or has a tag of many
attributes, takes it much time. `excess` finds such pages before they are parsed. Its rules are those of the HTML
standard (https://html.spec.whatwg.org/multipage/parsing.html), with tables from the parser (`html_elements`); where it
is simpler than these, it keeps an element open that they close.
"""

from __future__ import annotations

from bertdata.sources.wikipedia.published.html_elements import (
    BLOCKS,
    BUTTON_SCOPE,
    ENDED_IN_SCOPE,
    FORMATTING,
    HEADINGS,
    IMPLIED,
    LIST_ITEM_SCOPE,
    OUT_OF_FOREIGN,
    SCOPE,
    SPECIAL,
    TABLE_SCOPE,
    VOID,
)
from bertdata.sources.wikipedia.published.html_tokens import TEXT_ONLY, Tags, attribute_count
from bertdata.sources.wikipedia.published.open_elements import Element, ExcessError, OpenElements
from bertdata.sources.wikipedia.published.well_formed import all_tags, has_too_many_names, is_well_formed

_OPTIONS, _OPTIONS_TIMES, _SELECTED = 5_000_000, 200, 10
"""A parser goes through all elements of a `<select>` for each option in it, ten times as long for one that is selected:
so many in a page, and as often as it has characters more."""
MOST_ATTRIBUTES = 500
"""The most attributes of a tag, and of all tags of `<html>` and `<body>` together: a parser compares each with each."""
TOO_MANY_ATTRIBUTES = "too many attributes"

_CELLS, _SECTIONS = frozenset(["td", "th"]), frozenset(["tbody", "tfoot", "thead"])
_MARKED = frozenset(["applet", "marquee", "object"])
_IN_TABLES = _CELLS | _SECTIONS | {"caption", "col", "colgroup", "tr"}
_BEGIN_BLOCK = BLOCKS | HEADINGS | {"dd", "dt", "form", "hr", "li", "listing", "plaintext", "pre", "xmp"}
"""The elements that end a paragraph."""
_ITEMS = {"li": frozenset(["li"]), **dict.fromkeys(("dd", "dt"), frozenset(["dd", "dt"]))}
_RUBY = {"rb": "", "rtc": "", "rp": "rtc", "rt": "rtc"}
_NOT_REOPENING = (
    TEXT_ONLY - {"xmp"}
    | frozenset(_RUBY)
    | {"base", "basefont", "bgsound", "frame", "frameset", "link", "meta"}
    | {"param", "source", "table", "template", "track"}
)
"""The elements that are not put into formatting elements that were closed."""
_ROOTS = frozenset(["body", "head", "html"])
_NOT_SIMPLE = FORMATTING | _MARKED | _CELLS | {"caption", "template"}
"""The elements whose end tag does more than to close the innermost."""
_FONT_ATTRIBUTES = ("color", "face", "size")


def excess(html: str) -> str:
    """Return why a page takes a parser too much time or memory, "" if it does not.

    >>> excess("<p>x" * 3000), excess("<div>" * 3000), excess("<p " + "a" * 600 + ">")
    ('', 'nested too deep', '')
    """
    tags = all_tags(html)
    if has_too_many_names(tags, len(html)):
        return "too many names of elements"
    if is_well_formed(tags):
        return ""
    try:
        _Reader(html).read()
    except ExcessError as reason:
        return str(reason)
    return ""


class _Reader:
    """Goes through the tags of a page."""

    def __init__(self, html: str) -> None:
        self.tags, self.open, self.root_attributes = Tags(html), OpenElements(len(html)), 0
        self.in_select, self.may_go_through = 0, _OPTIONS + len(html) * _OPTIONS_TIMES

    def read(self) -> None:
        """Go through all tags; raises ExcessError."""
        elements, tags = self.open, self.tags
        stack, formatting = elements.stack, elements.formatting
        for name, is_end, attributes, after_text in tags:
            top = stack[-1] if stack else None
            self.in_select = self.in_select + 1 if elements.count["select"] else 0
            if after_text and formatting and (not top or not top.space or top.name in SPECIAL):
                elements.reopen()
                top = stack[-1] if stack else None
            if len(attributes) > MOST_ATTRIBUTES and attribute_count(attributes) > MOST_ATTRIBUTES:
                raise ExcessError(TOO_MANY_ATTRIBUTES)
            if top and top.space:
                self._in_foreign(name, is_end, attributes)
            elif not is_end:
                self._start(name, attributes)
            elif top and top.name == name and name not in _NOT_SIMPLE:
                elements.pop()
            elif name in FORMATTING:
                if top and formatting and top is formatting[-1] and top.name == name:
                    elements.pop()
                    formatting.pop()
                else:
                    elements.end_formatting(name)
            else:
                self._end(name)
            tags.in_foreign = bool(stack and stack[-1].space)

    def _start(self, name: str, attributes: str) -> None:
        """Read a start tag in HTML."""
        elements = self.open
        if name in FORMATTING:
            self._start_formatting(name, attributes)
            return
        if name in _IN_TABLES:
            self._start_in_table(name)
            return
        if name in _ROOTS:
            self.root_attributes += attribute_count(attributes) if attributes and name != "head" else 0
            if self.root_attributes > MOST_ATTRIBUTES:
                raise ExcessError(TOO_MANY_ATTRIBUTES)
            return
        if name in _BEGIN_BLOCK:
            if name in _ITEMS:
                self._close_item_before(_ITEMS[name])
            if elements.count["p"]:
                elements.close("p", BUTTON_SCOPE)
            if name in HEADINGS and elements.innermost() in HEADINGS:
                elements.pop()
        else:
            self._close_before(name, attributes)
            if name == "select" and elements.close("select", SCOPE - {"select"}):
                return
            if elements.formatting and name not in _NOT_REOPENING:
                elements.reopen()
        if name in ("math", "svg"):
            if not attributes.endswith("/"):
                elements.push(name, name)
        elif name not in VOID:
            elements.push(name)
            if name in _MARKED or name == "template":
                elements.mark_formatting()
            if name in TEXT_ONLY:
                self.tags.text_of = name
                if name == "textarea":  # its text is put into them, unlike the standard has it
                    elements.reopen()

    def _close_item_before(self, names: frozenset[str]) -> None:
        """Close the list item that the next one follows."""
        stack = self.open.stack
        for index in range(len(stack) - 1, -1, -1):
            element = stack[index]
            if element.name in names:
                self.open.walked(len(stack) - index)
                self.open.pop_to(index)
                return
            if element.name in SPECIAL and element.name not in ("address", "div", "p"):
                self.open.walked(len(stack) - index)
                return
        self.open.walked(len(stack))

    def _close_before(self, name: str, attributes: str) -> None:
        """Close what the start tag of an option, of a button, of ruby text or of a table closes."""
        elements = self.open
        if name in ("option", "optgroup"):
            self.may_go_through -= self.in_select * (_SELECTED if "selected" in attributes.lower() else 1)
            if self.may_go_through < 0:
                raise ExcessError("too many options")
            if elements.innermost() == "option":
                elements.pop()
            if name == "optgroup" and elements.count["select"] and elements.innermost() == "optgroup":
                elements.pop()
        elif name == "button":
            elements.close("button", SCOPE)
        elif name == "input":
            elements.close("select", SCOPE - {"select"})
        elif name in _RUBY and elements.has("ruby", SCOPE):
            while elements.innermost() in IMPLIED and elements.innermost() != _RUBY[name]:
                elements.pop()
        elif name == "table" and elements.count["table"]:
            index = elements.find(_CELLS | {"caption", "table"}, TABLE_SCOPE)
            if index >= 0 and elements.stack[index].name == "table":
                elements.pop_to(index)

    def _start_formatting(self, name: str, attributes: str) -> None:
        elements = self.open
        if name == "a" and elements.formatting:
            before = (elements.formatting[index] for index in elements.since_marker())
            if element := next((other for other in before if other and other.name == "a"), None):
                elements.end_formatting("a")
                elements.forget(element)
        if elements.formatting:
            elements.reopen()
            if name == "nobr" and elements.has("nobr", SCOPE):
                elements.end_formatting("nobr")
                elements.reopen()
        elements.start_formatting(name, attributes if attributes.strip(" /") else "")

    def _start_in_table(self, name: str) -> None:
        """Read the start tag of a part of a table: it closes the parts that it cannot be in; ignored outside of one."""
        elements = self.open
        if not (elements.count["table"] and elements.find(frozenset(["table"]), TABLE_SCOPE) >= 0):
            if elements.count["template"]:
                self._push_part(name)
            return
        closed = elements.find(_CELLS | {"caption"}, TABLE_SCOPE | {"table"})
        if closed >= 0:
            elements.pop_to(closed)
            elements.clear_formatting()
        into = {"tr": _SECTIONS, **dict.fromkeys(_CELLS, _SECTIONS | {"tr"})}.get(name, frozenset()) | {"table"}
        index = elements.find(into, TABLE_SCOPE)
        parent = elements.stack[index].name
        elements.pop_to(index + 1)
        if parent == "table" and (name in _CELLS or name == "tr"):
            elements.push("tbody")
        if parent != "tr" and name in _CELLS:
            elements.push("tr")
        self._push_part(name)

    def _push_part(self, name: str) -> None:
        if name != "col":
            self.open.push(name)
        if name in _CELLS or name == "caption":
            self.open.mark_formatting()

    def _end(self, name: str) -> None:
        """Read an end tag in HTML, but of a formatting element."""
        elements = self.open
        if name == "br":
            elements.reopen()
        elif name in HEADINGS:
            if (index := elements.find(HEADINGS, SCOPE)) >= 0:
                elements.pop_to(index)
        elif not elements.count[name] or name in _ROOTS:
            return
        elif name == "form":
            if (index := elements.find(frozenset(["form"]), SCOPE)) >= 0:
                elements.remove(elements.stack[index])
        elif name == "template" or name in _MARKED:
            if elements.close(name, SCOPE if name in _MARKED else frozenset()):
                elements.clear_formatting()
        elif name in _IN_TABLES or name == "table":
            closed = elements.find(_CELLS | {"caption"}, TABLE_SCOPE | {"table"})
            if elements.close(name, TABLE_SCOPE) and closed >= len(elements.stack):
                elements.clear_formatting()
        elif name in _BARRIERS:
            elements.close(name, _BARRIERS[name])
        else:
            elements.end_other(name)

    def _in_foreign(self, name: str, is_end: bool, attributes: str) -> None:
        """Read a tag in MathML or SVG, or in an element of these that holds HTML."""
        elements = self.open
        stack, top = elements.stack, elements.stack[-1]
        if is_end and name not in ("br", "p"):
            index = len(stack) - 1
            while index >= 0 and stack[index].space:
                if stack[index].name == f"{stack[index].space} {name}":
                    elements.walked(len(stack) - index)
                    elements.pop_to(index)
                    return
                index -= 1
            elements.walked(len(stack) - index)
            if name in FORMATTING:
                elements.end_formatting(name)
            else:
                self._end(name)
            return
        if not is_end and _holds_html(top) and name not in ("mglyph", "malignmark"):
            self._start(name, attributes)
        elif is_end or (name in OUT_OF_FOREIGN and (name != "font" or _has_font(attributes))):
            while stack and stack[-1].space and not _holds_html(stack[-1]):
                elements.pop()
            if is_end:
                self._end(name)
            else:
                self._start(name, attributes)
        elif not attributes.endswith("/"):
            elements.push(name, top.space, attributes if name == "annotation-xml" else "")


def _holds_html(element: Element) -> bool:
    """Tell whether an element of MathML or SVG holds HTML."""
    if element.name == "math annotation-xml":
        return "html" in element.attributes.lower()
    return element.name in SPECIAL


def _has_font(attributes: str) -> bool:
    return any(name in attributes.lower() for name in _FONT_ATTRIBUTES)


_BARRIERS = {
    **dict.fromkeys(ENDED_IN_SCOPE | {"dd", "dt"}, SCOPE),
    "li": LIST_ITEM_SCOPE,
    "p": BUTTON_SCOPE,
}
"""What ends the search for the element that an end tag closes."""
