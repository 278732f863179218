"""Templates as the wiki defines them: a template's page becomes the function that writes its text.

Only simple pages: text and markup around arguments (`{{{1}}}`, `{{{1|default}}}`), links, conditions on arguments
(`{{#if:}}`, `{{#switch:}}`), calls of other templates. One with a box, a table or a note prints nothing. What needs the
wiki, the clock or a module (`{{#invoke:}}`) is left to `templates/table` and `templates/unknown`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from bertdata.wikitext.mediawiki.folding import fold_name, fold_prefix, fold_template
from bertdata.wikitext.mediawiki.language import Language
from bertdata.wikitext.mediawiki.site_config import DEFAULT_NAMESPACES
from bertdata.wikitext.reference.tags import take_out_tags
from bertdata.wikitext.rules import LINE_MARKUP, RESERVED
from bertdata.wikitext.templates.convert import Arguments
from bertdata.wikitext.templates.parser_functions import (
    FUNCTIONS,
    UNKNOWN,
    is_variable,
    render_parser_function,
)

LONGEST_PAGE = 20_000
"""Longer pages, in characters, are those of boxes."""
_LONGEST_TEXT, _DEEPEST, _CHARACTERS = 4000, 20, 2

_NOT_INCLUDED = re.compile(r"<noinclude(?:\s[^<>]*)?>.*?(?:</noinclude\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_ONLY_INCLUDED = re.compile(r"<onlyinclude(?:\s[^<>]*)?>(.*?)(?:</onlyinclude\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_INCLUDED = re.compile(r"</?(?:includeonly|noinclude|onlyinclude)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_SILENT = re.compile(
    r"^[^\S\n]*(?:\{\||[*#;:!|]-?)|<(?:div|table|tr|td|ul|ol|li|dl|gallery|imagemap|center|cite)\b|display:\s*none|"
    r"\{\{(?:fix|asbox|ambox|side ?box|navbox|infobox|hatnote|dablink|mbox|tmbox|citation|cite )|"
    r"\[\[(?:category|wikipedia|wp|help|template|file|image):|class=[\"']?(?:(?!class=)[^\"'<>])*?(?:navbox|noprint|metadata|reference)",
    re.IGNORECASE | re.MULTILINE,
)
_CATEGORY = re.compile(r"\[\[\s*+category\s*+:[^\[\]]*+\]\]", re.IGNORECASE)
_PRINTED = re.compile(r"\{\{\{\s*+(?:\d|text)", re.IGNORECASE)
_BRACES = re.compile(r"\{\{\{?|\}\}\}?|\n[^\S\n]*+\|")
_BEGINS_BLOCK = re.compile(rf"\n\s*[\n{{{re.escape(LINE_MARKUP)}]")
_TOKEN = re.compile(r"\{\{\{|\{\{|\}\}\}|\}\}|\[\[|\]\]|\|")
_MAGIC_WORD = re.compile(r"__[A-Z]+__")
_SIGNS = {"!": "|", "=": "&#61;"}
"""What the variables print that stand for signs of markup."""


class NotSimpleError(Exception):
    """Raised for a page that only a wiki can expand."""


class OverBudgetError(Exception):
    """Raised where a call takes more work than it may."""


class Work:
    """The work that the expansion of a call may still take: parts gone through, and each two characters written."""

    def __init__(self, budget: float) -> None:
        self.left = budget

    def spend(self, parts: int, characters: int) -> None:
        """Count work; raises OverBudgetError where none is left."""
        self.left -= parts + characters // _CHARACTERS
        if self.left < 0:
            raise OverBudgetError


@dataclass(frozen=True)
class Parameter:
    """`{{{name|default}}}`; without a default it prints nothing where there is no such argument."""

    name: Parts
    default: Parts


@dataclass(frozen=True)
class Call:
    """`{{head|part|part}}`: a parser function or another template."""

    parts: tuple[Parts, ...]


@dataclass(frozen=True)
class Link:
    """`[[target|label]]`, which prints its label."""

    parts: tuple[Parts, ...]


Parts = tuple["str | Parameter | Call | Link", ...]
Render = Callable[[str, Arguments], "str | None"]
"""Renders another template, by its folded name."""


def included(source: str) -> str | None:
    """Return what a template's page adds to a page that calls it, without notes; None where it is too long.

    >>> included("<i>{{{1}}}</i><noinclude>Documentation.</noinclude><!-- end -->")
    '<i>{{{1}}}</i>'
    """
    if len(source) > LONGEST_PAGE:
        return None
    text = _NOT_INCLUDED.sub("", source)
    only = _ONLY_INCLUDED.findall(text)
    text = _INCLUDED.sub("", "".join(only) if only else text)
    for mark in RESERVED:
        text = text.replace(mark, "")
    return _MAGIC_WORD.sub("", take_out_tags(text)).strip("\n")


def is_silent_page(text: str) -> bool:
    """Tell whether what a template adds is a box, a table, a list, a note or a link to a page about the wiki.

    One that puts its page into a category is a note, unless it prints an argument.

    >>> is_silent_page("<div>{{{1}}}</div>"), is_silent_page("<span>{{{1}}}</span>")
    (True, False)
    >>> is_silent_page("who?[[Category:Vague]]"), is_silent_page("<i>{{{2}}}</i>[[Category:Words in {{{1}}}]]")
    (True, False)
    """
    bare = without_categories(text)
    is_note = bare != text and _PRINTED.search(bare) is None
    return is_note or _SILENT.search(_arguments_in_line(bare)) is not None


def without_categories(text: str) -> str:
    """Return what a template adds without the categories that it puts its page into."""
    return _CATEGORY.sub("", text)


def _arguments_in_line(text: str) -> str:
    """Return a text in which a bar that parts arguments begins no line, as a row of a table does.

    >>> _arguments_in_line("{{#if:a\\n| b\\n}}\\n| c").replace("\\n", "/")
    '{{#if:a| b/}}/| c'
    """
    depth = 0

    def joined(token: re.Match[str]) -> str:
        nonlocal depth
        depth += {"{": 1, "}": -1}.get(token[0][0], 0)
        return "|" if token[0][0] == "\n" and depth > 0 else token[0]

    return _BRACES.sub(joined, text)


@dataclass(frozen=True)
class PageTemplate:
    """A template by what its page adds, as `included` returns it.

    Raises NotSimpleError where only a wiki can expand it.

    >>> template = PageTemplate.parse("<i>{{{1|?}}}</i>{{#if:{{{2|}}}|&nbsp;({{{2}}})}}")
    >>> template.expand({"1": "a", "2": "b"}, lambda name, arguments: None)
    '<i>a</i>&nbsp;(b)'
    >>> template.expand({}, lambda name, arguments: None)
    '<i>?</i>'
    """

    parts: Parts

    @classmethod
    def parse(cls, text: str) -> PageTemplate:
        """Parse what a page adds."""
        return cls(_Parser(text).parse())

    def expand(
        self,
        arguments: Arguments,
        render: Render,
        work: Work | None = None,
        language: Language = UNKNOWN,
        title: str = "",
    ) -> str | None:
        """Return the text of a call, None where it prints nothing, or something that is not part of a sentence.

        `title` is that of the page that the call is on.

        Raises OverBudgetError where it takes more than `work`.
        """
        if sum(map(len, arguments.values())) > _LONGEST_TEXT:
            return None
        text = _text(self.parts, _Scope(arguments, render, work or Work(math.inf), language, title)).strip("\n")
        if (
            not text.strip()
            or len(text) > _LONGEST_TEXT
            or text.lstrip()[0] in LINE_MARKUP
            or _BEGINS_BLOCK.search(text)
        ):
            return None
        return text.replace("\n", " ")


class _Parser:
    """Reads braces and brackets; any that are not balanced make a page not simple."""

    def __init__(self, text: str) -> None:
        self.text, self.position = text, 0

    def parse(self) -> Parts:
        parts, end = self.sequence(frozenset(), 0)
        if end:
            raise NotSimpleError(end)
        return parts

    def sequence(self, ends: frozenset[str], depth: int) -> tuple[Parts, str]:
        """Read as far as one of the tokens that end it; returns what is before, and that token."""
        if depth > _DEEPEST:
            raise NotSimpleError("nested too deep")
        parts: list[str | Parameter | Call | Link] = []
        while token := _TOKEN.search(self.text, self.position):
            if token.start() > self.position:
                parts.append(self.text[self.position : token.start()])
            mark, self.position = token[0], token.end()
            if mark == "}}}" and mark not in ends and "}}" in ends:
                mark, self.position = "}}", token.start() + 2
            if mark in ends:
                return tuple(parts), mark
            if mark == "|":
                parts.append(mark)
            elif mark == "{{{":
                fields = self.fields("}}}", depth)
                parts.append(Parameter(fields[0], fields[1] if len(fields) > 1 else ()))
            elif mark == "{{":
                parts.append(_simple_call(self.fields("}}", depth)))
            elif mark == "[[":
                parts.append(Link(tuple(self.fields("]]", depth))))
            else:
                raise NotSimpleError(mark)
        if ends:
            raise NotSimpleError("not closed")
        parts.append(self.text[self.position :])
        self.position = len(self.text)
        return tuple(part for part in parts if part != ""), ""

    def fields(self, closing: str, depth: int) -> list[Parts]:
        fields: list[Parts] = []
        while True:
            parts, end = self.sequence(frozenset([closing, "|"]), depth + 1)
            fields.append(parts)
            if end == closing:
                return fields


def _simple_call(fields: list[Parts]) -> Call | str:
    """Return a call whose head is known in time: of a template, or of a function or variable that is written here."""
    first = fields[0][0] if fields[0] else ""
    if not isinstance(first, str):
        raise NotSimpleError("a computed name")
    prefix, colon, _ = first.partition(":")
    if colon:
        if UNKNOWN.functions.id_of(prefix.strip()) not in FUNCTIONS:
            raise NotSimpleError(first)
    elif len(fields[0]) > 1:
        raise NotSimpleError(first)
    elif len(fields) == 1 and first.strip() in _SIGNS:
        return _SIGNS[first.strip()]
    return Call(tuple(fields))


@dataclass(frozen=True)
class _Scope:
    """What the text of one call depends on, and the work that it may still take."""

    arguments: Arguments
    render: Render
    work: Work
    language: Language
    title: str


def _text(parts: Parts, scope: _Scope, *, of_argument: bool = False) -> str:
    """Return the text of parts; an equals sign of what is computed in an argument does not name it."""
    if len(parts) == 1 and isinstance(parts[0], str):
        scope.work.spend(1, 0)
        return parts[0]
    texts = []
    for part in parts:
        text = part if isinstance(part, str) else _part_text(part, scope)
        scope.work.spend(1, len(text))
        texts.append(text.replace("=", "&#61;") if of_argument and not isinstance(part, str) else text)
    return "".join(texts)


def _part_text(part: Parameter | Call | Link, scope: _Scope) -> str:
    if isinstance(part, Parameter):
        value = scope.arguments.get(_text(part.name, scope).strip())
        return _text(part.default, scope) if value is None else value
    if isinstance(part, Link):
        target, *labels = "|".join(_text(field, scope) for field in part.parts).split("|", 1)
        prefix, colon, rest = target.partition(":")
        if colon and fold_prefix(prefix) in DEFAULT_NAMESPACES.hidden:
            return ""
        return "".join(labels) or (rest if colon and not prefix.strip() else target)
    head, *fields = part.parts
    name = _text(head, scope)
    if not _is_function(name, len(fields)):
        values = [_text(field, scope, of_argument=True) for field in fields]
        return scope.render(fold_name(name.strip()), _numbered(values)) or ""
    values = [_text(field, scope, of_argument=fold_prefix(name.partition(":")[0]) == "#switch") for field in fields]
    return render_parser_function(name, values, scope.title, scope.language) or ""


def _is_function(head: str, arguments: int) -> bool:
    """Tell whether a call is that of a function or a variable, not of a template."""
    return ":" in head or (not arguments and is_variable(head, UNKNOWN))


def _numbered(fields: list[str]) -> Arguments:
    """Name arguments as `template_calls.numbered` does."""
    from bertdata.wikitext.template_calls import numbered

    return numbered(fields)


def calls_of(parts: Parts) -> set[str]:
    """Return the folded names of the templates that a template calls."""
    names: set[str] = set()
    waiting = [parts]
    while waiting:
        for part in waiting.pop():
            if isinstance(part, str):
                continue
            waiting += (part.name, part.default) if isinstance(part, Parameter) else part.parts
            if isinstance(part, Call):
                head = str(part.parts[0][0]) if part.parts[0] else ""
                if not _is_function(head, len(part.parts) - 1):
                    names.add(fold_template(head.strip()))
    return names
