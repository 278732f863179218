"""Whether conditions on columns hold, for each document: true, false, or null where a column has no value."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from keyword import iskeyword
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bertdata.documents import storable
from bertdata.errors import ConfigError, InputError

_COMPARISONS: dict[type[ast.cmpop], Callable[..., Any]] = {
    ast.Eq: pc.equal,
    ast.NotEq: pc.not_equal,
    ast.Lt: pc.less,
    ast.LtE: pc.less_equal,
    ast.Gt: pc.greater,
    ast.GtE: pc.greater_equal,
}
_LISTS = "lists"


def column_of_values(name: str, values: Sequence[Any]) -> pa.Array:
    """Return the values of a column, of documents each; raises InputError where they are of several types.

    >>> column_of_values("tags", [["news", "sea"], None]).to_pylist()
    [['news', 'sea'], None]
    """
    try:
        return pa.array([_storable(value) for value in values])
    except MemoryError:
        raise
    except (pa.ArrowException, OverflowError) as error:
        raise InputError(
            f"the column {name!r}, which --where reads, has values of several types ({error}); expected strings, "
            "numbers, true and false, or lists of one of these, in all documents alike"
        ) from error


def _storable(value: Any) -> Any:
    if isinstance(value, list):
        return [_storable(item) for item in value]
    return storable(value) if isinstance(value, str) else value


def name_of(node: ast.expr) -> str:
    """Return the column that a node names, "" where it names none."""
    if isinstance(node, ast.Attribute):
        before = name_of(node.value)
        return f"{before}.{node.attr}" if before else ""
    if isinstance(node, ast.Call):
        return _quoted(node)
    return node.id if isinstance(node, ast.Name) else ""


def _quoted(node: ast.Call) -> str:
    """Return the name in `column('Assigned to')`, "" where a call is another one."""
    arguments = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
    named = isinstance(node.func, ast.Name) and node.func.id == "column" and len(node.args) == 1 and not node.keywords
    return arguments[0] if named and arguments and isinstance(arguments[0], str) else ""


def node_of(name: str) -> ast.expr:
    """Return the node that names a column.

    >>> [ast.unparse(node_of(name)) for name in ("owner", "meta.score", "Assigned to", "mail.from")]
    ['owner', 'meta.score', "column('Assigned to')", "column('mail.from')"]
    """
    if all(part.isidentifier() and not iskeyword(part) for part in name.split(".")):
        return ast.parse(name, mode="eval").body
    return ast.Call(ast.Name("column"), [ast.Constant(name)], [])


def is_constant(node: ast.expr) -> bool:
    """Tell whether a node is a text, a number, True or False."""
    signed = isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd))
    inner = node.operand if isinstance(node, ast.UnaryOp) and signed else node
    kinds = (int, float) if signed else (str, int, float, bool)
    return isinstance(inner, ast.Constant) and isinstance(inner.value, kinds)


def constant_of(node: ast.expr) -> Any:
    """Return the value of a constant."""
    return ast.literal_eval(node)


@dataclass(frozen=True)
class Evaluation:
    """The evaluation of a condition on the columns of `number` documents; label: what messages call the condition."""

    label: str
    columns: Mapping[str, pa.Array]
    number: int

    def condition(self, node: ast.expr) -> pa.BooleanArray:
        """Return whether a condition holds for each document; raises ConfigError where it compares two types."""
        if isinstance(node, ast.BoolOp):
            combine = pc.and_kleene if isinstance(node.op, ast.And) else pc.or_kleene
            combined = self.condition(node.values[0])
            for value in node.values[1:]:
                combined = combine(combined, self.condition(value))
            return combined
        if isinstance(node, ast.UnaryOp):
            return pc.invert(self.condition(node.operand))
        assert isinstance(node, ast.Compare)
        combined = pa.array(np.ones(self.number, np.bool_))
        for left, operator, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
            combined = pc.and_kleene(combined, self._compare(node, left, operator, right))
        return combined

    def _compare(self, node: ast.Compare, left_node: ast.expr, operator: ast.cmpop, right_node: ast.expr) -> Any:
        if isinstance(operator, (ast.Is, ast.IsNot)):
            return (
                pc.is_null(self._value(left_node))
                if isinstance(operator, ast.Is)
                else pc.is_valid(self._value(left_node))
            )
        left = self._value(left_node)
        if isinstance(operator, (ast.In, ast.NotIn)):
            if name_of(right_node):
                is_member = self._in_lists(node, left, self._value(right_node))
            else:
                assert isinstance(right_node, (ast.Tuple, ast.List))
                right = pa.array([constant_of(item) for item in right_node.elts])
                is_member = self._checked(node, left, right, lambda: pc.is_in(left, value_set=right.cast(left.type)))
                is_member = pc.if_else(pc.is_valid(left), is_member, pa.scalar(None, pa.bool_()))
            return pc.invert(is_member) if isinstance(operator, ast.NotIn) else is_member
        right = self._value(right_node)
        return self._checked(node, left, right, lambda: _COMPARISONS[type(operator)](left, right))

    def _in_lists(self, node: ast.Compare, constant: pa.Scalar, lists: pa.Array) -> Any:
        """Return for each list of a column whether a constant is in it, null where there is no list."""
        if pa.types.is_null(lists.type):
            return pa.scalar(None, pa.bool_())
        if not pa.types.is_list(lists.type):
            equality = "!=" if isinstance(node.ops[0], ast.NotIn) else "=="
            raise ConfigError(
                f"{self.label}: {ast.unparse(node)!r} is for a column of lists, and this one holds "
                f"{_kind(lists.type)}; write {ast.unparse(node.comparators[0])} {equality} {ast.unparse(node.left)}"
            )
        items, is_member = lists.flatten(), np.zeros(len(lists), np.bool_)
        if not pa.types.is_null(items.type):
            equal = self._checked(node, items, constant, lambda: pc.equal(items, constant)).fill_null(False)
            is_member[pc.list_parent_indices(lists).filter(equal).to_numpy()] = True
        return pc.if_else(pc.is_valid(lists), pa.array(is_member), pa.scalar(None, pa.bool_()))

    def _value(self, node: ast.expr) -> pa.Array | pa.Scalar:
        """Return the values of a column, or a constant."""
        return self.columns[name] if (name := name_of(node)) else pa.scalar(constant_of(node))

    def _checked(self, node: ast.Compare, left: Any, right: Any, compare: Callable[[], Any]) -> Any:
        """Return a comparison, null where a column has no value at all; raises ConfigError where it is of two types."""
        if pa.types.is_null(left.type) or pa.types.is_null(right.type):
            return pa.scalar(None, pa.bool_())
        if _kind(left.type) == _kind(right.type):
            return compare()
        remedy = "compare with a value of the column's type"
        if _LISTS in (_kind(left.type), _kind(right.type)):
            remedy = "of a column of lists ask what is in them, as in 'news' in tags or 'news' not in tags"
        raise ConfigError(
            f"{self.label}: {ast.unparse(node)!r} compares {_kind(left.type)} with {_kind(right.type)}; {remedy}"
        )


def _kind(kind: pa.DataType) -> str:
    """Return what messages call a type; types of one name can be compared."""
    if pa.types.is_boolean(kind):
        return "True or False"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return "numbers"
    if pa.types.is_list(kind):
        return _LISTS
    return "strings" if pa.types.is_string(kind) else str(kind)
