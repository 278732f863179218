"""The second pass over wikitext: braces, brackets and tables, walked once with a stack.

Links become their text, templates the text that their registry knows; files, categories and tables go. What is never
closed is cleared by `recover`. `kernels/brackets` does the same, compiled.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from bertdata.wikitext.mediawiki.folding import fold_prefix
from bertdata.wikitext.reference.place import IF_IT_GOES_ON, INSIDE, goes_on, place_after
from bertdata.wikitext.reference.tags import placeholder_after
from bertdata.wikitext.rules import (
    INDENTS,
    LINK_MARK,
    LIST_MARKS,
    MAX_DEPTH,
    MOST_PASSED,
    PLACEHOLDER,
    TABLE_MARK,
    TEMPLATE_MARK,
)
from bertdata.wikitext.template_calls import PageContext, call_text, link_text

_MARKS = {"{{": TEMPLATE_MARK, "[[": LINK_MARK}

_TOKEN = re.compile(
    r"""
      \[\[(?P<target>[^\[\]{}|\n]*+)(?:\|(?P<label>[^\[\]{}|\n]*+))?\]\]   # a link with nothing inside
    | \{\{(?P<name>[^\[\]{}|]++)(?P<arguments>\|[^\[\]{}]*+)?\}\}          # a template with nothing inside
    | \{\{(?P<open_braces>\{*+)
    | \}\}(?P<close_braces>\}*+)
    | \[\[(?P<open_link>)
    | \]\](?P<close_link>)
    | \|(?P<bar>)
    | \n(?P<indent>[INDENTS]*+)(?:\{\|(?P<open_table>)|\|\}(?P<close_table>)(?!\}(?!\})))
    | <(?P<html>/?(?:table|ul|ol|dl))(?=[\s/>])[^<>]*+>
    """.replace("INDENTS", re.escape(INDENTS)),
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_UNCLOSED_TABLE = re.compile(rf"{TABLE_MARK}.*?(?=\n[ \t]*\n|\Z)", re.DOTALL)
_UNCLOSED_BLOCK = re.compile(rf"^{TEMPLATE_MARK}.*(?:\n[|}}! ].*)*", re.MULTILINE)
_UNCLOSED_TEMPLATE = re.compile(rf"{TEMPLATE_MARK}(?:[^|\n{TEMPLATE_MARK}]*\|)*+(?:[\w ]*=)?")
_UNCLOSED_LINK = re.compile(rf"{LINK_MARK}([^\n{LINK_MARK}]*)")


def resolve_brackets(text: str, page: PageContext) -> tuple[str, str]:
    """Return text with its links, templates and tables resolved, and why the page is not an article ("" if it is one).

    >>> resolve_brackets("A [[dog|big dog]] {{nowrap|ran}}.{{disambig}}", PageContext())
    ('\\nA big dog ran.', 'disambiguation')
    """
    walk = _Walk(page)
    return recover(walk.render("\n" + text), page), walk.reason


@dataclass(slots=True)
class _Frame:
    """A construct that is open: where its pieces begin in the output, its braces, if a list holds it, its bars."""

    kind: str
    base: int
    braces: int = 0
    listed: bool = False
    bars: list[int] = field(default_factory=list)


class _Walk:
    """One walk over braces, brackets and tables.

    `out` is one flat list of pieces, none of them empty. An opening puts down a mark and a frame; its closing takes the
    pieces back and puts the rendered text in their place. What is never closed keeps its mark.
    """

    def __init__(self, page: PageContext) -> None:
        self.page = page
        self.reason = ""
        self.out: list[str] = []
        self.stack: list[_Frame] = []
        self.open: Counter[str] = Counter()

    def render(self, text: str) -> str:
        out, stack = self.out, self.stack
        position = 0
        while (token := _TOKEN.search(text, position)) is not None:
            start = token.start()
            if start > position:
                out.append(text[position:start])
            position = token.end()
            kind = token.lastgroup
            if kind in ("target", "label"):
                self.write(link_text(token["target"], token["label"], self.page, nested=bool(stack)))
            elif kind == "bar":
                self.bar()
            elif kind in ("name", "arguments"):
                arguments = token["arguments"]
                parts = arguments[1:].split("|") if arguments else []
                if token["name"] == "!" and not arguments:
                    self.bar(parts=not (stack and stack[-1].kind == "{{"))
                else:
                    self.template(token["name"], parts, text[position : position + MOST_PASSED + 2])
            elif kind == "open_braces":
                self.push("{{", position - start)
            elif kind == "close_braces":
                self.close_braces(position - start, text[position : position + MOST_PASSED + 2])
            elif kind == "open_link":
                self.push("[[")
            elif kind == "close_link":
                in_link = bool(stack) and stack[-1].kind == "[["
                three = text.startswith("]", position)
                if (three or not in_link) and _follows_single_bracket(text, start):
                    self.write("]")
                    position += three
                if in_link:
                    self.close_link()
            elif kind == "open_table":
                out.append("\n")
                self.push("{|", listed=not set(token["indent"]).isdisjoint(LIST_MARKS))
            elif kind == "close_table":
                self.close_block("{|")
            elif kind == "html":
                name = token["html"].lower()
                if name[0] != "/":
                    self.push(name)
                else:
                    self.close_block(name[1:])
        self.write(text[position:])
        return "".join(out)

    def write(self, text: str | None) -> None:
        """Put text into the output; None is a placeholder, where it can show."""
        if text is None:
            text = placeholder_after(self.out[-1]) if self.out else PLACEHOLDER
        if text:
            self.out.append(text)

    def bar(self, *, parts: bool = True) -> None:
        """Write a bar, which parts the arguments of a call, and the target and the label of a link, if it parts any."""
        if self.stack and parts:
            self.stack[-1].bars.append(len(self.out))
        self.out.append("|")

    def push(self, kind: str, braces: int = 0, *, listed: bool = False) -> None:
        self.stack.append(_Frame(kind, len(self.out), braces, listed))
        self.open[kind] += 1
        self.out.append(_MARKS.get(kind, TABLE_MARK))

    def unwind(self, kind: str) -> bool:
        """Make the innermost open construct of this kind the top of the stack; the frames above it are unclosed."""
        if not self.open[kind]:
            return False
        while self.stack[-1].kind != kind:
            self.open[self.stack.pop().kind] -= 1
        return True

    def written(self) -> str:
        """Return the end of the output, as long as a place is looked at."""
        end = ""
        for piece in reversed(self.out):
            end = piece[-MOST_PASSED - 1 :] + end
            if len(end) > MOST_PASSED:
                break
        return end

    def take(self) -> list[str]:
        """Take the pieces of the top frame out of the output, as texts between bars; the mark stays."""
        frame, out = self.stack[-1], self.out
        parts = []
        begin = frame.base + 1
        for bar in [*frame.bars, len(out)] if len(self.stack) <= MAX_DEPTH else [begin]:
            parts.append("".join(out[begin:bar]))
            begin = bar + 1
        del out[frame.base + 1 :]
        frame.bars.clear()
        return parts

    def pop(self) -> None:
        frame = self.stack.pop()
        self.open[frame.kind] -= 1
        del self.out[frame.base :]

    def close_link(self) -> None:
        """Write the text of the link that is the top frame."""
        target, *labels = self.take()
        self.pop()
        label = "|".join(labels) if labels else None
        self.write(link_text(target, label, self.page, nested=bool(self.stack)))

    def close_braces(self, count: int, after: str) -> None:
        """Match a run of closing braces as MediaWiki does: three make a parameter, two a template.

        `after` is the text after them.
        """
        while count >= 2 and self.unwind("{{"):
            frame = self.stack[-1]
            used = 3 if count >= 3 and frame.braces >= 3 else 2
            name, *arguments = self.take()
            count -= used
            frame.braces -= used
            if frame.braces < 2:
                self.pop()
            if used == 3:
                self.write(arguments[0] if arguments else None)
            else:
                self.template(name, arguments, "" if count >= 2 else after)

    def close_block(self, kind: str) -> None:
        """Close a table or list; what follows a table on the line of its end is in the list that the table is in."""
        if self.unwind(kind):
            listed = self.stack[-1].listed
            self.pop()
            self.out.append("\n:" if listed else "\n" + PLACEHOLDER)

    def template(self, head: str, parts: list[str], after: str) -> None:
        nested = bool(self.stack)
        place = place_after(self.written(), nested=nested)
        inside = place == INSIDE or (place == IF_IT_GOES_ON and goes_on(after))
        text, reason = call_text(head, parts, self.page, nested=nested, inside=inside)
        if not nested:
            self.reason = self.reason or reason
        self.write(text)


def _follows_single_bracket(text: str, place: int) -> bool:
    """Tell whether the last bracket before a place is a single opening one, as in `[[File:A|by [http://b c]]]`.

    The first of three closing brackets there is then its end, by MediaWiki's rule; and so is the first of two, as in
    `[http://b c]]`, where no link is open.

    >>> _follows_single_bracket("[[a|[b]]]", 6), _follows_single_bracket("[[a|b]]]", 5)
    (True, False)
    """
    while place > 0 and text[place - 1] not in "[]":
        place -= 1
    return text[place - 1 : place] == "[" and text[place - 2 : place - 1] != "["


def recover(text: str, page: PageContext) -> str:
    """Clear what never closes: a table to the next blank line, a template its parameters, a link its target."""
    if TABLE_MARK in text:
        text = _UNCLOSED_TABLE.sub("", text)
    if TEMPLATE_MARK in text:
        text = _UNCLOSED_TEMPLATE.sub("", _UNCLOSED_BLOCK.sub("", text))
    if LINK_MARK not in text:
        return text

    def unclosed_link(match: re.Match[str]) -> str:
        target, bar, label = match[1].partition("|")
        prefix, colon, _ = target.partition(":")
        if colon and fold_prefix(prefix) in page.namespaces.hidden:
            return ""
        return label if bar else target

    return _UNCLOSED_LINK.sub(unclosed_link, text)
