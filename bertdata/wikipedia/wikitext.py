"""Prose out of the wikitext of one page: `clean_wikitext`.

Four passes, each reading the text once from left to right, so that the time is linear whatever the nesting:

1. `tags` takes out comments, references and extension tags;
2. `_Brackets` here walks the braces, brackets and tables with a stack: links become their text, templates the text
   that `templates` knows for them, files, categories and tables go;
3. `paragraphs` drops lists, headings and sections without prose, then quotes marks, HTML tags and entities;
4. `healing` mends the places where something was dropped.

It expands no templates from the wiki: those it knows are Python functions, all others leave nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from bertdata.wikipedia.healing import HOLE
from bertdata.wikipedia.paragraphs import prose_paragraphs
from bertdata.wikipedia.parser_functions import VARIABLES, render_parser_function
from bertdata.wikipedia.tags import LINE_BREAK, hole_after, take_out_tags
from bertdata.wikipedia.templates import is_text_template, render_template
from bertdata.wikipedia.wikis import (
    DEFAULT_NAMESPACES,
    DISAMBIGUATION_TEMPLATES,
    DISAMBIGUATION_TITLE,
    LANGUAGE_CODES,
    REDIRECT,
    Namespaces,
    normal_prefix,
)

__all__ = ["DEFAULT_NAMESPACES", "Namespaces", "clean_wikitext"]

MAX_DEPTH = 100
"""Constructs nested deeper leave nothing; MediaWiki stops expanding templates at the same depth."""

# Marks of a construct whose end has not been seen; those that stay are cleared by `_Brackets.recover`.
_TEMPLATE, _TABLE, _LINK = "\x01", "\x02", "\x03"
_MARKS = {"{{": _TEMPLATE, "[[": _LINK}
_RESERVED = (HOLE, LINE_BREAK, _TEMPLATE, _TABLE, _LINK)

_TOKEN = re.compile(
    r"""
      \[\[(?P<target>[^\[\]{}|\n]*+)(?:\|(?P<label>[^\[\]{}|\n]*+))?\]\]   # a link with nothing inside
    | \{\{(?P<name>[^\[\]{}|]++)(?P<arguments>\|[^\[\]{}]*+)?\}\}          # a template with nothing inside
    | \{\{(?P<open_braces>\{*+)
    | \}\}(?P<close_braces>\}*+)
    | \[\[(?P<open_link>)
    | \]\](?P<close_link>)
    | \|(?P<bar>)
    | \n[ \t:*\#\x7f]*+(?:\{\|(?P<open_table>)|\|\}(?P<close_table>)(?!\}(?!\})))
    | <(?P<html>/?(?:table|ul|ol|dl))(?=[\s/>])[^<>]*+>
    """,
    re.VERBOSE | re.IGNORECASE,
)
_EDGES = f" \t\n{HOLE}"
_LINE_MARKUP = frozenset("*#:;=|! ")
_VARIANTS = re.compile(r"-\{(?!\{)([^{}\n]*+)\}-")
_UNCLOSED_TABLE = re.compile(rf"{_TABLE}.*?(?=\n[ \t]*\n|\Z)", re.DOTALL)
_UNCLOSED_BLOCK = re.compile(rf"^{_TEMPLATE}.*(?:\n[|}}! ].*)*", re.MULTILINE)
_UNCLOSED_TEMPLATE = re.compile(rf"{_TEMPLATE}(?:[^|\n{_TEMPLATE}]*\|)*+(?:[\w ]*=)?")
_UNCLOSED_LINK = re.compile(rf"{_LINK}([^\n{_LINK}]*)")
_PIPE_TRICK = re.compile(r"(?:[^:]*:)?(.*?)(?: ?\([^()]*\)|, .*)?", re.DOTALL)


def clean_wikitext(
    source: str,
    *,
    title: str = "",
    namespaces: Namespaces = DEFAULT_NAMESPACES,
    drops: Counter[str] | None = None,
) -> str | None:
    """Return the prose of a page, paragraphs parted by a blank line, or None with the reason counted in `drops`.

    `source` is wikitext as the dump holds it once its XML is decoded. The reasons are "redirect", "disambiguation" and
    "no prose". Inside a paragraph only verse has line breaks. The time is linear in the length of `source`.

    >>> print(clean_wikitext("'''Rome''' ({{IPA|ˈroma}}) is {{convert|20|km|mi}} from [[Ostia (Rome)|]].<ref>x</ref>"))
    Rome is 20 kilometres (12 mi) from Ostia.
    >>> reasons = Counter()
    >>> clean_wikitext("#REDIRECT [[Rome]]", drops=reasons), reasons
    (None, Counter({'redirect': 1}))
    """
    reason = "no prose"
    if REDIRECT.match(source):
        reason = "redirect"
    elif DISAMBIGUATION_TITLE.search(title):
        reason = "disambiguation"
    else:
        for character in _RESERVED:
            if character in source:
                source = source.replace(character, "")
        text = take_out_tags(source.replace("\r\n", "\n") if "\r" in source else source)
        if "-{" in text:
            text = _VARIANTS.sub(_first_variant, text)
        brackets = _Brackets(title, namespaces)
        text = brackets.render("\n" + text)
        if brackets.disambiguation:
            reason = "disambiguation"
        elif prose := prose_paragraphs(text):
            return prose
    if drops is not None:
        drops[reason] += 1
    return None


@dataclass(slots=True)
class _Frame:
    """A construct that is open: where its pieces begin in the output, and where its bars stand."""

    kind: str
    base: int
    braces: int = 0
    bars: list[int] = field(default_factory=list)


class _Brackets:
    """One walk over braces, brackets and tables.

    `out` is one flat list of pieces. An opening puts down a mark and a frame; its closing takes the pieces back and
    puts the rendered text in their place. What is never closed keeps its mark, and `recover` clears it.
    """

    def __init__(self, title: str, namespaces: Namespaces) -> None:
        self.title = title
        self.namespaces = namespaces
        self.disambiguation = False
        self.out: list[str] = []
        self.stack: list[_Frame] = []
        self.open: Counter[str] = Counter()

    def render(self, text: str) -> str:
        out, stack = self.out, self.stack
        position = 0
        for token in _TOKEN.finditer(text):
            start = token.start()
            if start > position:
                out.append(text[position:start])
            position = token.end()
            kind = token.lastgroup
            if kind in ("target", "label"):
                out.append(self.link(token["target"], token["label"]))
            elif kind == "bar":
                if stack:
                    stack[-1].bars.append(len(out))
                out.append("|")
            elif kind in ("name", "arguments"):
                arguments = token["arguments"]
                out.append(self.template(token["name"], arguments[1:].split("|") if arguments else []))
            elif kind == "open_braces":
                self.push("{{", position - start)
            elif kind == "close_braces":
                self.close_braces(position - start)
            elif kind == "open_link":
                self.push("[[")
            elif kind == "close_link":
                self.close_link()
            elif kind == "open_table":
                out.append("\n")
                self.push("{|")
            elif kind == "close_table":
                self.close_block("{|")
            elif kind == "html":
                name = token["html"].lower()
                if name[0] != "/":
                    self.push(name)
                else:
                    self.close_block(name[1:])
        out.append(text[position:])
        return self.recover("".join(out))

    def push(self, kind: str, braces: int = 0) -> None:
        self.stack.append(_Frame(kind, len(self.out), braces))
        self.open[kind] += 1
        self.out.append(_MARKS.get(kind, _TABLE))

    def unwind(self, kind: str) -> bool:
        """Make the innermost open construct of this kind the top of the stack; what stands above it is unclosed."""
        if not self.open[kind]:
            return False
        while self.stack[-1].kind != kind:
            self.open[self.stack.pop().kind] -= 1
        return True

    def take(self) -> list[str]:
        """Take the pieces of the top frame out of the output, as texts between bars; the mark stays."""
        frame, out = self.stack[-1], self.out
        parts = []
        begin = frame.base + 1
        for bar in [*frame.bars, len(out)]:
            parts.append("".join(out[begin:bar]) if len(self.stack) <= MAX_DEPTH else "")
            begin = bar + 1
        del out[frame.base + 1 :]
        frame.bars.clear()
        return parts

    def pop(self) -> None:
        frame = self.stack.pop()
        self.open[frame.kind] -= 1
        del self.out[frame.base :]

    def close_link(self) -> None:
        if self.stack and self.stack[-1].kind == "[[":
            target, *labels = self.take()
            self.pop()
            self.out.append(self.link(target, "|".join(labels) if labels else None))

    def close_braces(self, count: int) -> None:
        """Match a run of closing braces as MediaWiki does: three make a parameter, two a template."""
        while count >= 2 and self.unwind("{{"):
            frame = self.stack[-1]
            used = 3 if count >= 3 and frame.braces >= 3 else 2
            name, *arguments = self.take()
            count -= used
            frame.braces -= used
            if frame.braces < 2:
                self.pop()
            if used == 3:
                self.out.append(arguments[0] if arguments else self.hole())
            else:
                self.out.append(self.template(name, arguments))

    def close_block(self, kind: str) -> None:
        if self.unwind(kind):
            self.pop()
            self.out.append("\n" + HOLE)

    def hole(self) -> str:
        return hole_after(self.out[-1]) if self.out else HOLE

    def template(self, name: str, parts: list[str]) -> str:
        """Return what a template call leaves in the text."""
        first = name.strip(_EDGES)
        name = " ".join(first.replace("_", " ").lower().split())
        if ":" in name or name in VARIABLES:
            text = render_parser_function(first, parts, self.title)
        elif is_text_template(name):
            text = render_template(name, _numbered(parts))
        else:
            if name in DISAMBIGUATION_TEMPLATES and not self.stack:
                self.disambiguation = True
            text = None
        if text is None:
            return self.hole()
        return text.replace("=", "&#61;") if "=" in text and self.stack else text

    def link(self, target: str, label: str | None) -> str:
        """Return the text of `[[target|label]]`."""
        if ":" in target:
            prefix, _, rest = target.partition(":")
            name = normal_prefix(prefix.strip(_EDGES))
            if name in self.namespaces.file or name in self.namespaces.category or name in LANGUAGE_CODES:
                return self.hole()
            if not name:
                target = rest
        if "\n" in target:
            return target if label is None else f"{target}|{label}"
        text = target.strip() if label is None else label
        if not text:
            trick = _PIPE_TRICK.fullmatch(target.strip())
            text = trick[1] if trick else target
        if "=" in text and self.stack:
            text = text.replace("=", "&#61;")
        return f"&#{ord(text[0])};{text[1:]}" if text[:1] in _LINE_MARKUP else text

    def recover(self, text: str) -> str:
        """Clear what never closes: a table to the next blank line, a template its parameters, a link its target."""
        if _TABLE in text:
            text = _UNCLOSED_TABLE.sub("", text)
        if _TEMPLATE in text:
            text = _UNCLOSED_TEMPLATE.sub("", _UNCLOSED_BLOCK.sub("", text))
        return _UNCLOSED_LINK.sub(self._unclosed_link, text) if _LINK in text else text

    def _unclosed_link(self, match: re.Match[str]) -> str:
        target, bar, label = match[1].partition("|")
        name = normal_prefix(target.partition(":")[0])
        if ":" in target and (name in self.namespaces.file or name in self.namespaces.category):
            return ""
        return label if bar else target


def _numbered(parts: list[str]) -> dict[str, str]:
    """Name the arguments of a call as MediaWiki does: positions count the unnamed ones; the last of a name wins.

    >>> _numbered(["a", " x = b ", "c"])
    {'1': 'a', 'x': 'b', '2': 'c'}
    """
    arguments: dict[str, str] = {}
    position = 0
    for part in parts:
        name, equals, value = part.partition("=")
        if equals:
            arguments[name.strip()] = value.strip()
        else:
            position += 1
            arguments[str(position)] = part
    return arguments


def _first_variant(match: re.Match[str]) -> str:
    """Return the first variant of `-{zh-cn:a;zh-tw:b}-`, the text of `-{text}-`, nothing for a rule that shows none."""
    flags, bar, text = match[1].rpartition("|")
    if bar and flags.strip() in ("H", "T", "-"):
        return ""
    first = text.split(";")[0]
    return first.partition(":")[2] if re.match(r"\s*[a-z]{2,3}(?:-[a-z]+)*\s*:", first) else text
