"""The mutations of a module: each changes one operator, number, truth value, name, condition, argument or statement.

Annotations, decorators, docstrings and messages are not mutated.
"""

from __future__ import annotations

import ast
import itertools
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

OPERATORS: dict[type[ast.AST], tuple[str, tuple[str, ...]]] = {
    ast.Lt: ("<", ("<=", ">=")),
    ast.LtE: ("<=", ("<", ">")),
    ast.Gt: (">", (">=", "<=")),
    ast.GtE: (">=", (">", "<")),
    ast.Eq: ("==", ("!=",)),
    ast.NotEq: ("!=", ("==",)),
    ast.In: ("in", ("not in",)),
    ast.NotIn: ("not in", ("in",)),
    ast.Is: ("is", ("is not",)),
    ast.IsNot: ("is not", ("is",)),
    ast.And: ("and", ("or",)),
    ast.Or: ("or", ("and",)),
    ast.Add: ("+", ("-",)),
    ast.Sub: ("-", ("+",)),
    ast.Mult: ("*", ("//",)),
    ast.FloorDiv: ("//", ("*",)),
    ast.Div: ("/", ("*",)),
    ast.Mod: ("%", ("*",)),
    ast.Pow: ("**", ("*",)),
    ast.LShift: ("<<", (">>",)),
    ast.RShift: (">>", ("<<",)),
    ast.BitAnd: ("&", ("|",)),
    ast.BitOr: ("|", ("&",)),
    ast.BitXor: ("^", ("|",)),
}
NAMES = {"min": "max", "any": "all", "sorted": "list", "startswith": "endswith", "lstrip": "rstrip"}
NAMES |= {new: old for old, new in NAMES.items() if old != "sorted"}


@dataclass(frozen=True)
class Mutation:
    """Replace the bytes from start to end of a file."""

    path: str
    source: bytes
    start: int
    end: int
    text: str
    function: int | None
    """The first line of the function it is in, decorators included; None where it is run by an import."""

    @cached_property
    def line(self) -> int:
        """The number of the line it begins in."""
        return self.source.count(b"\n", 0, self.start) + 1

    @cached_property
    def mutated(self) -> bytes:
        """The file with the change."""
        return self.source[: self.start] + self.text.encode() + self.source[self.end :]

    def differs(self) -> bool:
        """Return whether the change parses, and as something else."""
        try:
            return ast.dump(ast.parse(self.mutated)) != ast.dump(ast.parse(self.source))
        except SyntaxError:
            return False

    def lines(self) -> tuple[str, str]:
        """Return what the changed lines were and what they are, each on one line."""
        first = self.source.rfind(b"\n", 0, self.start) + 1
        last = self.source.find(b"\n", self.end)
        before, after = self.source[first:last], self.source[first : self.start] + self.text.encode()
        after += self.source[self.end : last]
        return " ".join(before.decode().split()), " ".join(after.decode().split())


