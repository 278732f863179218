"""Each regular expression of the package takes linear time, on texts made from itself and on all kinds of repetition.

PyArrow's functions of the name `..._regex` are left out: they run RE2, whose time is linear for any expression.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from functools import cache
from itertools import chain
from typing import Any, TypeVar

import pytest

from bertdata.curation.words import reference as words
from bertdata.sources.books import archive_terms
from bertdata.wikitext.mediawiki.language import language_of
from bertdata.wikitext.templates import english_names
from bertdata.wikitext.templates.convert import _LONGEST_RANGE
from tests.growth import Repetition, assert_linear, every_repetition, some_repetitions
from tests.patterns import METHODS, ROOT, Found, Unknown, expressions, texts_of

EXAMPLES: dict[str, list[Any]] = {
    "bertdata.wikitext.templates.english_names": [english_names._modifiers(language_of("ru"))],
    "bertdata.beam.runner_flags: _LOCAL_MASTER.get": [re.compile(r"\[(local|auto)\]"), re.compile(r"local(\[.+\])?")],
    "bertdata.curation.words.reference: f'(?:[": [words._address()],
    "bertdata.documents.document: border": [re.compile(r"\n[^\S\n]*\n\s*"), re.compile(r"\n+")],
    "bertdata.options.recipe: f": [re.compile(r"\s*[\"']?key[\"']?\s*[=.]")],
    "bertdata.sources.books.archive_terms: f": [*archive_terms.DIGITAL, *archive_terms.OF_RIGHTS],
    "bertdata.wikitext.mediawiki.page_kinds: disambiguation": [re.compile(r"\((?:disambiguation)\)\s*\Z", re.I)],
    "bertdata.wikitext.mediawiki.page_kinds: lists": [re.compile(r"\A(?:(?:lists? of) |.*(?:列表)(?: \([^()]*\))?\Z)")],
    "bertdata.sources.wikipedia.dump.published: f'href": [re.compile(r"href=\"(?:[^\"]*/)?(\d{8})/?\"")],
    "bertdata.sources.wikipedia.dump.published: f'{wiki}": [re.compile(r"enwiki-(\d{8})-pages-articles-multistream")],
    "bertdata.sources.wikipedia.dump.siteinfo: pattern": [
        re.compile(r"<base>([^<]*)</base>"),
        re.compile(r"\bxml:lang=\"([^\"]*)\""),
    ],
    "bertdata.wikitext.mediawiki.dates: form": [re.compile(r"(\d{1,2})[ _](may)(?: *, *| +)(\d{1,4}(?:[ _]BC)?)")],
    "bertdata.wikitext.mediawiki.grammar: expression": [
        re.compile(r"^(.+(edia|[ae]ta|iki|esti))$"),
        re.compile(r"([aouAOU][^aouäöyAOUÄÖY]*)(?<=[bcd])$"),
    ],
    "bertdata.sources.wikipedia.published.html_tokens: f'</{name}": [re.compile(r"</title(?=[\t\n\f\r />])", re.I)],
    "bertdata.wikitext.reference.inline: f'<(/?){name}": [re.compile(r"<(/?)b(?:[\s/][^<>]*+)?>")],
    "bertdata.wikitext.reference.variants: f'({_NOT": [
        re.compile(r"(\[\[[^\[\]|]*\||<[^<>]*>|\{\{[^{}]*\}\}|https?://[^\s\]]*)|(ab)")
    ],
    "bertdata.wikitext.reference.variants: f';": [re.compile(r";\s*+(?=(?:zh)\s*+:|[^;]*?=>\s*+(?:zh)\s*+:|\Z)")],
    "bertdata.wikitext.reference.tags: f'</{name}": [re.compile(r"</math\s*+>")],
    "bertdata.characters.newer: f\"[{''": [re.compile("[\u0560\u0c5d-\u0c5e]|(?![\\0-\uffff])[\U00010d40-\U00010d65]")],
    'bertdata.tokenizers.wordpiece.train.counter: f"[{_MARKS}': [re.compile(r"[!-/:-@\[-`{-~\u4e00-\u9fff]")],
}
"""Expressions that are made of arguments, by module and the beginning of the source, as they are in use."""


COMPILED = {
    "bertdata.curation.words.reference": frozenset({"fullmatch"}),
    "bertdata.wikitext.mediawiki.redirect_words: re.compile(f": frozenset({"match"}),
}
"""What is called of expressions that functions compile and return, by the beginning of their place."""

GIVEN: dict[str, Callable[[str], str]] = {
    "bertdata.curation.words.reference": lambda text: "".join(text.split()),
    "bertdata.wikitext.templates.convert: re.compile('([^ –-]*": lambda text: text[:_LONGEST_RANGE],
}
"""What of a text the callers of an expression give to it, if not any text, by the beginning of its place.

