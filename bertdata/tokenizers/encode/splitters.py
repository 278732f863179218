"""Words of any sequence of pre-tokenizers: each one cuts the pieces that those before it leave."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.characters.newer import alike_to_digits
from bertdata.text_arrays import READ_AHEAD
from bertdata.tokenizers.encode.kernels import bitmaps as bits
from bertdata.tokenizers.encode.kernels import class_splitting as by_class
from bertdata.tokenizers.encode.kernels import splitting as kernel
from bertdata.tokenizers.encode.kernels.bitmaps import Bitmaps
from bertdata.tokenizers.encode.pattern_automaton import ISOLATED, JOINED, NOT, Atoms, PatternAutomaton
from bertdata.tokenizers.encode.patterns import (
    Program,
    UnreadablePatternError,
    literal,
    program_of,
    program_of_node,
    single_atom,
)
from bertdata.tokenizers.encode.scanners import gpt2_scanner

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""The pattern of GPT-2's released code (Radford et al. 2019), which RoBERTa, DeBERTa and ModernBERT have too."""
_AT_A_TIME = 1 << 8
_EACH, _TOGETHER = ("atom", 0), ("repeat", ("atom", 1), 1, None, False)
_RUN = ("repeat", ("atom", 0), 1, None, False)
_BOTH = (ISOLATED, JOINED)
_BY_CHARACTERS = {
    "BertPreTokenizer": (_EACH, True),
    "WhitespaceSplit": (_EACH, True),
    "CharDelimiterSplit": (_EACH, True),
    "Whitespace": (_RUN, True),
}
"""Pre-tokenizers that look at characters alone: how they cut what they do not leave together, and what they remove."""


class UnknownSplitError(ValueError):
    """A pre-tokenizer cuts in a way that is not known here; the message says which."""


