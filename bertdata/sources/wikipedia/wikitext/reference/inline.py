"""The fourth pass over wikitext: external links, HTML tags, character entities, behaviour switches, odd spaces.

One substitution over the text of all paragraphs, read once from left to right: what it writes is not read again.
`kernels/inline` does the same, compiled.
"""

from __future__ import annotations

import re
from html.entities import html5

from bertdata.sources.wikipedia.wikitext import rules
from bertdata.sources.wikipedia.wikitext.rules import INVISIBLE, LINE_BREAK, ODD_SPACES, PARAGRAPH_BREAK, PLACEHOLDER

_FEWEST, _MOST = rules.SWITCH_LETTERS
_SWITCH = rf"__(?:(?:(?-i:[A-Z])|[^\x00-\x7f]){{{_FEWEST},{_MOST}}}|{'|'.join(rules.SWITCHES)})__"
_EXTERNAL_LINK = (
    rf"\[(?:(?:{'|'.join(rules.PROTOCOLS)}):(?://)?|//)(?:(?<=//)\[[0-9a-f:.]++\])?"
    rf"[^\s\[\]<>\"{rules.URL_SPACES}]*+"
    rf"[ \t{rules.URL_SPACES}]*+(?P<label>(?:[^\[\]\n]|\[[^\[\]\n]*+\])*+)\]"
)
_TAG = (
    rf"(?P<break></?[ ]?(?:{'|'.join(rules.BREAK_TAGS)})(?:[^\w<>][^<>]*+)?>)"
    rf"|(?P<block></?(?:{'|'.join(rules.BLOCK_TAGS)})(?:[\s/][^<>]*+)?>)"
    rf"|</?(?:{'|'.join(rules.STRIPPED_TAGS)})(?:[\s/][^<>]*+)?>"
)
_ENTITY = r"&(?P<entity>\#[0-9]{1,7}|\#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});"
_REST = rf"{_TAG}|{_ENTITY}|(?P<space>[{ODD_SPACES}])|[{INVISIBLE}]|{_SWITCH}"
_IN_A_LABEL = re.compile(_REST, re.IGNORECASE | re.ASCII)
_MARKUP = re.compile(f"{_EXTERNAL_LINK}|{_REST}", re.IGNORECASE | re.ASCII)
_SHOWN = str.maketrans(
    {**dict.fromkeys(ODD_SPACES + "\n", " "), **dict.fromkeys(INVISIBLE + PLACEHOLDER + LINE_BREAK, "")}
)


def resolve_inline(text: str) -> str:
    """Return text without inline markup.

    >>> resolve_inline('Ask [https://example.org/a the <i>main</i> office],<br>ten&nbsp;km &amp; more.__NOTOC__')
    'Ask the main office, ten km & more.'
    """
    return _MARKUP.sub(_replacement, text)


def entity_text(entity: str) -> str | None:
    """Return the text of a character entity without its `&` and `;`, None where there is no such entity.

    >>> entity_text("eacute"), entity_text("#x2013"), entity_text("nbsp"), entity_text("AT&T")
    ('é', '–', ' ', None)
    """
    if entity[0] != "#":
        text = html5.get(entity + ";")
        return None if text is None else text.translate(_SHOWN)
    code = int(entity[2:], 16) if entity[1] in "xX" else int(entity[1:])
    if code == 0 or code > 0x10FFFF or 0xD800 <= code < 0xE000:
        return "\ufffd"
    if 0x80 <= code < 0xA0:  # HTML reads these as Windows does
        return bytes([code]).decode("cp1252", "replace").translate(_SHOWN)
    return chr(code).translate(_SHOWN)


def _replacement(match: re.Match[str]) -> str:
    kind = match.lastgroup
    if kind == "label":
        return _IN_A_LABEL.sub(_replacement, match["label"]) or PLACEHOLDER
    if kind == "entity":
        text = entity_text(match["entity"])
        return match[0] if text is None else text
    if kind == "block":
        return PARAGRAPH_BREAK
    return " " if kind in ("break", "space") else ""
