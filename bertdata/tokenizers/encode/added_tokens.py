"""Tokens that were added to a vocabulary and are found in raw text, before words are: runs of spaces, e-mail marks."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bertdata.tokenizers.encode.kernels.added_tokens import Heads, mark_added


class AddedTokens:
    """Added tokens, and how a row that holds some is cut at them.

    normalize: what the normaliser makes of a text, which happens first.
    """

    def __init__(self, ids: Mapping[str, int], normalize: Callable[[str], str] | None) -> None:
        self._ids, self._normalize = ids, normalize
        self._pattern = re.compile("|".join(map(re.escape, sorted(ids, key=len, reverse=True)))) if ids else None
        starts = sorted({token.encode()[:8] for token in ids})
        seconds = {start[1] for start in starts} if all(len(start) > 1 for start in starts) else set()
        self._heads = Heads(
            np.array(sorted({start[0] for start in starts}), np.uint8),
            np.array(sorted(seconds), np.uint8),
            np.array([int.from_bytes(start, "little") for start in starts], np.uint64),
            np.array([(1 << 8 * len(start)) - 1 for start in starts], np.uint64),
        )

    def mark(self, text: Any, begin: int, n: int, unsure: Any) -> None:
        """Set the bits in `unsure` of the bytes at which one may be."""
        if self._pattern is not None:
            mark_added(text, begin, n, self._heads, unsure)

    def split(self, row: str) -> list[str | int]:
        """Return a row as texts between added tokens and the ids of these.

        >>> AddedTokens({"  ": 7, "   ": 8}, None).split("a    b")
        ['a', 8, ' b']
        """
        text = self._normalize(row) if self._normalize else row
        parts: list[str | int] = []
        at = 0
        for found in self._pattern.finditer(text) if self._pattern else ():
            parts += [text[at : found.start()], self._ids[found[0]]]
            at = found.end()
        return [part for part in [*parts, text[at:]] if part != ""]
