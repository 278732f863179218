"""What one template call, or one link, leaves in the text, for the reference and for what its kernels leave to Python.

None stands for a dropped construct. Where a call is nested in another one, an equals sign of its text is written
as a character reference, so that it does not name an argument.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from bertdata.wikitext.mediawiki.folding import fold_name, fold_prefix
from bertdata.wikitext.mediawiki.site_config import DEFAULT_NAMESPACES, Namespaces
from bertdata.wikitext.rules import LINE_MARKUP, NAME_EDGES, PROTOCOLS
from bertdata.wikitext.templates.convert import Arguments
from bertdata.wikitext.templates.expansions import PageExpansions
from bertdata.wikitext.templates.parser_functions import (
    is_variable,
    render_parser_function,
    without_modifier,
)
from bertdata.wikitext.templates.table import BUILT_IN, Templates
from bertdata.wikitext.templates.unknown import unknown_text

_ADDRESS = re.compile(f"(?:{'|'.join(PROTOCOLS)}):|//", re.IGNORECASE | re.ASCII)
_NOT_IN_TITLES = re.compile("[\\0-\\x1f\\x7f<>\\[\\]{}|\ufffd]")
_PIPE_TRICK = re.compile(r"(?:[^:]*:)?(.*?)(?: ?\([^()]*\)|, .*)?", re.DOTALL)


_BLOCK_BEGINS = ("{|", "#", "*")
"""Text of a call that begins so is the item of a list or a table also inside a line, as on a wiki.

One that begins with a colon or semicolon is, too, there; here it goes on the sentence, for it is most often the branch
that the wiki does not take.
"""


@dataclass(slots=True, eq=False)  # not frozen, which takes thrice the time, and is made for each page
class PageContext:
    """What a page's text may depend on: its title, its wiki's namespaces, the templates that carry text, the variant.

    `keep_lists` says that a page stays which is a list.

    `expansions` hold the budget of the page, and are for that page alone.
    """

    title: str = ""
    namespaces: Namespaces = DEFAULT_NAMESPACES
    templates: Templates = BUILT_IN
    expansions: PageExpansions = field(default_factory=PageExpansions, repr=False)
    variant: str = ""
    keep_lists: bool = False


def call_text(head: str, parts: list[str], page: PageContext, *, nested: bool, inside: bool) -> tuple[str | None, str]:
    """Return the text of the call `{{head|part|part}}`, and the kind of page that calls its template ("" for most).

    `inside` says whether it stands inside a sentence, where an unknown template is likely to print text.

    >>> call_text("Convert", ["5", "km"], PageContext(), nested=False, inside=True)
    ('5 kilometres (3.1 mi)', '')
    """
    calls = page.templates.calls
    head = head.strip(NAME_EDGES)
    if ":" in head:
        head = _template_or_function(head, page)
    name = fold_name(head)
    if ":" in name:
        is_function = fold_prefix(head.partition(":")[0]) in calls.functions
        text = render_parser_function(head, parts, page.title, calls.language) if is_function else None
    elif not parts and name in calls.variables and is_variable(head, calls.language):
        text = render_parser_function(head, parts, page.title, calls.language)
    else:
        if page.templates.carries_text(name):
            text = page.templates.render(name, numbered(parts), page.expansions)
        elif inside and name not in calls.kinds and name not in calls.variables:
            text = unknown_text(head, name, numbered(parts))
        else:
            text = None
        if text is None:
            return None, calls.kinds.get(name, "")
    if text is not None and nested and "=" in text:
        text = text.replace("=", "&#61;")
    if text and not nested and text.startswith(_BLOCK_BEGINS):
        text = "\n" + text
    return text, ""


def _template_or_function(head: str, page: PageContext) -> str:
    """Return the head of a call without `subst:` and without the name of the namespace of templates.

    >>> _template_or_function("Template:Convert", PageContext()), _template_or_function("subst:#if:x", PageContext())
    ('Convert', '#if:x')
    """
    prefix, _, rest = head.partition(":")
    if fold_prefix(prefix) in page.namespaces.templates:
        return rest.strip(NAME_EDGES)
    if fold_prefix(prefix) not in page.templates.calls.functions:
        return head
    bare = without_modifier(head, page.templates.calls.language).strip(NAME_EDGES)
    return bare if bare == head or ":" not in bare else _template_or_function(bare, page)


def link_text(target: str, label: str | None, page: PageContext, *, nested: bool) -> str | None:
    """Return the text of the link `[[target|label]]`.

    >>> link_text("Boston (Massachusetts)", "", PageContext(), nested=False)
    'Boston'
    >>> link_text("Salt\\nwater", "sea", PageContext(), nested=False)  # a target does not go on in the next line
    'Salt\\nwater|sea'
    >>> link_text("http://example.org Salt", None, PageContext(), nested=False)  # MediaWiki reads an external link here
    '[[http://example.org Salt]]'
    """
    if _ADDRESS.match(target):
        return f"[[{target}]]" if label is None else f"[[{target}|{label}]]"
    target = target.removeprefix("./")  # as text pasted out of the visual editor has it
    prefix, colon, rest = target.partition(":")
    if colon:
        name = fold_prefix(prefix)
        if name in page.namespaces.hidden:
            return None
        if not name:
            target = rest
    if "\n" in target:
        return target if label is None else f"{target}|{label}"
    text = _decoded(target.strip(" \t")) if label is None else label
    if not text:
        trick = _PIPE_TRICK.fullmatch(target.strip(" \t"))
        text = trick[1] if trick else target
    if nested and "=" in text:
        text = text.replace("=", "&#61;")
    return f"&#{ord(text[0])};{text[1:]}" if text and text[0] in LINE_MARKUP else text


def _decoded(title: str) -> str:
    """Return a title with what is percent-encoded in it decoded, as MediaWiki shows it where it can be a title.

    >>> _decoded("Salt%20water"), _decoded("7% solution"), _decoded("Salt%7Cwater")
    ('Salt water', '7% solution', 'Salt%7Cwater')
    """
    if "%" not in title:
        return title
    decoded = unquote(title, errors="replace")
    return title if _NOT_IN_TITLES.search(decoded) else decoded


_MANY = 64
"""Arguments of a call from which no table of all of them is made: one of a million is slow to make and to read."""


class _Unnamed(Mapping[str, str]):
    """The arguments of a call without equals signs, by position, as `numbered` names them.

    >>> arguments = _Unnamed(["a", "b"])
    >>> arguments["2"], arguments.get("3"), arguments.get("02"), list(arguments)
    ('b', None, None, ['1', '2'])
    """

    __slots__ = ("_parts",)

    def __init__(self, parts: list[str]) -> None:
        self._parts = parts

    def __getitem__(self, name: str) -> str:
        position = int(name) if name.isascii() and name.isdigit() and len(name) < 20 else 0
        if not 0 < position <= len(self._parts) or name[0] == "0":
            raise KeyError(name)
        return self._parts[position - 1]

    def __iter__(self) -> Iterator[str]:
        return map(str, range(1, len(self._parts) + 1))

    def __len__(self) -> int:
        return len(self._parts)


def numbered(parts: list[str]) -> Arguments:
    """Name the arguments of a call as MediaWiki does: positions count the unnamed ones; the last of a name wins.

    >>> numbered(["a", " x = b ", "c"])
    {'1': 'a', 'x': 'b', '2': 'c'}
    """
    if not any("=" in part for part in parts):
        return _Unnamed(parts) if len(parts) >= _MANY else {str(n): part for n, part in enumerate(parts, 1)}
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
