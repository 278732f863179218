"""The fourth pass over wikitext: external links, HTML tags, character entities, behaviour switches, odd spaces.

The text of all paragraphs is read once from left to right: what it writes is not read again. An element that its style
hides goes with what is in it.
`kernels/inline` does the same, compiled.
"""

from __future__ import annotations

import re
from html.entities import html5

from bertdata.wikitext import rules
from bertdata.wikitext.mediawiki.language import Language, language_of
from bertdata.wikitext.rules import INVISIBLE, LINE_BREAK, ODD_SPACES, PARAGRAPH_BREAK, PLACEHOLDER
from bertdata.wikitext.switches import switches_of

UNKNOWN = language_of("")

LINKED_ADDRESS = (
    rf"\[(?:(?:{'|'.join(rules.PROTOCOLS)}):(?://)?|//)(?:(?<=//)\[[0-9a-f:.]++\])?"
    rf"[^\s\[\]<>\"{rules.URL_SPACES}]*+"
)
"""An external link as far as its label."""
_EXTERNAL_LINK = rf"{LINKED_ADDRESS}[ \t{rules.URL_SPACES}]*+(?P<label>(?:[^\[\]\n]|\[[^\[\]\n]*+\])*+)\]"
_TAG = (
    rf"(?P<break></?[ ]?(?:{'|'.join(rules.BREAK_TAGS)})(?:[^\w<>][^<>]*+)?>)"
    rf"|(?P<block></?(?:{'|'.join(rules.BLOCK_TAGS)})(?:[\s/][^<>]*+)?>)"
    rf"|</?(?:{'|'.join(rules.STRIPPED_TAGS)})(?:[\s/][^<>]*+)?>"
)
_ENTITY = r"&(?P<entity>\#[0-9]{1,7}|\#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});"
_REST = rf"{_TAG}|{_ENTITY}|(?P<space>[{ODD_SPACES}])|[{INVISIBLE}]|(?P<edge>[{rules.SWITCH_EDGES}])"
_IN_A_LABEL = re.compile(_REST, re.IGNORECASE | re.ASCII)
_MARKUP = re.compile(f"{_EXTERNAL_LINK}|{_REST}", re.IGNORECASE | re.ASCII)
_HIDES = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE | re.ASCII)
_NAME = re.compile(r"<(/?)([a-z0-9]+)", re.IGNORECASE | re.ASCII)
_SHOWN = str.maketrans(
    {**dict.fromkeys(ODD_SPACES + "\n", " "), **dict.fromkeys(INVISIBLE + PLACEHOLDER + LINE_BREAK, "")}
)


def resolve_inline(text: str, language: Language = UNKNOWN) -> str:
    """Return text without inline markup, and without the switches of a language.

    >>> resolve_inline('Ask [https://example.org/a the <i>main</i> office],<br>ten&nbsp;km &amp; more.__NOTOC__')
    'Ask the main office, ten km & more.'
    >>> resolve_inline('Rome <span style="display: none">00753</span>fell.')
    'Rome fell.'
    """
    return _resolved(text, _MARKUP, language)


def _resolved(text: str, markup: re.Pattern[str], language: Language) -> str:
    out: list[str] = []
    position = 0
    while match := markup.search(text, position):
        out.append(text[position : match.start()])
        position = match.end()
        kind = match.lastgroup
        if kind == "label":
            out.append(_resolved(match["label"], _IN_A_LABEL, language) or PLACEHOLDER)
        elif kind == "entity":
            character = entity_text(match["entity"])
            out.append(match[0] if character is None else character)
        elif kind == "edge":
            end = switches_of(language).end(text, match.start())
            out.append("" if end >= 0 else match[0])
            position = max(position, end)
        elif kind != "break" and match[0][0] == "<" and _HIDES.search(match[0]):
            position = _end_of_hidden(text, match, block=kind == "block")
        elif kind == "block":
            out.append(PARAGRAPH_BREAK)
        elif kind in ("break", "space"):
            out.append(" ")
    out.append(text[position:])
    return "".join(out)


def _end_of_hidden(text: str, tag: re.Match[str], *, block: bool) -> int:
    """Return where an element ends that begins with this tag; its own end where that is not closed."""
    begins = _NAME.match(tag[0])
    if begins is None or begins[1] or tag[0].endswith("/>"):
        return tag.end()
    name, depth = begins[2].lower(), 1
    limit = min(len(text), tag.end() + rules.LONGEST_HIDDEN)
    if not block:
        line = text.find("\n", tag.end(), limit)
        limit = limit if line < 0 else line
    for other in re.finditer(rf"<(/?){name}(?:[\s/][^<>]*+)?>", text[tag.end() : limit], re.I | re.A):
        depth += -1 if other[1] else 1
        if depth == 0:
            end = tag.end() + other.end()
            size = len(text[tag.end() : end].encode("utf-8", "surrogatepass"))
            return end if size <= rules.LONGEST_HIDDEN else tag.end()
    return tag.end()


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