Addresses are looked for in words, which have no white space: where a path begins, the rest of the word is the path. A
range in one argument is looked for in short arguments only.
"""


Value = TypeVar("Value")


@cache
def _all() -> list[Found]:
    """Return the expressions of the package, those of arguments by their examples."""
    return [
        Found(expression.place, pattern, _of_place(COMPILED, expression.place) or expression.methods)
        for expression in expressions()
        for pattern in ([expression.pattern] if isinstance(expression, Found) else _examples(expression))
    ]


def _examples(expression: Unknown) -> list[Any]:
    source = f"{expression.place}: {expression.source}"
    return next((examples for key, examples in EXAMPLES.items() if source.startswith(key)), [])


@pytest.mark.costly
def test_expressions_made_of_arguments_have_examples() -> None:
    unknown = [expression for expression in expressions() if isinstance(expression, Unknown)]
    assert [expression for expression in unknown if not _examples(expression)] == []


def test_expressions_are_found_wherever_they_are_used() -> None:
    places = {pattern.place.partition(":")[0] for pattern in _all()}
    assert len(_all()) > 200
    assert {"bertdata.curation.personal", "bertdata.sources.labelled.json_list", "bertdata.options.recipe"} <= places


def test_no_expression_is_made_in_a_way_that_is_not_looked_for() -> None:
    """Each module calls the functions of `re` and `regex` by these names: no other name, none handed on uncalled."""
    others: list[str] = []
    for path in [*sorted((ROOT / "bertdata").rglob("*.py")), *sorted((ROOT / "pipelines").rglob("*.py"))]:
        text = path.read_text(encoding="utf-8")
        if not re.search(r"\b(?:re|regex)\b", text):
            continue
        nodes = list(ast.walk(ast.parse(text)))
        called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
        for node in nodes:
            match node:
                case (
                    ast.ImportFrom(module="re" | "regex")
                    | ast.Import(names=[ast.alias(name="re" | "regex", asname=str())])
                ):
                    others.append(f"{path}:{node.lineno}")
                case ast.Attribute(value=ast.Name(id="re" | "regex"), attr=name) if (
                    name in METHODS and id(node) not in called
                ):
                    others.append(f"{path}:{node.lineno}")
    assert not others


def test_texts_reach_each_repeated_part() -> None:
    units = set(texts_of(re.compile("<a(?: [^<>]*)?>|[.]{3,}x|(ab){2,9}")))
    assert {"'<a ' and 'b' again and again", "'.' again and again", "'ab' again and again"} & units
    assert "'<a ' again and again" in units


def _given(pattern_found: Found) -> Callable[[str], str]:
    """Return what makes a text what the callers of an expression may give to it."""
    return _of_place(GIVEN, pattern_found.place) or str


def _of_place(table: Mapping[str, Value], place: str) -> Value | None:
    """Return the entry of a place, or of its beginning where that names an expression; None without one."""
    beginnings = (value for key, value in table.items() if ":" in key and place.startswith(key))
    return table.get(place) or next(beginnings, None)


def _text_given(given: Callable[[str], str], text_of: Repetition) -> Repetition:
    return lambda length: given(text_of(length))


def _slow(place: Found, kinds: Mapping[str, Repetition], enough: int, floor: float) -> list[str]:
    """Return the kinds of text on which an expression takes more than linear time, three at most."""
    slow: list[str] = []
    given = _given(place)
    for kind, text_of in kinds.items():
        try:
            assert_linear(place.run, _text_given(given, text_of), smallest=512, enough=enough, floor=floor)
        except AssertionError as error:
            slow.append(f"{place.place} on {kind}: {error}")
            if len(slow) == 3:
                break
    return slow


SHARES = 8
"""Tests that the expressions are shared among, so that processes can run them at the same time."""
KINDS = 16
"""Each expression is given one kind of repetition of so many in a quick run, beside texts made from itself."""
OWN_TEXTS = 60
"""Of the texts made from an expression a quick run takes about as many, evenly: of a long list there are 1,400."""


def _sample(texts: dict[str, Repetition]) -> dict[str, Repetition]:
    step = max(len(texts) // OWN_TEXTS, 1)
    return dict(list(texts.items())[::step])


@pytest.mark.costly
@pytest.mark.parametrize("share", range(SHARES))
def test_expressions_take_linear_time(share: int) -> None:
    slow = [
        _slow(pattern, {**_sample(texts_of(pattern.pattern)), **some_repetitions(number, KINDS)}, 4096, 0.0005)
        for number, pattern in enumerate(_all()[share::SHARES])
    ]
    assert not any(slow), "\n".join(chain.from_iterable(slow))


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("share", range(SHARES))
def test_expressions_take_linear_time_on_every_repetition(share: int) -> None:
    slow = [
        _slow(pattern, {**texts_of(pattern.pattern), **every_repetition()}, 8192, 0.002)
        for pattern in _all()[share::SHARES]
    ]
    assert not any(slow), "\n".join(chain.from_iterable(slow))
