"""The regular expressions of the package, found by its syntax trees, and texts made from each to slow it down."""

from __future__ import annotations

import ast
import importlib
import itertools
import re
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import regex

import bertdata

parser: Any = importlib.import_module("re._parser")
ROOT = Path(bertdata.__file__).parents[1]
METHODS = ("compile", "sub", "subn", "search", "match", "fullmatch", "split", "findall", "finditer")
LIBRARIES: dict[str, Any] = {"re": re, "regex": regex}
AT_ONE_PLACE = {"match", "fullmatch"}
"""Methods that look for a match at one place; the others begin at each character."""


@dataclass(frozen=True)
class Found:
    """One expression of the package: where it is, what it is, and whether it is looked for at one place only."""

    place: str
    pattern: Any
    methods: frozenset[str]

    def run(self, text: str) -> None:
        """Look for all matches in a text, as the package does with its own."""
        subject: Any = text.encode() if isinstance(self.pattern.pattern, bytes) else text
        if self.methods and self.methods <= AT_ONE_PLACE:
            for method in self.methods:
                getattr(self.pattern, method)(subject)
        else:
            deque(self.pattern.finditer(subject), 0)


@dataclass(frozen=True)
class Unknown:
    """One expression that is made of arguments, so that it is known when the function runs."""

    place: str
    source: str
    methods: frozenset[str]


@cache
def trees() -> dict[str, ast.Module]:
    """Return the modules of bertdata and of pipelines that have an expression or may use one, parsed, by dotted names.

    A module that neither calls a function of `re` or `regex` nor has a name that stands for an expression in another
    module is left out, before it is parsed: most of them.
    """
    paths = [*sorted((ROOT / "bertdata").rglob("*.py")), *sorted((ROOT / "pipelines").rglob("*.py"))]
    texts = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): path.read_text(encoding="utf-8")
        for path in paths
        if path.parts[-2:-1] != ("pipelines",) or path.parent == ROOT / "pipelines"
    }
    assigned = re.compile(r"^(\w+)(?: *:[^=\n]*)? = \(?\s*(?:re|regex)\.compile\(", re.MULTILINE)
    names = {name for text in texts.values() for name in assigned.findall(text)}
    called = re.compile(rf"\bre(?:gex)?\.(?:{'|'.join(METHODS)})\(")
    return {
        name: ast.parse(text)
        for name, text in texts.items()
        if called.search(text) or not names.isdisjoint(re.findall(r"\w+", text))
    }


@cache
def nodes_of(name: str) -> list[ast.AST]:
    """Return all nodes of a module."""
    return list(ast.walk(trees()[name]))


@cache
def expressions() -> list[Found | Unknown]:
    """Return each expression that a module compiles or gives to a function of `re` or `regex`."""
    return [expression for name in trees() for expression in _of_module(name)]


def _of_module(name: str) -> Iterator[Found | Unknown]:
    assigned = {id(node.value): node for node in nodes_of(name) if isinstance(node, ast.Assign)}
    for node in nodes_of(name):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS):
            continue
        if not (isinstance(node.func.value, ast.Name) and node.func.value.id in ("re", "regex")):
            continue
        place = f"{name.removesuffix('.__init__')}: {ast.unparse(node)}"
        flags = node.args[1] if node.func.attr == "compile" and len(node.args) > 1 else None
        flags = next((keyword.value for keyword in node.keywords if keyword.arg == "flags"), flags)
        try:
            pattern = _value(node.args[0], name)
            made = LIBRARIES[node.func.value.id].compile(pattern, 0 if flags is None else _value(flags, name))
        except NameError:
            yield Unknown(name, ast.unparse(node.args[0]), frozenset({node.func.attr}))
            continue
        target = assigned.get(id(node))
        names = [name.id for name in target.targets if isinstance(name, ast.Name)] if target else []
        methods = {method for target in names for method in uses()[name, target]} - {"pattern"}
        yield Found(place, made, frozenset(methods if node.func.attr == "compile" else {node.func.attr}))


def _value(node: ast.expr, name: str) -> Any:
    """Return what an expression of a module is worth; the module is imported where one of its names stands in it."""
    code = compile(ast.Expression(node), name, "eval")
    try:
        return eval(code, dict(LIBRARIES))
    except NameError:
        return eval(code, dict(vars(importlib.import_module(name.removesuffix(".__init__")))))


