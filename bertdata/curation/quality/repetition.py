r"""Gopher's rules of repetition: lines, paragraphs and runs of words that occur again in a document.

Source: J. Rae et al., "Scaling Language Models: Methods, Analysis & Insights from Training Gopher" (2021), appendix
A.1.1, "Repetition removal", table A1. What is counted, and the order of the rules, are those of datatrove 0.10's
`GopherRepetitionFilter`: a paragraph ends at two line breaks or more, a line at one or more; of the runs of n words
that occur again, those side by side do not overlap; shares of characters are of all characters of the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bertdata.curation.quality.thresholds import Judged, Rule, Thresholds, kernel_filter
from bertdata.curation.words.reference import words as reference_words
from bertdata.curation.words.split import split

_TOP = ((2, 0.2), (3, 0.18), (4, 0.16))
_DUPLICATE = ((5, 0.15), (6, 0.14), (7, 0.13), (8, 0.12), (9, 0.11), (10, 0.1))
RULES = (
    Rule("max_duplicate_paragraphs", 0.3, "gopher_duplicate_paragraphs", "share of paragraphs that occurred before"),
    Rule(
        "max_duplicate_paragraph_characters",
        0.2,
        "gopher_duplicate_paragraph_characters",
        "share of characters in such paragraphs",
    ),
    Rule("max_duplicate_lines", 0.3, "gopher_duplicate_lines", "share of lines that occurred before"),
    Rule("max_duplicate_line_characters", 0.2, "gopher_duplicate_line_characters", "share of characters in such lines"),
    *(
        Rule(f"max_top_{n}_gram", share, f"gopher_top_{n}_gram", f"share of characters in the most frequent {n} words")
        for n, share in _TOP
    ),
    *(
        Rule(
            f"max_duplicate_{n}_grams",
            share,
            f"gopher_duplicate_{n}_grams",
            f"share of characters in runs of {n} words that occurred before",
        )
        for n, share in _DUPLICATE
    ),
)


def judge(texts: pa.StringArray, thresholds: Thresholds) -> Judged:
    """Return which rule drops each text, and what it measured, by Gopher's rules of repetition."""
    from bertdata.curation.quality.repetition_kernel import judge_repetition

    words = split(texts)
    most = int(np.diff(words.borders).max(initial=0))
    longest = int(np.diff(words.offsets).max(initial=0))
    lines = 1 + (pc.max(pc.count_substring(texts, "\n")).as_py() or 0)
    places = 1 << max(16, 2 * max(most, lines)).bit_length()
    table = np.zeros((places, 2), np.int32)
    codes, figures = np.empty(len(texts), np.int8), np.empty(len(texts), np.float64)
    judge_repetition(
        *(words.data, words.offsets, words.begins, words.ends, words.borders, thresholds.array(), table),
        *(np.empty(longest, np.uint8), np.empty(longest + 1, np.uint64), np.empty(most + 1, np.uint64)),
        *(np.empty((7, most + 2), np.int64), codes, figures),
    )
    return codes, figures


def reference(text: str, thresholds: Thresholds) -> str | None:
    """Return why one text is dropped, None where it is kept: the readable form of the kernel."""
    for rule, (_, figure) in zip(RULES, measure(text, thresholds), strict=False):
        if figure > thresholds[rule.name]:
            return rule.reason
    return None


def measure(text: str, thresholds: Thresholds) -> Iterator[tuple[str, float]]:
    """Yield the figure of each rule by its name; none depends on the thresholds."""
    for rule, figure in zip(RULES, _measured(text), strict=False):
        yield rule.name, figure


def _measured(text: str) -> Iterator[float]:
    """Yield the figure of each rule."""
    size = max(1, len(text))
    for pieces in (re.split(r"\n\n+", text.strip()), re.split(r"\n+", text)):
        again = repeated(pieces)
        yield len(again) / len(pieces)
        yield sum(map(len, again)) / size
    words = reference_words(text)
    for n, _ in _TOP:
        runs = Counter(" ".join(words[place : place + n]) for place in range(len(words) - n + 1))
        [(most, times)] = runs.most_common(1) or [("", 0)]
        yield len(most) * times / size
    for n, _ in _DUPLICATE:
        yield _repeated(words, n) / size


def repeated(pieces: Sequence[str]) -> list[str]:
    """Return the pieces that occurred before, each time they do.

    >>> repeated(["a", "b", "a", "a"])
    ['a', 'a']
    """
    seen: set[str] = set()
    return [piece for piece in pieces if piece in seen or seen.add(piece)]  # type: ignore[func-returns-value]


def _repeated(words: Sequence[str], n: int) -> int:
    """Return the characters of the runs of n words that occurred before and do not overlap each other."""
    seen: set[str] = set()
    repeated = place = 0
    while place <= len(words) - n:
        run = "".join(words[place : place + n])
        repeated += len(run) if run in seen else 0
        place += n if run in seen else 1
        seen.add(run)
    return repeated


REPETITION = kernel_filter("drops documents by Gopher's rules of repetition", RULES, judge)
