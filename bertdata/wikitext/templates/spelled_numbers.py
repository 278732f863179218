"""Numbers in English words, as `spell=` of `{{convert}}` has them."""

from __future__ import annotations

import re

_ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("zero", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_THOUSANDS = ("", " thousand", " million", " billion", " trillion")
_NUMBER = re.compile(r"([−-]?)([\d,]{0,20})(?:\.(\d{1,20}))?", re.ASCII)
_FRACTION = re.compile(r"([−-]?)(?:(\d{1,9})\+)?(\d{1,3})⁄(\d{1,3})", re.ASCII)
_PARTS = {2: "half", 3: "third", 4: "quarter", 5: "fifth", 6: "sixth", 7: "seventh", 8: "eighth", 9: "ninth"}
_PARTS |= {10: "tenth", 12: "twelfth", 16: "sixteenth", 20: "twentieth"}


def spelled(text: str, *, american: bool = False) -> str | None:
    """Return a number, as it is written in digits, in words; None where it is too large or of another form.

    american: leave out "and".

    >>> spelled("2,777.78"), spelled("506", american=True), spelled("5+3⁄4")
    ('two thousand seven hundred and seventy-seven point seven eight', 'five hundred six', 'five and three-quarters')
    """
    if fraction := _FRACTION.fullmatch(text):
        return _in_parts(*fraction.groups(), american=american)
    number = _NUMBER.fullmatch(text)
    if number is None or not (number[2] or number[3]):
        return None
    sign, whole, decimals = number.groups()
    digits = whole.replace(",", "").lstrip("0")
    if len(digits) > 3 * len(_THOUSANDS):
        return None
    words = _whole(int(digits or "0"), american=american)
    if decimals:
        words += " point " + " ".join(_ONES[int(digit)] for digit in decimals)
    return f"negative {words}" if sign else words


def _whole(number: int, *, american: bool) -> str:
    groups = [number // 1000**place % 1000 for place in range(len(_THOUSANDS))]
    words = [_under_thousand(group, american=True) + _THOUSANDS[place] for place, group in enumerate(groups) if group]
    if groups[0]:
        words[0] = _under_thousand(groups[0], american=american)
        if number > 1000 and groups[0] < 100 and not american:
            words[0] = "and " + words[0]
    return " ".join(reversed(words)) or _ONES[0]


def _under_thousand(number: int, *, american: bool) -> str:
    hundreds, rest = divmod(number, 100)
    tens, ones = divmod(rest, 10)
    small = _ONES[rest] if rest < len(_ONES) else _TENS[tens] + (f"-{_ONES[ones]}" if ones else "")
    if not hundreds:
        return small
    return f"{_ONES[hundreds]} hundred" + (f" {'' if american else 'and '}{small}" if rest else "")


def _in_parts(sign: str, whole: str | None, above: str, below: str, *, american: bool) -> str | None:
    part = _PARTS.get(int(below))
    if part is None:
        return None
    many = {"half": "halves"}.get(part, f"{part}s")
    words = f"{_whole(int(above), american=american)}-{part if int(above) == 1 else many}"
    if whole:
        if int(above) == 1:
            words = f"{'an' if part.startswith('e') else 'a'} {part}"
        words = f"{_whole(int(whole), american=american)} and {words}"
    return f"negative {words}" if sign else words