class Splitter:
    """The cuts of one pre-tokenizer. removes: whether what lies between the matches of its pattern is removed."""

    def __init__(self, program: Program, *, removes: bool, pieces: Callable[[str], list[Any]] | None = None) -> None:
        self._automaton = PatternAutomaton(program, Atoms(program.atoms, pieces))
        self.removes = removes
        self._lock = Lock()

    def split(
        self, text: Any, begin: int, n: int, cuts: tuple[Any, Any], unsure: Any, new: tuple[Any, Any], *, joins: bool
    ) -> None:
        """Write the cuts, and which segments are gone, of `n` bytes from `begin` on that are cut already.

        joins: whether what is removed becomes a part of the word after it; no segment is gone then.
        """
        between = kernel.ISOLATES if not self.removes else kernel.JOINS if joins else kernel.REMOVES
        automaton, registers = self._automaton, np.zeros(3, np.int64)
        for bitmap in new:
            bitmap[: n // 64 + 2] = 0
        while True:
            status = kernel.split(
                text, begin, n, *cuts, unsure, *new,
                automaton.classes, automaton.table, automaton.loops, between, registers,
            )  # fmt: skip
            if status == kernel.DONE:
                return
            with self._lock:
                if status == kernel.NEW_CHARACTER:
                    self._learn(text, begin + int(registers[kernel.KIND]), begin + n)
                else:
                    automaton.transition(int(registers[kernel.STATE]), int(registers[kernel.KIND]))

    def classes_removed(self) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """Return the class of each character so far, and which classes are removed."""
        return self._automaton.classes, self._automaton.apart

    def is_removed(self, character: str) -> bool:
        """Tell whether a character is removed where it is between matches."""
        if not self.removes:
            return False
        automaton = self._automaton
        if not automaton.classes[ord(character)]:
            with self._lock:
                automaton.add([ord(character)])
        return bool(automaton.apart[automaton.classes[ord(character)]])

    def _learn(self, text: Any, at: int, end: int) -> None:
        """Give classes to the characters of ASCII, and to some others without one from a byte on."""
        automaton = self._automaton
        if not automaton.classes[ord("a")]:
            automaton.add(range(0x80))
        new = np.empty(_AT_A_TIME, np.int64)
        automaton.add(new[: bits.new_characters(text, at, end, automaton.classes, new)].tolist())


class ClassSplitter:
    """The cuts of a pre-tokenizer that looks at single characters, without the automaton that a pattern needs.

    pieces: what it makes of a text; apart: which characters of ASCII it does not leave together; each: whether these
    are cut off one by one. Raises UnknownSplitError where it does otherwise with ASCII.
    """

    def __init__(self, pieces: Callable[[str], list[Any]], apart: int, *, each: bool, removes: bool) -> None:
        self._pieces, self._apart, self._each, self.removes = pieces, apart, each, removes
        self._classes, self._lock = np.zeros(0x110000, np.uint8), Lock()
        self._removed = np.arange(4) == by_class.REMOVED
        for point in range(0x80):
            self._classes[point] = self._class_of(chr(point))
        text = np.frombuffer(bytes(range(0x80)) + bytes(READ_AHEAD), np.uint8)
        rows, bitmaps = np.zeros(4, np.uint64), np.zeros((3, 4), np.uint64)
        between = kernel.REMOVES if removes else kernel.ISOLATES
        new_cuts, new_gone = bitmaps[1], bitmaps[2]
        by_class.split_by_classes(
            text, 0, 0x80, rows, bitmaps[0], new_cuts, new_gone, self._classes, apart, each, between
        )
        kinds = self._classes[:0x80]
        begins = (kinds != np.append([0], kinds[:-1])) | ((kinds == by_class.APART) & each)
        begins_by_class = np.unpackbits(bitmaps[1, :2].view(np.uint8), bitorder="little").astype(np.bool_)
        if not np.array_equal(begins_by_class, begins):
            raise UnknownSplitError("it does not cut texts in ASCII as it is known to do")

    def split(
        self, text: Any, begin: int, n: int, cuts: tuple[Any, Any], unsure: Any, new: tuple[Any, Any], *, joins: bool
    ) -> None:
        """Write the cuts, as `Splitter.split` does; nothing is unsure."""
        between = kernel.ISOLATES if not self.removes else kernel.JOINS if joins else kernel.REMOVES
        for bitmap in new:
            bitmap[n // 64 + 1] = 0
        while True:
            at = by_class.split_by_classes(
                text, begin, n, cuts[0], cuts[1], new[0], new[1], self._classes, self._apart, self._each, between
            )
            if at < 0:
                return
            points = np.empty(_AT_A_TIME, np.int64)
            with self._lock:
                for point in points[: bits.new_characters(text, at, begin + n, self._classes, points)].tolist():
                    self._classes[point] = self._class_of(chr(point))

    def is_removed(self, character: str) -> bool:
        """Tell whether a character is removed."""
        return bool(self._removed[self._classes[ord(character)] or self._class_of(character)])

    def classes_removed(self) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """Return the class of each character so far, and which classes are removed."""
        return self._classes, self._removed

    def _class_of(self, character: str) -> int:
        n = len(self._pieces(f"a{character}a"))
        return by_class.JOINED if n == 1 else by_class.APART if n == 3 else by_class.REMOVED


class MarkSplitter:
    """The cuts before marks U+2581 of spaces.

    each: whether before each of them, as Metaspace cuts, or before runs of them; joins: characters after which a run is
    not cut off; apart: between which two bytes texts are cut as well, where one of them is punctuation, bool (65536,).
    """

    removes = False

    def __init__(self, *, each: bool, joins: str = "", apart: NDArray[np.bool_] | None = None) -> None:
        self._each, self._joins = each, np.zeros(256, np.bool_)
        self._joins[[*joins.encode("ascii")]] = True
        self._apart = np.zeros(0, np.bool_) if apart is None else apart

    def split(
        self, text: Any, begin: int, n: int, cuts: tuple[Any, Any], unsure: Any, new: tuple[Any, Any], *, joins: bool
    ) -> None:
        """Write the cuts, as `Splitter.split` does; nothing is unsure."""
        by_class.split_at_marks(text, begin, n, cuts[0], self._each, self._joins, self._apart, new[0])
        new[0][n // 64 + 1] = 0
        new[1][: n // 64 + 2] = cuts[1][: n // 64 + 2]

    def is_removed(self, character: str) -> bool:
        """Tell that no character is removed."""
        return False


class PatternSplitter:
    """The cuts of GPT-2's pattern by its own kernel, where nothing is gone yet."""

    removes = False

    def __init__(self, pieces: Callable[[str], list[Any]]) -> None:
        self._scanner = gpt2_scanner(pieces)

    def split(
        self, text: Any, begin: int, n: int, cuts: tuple[Any, Any], unsure: Any, new: tuple[Any, Any], *, joins: bool
    ) -> None:
        """Write the cuts, as `Splitter.split` does; nothing is unsure."""
        letters, numbers, spaces, nothing = (np.zeros(n // 64 + 2, np.uint64) for _ in range(4))
        self._scanner.mark(text, begin, n, Bitmaps(letters, numbers, spaces, cuts[0], nothing, new[0]))
        new[1][: n // 64 + 2] = 0

    def is_removed(self, character: str) -> bool:
        """Tell that no character is removed."""
        return False


AnySplitter = Splitter | ClassSplitter | MarkSplitter | PatternSplitter


class SplittingScanner:
    """Words of splitters, one after another; without any, each row is a word.

    What is removed is in the word that follows it, and in one of its own at the end of a row.
    """

    def __init__(self, splitters: Sequence[AnySplitter]) -> None:
        self._splitters, self.cuts = splitters, bool(splitters)
        self.removes = any(splitter.removes for splitter in splitters)

    def mark(self, text: Any, begin: int, n: int, bitmaps: Bitmaps) -> None:
        """Set `starts`, and `unsure` of what `tokenizers` must be asked."""
        size = n // 64 + 2
        bitmaps.unsure[:size] = 0
        cuts, gone = bitmaps.rows[:size].copy(), np.zeros(size, np.uint64)
        pair: tuple[NDArray[np.uint64], NDArray[np.uint64]] = cuts, gone
        joins = self.removes and not any(splitter.removes for splitter in self._splitters[:-1])
        for splitter in self._splitters:
            new = np.empty(size, np.uint64), np.empty(size, np.uint64)
            splitter.split(text, begin, n, pair, bitmaps.unsure, new, joins=joins)
            pair = new
        if self.removes and not joins:
            bitmaps.starts[size - 1] = 0
            kernel.join_gone(*pair, bitmaps.rows, n, bitmaps.starts)
        else:
            bitmaps.starts[:size] = pair[0]

    @property
    def removed(self) -> tuple[NDArray[np.uint8], NDArray[np.bool_]] | None:
        """The class of each character, and which classes are removed; None where several splitters remove some."""
        removing = [
            splitter
            for splitter in self._splitters
            if isinstance(splitter, Splitter | ClassSplitter) and splitter.removes
        ]
        return removing[0].classes_removed() if len(removing) == 1 else None

    def without_removed(self, word: str) -> str:
        """Return a word without what is removed before it."""
        if not self.removes:
            return word
        begin = 0
        while begin < len(word) and any(splitter.is_removed(word[begin]) for splitter in self._splitters):
            begin += 1
        return word[begin:]


def splitter_of(
    part: Mapping[str, Any], pieces: Callable[[str], list[Any]], *, by_classes: bool = True, nothing_gone: bool = True
) -> AnySplitter:
    """Return the splitter of a pre-tokenizer of a `tokenizer.json`; Metaspace's cuts texts that have its marks.

    pieces: what the pre-tokenizer makes of a text; releases of `tokenizers` have other tables of digits, but the same
    of white space and punctuation. by_classes: whether what is removed so far is white space, which stays together;
    nothing_gone: whether nothing is. Raises UnknownSplitError.
    """
    kind, behavior = part["type"], str(part.get("behavior", "Isolated"))
    if kind == "Digits":
        pieces = partial(_of_older, pieces)
    single = _class_splitter(part, pieces) if by_classes else None
    if single is not None:
        return single
    try:
        if kind == "Split":
            return _of_split(part, behavior)
        if kind == "ByteLevel":
            return PatternSplitter(pieces) if nothing_gone else Splitter(program_of(GPT2), removes=False)
        if kind == "Metaspace":
            return MarkSplitter(each=True)
        if kind in _BY_CHARACTERS:
            apart, removes = _BY_CHARACTERS[kind]
            return Splitter(program_of_node(("either", (apart, _TOGETHER)), _BOTH), removes=removes, pieces=pieces)
        if kind == "Digits" or (kind == "Punctuation" and behavior in ("Isolated", "Contiguous")):
            run = not part["individual_digits"] if kind == "Digits" else behavior == "Contiguous"
            nodes = ("either", (_RUN if run else _EACH, _TOGETHER))
            return Splitter(program_of_node(nodes, _BOTH), removes=False, pieces=pieces)
    except UnreadablePatternError as error:
        raise UnknownSplitError(f"the pattern of its {kind} is not known: {error}") from error
    raise UnknownSplitError(
        f"its pre-tokenizer {kind} is not known" + (f" with {behavior}" if "behavior" in part else "")
    )


def _of_older(pieces: Callable[[str], list[Any]], text: str) -> list[Any]:
    """Return the pieces of a text with older characters in place of newer ones."""
    return pieces(alike_to_digits(text))


def _class_splitter(part: Mapping[str, Any], pieces: Callable[[str], list[Any]]) -> ClassSplitter | None:
    """Return the splitter of a pre-tokenizer that looks at single characters; None for others."""
    kind, behavior = part["type"], part.get("behavior", "Isolated")
    try:
        if kind == "BertPreTokenizer":
            return ClassSplitter(pieces, by_class.PUNCTUATION, each=True, removes=True)
        if kind == "WhitespaceSplit":
            return ClassSplitter(pieces, by_class.NOTHING, each=True, removes=True)
        if kind == "Whitespace":
            return ClassSplitter(pieces, by_class.NO_WORD, each=False, removes=True)
        if kind == "Digits":
            return ClassSplitter(pieces, by_class.DIGITS, each=part["individual_digits"], removes=False)
        if kind == "Punctuation" and behavior in ("Isolated", "Contiguous"):
            return ClassSplitter(pieces, by_class.PUNCTUATION, each=behavior == "Isolated", removes=False)
    except UnknownSplitError:
        return None
    return None


def _of_split(part: Mapping[str, Any], behavior: str) -> Splitter:
    [(form, text)] = part["pattern"].items()
    pattern = literal(text) if form == "String" else text
    inverted = bool(part.get("invert"))
    if behavior == "Isolated" or (behavior == "Removed" and inverted):
        return Splitter(program_of(pattern), removes=behavior == "Removed")
    atom = single_atom(pattern)
    if atom is None or inverted:
        raise UnknownSplitError(f"its Split has a pattern of several characters with {behavior}, or is inverted")
    atoms = atom, NOT + atom
    inside, outside = ("atom", 0), ("atom", 1)
    some = ("repeat", outside, 1, None, False)
    repeated = pattern != atom
    if behavior == "Removed":
        return Splitter(program_of_node(some, atoms), removes=True)
    if behavior == "Contiguous":
        return Splitter(program_of_node(("either", (("repeat", inside, 1, None, False), some)), atoms), removes=False)
    if repeated:
        raise UnknownSplitError(f"its Split has a pattern of several characters with {behavior}")
    any_others = ("repeat", outside, 0, None, False)
    row = (any_others, inside) if behavior == "MergedWithPrevious" else (inside, any_others)
    return Splitter(program_of_node(("either", (("row", row), some)), atoms), removes=False)
