"""User-defined symbols of a SentencePiece model that its rules of normalisation would change.

SentencePiece looks for these symbols in a text as it is, the longest first, and leaves what it finds out of its rules:
a line feed or an ellipsis stays what it is, of which the rules of NFKC make a space and three points. In a
`tokenizer.json` a character for private use stands for such a symbol while the rules are applied.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any

from bertdata.errors import InputError
from bertdata.tokenizers.spm.charsmap import VOICE_MARKS, Charsmap

_FIRST, _MOST = 0x10F000, 0xFFF
"""The characters that stand for symbols are from here on, so many at most; the one after them stands for these."""
_LONGEST, _MOST_WITH_JOINED = 1000, 64


def kept_symbols(symbols: Sequence[str], charsmap: bytes) -> list[str]:
    """Return the symbols that rules would change, or whose last letter they would join to an accent, the longest first.

    The latter are left out where they are many, or may overlap with others in a text: the accent is then joined. A
    symbol with a space is never found, as marks stand for spaces. Raises InputError where no `tokenizer.json` finds a
    symbol as SentencePiece does.
    """
    rules = Charsmap(charsmap)
    for symbol in symbols:
        if len(symbol) > _LONGEST:
            raise InputError(f"has a user-defined symbol of {len(symbol):,} characters, over {_LONGEST:,}")
        if unicodedata.combining(symbol[0]) or symbol[0] in VOICE_MARKS:
            raise InputError(
                f"has the user-defined symbol {symbol!r}, which begins with a mark on the letter before it"
            )
    check_spaces([symbol for symbol in symbols if " " in symbol and rules.change(symbol)], changed=True)
    check_spaces(symbols)
    overlaps = _Overlaps(symbols)
    changed = [symbol for symbol in symbols if " " not in symbol and rules.change(symbol)]
    if overlapping := next(filter(overlaps.has, changed), None):
        raise InputError(
            f"has the user-defined symbol {overlapping!r}, which rules of normalisation would change, and which may "
            "overlap with another one in a text"
        )
    if len(changed) > _MOST:
        raise InputError(f"has {len(changed):,} user-defined symbols that its rules would change, over {_MOST:,}")
    others = {*symbols} - {*changed}
    joined = [symbol for symbol in others if symbol[-1].isalpha() and " " not in symbol and rules.go_on(symbol)]
    joined = [symbol for symbol in joined if not overlaps.has(symbol)]
    kept = [*changed, *(joined if len(changed) + len(joined) <= _MOST_WITH_JOINED else [])]
    return sorted(kept, key=lambda symbol: (-len(symbol), symbol))


def check_spaces(symbols: Sequence[str], *, changed: bool = False) -> None:
    """Raise InputError for a symbol with spaces that are not single ones between words, or that rules would change."""
    for symbol in symbols:
        if " " in symbol and (changed or symbol.strip(" ") != symbol or "  " in symbol):
            raise InputError(f"has the user-defined symbol {symbol!r}, in which SentencePiece keeps spaces as they are")


class _Overlaps:
    """Tells of symbols whether an end of one begins another one that reaches beyond it, or the other way round."""

    def __init__(self, symbols: Sequence[str]) -> None:
        self._sorted = sorted(symbols)
        self._ends = Counter(end for symbol in symbols for end in {*_ends(symbol)})

    def has(self, symbol: str) -> bool:
        """Tell whether a symbol overlaps with another one."""
        own_ends = {*_ends(symbol)}
        return any(map(self._begins_another, own_ends, repeat(symbol))) or any(
            self._ends[symbol[:stop]] > (symbol[:stop] in own_ends) for stop in range(1, len(symbol))
        )

    def _begins_another(self, end: str, symbol: str) -> bool:
        place = bisect_right(self._sorted, end)  # those that begin with it and go on come next
        following = self._sorted[place : place + 2]
        return any(other != symbol and other.startswith(end) for other in following)


def _ends(symbol: str) -> Iterator[str]:
    return (symbol[begin:] for begin in range(1, len(symbol)))


def around(rules: Sequence[Any], kept: Sequence[str]) -> list[Any]:
    """Return normalizers that apply rules to all of a text but some symbols.

    A character that stands for one of them and is in a text becomes another one without a piece.
    """
    from tokenizers import normalizers

    stand_ins = [chr(_FIRST + number) for number in range(len(kept))]
    unknown = chr(_FIRST + _MOST)
    return [
        *(normalizers.Replace(stand_in, unknown) for stand_in in stand_ins),
        *(normalizers.Replace(symbol, stand_in) for symbol, stand_in in zip(kept, stand_ins, strict=True)),
        *rules,
        *(normalizers.Replace(stand_in, symbol) for symbol, stand_in in zip(kept, stand_ins, strict=True)),
    ]
