r"""The regular expressions by which pre-tokenizers cut texts, read into programs of a backtracking matcher.

What is read: characters, classes such as `[^\s\p{L}]`, `\s`, `\p{N}` and `.`, groups, `(?i:...)`, alternatives, greedy
and lazy repetition, and looking one character ahead, as `(?!\S)`. That is what the patterns of GPT-2, cl100k, o200k,
DeepSeek, CLIP and SMILES are made of. What else Oniguruma knows is refused, as are patterns that match nothing at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

MOST_COPIES, MOST_STEPS = 64, 4096
"""How often a part may be repeated by a number, and the steps of the longest program."""
_ESCAPED_CLASSES = "sSwWdDhH"
_CONTROLS = "rntfva"
_SPECIAL = "\\.[](){}|?*+^$"


class UnreadablePatternError(ValueError):
    """A pattern holds what is not read here; the message says what."""


class Step(NamedTuple):
    """A step of a program: CHARACTER of an atom, FORK (first where the first way goes), AHEAD, or MATCH.

    atom: the number of a class of characters; negated: whether AHEAD wants none of them; to: where it goes on, and the
    second way of a FORK.
    """

    kind: int
    atom: int = -1
    negated: bool = False
    to: tuple[int, ...] = ()


CHARACTER, FORK, AHEAD, MATCH = range(4)


@dataclass(frozen=True)
class Program:
    """A pattern as steps, of which the first is step 0. atoms: what a single character is matched against, by numbers.

    An atom is a regular expression of one character, or a name in `Atoms`.
    """

    steps: tuple[Step, ...]
    atoms: tuple[str, ...]


Node = tuple[Any, ...]
"""("atom", number), ("ahead", number, negated), ("row", nodes), ("either", nodes), ("repeat", node, least, most,
lazy)."""


def program_of(pattern: str) -> Program:
    r"""Return the program of a pattern. Raises UnreadablePatternError.

    >>> program_of(r"\p{L}+|\s").atoms
    ('\\p{L}', '\\s')
    """
    reader = _Reader(pattern)
    node = reader.read()
    return program_of_node(node, tuple(reader.atoms))


def program_of_node(node: Node, atoms: tuple[str, ...]) -> Program:
    """Return the program of a pattern that is given as a tree. Raises UnreadablePatternError."""
    if _may_be_empty(node):
        raise UnreadablePatternError("it may match nothing")
    steps: list[Step] = []
    _write(node, steps)
    return Program((*steps, Step(MATCH)), atoms)


def literal(text: str) -> str:
    r"""Return the pattern of a text.

    >>> literal("a.b")
    'a\\.b'
    """
    return "".join("\\" + character if character in _SPECIAL else character for character in text)


def single_atom(pattern: str) -> str | None:
    r"""Return the atom of a pattern that is one, or one or more of one; None for any other.

    >>> single_atom(r"\s+"), single_atom("ab")
    ('\\s', None)
    """
    reader = _Reader(pattern)
    node = reader.read()
    if node[0] == "repeat" and node[2:4] == (1, None):
        node = node[1]
    return tuple(reader.atoms)[node[1]] if node[0] == "atom" else None


def _may_be_empty(node: Node) -> bool:
    kind = node[0]
    if kind == "either":
        return any(map(_may_be_empty, node[1]))
    if kind == "row":
        return all(map(_may_be_empty, node[1]))
    return kind == "ahead" or (kind == "repeat" and (node[2] == 0 or _may_be_empty(node[1])))


def _write(node: Node, steps: list[Step]) -> None:
    """Write the steps of a node; the next that is written comes after it."""
    if len(steps) > MOST_STEPS:
        raise UnreadablePatternError(f"it has over {MOST_STEPS} steps")
    match node:
        case ("atom", atom):
            steps.append(Step(CHARACTER, atom, to=(len(steps) + 1,)))
        case ("ahead", atom, negated):
            steps.append(Step(AHEAD, atom, negated, (len(steps) + 1,)))
        case ("row", nodes):
            for part in nodes:
                _write(part, steps)
        case ("either", nodes):
            ends = []
            for part in nodes[:-1]:
                fork = _placeholder(steps)
                _write(part, steps)
                ends.append(_placeholder(steps))
                steps[fork] = Step(FORK, to=(fork + 1, len(steps)))
            _write(nodes[-1], steps)
            for end in ends:
                steps[end] = Step(FORK, to=(len(steps),))
        case ("repeat", part, least, most, lazy):
            for _ in range(least):
                _write(part, steps)
            forks = []
            if most is None:
                if _may_be_empty(part):
                    raise UnreadablePatternError("it repeats what may be nothing")
                forks.append(_placeholder(steps))
                _write(part, steps)
                steps.append(Step(FORK, to=(forks[0],)))
            for _ in range((most or least) - least):
                forks.append(_placeholder(steps))
                _write(part, steps)
            for fork in forks:
                ways = fork + 1, len(steps)
                steps[fork] = Step(FORK, to=ways[::-1] if lazy else ways)


def _placeholder(steps: list[Step]) -> int:
    steps.append(Step(FORK))
    return len(steps) - 1


class _Reader:
    """Reads a pattern into a tree; `atoms` are its classes of characters, each once."""

    def __init__(self, pattern: str) -> None:
        self._pattern, self._at, self.atoms = pattern, 0, dict[str, int]()
        self._folded = ""

    def read(self) -> Node:
        node = self._either(fold=False)
        if self._at < len(self._pattern):
            raise UnreadablePatternError("it has a bracket too many")
        return node

    def _either(self, *, fold: bool) -> Node:
        nodes = [self._row(fold=fold)]
        while self._next("|"):
            nodes.append(self._row(fold=fold))
        return nodes[0] if len(nodes) == 1 else ("either", tuple(nodes))

    def _row(self, *, fold: bool) -> Node:
        nodes: list[Node] = []
        self._folded = ""
        while self._at < len(self._pattern) and self._pattern[self._at] not in "|)":
            nodes.append(self._repeated(self._part(fold=fold)))
        return nodes[0] if len(nodes) == 1 else ("row", tuple(nodes))

    def _repeated(self, node: Node) -> Node:
        rest = self._pattern[self._at :]
        least, most = {"?": (0, 1), "*": (0, None), "+": (1, None)}.get(rest[:1], (-1, -1))
        size = 1
        if rest[:1] == "{":
            size = rest.find("}") + 1
            first, comma, last = rest[1 : size - 1].partition(",")
            if not first.isdecimal() or (last and not last.isdecimal()):
                raise UnreadablePatternError(f"{rest[:size]!r} is no repetition")
            least, most = int(first), int(last) if last else None if comma else int(first)
            if max(least, most or 0) > MOST_COPIES or (most is not None and most < least):
                raise UnreadablePatternError(f"{rest[:size]!r} is over {MOST_COPIES} times, or no repetition")
        if least is not None and least < 0:
            return node
        if node[0] == "ahead":
            raise UnreadablePatternError("it repeats what it looks for ahead")
        self._at += size
        lazy = self._next("?")
        if self._pattern[self._at : self._at + 1] in ("+", "*", "{", "?") and self._at < len(self._pattern):
            raise UnreadablePatternError("it has a possessive or doubled repetition")
        return ("repeat", node, least, most, lazy)

    def _part(self, *, fold: bool) -> Node:
        rest = self._pattern[self._at :]
        if rest.startswith("("):
            return self._group(rest, fold=fold)
        if rest[0] in "^$?*+{}":
            raise UnreadablePatternError(f"it has {rest[0]!r}")
        return self._atom(fold=fold)

    def _group(self, rest: str, *, fold: bool) -> Node:
        kinds = {"(?:": fold, "(?i:": True, "(?!": fold, "(?=": fold}
        kind = next((kind_name for kind_name in kinds if rest.startswith(kind_name)), "(")
        if kind == "(" and rest.startswith("(?"):
            raise UnreadablePatternError(f"it has {rest[:3]!r}")
        self._at += len(kind)
        if kind in ("(?!", "(?="):
            node = ("ahead", self._atom(fold=fold)[1], kind == "(?!")
        else:
            node = self._either(fold=kinds.get(kind, fold))
        if not self._next(")"):
            raise UnreadablePatternError("a group has no end, or looks for more than one character ahead")
        self._folded = ""
        return node

    def _atom(self, *, fold: bool) -> Node:
        """Return the next character or class; `fold` says whether case makes no difference."""
        pattern, begin = self._pattern, self._at
        first = pattern[begin : begin + 1]
        if first == "[":
            self._at = _end_of_class(pattern, begin)
        elif first == "\\":
            self._at = _end_of_escape(pattern, begin)
        else:
            self._at += 1
        text = pattern[begin : self._at]
        if not text:
            raise UnreadablePatternError("it ends within a group")
        if fold:
            self._check_folding(text)
            text = f"(?i:{text})"
        return ("atom", self.atoms.setdefault(text, len(self.atoms)))

    def _check_folding(self, text: str) -> None:
        """Raise UnreadablePatternError where several characters may match a single one, as ß matches ss."""
        self._folded += text if len(text) == 1 else "\0"
        if text.startswith("[") or any(folding in self._folded.casefold() for folding in _foldings()):
            raise UnreadablePatternError("case makes no difference where characters have several cases")

    def _next(self, character: str) -> bool:
        if self._pattern[self._at : self._at + 1] != character:
            return False
        self._at += 1
        return True


@cache
def _foldings() -> tuple[str, ...]:
    """Return what single characters become without case where that is several characters."""
    return tuple({folded for point in range(0x20000) if len(folded := chr(point).casefold()) > 1})


def _end_of_class(pattern: str, at: int) -> int:
    depth, begin = 0, at
    while at < len(pattern):
        character = pattern[at]
        if character == "\\":
            at += 1
        elif character == "[":
            depth += 1
            begin = at + 1 + (pattern[at + 1 : at + 2] == "^")
            at = begin - 1 + (pattern[begin : begin + 1] == "]")
        elif character == "]":
            depth -= 1
            if not depth:
                return at + 1
        at += 1
    raise UnreadablePatternError("a class has no end")


def _end_of_escape(pattern: str, at: int) -> int:
    character = pattern[at + 1 : at + 2]
    if character in ("p", "P", "x") and pattern[at + 2 : at + 3] == "{":
        return pattern.index("}", at) + 1
    if character and (character in _ESCAPED_CLASSES + _CONTROLS or not character.isalnum()):
        return at + 2
    if character == "u":
        return at + 6
    raise UnreadablePatternError(f"it has \\{character}")
