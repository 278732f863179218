"""Line breaks that do not become a space: between characters of scripts that are written without spaces.

The rules are those of CSS Text (segment break transformation): a break beside a zero width space, or between two
characters whose East Asian Width is fullwidth, wide or halfwidth and neither of which is Hangul, is removed, and so is
one between such a character and a punctuation mark or symbol of ambiguous width. So is one between letters of Thai,
Lao, Khmer, Myanmar or Tibetan, of which CSS leaves it to the language; a space after their punctuation stays.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import numpy as np

_LOWEST = 0x0E00
"""Below it no character is of such a script."""
_ZERO_WIDTH_SPACE = "\u200b"
_WIDE = ("F", "W", "H")
_SCRIPTS = ("THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN")
_BREAK = re.compile(
    f"(?<=[{chr(_LOWEST)}-\U0010ffff])\n(?=[{chr(_LOWEST)}-\U0010ffff])|(?<=\u200b)\n(?=.)|(?<=.)\n(?=\u200b)"
)
_TSHEGS = "\u0f0b\u0f0c"
"""The marks between syllables of Tibetan, which no space follows."""
_LATIN_PUNCTUATION = (0x2000, 0x206F)


def without_breaks_in_words(text: str) -> str:
    """Return a text without the line breaks that are no space.

    >>> without_breaks_in_words("花草和樹\\n木。\\n「好」 the\\nend"), without_breaks_in_words("หนัง\\nสือ")
    ('花草和樹木。「好」 the\\nend', 'หนังสือ')
    >>> without_breaks_in_words("한국\\n사람"), without_breaks_in_words("他說：\\n“好”")
    ('한국\\n사람', '他說：“好”')
    """
    if text.isascii() or not _has_candidates(text):
        return text
    return _BREAK.sub(lambda match: "" if is_no_space(text[match.start() - 1], text[match.end()]) else "\n", text)


def _has_candidates(text: str) -> bool:
    """Return whether a line break stands between two characters that may be of such scripts, by their UTF-16."""
    units = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), "<u2")
    places = np.flatnonzero(units == 10)
    places = places[(places > 0) & (places < len(units) - 1)]
    before, after = units[places - 1], units[places + 1]
    first, last = _LATIN_PUNCTUATION
    of_latin = [(part >= first) & (part <= last) & (part != 0x200B) for part in (before, after)]
    candidates = (before >= _LOWEST) & (after >= _LOWEST) & ~(of_latin[0] & of_latin[1])
    return bool((candidates | (before == 0x200B) | (after == 0x200B)).any())


@lru_cache(maxsize=1 << 16)
def is_no_space(before: str, after: str) -> bool:
    """Return whether a line break between two characters is removed, rather than becoming a space.

    >>> [is_no_space(*pair) for pair in ("山下", "、「", "ア山", "한국", "a山", "“”", "木…", "ကခ", "།བ", "་བ")]
    [True, True, True, False, False, False, True, True, False, True]
    """
    if _ZERO_WIDTH_SPACE in (before, after):
        return True
    wide = [unicodedata.east_asian_width(sign) in _WIDE and not _is_hangul(sign) for sign in (before, after)]
    if all(wide):
        return True
    if any(wide):
        other = after if wide[0] else before
        return unicodedata.east_asian_width(other) == "A" and unicodedata.category(other)[0] in "PS"
    scripts = [unicodedata.name(sign, "").partition(" ")[0] for sign in (before, after)]
    if not all(script in _SCRIPTS for script in scripts):
        return False
    return all(unicodedata.category(sign)[0] in "LMN" for sign in (before, after) if sign not in _TSHEGS)


def _is_hangul(sign: str) -> bool:
    return "HANGUL" in unicodedata.name(sign, "")
