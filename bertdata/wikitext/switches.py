"""The behaviour switches of a wiki, such as `__NOTOC__`, as they may be written: for the reference and the kernels."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from bertdata.wikitext.mediawiki.folding import case_variants, fold_title
from bertdata.wikitext.mediawiki.language import Language
from bertdata.wikitext.rules import LONGEST_SWITCH, MOST_UNDERSCORES, SWITCH_EDGES


class Switches(NamedTuple):
    """Switches that are read only as they are written, and those in any case: ASCII letters small, others as usual."""

    exact: frozenset[str]
    folded: frozenset[str]

    def end(self, text: str, begin: int) -> int:
        """Return where the longest switch ends that begins at a place, -1 where none does.

        >>> from bertdata.wikitext.mediawiki.language import language_of
        >>> switches_of(language_of("de")).end("a __KEIN_INHALTSVERZEICHNIS__.", 2)
        29
        """
        end, place, edges, limit = -1, begin, 0, begin + LONGEST_SWITCH
        if text[begin : begin + 4] == 4 * text[begin]:
            return end
        while edges < MOST_UNDERSCORES:
            place = next((i for i in range(place + 1, min(limit, len(text))) if text[i] in SWITCH_EDGES), -1)
            if place < 0 or "\n" in text[begin:place]:
                break
            edges += 1
            word = text[begin : place + 1]
            if len(word.encode("utf-8", "surrogatepass")) <= LONGEST_SWITCH and (
                fold_title(word) in self.folded or word in self.exact
            ):
                end = place + 1
        return end


@lru_cache(maxsize=64)
def switches_of(language: Language) -> Switches:
    """Return the switches of a language."""
    switches = language.switches
    words = [*switches.written, *(word.title() for word in switches.written if not word.isascii())]
    folded = {*map(fold_title, words), *case_variants(map(fold_title, switches.folded))}
    return Switches(_edged(switches.exact), _edged(folded))


def _edged(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word for word in words if word[0] in SWITCH_EDGES and word[-1] in SWITCH_EDGES)
