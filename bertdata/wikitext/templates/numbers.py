"""Numbers as `{{convert}}` reads and shows them: thousands separators, fractions, exponents."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import NamedTuple

_NUMBER = re.compile(r"([-−+]?)(\d[\d,]{0,40}\.?\d{0,40}|\.\d{1,40})(?:[eE]([-−+]?\d{1,2}))?")
_FRACTION = re.compile(r"([-−+]?)(?:(\d[\d,]{0,11})\s*[+ ])?(\d{1,9})\s*[/⁄]{1,2}\s*(\d{1,9})")


class Number(NamedTuple):
    """A number as it is shown and as it is read; `decimals` is negative for whole numbers that end in zeros."""

    text: str
    value: float
    decimals: int


@lru_cache(maxsize=4096)
def read_number(text: str) -> Number | None:
    """Read a number as convert does: thousands separators, fractions, exponents.

    >>> read_number("1300"), read_number("5+1/2")
    (Number(text='1,300', value=1300.0, decimals=-2), Number(text='5+1⁄2', value=5.5, decimals=1))
    """
    text = text.replace("&nbsp;", "").replace("&minus;", "-").strip()
    if (fraction := _FRACTION.fullmatch(text)) is not None:
        sign, whole, above, below = fraction.groups()
        if int(below) == 0:
            return None
        whole = (whole or "").replace(",", "")
        value = int(whole or 0) + int(above) / int(below)
        written = f"{group_digits(whole)}+{above}⁄{below}" if whole else f"{above}⁄{below}"
        decimals = max(1, round(math.log10(int(below))))
    elif (plain := _NUMBER.fullmatch(text)) is not None:
        sign, digits, power = plain[1], plain[2].replace(",", ""), int((plain[3] or "0").replace("−", "-"))
        whole, point, decimal = digits.partition(".")
        value = float(digits) * 10.0**power
        written = group_digits(digits).removesuffix(".") + (f"×10{power}".replace("-", "−") if power else "")
        decimals = (len(decimal) if point else len(whole.rstrip("0")) - len(whole)) - power
    else:
        return None
    return Number("−" + written, -value, decimals) if sign in ("-", "−") else Number(written, value, decimals)


def group_digits(digits: str) -> str:
    """Put commas between the thousands of a plain decimal number.

    >>> group_digits("12345.678")
    '12,345.678'
    """
    whole, point, decimals = digits.partition(".")
    groups = [whole[max(0, end - 3) : end] for end in range(len(whole), 0, -3)]
    return f"{','.join(reversed(groups))}{point}{decimals}"
