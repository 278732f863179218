"""C4's rules: which lines are left out, and which documents are dropped by a line or for want of sentences.

Source: C. Raffel et al., "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer" (2020),
section 2.2. The rules that the paper does not name (long words, citations, policies) are those of its code. The order
of the rules is that of datatrove 0.10's `C4QualityFilter`, which has no list of bad words either: a line is left out by
the first rule that it breaks, and `lorem_ipsum` and `curly_brackets` see the lines that came as far as them. Sentences
are those of spaCy's sentencizer.

A line ends at any line break; those that are left are paragraphs of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from math import isnan

import numpy as np
import pyarrow as pa

from bertdata.curation.filters import Judgement
from bertdata.curation.quality.thresholds import Rule, Thresholds, rule_filter
from bertdata.curation.words.split import sentence_counts

LINES = "lines left out, "
"""What the counts of lines that a rule leaves out begin with."""
RULES = (
    Rule("max_word_length", 1000, "c4_long_word", "characters of a word, at most; else the line is left out"),
    Rule("citations", True, "c4_citation", "`[12]`, `[edit]` and `[citation needed]` are taken out of lines"),
    Rule(
        "terminal_punctuation", True, "c4_line_does_not_end", "lines that do not end in . ? ! or a quote are left out"
    ),
    Rule("min_words_per_line", 3, "c4_short_line", "words of a line, at least; else it is left out"),
    Rule("lorem_ipsum", True, "c4_lorem_ipsum", "documents with `lorem ipsum` are dropped"),
    Rule("javascript", True, "c4_javascript", "lines with `javascript` are left out"),
    Rule("curly_brackets", True, "c4_curly_bracket", "documents with `{` are dropped"),
    Rule("policy", True, "c4_policy", "lines with words of terms of use or on cookies are left out"),
    Rule("min_sentences", 5, "c4_too_few_sentences", "sentences in the lines that are left, at least"),
)
NOTHING_LEFT = "c4_no_line_left"
_REASONS = {rule.name: rule.reason for rule in RULES}
_CITATION = re.compile(r"\[(?:\d*|edit|citation needed)\]")
_ENDS = (".", "?", "!", '"', "'")
_POLICIES = ("terms of use", "privacy policy", "cookie policy", "uses cookies", "use of cookies", "use cookies")


def judge(texts: pa.StringArray, thresholds: Thresholds) -> Judgement:
    """Return what C4's rules leave of texts, why they drop others, and how many lines each rule leaves out."""
    on = {rule.name: limit for rule, limit in zip(RULES, thresholds.values, strict=True) if not isnan(limit)}
    counts: Counter[str] = Counter()
    lines_and_reasons = [_lines_left(text, on, counts) for text in texts.to_pylist()]
    reasons = [reason for _, reason in lines_and_reasons]
    lines = [text_lines for text_lines, _ in lines_and_reasons]
    if "min_sentences" in on:
        sentences = sentence_counts(pa.array([line for text_lines in lines for line in text_lines], pa.string()))
        ends = np.cumsum([len(text_lines) for text_lines in lines])
        totals = np.diff(np.concatenate([[0], np.cumsum(sentences)])[np.concatenate([[0], ends]).astype(np.int64)])
        few = (totals < on["min_sentences"]).tolist()
        reasons = [
            reason or (_REASONS["min_sentences"] if too else None) for reason, too in zip(reasons, few, strict=True)
        ]
    remaining = ["\n".join(text_lines).strip() for text_lines in lines]
    reasons = [reason or (None if text else NOTHING_LEFT) for reason, text in zip(reasons, remaining, strict=True)]
    return Judgement(pa.array(reasons, pa.string()), pa.array(remaining, pa.string()), counts)


def _lines_left(text: str, on: Mapping[str, float], counts: Counter[str]) -> tuple[list[str], str | None]:
    """Return the lines that are left of a text, and why it is dropped; counts those left out where it is not."""
    kept_lines: list[str] = []
    out = dict.fromkeys(_REASONS, 0)
    for line, rule in _judged_lines(text, on):
        if rule in ("lorem_ipsum", "curly_brackets"):
            return [], _REASONS[rule]
        if rule:
            out[rule] += 1
        else:
            kept_lines.append(line)
    counts.update({LINES + _REASONS[rule]: number for rule, number in out.items() if number})
    return kept_lines, None


def _judged_lines(text: str, on: Mapping[str, float]) -> Iterator[tuple[str, str]]:
    """Yield each line that is not blank and the rule that it breaks first, "" where it breaks none.

    What is costly, the words of a line and its lower case, is looked at only where the end of the line left it in.
    """
    longest = on.get("max_word_length", float("inf"))
    fewest = on.get("min_words_per_line", 0)
    citations, must_end = "citations" in on, "terminal_punctuation" in on
    for whole in text.splitlines():
        stripped = line = whole.strip()
        if not line and fewest > 0:
            continue
        if len(line) > longest and max(map(len, line.split())) > longest:
            yield line, "max_word_length"
            continue
        if citations and "[" in line:
            line = _CITATION.sub("", line)
        if must_end and (not line.endswith(_ENDS) or line.endswith("...")):
            yield line, "terminal_punctuation"
        elif len(stripped.split()) < fewest:
            yield line, "min_words_per_line"
        else:
            yield line, _rule_of_content(line, on)


def _rule_of_content(line: str, on: Mapping[str, float]) -> str:
    """Return the rule on what a line says that it breaks first, "" where it breaks none."""
    lower = line.lower()
    if "lorem_ipsum" in on and "lorem ipsum" in lower:
        return "lorem_ipsum"
    if "javascript" in on and "javascript" in lower:
        return "javascript"
    if "curly_brackets" in on and "{" in line:
        return "curly_brackets"
    if "policy" in on and ("cookie" in lower or "policy" in lower or "terms" in lower) and _has_policy(lower):
        return "policy"
    return ""


def _has_policy(lower: str) -> bool:
    return any(policy in lower for policy in _POLICIES)


def figures(text: str, thresholds: Thresholds) -> Iterator[tuple[str, float]]:
    """Yield how many sentences are in the lines that are left, which alone is measured of a document."""
    on = {rule.name: limit for rule, limit in zip(RULES, thresholds.values, strict=True) if not isnan(limit)}
    lines, _ = _lines_left(text, on, Counter())
    yield "min_sentences", int(sentence_counts(pa.array(lines, pa.string())).sum())


C4 = rule_filter("leaves lines out and drops documents by C4's rules", RULES, judge, figures)
