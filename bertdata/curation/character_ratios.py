"""Filters by the share of a text's characters that are of a kind: of web addresses, digits, signs.

The rules and thresholds are those of NeMo Curator (1.4, `filters/heuristic/string.py`); letters and digits are those of
Unicode here, of ASCII there, so that on a text in ASCII both decide alike.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from bertdata.curation.filters import Filter, figure_text, parse_share

_ADDRESS = r"https?://(?:[A-Za-z0-9$\-_@.&+/:=?#~]|[!*\(\),]|(?:%[0-9A-Fa-f]{2}))+"
_DIGIT = r"\p{Nd}"
_OF_TEXT = r"[\p{L}\p{M}\p{N}\n?!,.]"


def share_of_addresses(texts: pa.StringArray) -> pa.DoubleArray:
    """Return the share of the characters of texts that are of web addresses; 1 of an empty one.

    >>> share_of_addresses(pa.array(["See https://a.b.", "Salt.", ""])).to_pylist()
    [0.75, 0.0, 1.0]
    """
    lengths_without = pc.utf8_length(pc.replace_substring_regex(texts, _ADDRESS, ""))
    return _share(pc.subtract(pc.utf8_length(texts), lengths_without), texts)


def share_of_digits(texts: pa.StringArray) -> pa.DoubleArray:
    """Return the share of the characters of texts that are digits; 1 of an empty one.

    >>> share_of_digits(pa.array(["1,234", "Salt.", ""])).to_pylist()
    [0.8, 0.0, 1.0]
    """
    return _share(pc.count_substring_regex(texts, _DIGIT), texts)


def share_of_signs(texts: pa.StringArray) -> pa.DoubleArray:
    """Return the share of the characters of texts that are no letters, digits, line ends or any of ? ! , .

    Spaces count, so that prose has some 0.18; 1 of an empty text.

    >>> share_of_signs(pa.array(["Öl, 5 l!", "*** ***", ""])).to_pylist()
    [0.25, 1.0, 1.0]
    """
    return _share(pc.subtract(pc.utf8_length(texts), pc.count_substring_regex(texts, _OF_TEXT)), texts)


def _share(number: pa.Array, texts: pa.StringArray) -> pa.DoubleArray:
    length = pc.utf8_length(texts)
    share = pc.divide(pc.cast(number, pa.float64()), pc.cast(pc.max_element_wise(length, 1), pa.float64()))
    return pc.if_else(pc.equal(length, 0), 1.0, share)


def _at_most(what: str, ratio: str, default: str) -> Filter:
    share = {"address": share_of_addresses, "digit": share_of_digits, "sign": share_of_signs}[ratio]
    return Filter(
        help=f"drops documents where a larger share of the characters than the argument, {default} by default, {what}",
        keep=lambda texts, most: pc.less_equal(share(texts), most),
        parse=parse_share,
        measure=lambda text, most, reason: figure_text(f"max-{ratio}-ratio", share(pa.array([text]))[0].as_py(), most),
        default=default,
    )


MAX_ADDRESSES = _at_most("is of web addresses", "address", "0.2")
MAX_DIGITS = _at_most("is digits", "digit", "0.15")
MAX_SIGNS = _at_most("is neither letters nor digits nor ? ! , . (spaces count)", "sign", "0.25")
