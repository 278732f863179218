"""Conditions on the columns of documents, as `score >= 3 and language == 'en'`: parsed once, never evaluated as code.

    condition  = comparison | condition and condition | condition or condition | not condition | ( condition )
    comparison = value == value | != | < | <= | > | >= | value in (constant, ...) | value not in (...)
               | constant in name | constant not in name | name is None | name is not None
    value      = name | 'text' | number | True | False

A name is a column, or a place in a column of objects, as `metadata.score`; one that Python does not take for a name is
written `column('Assigned to')`. After a constant and `in` stands a column of
lists, as in `'news' in tags`. The syntax is that of Python. Where a column has no value, a comparison with it does not
hold, nor does its opposite, as in SQL: `owner != 'lee'` leaves out documents without an owner, and `owner is None or
owner != 'lee'` takes them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from keyword import kwlist

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.curation.condition_values import Evaluation, constant_of, is_constant, name_of, node_of
from bertdata.errors import ConfigError, parse_problem

OF_ALL = ("source", "id", "title", "url", "characters", "sentences", "tokens")
"""The columns that every document has: strings, and how long it is."""
_OTHER_SIGNS = {"=>": ">=", "=<": "<=", "<>": "!=", "&&": "and", "||": "or"}
"""What other languages write, and what it is here."""
_WORDS = "and|or|not|in|is|None|True|False"
"""The words of Python that a condition may have."""
_NAME = rf"(?!(?:{_WORDS})\b)[^\W\d]\w*"
_NO_NAME = re.compile(rf"`|\b{_NAME} {_NAME}|\b(?:{'|'.join(sorted({*kwlist} - {*_WORDS.split('|')}))})\b")
"""A sign that a condition names a column as Python cannot: a backquote, two names in a row, a reserved word."""
_OTHER_NAMES = "; a column whose name has blanks or signs, or is a word of Python, is written column('Assigned to')"
_EXAMPLE = "expected a condition as score >= 3 and language == 'en'"


@dataclass(frozen=True)
class ComparedText:
    """A text that a condition compares a column with; ordered: by <, <=, > or >=."""

    column: str
    text: str
    ordered: bool


@dataclass(frozen=True)
class Condition:
    """A condition: what messages call it, its flag and text, and its syntax tree."""

    label: str
    tree: ast.expr

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that it reads, in the order of the alphabet."""
        return tuple(sorted(set(_names(self.tree))))

    @property
    def columns(self) -> tuple[str, ...]:
        """Those of the columns that not every document has."""
        return tuple(name for name in self.names if name not in OF_ALL)

    @property
    def texts(self) -> tuple[ComparedText, ...]:
        """The texts that it compares columns with, as they are written from left to right.

        >>> [(text.column, text.text) for text in parse_condition("owner not in ('kim', 'lee') or id == 'x'").texts]
        [('owner', 'kim'), ('owner', 'lee'), ('id', 'x')]
        """
        return tuple(_texts(self.tree))

    def holds(self, columns: Mapping[str, pa.Array]) -> NDArray[np.bool_]:
        """Return for which rows of its columns the condition holds, bool (N,).

        Raises ConfigError where a column is compared with a value of another type.

        >>> columns = {"score": pa.array([3.5, None, 1]), "language": pa.array(["en", "en", "de"])}
        >>> parse_condition("score >= 3 or language == 'de'").holds(columns).tolist()
        [True, False, True]
        """
        number = len(next(iter(columns.values()))) if columns else 0
        outcomes = Evaluation(self.label, columns, number).condition(self.tree)
        flags: NDArray[np.bool_] = outcomes.fill_null(False).to_numpy(zero_copy_only=False)
        return flags

    def can_hold(self, missing: Collection[str]) -> bool:
        """Return whether the condition can hold for a document that has no value in some columns.

        >>> condition = parse_condition("score >= 3 and language != 'de'")
        >>> condition.can_hold({"title"}), condition.can_hold({"language"})
        (True, False)
        """
        return True in _outcomes(self.tree, missing)

    def taking_missing(self, missing: Collection[str]) -> str:
        """Return the condition as it is written to hold for documents without a value in some columns, too.

        "" where it compares none of them.

        >>> parse_condition("tokens > 9 and not owner == 'lee'").taking_missing({"owner"})
        "tokens > 9 and (owner is None or not owner == 'lee')"
        """
        tree = _taking_missing(self.tree, missing)
        return "" if ast.dump(tree) == ast.dump(self.tree) else ast.unparse(tree)


@lru_cache(maxsize=64)
def parse_condition(text: str, flag: str = "--where") -> Condition:
    """Parse a condition that a flag gives; raises ConfigError, with the place, for what is not one.

    >>> parse_condition("tokens >= 1024 and metadata.score > 0.5").columns
    ('metadata.score',)
    """
    label = f"{flag} {text!r}"
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        written = next((f"; write {right} for {wrong}" for wrong, right in _OTHER_SIGNS.items() if wrong in text), "")
        remedy = written or ("; equality is ==" if re.search(r"[^=<>!]=[^=]", text) else "")
        remedy = remedy or _OTHER_NAMES * bool(_NO_NAME.search(re.sub(r"'[^']*'|\"[^\"]*\"", "''", text)))
        reason = error.msg if isinstance(error, SyntaxError) else parse_problem(error)
        raise ConfigError(f"{label} cannot be parsed ({reason}){remedy}; {_EXAMPLE}") from error
    _check(tree, label)
    if not set(_names(tree)):
        raise ConfigError(f"{label} names no column; {_EXAMPLE}")
    return Condition(label, tree)


