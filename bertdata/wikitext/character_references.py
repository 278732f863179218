"""Character references (`&amp;`, `&#65;`) undone, however long they are."""

from __future__ import annotations

import html
import re

_LONGEST_NUMBER = 7
"""The digits of the last code point, 1114111; a number of more digits is not one."""
_DECIMAL = re.compile(r"&#(?:0++(?![0-9])|0*+([0-9]++))")


def undo_character_references(text: str) -> str:
    """Return text with its character references undone, as `html.unescape` does, in time linear in its length.

    `html.unescape` raises ValueError for a number of more digits than `sys.get_int_max_str_digits`.

    >>> undo_character_references("a&amp;b &#65; &lt;"), undo_character_references("&#" + "9" * 5000 + ";")
    ('a&b A <', '\\ufffd')
    """
    if "&" not in text:
        return text
    return html.unescape(_DECIMAL.sub(_shortened, text) if "&#" in text else text)


def _shortened(match: re.Match[str]) -> str:
    """Return a number without leading zeros, and one that is not a code point as the first number that is not."""
    digits = match[1] or "0"
    return f"&#{digits}" if len(digits) <= _LONGEST_NUMBER else "&#1114112"
