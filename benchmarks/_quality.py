"""The quality of extractors on articles as rendered by their wiki: how much of the prose is kept, and how much else.

The gold of an article is the paragraphs of its rendered page (`gold_prose`), and all that a reader sees there
(`gold_all`). Text is compared by its words, in lower case, quotation marks and dashes made alike; so is prose that
keeps marks of Markdown. The gold is made by a machine: one or two points are noise.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

JUNK = {
    "braces": r"\{\{|\}\}",
    "brackets": r"\[\[|\]\]",
    "tags": r"</?[a-zA-Z][^<>]{0,80}>",
    "quote marks": r"''",
    "empty parentheses": r"\(\s*[;,–-]?\s*\)",
    "a comma behind a parenthesis": r"\(\s*[;,]",
    "a space before a sign": r" [,.;](?:\s|$)",
    "heading marks": r"==",
    "bars": r"\|",
    "entities": r"&(?:[a-z]+|#\d+);",
    "addresses": r"https?://",
    "markers": r"formula_\d|codice_\d|\[IPA\]",
}
_ALIKE = str.maketrans("’‘“”–—−⁄", "''\"\"---/")
_INLINE_TAG = re.compile(r"</?(?:sub|sup|small|big|i|b|em|strong|u|s|span|q|abbr)[^>]*>")
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+\-.!<>~$|\"'])")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'(])")
_GRAM, _SHORTEST = 4, 4


def figures(rows: Sequence[Mapping[str, Any]], texts: Mapping[str, str]) -> dict[str, float]:
    """Return the figures of texts, by title, for rows of gold: shares, and what junk there is per million characters.

    >>> row = {"title": "A", "gold_prose": ["It rained for 3 days. All of it ran off."], "gold_all": ["A map."]}
    >>> figures([row], {"A": "It rained for 3 days."}) # doctest: +NORMALIZE_WHITESPACE
    {'sentences_whole': 0.5, 'sentences_whole_with_digit': 1.0, 'recall_4gram': 0.2857, 'precision_4gram': 0.0,
     'junk_per_million_chars': 0.0}
    """
    whole: Counter[bool] = Counter()
    with_digit: Counter[bool] = Counter()
    recalled, wanted, right, given = 0, 0, 0, 0
    for row in rows:
        text = words(texts.get(row["title"]) or "")
        running = f" {' '.join(text)} "
        for sentence in chain.from_iterable(map(sentences, paragraphs(row["gold_prose"]))):
            is_kept = f" {' '.join(words(sentence))} " in running
            whole[is_kept] += 1
            with_digit[is_kept] += any(map(str.isdecimal, sentence))
        ours, prose, visible = grams(text), grams_of(row["gold_prose"]), grams_of(row["gold_all"])
        recalled, wanted = recalled + (prose & ours).total(), wanted + prose.total()
        right, given = right + (ours & visible).total(), given + ours.total()
    everything = "\n".join(texts.get(row["title"]) or "" for row in rows)
    junk = sum(len(re.findall(pattern, everything)) for pattern in JUNK.values())
    return {
        "sentences_whole": share(whole[True], whole.total()),
        "sentences_whole_with_digit": share(with_digit[True], with_digit.total()),
        "recall_4gram": share(recalled, wanted),
        "precision_4gram": share(right, given),
        "junk_per_million_chars": round(1e6 * junk / max(1, len(everything)), 1),
    }


def shares_by_kind(rows: Sequence[Mapping[str, Any]], texts: Mapping[str, str]) -> dict[str, float]:
    """Return, for each kind of small cases, the share of those whose text is the ideal one but for white space.

    >>> rows = [{"id": "a", "kind": "plain", "ideal": "It rained."}, {"id": "b", "kind": "plain", "ideal": "It is."}]
    >>> shares_by_kind(rows, {"a": "It\\nrained. ", "b": "It == is."})
    {'plain': 0.5}
    """
    right: Counter[str] = Counter()
    for row in rows:
        right[row["kind"]] += row["ideal"].split() == (texts.get(row["id"]) or "").split()
    counts = Counter(row["kind"] for row in rows)
    return {kind: share(right[kind], number) for kind, number in counts.items()}


def share(part: int, whole: int) -> float:
    """Return a part of a whole, to four places."""
    return round(part / max(1, whole), 4)


def plain(text: str) -> str:
    """Return text without inline tags and marks of Markdown, its signs made alike."""
    text = _ESCAPED.sub(r"\1", _INLINE_TAG.sub("", html.unescape(text)))
    return unicodedata.normalize("NFKC", re.sub(r"[*_`]", "", text)).translate(_ALIKE)


def words(text: str) -> list[str]:
    """Return the words of text.

    >>> words("The “old” town—10&nbsp;km off")
    ['the', 'old', 'town', '10', 'km', 'off']
    """
    return re.findall(r"\w+", plain(text).lower())


def sentences(paragraph: str) -> list[str]:
    """Return the sentences of a paragraph that have four words or more."""
    flat = " ".join(plain(paragraph).split())
    return [sentence for sentence in _SENTENCE_END.split(flat) if len(sentence.split()) >= _SHORTEST]


def paragraphs(value: str | list[str]) -> list[str]:
    """Return paragraphs given as a list, or as text with blank lines."""
    return value if isinstance(value, list) else re.split(r"\n\s*\n", value)


def grams_of(value: str | list[str]) -> Counter[tuple[str, ...]]:
    """Return the 4-grams of gold, over its paragraphs' ends."""
    return grams([word for paragraph in paragraphs(value) for word in words(paragraph)])


def grams(tokens: Sequence[str]) -> Counter[tuple[str, ...]]:
    """Return how often each run of four words occurs."""
    return Counter(tuple(tokens[place : place + _GRAM]) for place in range(len(tokens) - _GRAM + 1))
