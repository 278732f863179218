"""FineWeb's own rules: lines that end as prose does, short lines, lines that occur again, and line breaks for a word.

Source: G. Penedo et al., "The FineWeb Datasets: Decanting the Web for the Finest Text Data at Scale" (2024), section
3.6, "Developing additional heuristic filters". What is counted, and the order of the rules, are those of datatrove
0.10's `FineWebQualityFilter`; the last rule is in that alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bertdata.curation.quality.gopher import without_blank_lines
from bertdata.curation.quality.repetition import repeated
from bertdata.curation.quality.thresholds import Judged, Rule, Thresholds, kernel_filter
from bertdata.curation.words.reference import words as reference_words
from bertdata.curation.words.split import split
from bertdata.curation.words.tables import character_bits, members

RULES = (
    Rule("min_line_punctuation", 0.12, "fineweb_too_few_lines_end", "share of lines that end with a full stop or like"),
    Rule("max_short_lines", 0.67, "fineweb_too_many_short_lines", "share of lines of at most `short_line` characters"),
    Rule(
        "max_duplicate_line_characters",
        0.01,
        "fineweb_duplicate_lines",
        "share of characters in lines that occurred before",
    ),
    Rule("max_newlines", 0.3, "fineweb_list", "line breaks for a word, at most"),
    Rule("short_line", 30, "", "characters of a short line, at most"),
    Rule("blank_lines", False, "", "whether the breaks of blank lines count"),
)


def judge(texts: pa.StringArray, thresholds: Thresholds) -> Judged:
    """Return which rule drops each text, and what it measured, by FineWeb's rules."""
    from bertdata.curation.quality.fineweb_kernel import judge_lines

    words = split(without_blank_lines(texts, thresholds))
    codes, figures = np.empty(len(texts), np.int8), np.empty(len(texts), np.float64)
    lines = 1 + (pc.max(pc.count_substring(texts, "\n")).as_py() or 0)
    table = np.zeros((1 << max(16, 2 * lines).bit_length(), 2), np.int32)
    judge_lines(words.data, words.offsets, words.borders, character_bits(), thresholds.array(), table, codes, figures)
    return codes, figures


def reference(text: str, thresholds: Thresholds) -> str | None:
    """Return why one text is dropped, None where it is kept: the readable form of the kernel."""
    for (name, figure), rule in zip(measure(text, thresholds), RULES, strict=False):
        limit = thresholds[name]
        if figure < limit if name.startswith("min") else figure > limit:
            return rule.reason
    return None


def measure(text: str, thresholds: Thresholds) -> Iterator[tuple[str, float]]:
    """Yield the figure of each rule that has one."""
    text, short = without_blank_lines(pa.array([text]), thresholds)[0].as_py(), thresholds["short_line"]
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        return
    ends = tuple(members("terminal"))
    yield "min_line_punctuation", sum(line.endswith(ends) for line in lines) / len(lines)
    yield "max_short_lines", sum(len(line) <= short for line in lines) / len(lines)
    yield "max_duplicate_line_characters", sum(map(len, repeated(lines))) / len(text.replace("\n", ""))
    yield "max_newlines", text.count("\n") / len(reference_words(text))


FINEWEB = kernel_filter("drops documents by FineWeb's rules", RULES, judge)
