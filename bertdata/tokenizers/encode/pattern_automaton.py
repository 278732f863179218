"""A pattern as an automaton whose states are made as they are met, and which of its atoms each character matches.

A state is what a backtracking matcher would try from here on, in its order (Pike 1987; Cox 2009, "Regular expression
matching: the virtual machine approach"): so the match that is found is the one that backtracking finds first. A match
is known when the next character is, for the pattern may look at that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bertdata.characters.newer import alike
from bertdata.tokenizers.encode.kernels.splitting import DEAD, INSIDE, MATCHED, START, STATE_SHIFT
from bertdata.tokenizers.encode.patterns import AHEAD, CHARACTER, FORK, MATCH, Program

ISOLATED, JOINED = "isolated", "joined"
"""Names of atoms: what a pre-tokenizer cuts off by itself, and what it leaves together."""
NOT = "not "
"""Before an atom: what does not match it."""
MOST_STATES, MOST_CLASSES = 1 << 11, 1 << 8
UNKNOWN = -1
_SMALL_LETTERS = slice(ord("a"), ord("z") + 1)


class Atoms:
    """Tells which atoms of a program a character matches.

    pieces: what a pre-tokenizer makes of a text, for ISOLATED and JOINED.
    """

    def __init__(self, atoms: Sequence[str], pieces: Callable[[str], list[Any]] | None = None) -> None:
        from tokenizers import Regex, pre_tokenizers

        self._pieces = pieces
        named = {atom.removeprefix(NOT) for atom in atoms} - {ISOLATED, JOINED}
        self._removes = {
            class_name: pre_tokenizers.Split(Regex(class_name), "removed").pre_tokenize_str
            for class_name in sorted(named)
        }
        self._atoms = tuple(atoms)

    def matched_by(self, characters: str) -> list[tuple[bool, ...]]:
        """Return of each character which atoms match it."""
        older = "".join(map(alike, characters))
        holds: dict[str, Any] = {}
        for class_name, removes in self._removes.items():
            matches = holds[class_name] = np.ones(len(characters), np.bool_)
            for _, (begin, end) in removes(older):
                matches[begin:end] = False
        if self._pieces is not None:
            n_pieces = np.array([len(self._pieces(f"a{character}a")) for character in characters])
            holds |= {ISOLATED: n_pieces == 3, JOINED: n_pieces == 1}
        columns = [(holds[atom.removeprefix(NOT)] != atom.startswith(NOT)).tolist() for atom in self._atoms]
        return list(zip(*columns, strict=True)) if columns else [()] * len(characters)


class PatternAutomaton:
    """The states and classes of a pattern so far.

    table: steps from each state with each class, int16 (MOST_STATES, MOST_CLASSES), UNKNOWN where none has been asked
    for. loops: of each state the step that all small letters of ASCII have from it, where it leads to the same state,
    else UNKNOWN, int16 (MOST_STATES,). classes: the class of each code point, uint8; characters with the same atoms
    have the same. apart: of each class whether no match begins with it.
    """

    def __init__(self, program: Program, atoms: Atoms) -> None:
        self._program, self._atoms = program, atoms
        self._classes_of: dict[tuple[bool, ...], int] = {}
        self._atoms_of: list[tuple[bool, ...] | None] = [None, None]
        self._states: list[tuple[int, ...]] = [(), self._closure([0])]
        self._numbers = {state: number for number, state in enumerate(self._states)}
        self.table = np.full((MOST_STATES, MOST_CLASSES), UNKNOWN, np.int16)
        self.loops = np.full(MOST_STATES, UNKNOWN, np.int16)
        self.classes, self.apart = np.zeros(0x110000, np.uint8), np.zeros(MOST_CLASSES, np.bool_)

    def add(self, points: Sequence[int]) -> None:
        """Give classes to code points."""
        for point, matched in zip(points, self._atoms.matched_by("".join(map(chr, points))), strict=True):
            if matched not in self._classes_of:
                self._classes_of[matched] = len(self._atoms_of)
                self._atoms_of.append(matched)
                if len(self._atoms_of) > MOST_CLASSES:
                    raise OverflowError("the pattern has too many classes of characters")
                self.apart[len(self._atoms_of) - 1] = not self.begins(len(self._atoms_of) - 1)
            self.classes[point] = self._classes_of[matched]

    def begins(self, kind: int) -> bool:
        """Tell whether a match may begin with a character of a class."""
        return self.transition(START, kind) >> STATE_SHIFT != DEAD

    def transition(self, state: int, kind: int) -> int:
        """Return a transition, and note it in the table."""
        if self.table[state, kind] == UNKNOWN:
            following: list[int] = []
            matched = self._run(list(self._states[state]), kind, following, set())
            after = self._closure(following)
            if after not in self._numbers:
                self._numbers[after] = len(self._states)
                self._states.append(after)
                if len(self._states) > MOST_STATES:
                    raise OverflowError("the pattern has too many states")
            number = self._numbers[after]
            inside = state != START and number != DEAD and not self.begins(kind)
            self.table[state, kind] = number << STATE_SHIFT | INSIDE * inside | MATCHED * matched
            if number == state != DEAD:
                steps = {*self.table[state, self.classes[_SMALL_LETTERS]].tolist()}
                self.loops[state] = steps.pop() if len(steps) == 1 else UNKNOWN
        return int(self.table[state, kind])

    def _run(self, waiting: list[int], kind: int, following: list[int], seen: set[int]) -> bool:
        """Go on from the steps of a state with the next character; returns whether one matches before it."""
        matches = self._atoms_of[kind]
        for at in waiting:
            if at in seen:
                continue
            seen.add(at)
            step = self._program.steps[at]
            if step.kind == MATCH:
                return True
            has = matches is not None and matches[step.atom]
            if step.kind == CHARACTER and has:
                following.append(step.to[0])
            elif (
                step.kind == AHEAD
                and has != step.negated
                and self._run(list(self._closure(step.to)), kind, following, seen)
            ):
                return True
        return False

    def _closure(self, steps: Sequence[int]) -> tuple[int, ...]:
        """Return the steps that wait for a character, or match, from some on, in the order in which they are tried."""
        states: dict[int, None] = {}
        seen: set[int] = set()
        waiting = list(reversed(steps))
        while waiting:
            at = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            step = self._program.steps[at]
            if step.kind == FORK:
                waiting += reversed(step.to)
            else:
                states[at] = None
        return tuple(states)