class Finder(ast.NodeVisitor):
    """Collect the mutations of a module. Annotations, decorators, messages and docstrings are left alone."""

    def __init__(self, path: str, source: bytes) -> None:
        """Parse the module."""
        self.path, self.source, self.found = path, source, list[Mutation]()
        self.starts = [0, *itertools.accumulate(len(line) for line in source.splitlines(keepends=True))]
        self.functions: list[int] = []
        self.visit(ast.parse(source))

    def at(self, node: Any, *, end: bool = False) -> Any:
        """Return where a node begins or ends in the file."""
        return self.starts[(node.end_lineno if end else node.lineno) - 1] + (
            node.end_col_offset if end else node.col_offset
        )

    def replace(self, start: int, end: int, text: str) -> None:
        """Add a mutation."""
        function = self.functions[-1] if self.functions else None
        self.found.append(Mutation(self.path, self.source, start, end, text, function))

    def replace_node(self, node: Any, text: str) -> None:
        """Replace a whole node."""
        self.replace(self.at(node), self.at(node, end=True), text)

    def segment(self, node: Any) -> str:
        """Return the text of a node."""
        return self.source[self.at(node) : self.at(node, end=True)].decode()

    def operator(self, left: Any, operator: ast.AST, right: Any) -> None:
        """Replace the operator between two nodes."""
        old, others = OPERATORS.get(type(operator), ("", ()))
        start, end = self.at(left, end=True), self.at(right)
        between = self.source[start:end].decode()
        for new in others:
            self.replace(start, end, between.replace(old, new, 1))

    def visit_body(self, node: Any) -> None:
        """Visit a function: neither its docstring, decorators nor annotations, but its defaults."""
        for default in (*node.args.defaults, *(value for value in node.args.kw_defaults if value)):
            self.visit(default)
        self.functions.append(min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]))
        for statement in node.body:
            self.visit(statement)
        self.functions.pop()

    visit_FunctionDef = visit_AsyncFunctionDef = visit_body  # noqa: N815

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Visit the body of a class, not its decorators."""
        for statement in node.body:
            self.visit(statement)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Visit the value only."""
        if node.value:
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        """Leave out an assignment to an attribute or an item; without one to a name nothing would run."""
        if isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            return
        if isinstance(node.targets[0], ast.Attribute | ast.Subscript):
            self.replace_node(node, "pass")
        self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        """Leave out a call made for its effect; a string by itself is a docstring."""
        if not isinstance(node.value, ast.Constant):
            self.replace_node(node, "pass")
            self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """Leave it out, or do something else in place."""
        self.replace_node(node, "pass")
        self.operator(node.target, node.op, node.value)
        self.generic_visit(node)

    def left_out(self, node: Any) -> None:
        """Delete a statement, without mutating its parts: texts of error messages are not behaviour."""
        self.replace_node(node, "pass")

    visit_Raise = visit_Break = left_out  # noqa: N815

    def visit_Continue(self, node: ast.Continue) -> None:
        """Leave it out, or break."""
        self.replace_node(node, "pass")
        self.replace_node(node, "break")

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave formatted strings alone, but what is computed in them."""
        for value in node.values:
            if isinstance(value, ast.FormattedValue) and not isinstance(value.value, ast.Name):
                self.visit(value.value)

    def condition(self, node: Any) -> None:
        """Negate a condition."""
        if not (isinstance(node, ast.Name) and node.id == "TYPE_CHECKING"):
            self.replace_node(node, f"(not ({self.segment(node)}))")

    def visit_If(self, node: ast.If | ast.IfExp | ast.While) -> None:
        """Swap the branches."""
        self.condition(node.test)
        if isinstance(node, ast.If) and len(node.body) == 1 and isinstance(node.body[0], ast.Return):
            self.replace_node(node.body[0], "pass")
        self.generic_visit(node)

    visit_IfExp = visit_While = visit_If  # noqa: N815

    def visit_comprehension(self, node: ast.comprehension) -> None:
        """Negate what is filtered by."""
        for test in node.ifs:
            self.condition(test)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        """Use another comparison."""
        for left, operator, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
            self.operator(left, operator, right)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Use another operation; text has none."""
        if not any(
            isinstance(side, ast.JoinedStr) or (isinstance(side, ast.Constant) and isinstance(side.value, str | bytes))
            for side in (node.left, node.right)
        ):
            self.operator(node.left, node.op, node.right)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        """Use the other operation, and leave out each part."""
        for left, right in itertools.pairwise(node.values):
            self.operator(left, node.op, right)
            self.replace(self.at(left, end=True), self.at(right, end=True), "")
        self.replace(self.at(node.values[0]), self.at(node.values[1]), "")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """Leave it out."""
        self.replace(self.at(node), self.at(node.operand), "")
        self.generic_visit(node)

    def visit_Slice(self, node: ast.Slice) -> None:
        """Leave out each bound."""
        for bound in (node.lower, node.upper):
            if bound:
                self.replace_node(bound, "")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        """Leave out each named argument, for its default; call the opposite."""
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name in NAMES and not (name == "sorted" and node.keywords):
            end = self.at(function, end=True)
            self.replace(end - len(name), end, NAMES[name])
        if not name.endswith("Error"):
            for child in (function, *node.args):
                self.visit(child)
            for keyword in node.keywords:
                if keyword.arg not in ("help", "metavar"):
                    self.visit(keyword.value)
                    start, end = self.at(keyword), self.at(keyword, end=True)
                    rest = re.match(rb"\s*,\s*", self.source[end:])
                    self.replace(start, end + (rest.end() if rest else 0), "")

    def visit_Constant(self, node: ast.Constant) -> None:
        """Change a number, a truth value or a name in quotes."""
        value = node.value
        if isinstance(value, bool):
            self.replace_node(node, str(not value))
        elif isinstance(value, int | float):
            for other in (value + 1, value - 1):
                self.replace_node(node, str(other) if other >= 0 else f"({other})")
        elif isinstance(value, str) and re.fullmatch(r"\w[\w.-]*", value):
            self.replace_node(node, f"'XX{value}'")