def _check(node: ast.expr, label: str) -> None:
    """Raise ConfigError where a part of a condition is neither a condition nor a comparison."""
    if isinstance(node, ast.BoolOp):
        for condition in node.values:
            _check(condition, label)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        _check(node.operand, label)
    elif isinstance(node, ast.Compare):
        _check_comparison(node, label)
    else:
        raise _refused(node, label, "is not a comparison")


def _check_comparison(node: ast.Compare, label: str) -> None:
    for left, operator, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
        if isinstance(operator, (ast.In, ast.NotIn)):
            if is_constant(left) and name_of(right):
                continue
            fits = _is_value(left) and isinstance(right, (ast.Tuple, ast.List)) and all(map(is_constant, right.elts))
            fits = fits and bool(right.elts) and len({type(constant_of(item)) is str for item in right.elts}) == 1  # type: ignore[attr-defined]
            if not fits and is_constant(right):
                same = "!=" if isinstance(operator, ast.NotIn) else "=="
                plain = f"{ast.unparse(left)} {same} {ast.unparse(right)}"
                raise _refused(node, label, f"has one value, and no list after `in`; write {plain}")
            if not fits:
                raise _refused(
                    node, label, "is not a value in (constant, ...) of one type, nor a constant in a column of lists"
                )
        elif isinstance(operator, (ast.Is, ast.IsNot)):
            if not (name_of(left) and isinstance(right, ast.Constant) and right.value is None):
                raise _refused(node, label, "is not as `score is None`")
        elif not (_is_value(left) and _is_value(right)):
            signs = _OTHER_NAMES * any(isinstance(part, ast.BinOp) for part in ast.walk(node))
            raise _refused(node, label, f"compares what is neither a column nor a constant{signs}")


def _refused(node: ast.expr, label: str, problem: str) -> ConfigError:
    return ConfigError(f"{label}: {ast.unparse(node)!r} {problem}; {_EXAMPLE}")


def _is_value(node: ast.expr) -> bool:
    return bool(name_of(node)) or is_constant(node)


def _names(tree: ast.expr) -> Iterator[str]:
    if name := name_of(tree):
        yield name
        return
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.expr):
            yield from _names(node)


def _texts(tree: ast.expr) -> Iterator[ComparedText]:
    if not isinstance(tree, ast.Compare):
        for node in ast.iter_child_nodes(tree):
            if isinstance(node, ast.expr):
                yield from _texts(node)
        return
    for left, operator, right in zip([tree.left, *tree.comparators], tree.ops, tree.comparators, strict=False):
        ordered = isinstance(operator, (ast.Lt, ast.LtE, ast.Gt, ast.GtE))
        for column, constants in ((name_of(left), right), (name_of(right), left)):
            for constant in constants.elts if isinstance(constants, (ast.Tuple, ast.List)) else [constants]:
                if column and isinstance(constant, ast.Constant) and isinstance(constant.value, str):
                    yield ComparedText(column, constant.value, ordered)


def _outcomes(node: ast.expr, missing: Collection[str]) -> set[bool | None]:
    """Return what a condition can be of a document without a value in some columns; None: neither true nor false."""
    if isinstance(node, ast.BoolOp):
        wins = isinstance(node.op, ast.Or)
        outcomes = _outcomes(node.values[0], missing)
        for value in node.values[1:]:
            pairs = product(outcomes, _outcomes(value, missing))
            outcomes = {wins if wins in pair else None if None in pair else not wins for pair in pairs}
        return outcomes
    if isinstance(node, ast.UnaryOp):
        return {None if outcome is None else not outcome for outcome in _outcomes(node.operand, missing)}
    assert isinstance(node, ast.Compare)
    asks = any(isinstance(operator, (ast.Is, ast.IsNot)) for operator in node.ops)
    if not {*missing} & {*_names(node)} or (asks and len(node.ops) > 1):
        return {True, False, None}
    if asks:
        return {isinstance(node.ops[0], ast.Is)}
    return {None, False} if len(node.ops) > 1 else {None}


def _names_none(node: ast.expr) -> str:
    """Return the column that a comparison as `score is None` names, "" of others."""
    return name_of(node.left) if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is) else ""


def _taking_missing(node: ast.expr, missing: Collection[str]) -> ast.expr:
    """Return a condition with `name is None or` before its comparisons, and their opposites, of some columns."""
    if isinstance(node, ast.BoolOp):
        allowed = {_names_none(value) for value in node.values} if isinstance(node.op, ast.Or) else set()
        return ast.BoolOp(node.op, [_taking_missing(value, {*missing} - allowed) for value in node.values])
    asks = any(
        isinstance(part, ast.Compare) and isinstance(part.ops[0], (ast.Is, ast.IsNot)) for part in ast.walk(node)
    )
    names = sorted({*_names(node)} & {*missing})
    if asks or not names:
        return node
    empty = [ast.Compare(node_of(name), [ast.Is()], [ast.Constant(None)]) for name in names]
    return ast.BoolOp(ast.Or(), [*empty, node])
