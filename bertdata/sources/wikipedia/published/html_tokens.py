"""The tags of HTML as a tokenizer reads them: not those in comments, in scripts and in the values of attributes."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SPACE = r"[\t\n\f\r ]"
_NAME = r"(?:=[^\t\n\f\r />=]*+|[^\t\n\f\r />=]++)"
_VALUE = rf"{_SPACE}*+={_SPACE}*+(?:\"[^\"]*+\"|'[^']*+'|(?![\"'])[^\t\n\f\r >]++|(?=>|\Z))"
_ATTRIBUTE = rf"{_NAME}(?:{_VALUE}|(?!{_SPACE}*+=))"
TAG = (
    rf"(/?)([a-zA-Z][^\t\n\f\r />]*+)((?:[\t\n\f\r /]++|{_ATTRIBUTE})*+)>"
    r"|!--(?:-?>|(?s:.)*?(?:--!?>|\Z))|(?:[!?]|/(?![a-zA-Z]))[^>]*+>?+|/?[a-zA-Z](?s:.)*+"
)
"""What follows "<": groups have the slash of an end tag, the name, the attributes; none in a comment and the like."""
_TOKEN = re.compile(rf"<(?:{TAG})")
ATTRIBUTE_NAME = re.compile(rf"({_NAME})(?:{_VALUE})?+")
_CDATA = re.compile(r"<!\[CDATA\[(?s:.)*?(?:\]\]>|\Z)")
_IN_SCRIPT = re.compile(r"<!--|-->|<(/?)script(?=[\t\n\f\r />])", re.IGNORECASE)
_ENDS = {
    name: re.compile(rf"</{name}(?=[\t\n\f\r />])", re.IGNORECASE)
    for name in ("iframe", "noembed", "noframes", "style", "textarea", "title", "xmp")
}
TEXT_ONLY = frozenset([*_ENDS, "plaintext", "script"])
"""The elements of HTML that hold text and no tags."""


class Tags:
    """Iterates over the tags of HTML: the name in lower case, if it ends an element, its attributes, if text is before.

    Who iterates says after a tag, in `text_of`, that it began an element that holds text only, and in `in_foreign`
    whether the next are in MathML or SVG, where `<![CDATA[` begins text.

    >>> [tag[:2] for tag in Tags("<p title='<b>'>a<!-- <i> --></P>")]
    [('p', False), ('p', True)]
    """

    def __init__(self, html: str) -> None:
        self.html, self.in_foreign, self.text_of = html, False, ""

    def __iter__(self) -> Iterator[tuple[str, bool, str, bool]]:
        html, search = self.html, _TOKEN.search
        position = text_from = 0
        after_text = False
        while token := search(html, position):
            start, position = token.span()
            if start > text_from:
                after_text = True
            text_from = position
            end, name, attributes = token.groups()
            if name is None:
                if self.in_foreign and (data := _CDATA.match(html, start)):
                    position = text_from = data.end()
                    after_text = True
                continue
            yield name.lower(), end == "/", attributes, after_text
            after_text = False
            if self.text_of:
                position = text_from = end_of_text(html, position, self.text_of)
                self.text_of = ""


def end_of_text(html: str, position: int, name: str) -> int:
    """Return where the text of an element ends that holds text only: at its end tag, or with the page.

    >>> end_of_text("a<b></TITLE >", 0, "title")
    4
    """
    if name in _ENDS:
        end = _ENDS[name].search(html, position)
        return end.start() if end else len(html)
    in_comment = in_script = False
    while name == "script" and (mark := _IN_SCRIPT.search(html, position)):
        position = mark.end()
        if mark[0] == "<!--":
            in_comment = True
            position -= 2  # the hyphens may be those of "-->"
        elif mark[0] == "-->":
            in_comment = in_script = False
        elif not mark[1]:
            in_script = in_comment
        elif in_script:
            in_script = False
        else:
            return mark.start()
    return len(html)


def attribute_count(attributes: str) -> int:
    """Return how many attributes a tag has.

    >>> attribute_count(" a b='c d' e = f / g")
    4
    >>> attribute_count(" a=")
    1
    """
    return sum(1 for _ in ATTRIBUTE_NAME.finditer(attributes))
