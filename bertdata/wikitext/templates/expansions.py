"""What the templates that one page calls may take, and the texts of its calls: for templates by their pages.

MediaWiki gives a page 1,000,000 parts gone through (`$wgMaxPPNodeCount`) and 2,097,152 bytes of expanded templates
(`$wgMaxArticleSize`). Here its budget is divided among its different calls, so that the text of a call does not depend
on which others were expanded before it.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property

PAGE_WORK = 1_000_000
"""The work of a page: so many parts of templates gone through (cases, arguments, calls), or two characters for each."""
_LEAST_SHARE = 200
"""The work that each call may take, however many a page has: the total is then linear in the page."""
_CALL = re.compile(rb"\{\{[^{}]*")

Key = tuple[str, frozenset[tuple[str, str]]]
"""A template's name and the arguments of a call."""


class PageExpansions:
    """The share of each call of a page in its budget, and the texts of those that were expanded.

    `title` is that of the page, `over_budget` is how many different calls took more, and so print nothing.

    >>> PageExpansions(b"{{a|b}} {{a|b}} {{a|c}}").share
    500000
    """

    def __init__(self, source: bytes = b"", title: str = "") -> None:
        self._source = source
        self.title = title
        self.texts: dict[Key, str | None] = {}
        self.over_budget = 0

    @cached_property
    def share(self) -> int:
        """The work that one call may take."""
        return max(_LEAST_SHARE, PAGE_WORK // max(1, len(set(_CALL.findall(self._source)))))


def key_of(name: str, arguments: Mapping[str, str]) -> Key:
    """Return what calls of the same text have in common."""
    return name, frozenset(arguments.items())


class OnPage(ABC):
    """Writes the text of a template for one page, within its budget."""

    @abstractmethod
    def __call__(self, arguments: Mapping[str, str]) -> str | None:
        """Return the text of a call on a page of its own."""

    @abstractmethod
    def expand(self, arguments: Mapping[str, str], expansions: PageExpansions) -> str | None:
        """Return the text of a call, None where it has none, or would take more than its share."""
