"""User-defined symbols of a SentencePiece model that its rules of normalisation would change.

SentencePiece looks for these symbols in a text as it is, the longest first, and leaves what it finds out of its rules:
a line feed or an ellipsis stays what it is, of which the rules of NFKC make a space and three points. In a
`tokenizer.json` a character for private use stands for such a symbol while the rules are applied.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

from bertdata.errors import InputError
from bertdata.tokenizers.spm.charsmap import VOICE_MARKS, Charsmap

_FIRST, _MOST = 0x10F000, 0xFFF
"""The characters that stand for symbols are from here on, so many at most; the one after them stands for these."""


def kept_symbols(symbols: Sequence[str], charsmap: bytes) -> list[str]:
    """Return the symbols that rules would change, or join to what is after them, the longest first.

    One with a space is no piece of a text, as marks stand for spaces. Raises InputError where no `tokenizer.json` finds
    a symbol as SentencePiece does.
    """
    rules = Charsmap(charsmap)
    for symbol in symbols:
        if unicodedata.combining(symbol[0]) or symbol[0] in VOICE_MARKS:
            raise InputError(
                f"has the user-defined symbol {symbol!r}, which begins with a mark on the letter before it"
            )
        if " " in symbol and (symbol.strip(" ") != symbol or "  " in symbol or rules.change(symbol)):
            raise InputError(f"has the user-defined symbol {symbol!r}, in which SentencePiece keeps spaces as they are")
    may_be_kept = (symbol for symbol in symbols if " " not in symbol and _is_touched(symbol, rules))
    kept = sorted(may_be_kept, key=lambda symbol: (-len(symbol), symbol))
    for symbol in kept:
        for other in symbols:
            if other != symbol and (_overlap(symbol, other) or _overlap(other, symbol)):
                raise InputError(
                    f"has the user-defined symbols {symbol!r} and {other!r}, which may overlap in a text, and rules "
                    "of normalisation that would change them"
                )
    if len(kept) > _MOST:
        raise InputError(f"has {len(kept)} user-defined symbols that its rules would change; at most {_MOST} are read")
    return kept


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


def _is_touched(symbol: str, rules: Charsmap) -> bool:
    """Tell whether a rule changes a part of a symbol, or goes over its end."""
    return rules.change(symbol) or any(rules.goes_on(symbol[begin:]) for begin in range(len(symbol)))


def _overlap(first: str, second: str) -> bool:
    """Tell whether an end of one symbol begins another one that reaches beyond it."""
    return any(second.startswith(first[begin:]) for begin in range(1, len(first)) if len(first) - begin < len(second))
