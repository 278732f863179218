"""Gopher's rules of quality: how many words, how long, and how many signs, bullets, ellipses and stop words.

Source: J. Rae et al., "Scaling Language Models: Methods, Analysis & Insights from Training Gopher" (2021), appendix
A.1.1, "Quality filtering". What counts as a word and as a symbol, and the order of the rules, are those of datatrove
0.10's `GopherQualityFilter`: words are spaCy's tokens; those of symbols alone have no length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isnan

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bertdata.curation.quality.thresholds import Judged, Rule, Thresholds, kernel_filter
from bertdata.curation.words.reference import words as reference_words
from bertdata.curation.words.split import split
from bertdata.curation.words.tables import character_bits, members

STOP_WORDS = ("the", "be", "to", "of", "and", "that", "have", "with")
RULES = (
    Rule("min_words", 50, "gopher_too_few_words", "words that are not of symbols alone, at least"),
    Rule("max_words", 100_000, "gopher_too_many_words", "the same, at most"),
    Rule("min_mean_word_length", 3, "gopher_words_too_short", "characters of such a word in the mean, at least"),
    Rule("max_mean_word_length", 10, "gopher_words_too_long", "the same, at most"),
    Rule("max_hashes", 0.1, "gopher_too_many_hashes", "hash signs for a word, at most"),
    Rule("max_ellipses", 0.1, "gopher_too_many_ellipses", "`...` and `…` for a word, at most"),
    Rule("max_bullet_lines", 0.9, "gopher_too_many_bullet_lines", "share of lines that begin with `•` or `-`, at most"),
    Rule(
        "max_ellipsis_lines", 0.3, "gopher_too_many_ellipsis_lines", "share of lines that end in an ellipsis, at most"
    ),
    Rule("min_alphabetic_words", 0.8, "gopher_too_few_alphabetic_words", "share of words with a letter, at least"),
    Rule("min_stop_words", 2, "gopher_too_few_stop_words", "different words of " + " ".join(STOP_WORDS) + ", at least"),
    Rule("blank_lines", False, "", "whether blank lines count as lines"),
)
BLANK_LINES = "blank_lines"


def without_blank_lines(texts: pa.StringArray, thresholds: Thresholds) -> pa.StringArray:
    """Return texts with runs of line breaks as one, unless blank lines count.

    Documents have a blank line between paragraphs, which those that the rules were made for had not.
    """
    if not isnan(thresholds[BLANK_LINES]):
        return texts
    return pc.replace_substring_regex(texts, "\n\n+", "\n")


def judge(texts: pa.StringArray, thresholds: Thresholds) -> Judged:
    """Return which rule drops each text, and what it measured, by Gopher's rules of quality."""
    from bertdata.curation.quality.gopher_kernel import judge_quality

    words = split(texts)
    stop = np.array([int.from_bytes(word.encode(), "little") for word in STOP_WORDS], np.uint64)
    codes, figures = np.empty(len(texts), np.int8), np.empty(len(texts), np.float64)
    judge_quality(
        *(words.data, words.offsets, words.begins, words.ends, words.borders, character_bits()),
        *(stop, thresholds.array(), not isnan(thresholds[BLANK_LINES]), codes, figures),
    )
    return codes, figures


def reference(text: str, thresholds: Thresholds) -> str | None:
    """Return why one text is dropped, None where it is kept: the readable form of the kernel.

    >>> from bertdata.curation.quality.thresholds import parse_thresholds
    >>> reference("Too short.", parse_thresholds("", RULES))
    'gopher_too_few_words'
    """
    limits = dict(zip((rule.name for rule in RULES), thresholds.values, strict=True))
    for name, figure in measure(text, thresholds):
        if figure < limits[name] if name.startswith("min") else figure > limits[name]:
            return next(rule.reason for rule in RULES if rule.name == name)
    return None


def measure(text: str, thresholds: Thresholds) -> Iterator[tuple[str, float]]:
    """Yield the figure of each rule that has one."""
    if isnan(thresholds[BLANK_LINES]):
        text = re.sub(r"\n\n+", "\n", text)
    words, symbols = reference_words(text), members("symbol")
    counted = [word for word in words if not symbols.issuperset(word)]
    yield "min_words", len(counted)
    yield "max_words", len(counted)
    if counted:
        mean = sum(map(len, counted)) / len(counted)
        yield "min_mean_word_length", mean
        yield "max_mean_word_length", mean
    if words:
        yield "max_hashes", text.count("#") / len(words)
        yield "max_ellipses", (text.count("...") + text.count("…")) / len(words)
    if lines := text.splitlines():
        yield "max_bullet_lines", sum(line.lstrip().startswith(("•", "-")) for line in lines) / len(lines)
        yield "max_ellipsis_lines", sum(line.rstrip().endswith(("...", "…")) for line in lines) / len(lines)
    if words:
        yield "min_alphabetic_words", sum(any(map(str.isalpha, word)) for word in words) / len(words)
    yield "min_stop_words", len(set(words) & set(STOP_WORDS))


QUALITY = kernel_filter("drops documents by Gopher's rules of quality", RULES, judge)