@cache
def uses() -> dict[tuple[str, str], set[str]]:
    """Return for each module and name what is called of it, "" where it is used in another way.

    The uses in modules that import the name count as well.
    """
    methods: dict[tuple[str, str], set[str]] = defaultdict(set)
    for module in trees():
        nodes = nodes_of(module)
        attributes = {id(node.value): node.attr for node in nodes if isinstance(node, ast.Attribute)}
        origins = {
            alias.asname or alias.name: (str(node.module), alias.name)
            for node in nodes
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for node in nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                methods[origins.get(node.id, (module, node.id))].add(attributes.get(id(node), ""))
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in origins:
                methods[".".join(origins[node.value.id]), node.attr].add(attributes.get(id(node), ""))
    return methods


def texts_of(pattern: Any) -> dict[str, Callable[[int], str]]:
    """Return texts of any length that begin as a match does, up to each repetition in a pattern, and go on in it.

    For each repeated part: its own characters again and again, after what a match has before it or without; what a
    match has before it again and again; and both in turn.

    >>> sorted(texts_of(re.compile("<a[ ]*>")))
    ["' ' again and again", "'<a ' again and again", "'<a' again and again", "'<a' and ' ' again and again"]
    """
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    source = regex.sub(
        r"\(\?V1\)", "", regex.sub(r"\[?\[(?:\\p\{\w+(?:=\w+)?\})+\](?:&&[^\]]*\])*|\\[pP]\{[^}]*\}", "a", source)
    )
    tree = parser.parse(source, pattern.flags & (re.I | re.M | re.S | re.X))
    pairs = {(before, unit) for before, unit in _repeats(tree, [""]) if unit}
    texts: dict[str, Callable[[int], str]] = {}
    for before, unit in sorted(pairs):
        for first, units in (("", unit), (before, unit), ("", before), ("", before + unit)):
            if units:
                name = f"{first!r} and {units!r} again and again" if first else f"{units!r} again and again"
                texts[name] = _text(first, units)
    return texts


def _text(before: str, unit: str) -> Callable[[int], str]:
    return lambda length: before + unit * max((length - len(before)) // len(unit), 1) + END


END = "\nx\0"
"""What ends texts: no run reaches over all of it, and nothing ends with it."""
MOST = 4
"""Strings that stand for a part of an expression, at most."""


def _repeats(items: Iterable[Any], before: list[str]) -> Iterator[tuple[str, str]]:
    """Yield for each repeated part, and each way to it, what a match may have before it, and what repeats."""
    for item in items:
        operation, value = str(item[0]), item[1]
        if operation in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            yield from _repeats(value[2], before)
            if value[1] > 4:
                yield from itertools.product(before, _samples(value[2]))
        elif operation == "SUBPATTERN":
            yield from _repeats(value[3], before)
        elif operation == "BRANCH":
            for branch in value[1]:
                yield from _repeats(branch, before)
        elif operation in ("ATOMIC_GROUP",):
            yield from _repeats(value, before)
        elif operation in ("ASSERT", "ASSERT_NOT"):
            yield from _repeats(value[1], before)
        before = _joined(before, _samples([item]))


def _joined(firsts: list[str], seconds: list[str]) -> list[str]:
    """Return firsts followed by seconds, each once where there are few, not each with each."""
    number = max(len(firsts), len(seconds))
    pairs = zip(itertools.islice(itertools.cycle(firsts), number), itertools.cycle(seconds), strict=False)
    return list(dict.fromkeys(first + second for first, second in pairs))[:MOST]


def _samples(items: Iterable[Any]) -> list[str]:
    """Return a few strings that match a part of an expression, lookarounds aside."""
    samples = [""]
    for operation, value in ((str(item[0]), item[1]) for item in items):
        if operation == "LITERAL":
            part = [chr(value)]
        elif operation in ("NOT_LITERAL", "ANY", "IN", "RANGE", "CATEGORY"):
            part = _characters(operation, value)
        elif operation in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            part = [text * max(value[0], 1) for text in _samples(value[2])]
        elif operation == "SUBPATTERN":
            part = _samples(value[3])
        elif operation == "ATOMIC_GROUP":
            part = _samples(value)
        elif operation == "BRANCH":
            part = [text for branch in value[1] for text in _samples(branch)[:2]][: 2 * MOST]
        else:
            part = [""]
        samples = _joined(samples, part or [""])
    return samples


CANDIDATES = "a1 .-\nA_,'\"([{<|&*/é漢:;=\t!?" + "".join(map(chr, range(33, 127)))


def _characters(operation: str, value: Any) -> list[str]:
    """Return a few characters of a class, of different kinds."""
    items = value if operation == "IN" else [(operation, value)]
    characters = [mark for mark in dict.fromkeys(CANDIDATES) if _in_class(mark, items)]
    first = next((item[1] for item in items if str(item[0]) in ("LITERAL", "RANGE")), 0)
    return characters[:MOST] or [chr(first[0] if isinstance(first, tuple) else first)]


CATEGORIES: dict[str, Callable[[str], bool]] = {
    "DIGIT": str.isdigit,
    "SPACE": str.isspace,
    "WORD": lambda mark: mark.isalnum() or mark == "_",
}


def _in_class(mark: str, items: Iterable[Any]) -> bool:
    inside, negated = False, False
    for operation, value in ((str(item[0]), item[1]) for item in items):
        if operation == "NEGATE":
            negated = True
        elif operation == "CATEGORY":
            *_, no, kind = str(value).split("_")
            inside |= CATEGORIES[kind](mark) != (no == "NOT")
        elif operation == "RANGE":
            inside |= value[0] <= ord(mark) <= value[1]
        elif operation == "NOT_LITERAL":
            inside |= ord(mark) != value
        else:
            inside |= operation == "ANY" or ord(mark) == value
    return inside != negated
