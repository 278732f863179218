"""What is quick to tell of all tags of a page: whether they are nested as a parser nests its elements, how many names.

Most pages are well-formed, and need no other look at what a parser would make of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bertdata.sources.wikipedia.published.html_elements import BLOCKS, HEADINGS, OUT_OF_FOREIGN, SPECIAL, VOID
from bertdata.sources.wikipedia.published.html_tokens import ATTRIBUTE_NAME, TAG, TEXT_ONLY

MOST_NAMES = 5000
"""A parser's time is quadratic in how many different names elements have, and in how many attributes have."""
_SHORT = 100_000
"""A page of fewer characters has not so many."""
_DEEPEST = 200
_LONG_ATTRIBUTES = 1000
_TEXT_ELEMENTS = "|".join(
    rf"{name}(?:[\t\n\f\r ][^<>\"']*+(?:\"[^<>\"]*+\"[^<>\"']*+)*+)?+>[^<]*+</{name}>"
    for name in ("script", "style", "title")
)
_TAGS = re.compile(rf"<(?:{_TEXT_ELEMENTS}|{TAG})")
_LISTS = frozenset(["menu", "ol", "ul"])
_ROWS = frozenset(["table", "tbody", "tfoot", "thead"])
_TABLE = frozenset(["table"])
_PARENTS = {
    "li": _LISTS,
    **dict.fromkeys(("dd", "dt"), frozenset(["dl"])),
    **dict.fromkeys(("td", "th"), frozenset(["tr"])),
    **dict.fromkeys(("caption", "colgroup", "tbody", "tfoot", "thead"), _TABLE),
    "tr": _ROWS,
    "col": frozenset(["colgroup"]),
    **dict.fromkeys(("rb", "rp", "rt"), frozenset(["ruby"])),
}
"""The elements that begin, without more, only in these."""
_ONLY_PARTS = _ROWS | {"colgroup", "tr"}
_NOT_PLAIN = TEXT_ONLY | {
    *("applet", "button", "form", "frame", "frameset", "image", "input", "marquee", "nobr", "noscript", "object"),
    *("optgroup", "option", "rtc", "select", "svg", "template"),
}
_BLOCKS = BLOCKS | HEADINGS | {"dd", "dt", "hr", "li", "listing", "pre"}
_NOT_IN_MATH = OUT_OF_FOREIGN | {"annotation-xml", "math", "svg"}
_PAGE = frozenset(["body", "head", "html"])


_Tags = Sequence[tuple[str, str, str]]


def all_tags(html: str) -> list[tuple[str, str, str]]:
    """Return of each tag the slash of an end tag, its name, its attributes; of a comment and the like three times "".

    >>> all_tags("<p id=a>x<!-- <b> --></p>")
    [('', 'p', ' id=a'), ('', '', ''), ('/', 'p', '')]
    """
    return _TAGS.findall(html)


def has_too_many_names(tags: _Tags, size: int) -> bool:
    """Tell whether the tags of a page of `size` characters have more different names than a parser should be given."""
    if size < _SHORT:
        return False
    names = {name for _, name, _ in tags}
    attributes = set(ATTRIBUTE_NAME.findall(" ".join([attributes for _, _, attributes in tags if attributes])))
    return len(names) > MOST_NAMES or len(attributes) > MOST_NAMES


def is_well_formed(tags: _Tags) -> bool:
    """Tell whether each element is ended by its own tag, and begins where it closes no other; False where unsure.

    >>> [is_well_formed(all_tags(html)) for html in ("<div><p>a <b>b</b><br></p></div>", "<p>a<p>b", "<b><i></b></i>")]
    [True, False, False]
    """
    stack = [""]
    paragraphs = anchors = roots = math = 0
    for end, name, attributes in tags:
        if end:
            if stack[-1] != name:
                if name in _PAGE:
                    continue
                return False
            stack.pop()
            if name == "p":
                paragraphs -= 1
            elif name == "a":
                anchors -= 1
            elif name == "math":
                math = 0
            continue
        if not name:  # a comment, a text element, or markup that is none
            if math:
                return False
            continue
        if len(attributes) > _LONG_ATTRIBUTES and attributes.count("=") > 100:
            return False
        if math:
            if not name.islower() or name in _NOT_IN_MATH or f"math {stack[-1]}" in SPECIAL:
                return False
            if not attributes.endswith("/"):
                stack.append(name)
            continue
        if name in _PARENTS:
            if stack[-1] not in _PARENTS[name]:
                return False
        elif stack[-1] in _ONLY_PARTS:
            return False
        if name in VOID:
            if paragraphs and name == "hr":
                return False
        elif name in _PAGE:
            roots += 1
            if roots > 3:
                return False
        else:
            if name in _BLOCKS:
                if paragraphs or (name in HEADINGS and stack[-1] in HEADINGS):
                    return False
                paragraphs += name == "p"
            elif name == "a":
                if anchors:
                    return False
                anchors = 1
            elif name in _NOT_PLAIN or not name.islower() or (paragraphs and name == "table"):
                return False
            elif name == "math":
                if attributes.endswith("/"):
                    continue
                math = 1
            stack.append(name)
            if len(stack) > _DEEPEST:
                return False
    return len(stack) == 1
