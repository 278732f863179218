"""Attach citation marks (`[3]`, `[1, 4-6]`, `[a]`, `[...]`) at the start of a sentence to the sentence before it.

Punkt starts a new sentence with a mark that follows a period and a space: it splits "in 1873.[12] He" well, but "in
1873. [12] He" into "in 1873." and "[12] He". This is the readable reference of `citations_kernel`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_MARK = re.compile(r"\[(?:[0-9][0-9 ,;\u2013-]*|[a-z]|\.\.\.|\u2026)\]")


def attach_citations(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the (start, end) spans of sentences, in characters, with citation marks moved to the sentence before.

    A mark moves when white space or the sentence's end follows it, and never across a blank line.

    >>> text = "It rained. [3] [4] We left."
    >>> [text[start:stop] for start, stop in attach_citations(text, [(0, 10), (11, 27)])]
    ['It rained. [3] [4]', 'We left.']
    """
    joined: list[tuple[int, int]] = []
    for start, stop in spans:
        begin = start
        if joined and "\n\n" not in text[joined[-1][1] : start]:
            while match := _MARK.match(text, begin, stop):
                rest = text[match.end() : stop]
                spaces = len(rest) - len(rest.lstrip())
                if rest and not spaces:
                    break
                joined[-1] = joined[-1][0], match.end()
                begin = match.end() + spaces
        if begin < stop:
            joined.append((begin, stop))
    return joined
