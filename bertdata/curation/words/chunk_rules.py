"""The tables of the kernel that splits chunks, made of those of `english.json`."""

from __future__ import annotations

import sys
from functools import cache

import numpy as np
from numpy.typing import NDArray

from bertdata.curation.words import chunk_kernel as kernel
from bertdata.curation.words.chunk_kernel import PRIME, SEED, Rules, word_place
from bertdata.curation.words.tables import PATH, exceptions, tables
from bertdata.kernels.jit import plain
from bertdata.kernels.mixer import mix

_CLASSES = {
    "alpha": kernel.ALPHA,
    "upper": kernel.UPPER,
    "lower": kernel.LOWER,
    "quote": kernel.QUOTE,
    "icon": kernel.ICON,
    "prefix": kernel.PREFIX,
    "suffix": kernel.SUFFIX,
    "before_period": kernel.BEFORE_PERIOD,
}
_SLOTS = 1 << 13
_WORD = (1 << 64) - 1


@cache
def rules() -> Rules:
    """Return the tables of spaCy's English, as the kernel takes them.

    >>> [int(rules().classes[ord(sign)]) & kernel.PREFIX > 0 for sign in "(a)"]
    [True, False, True]
    """
    units, currencies = tables()["units"], tables()["currencies"]
    long = [currency for currency in currencies if len(currency) > 1]
    kinds = dict.fromkeys(exceptions(), kernel.EXCEPTION)
    for kind, names in ((kernel.UNIT, [*units, *currencies]), (kernel.CURRENCY, long)):
        for name in names:
            kinds[name] = kinds.get(name, 0) | kind
    strings = {text.encode(): kind for text, kind in sorted(kinds.items())}
    lengths = {text.encode(): [len(token.encode()) for token in tokens] for text, tokens in exceptions().items()}
    slots, keys = np.full(_SLOTS, -1, np.int32), np.zeros(_SLOTS, np.uint64)
    rows, pool_size, tokens = [], 0, 0
    for number, (text, kind) in enumerate(strings.items()):
        key = _hash(text)
        place = key % _SLOTS
        while slots[place] >= 0:
            place = (place + 1) % _SLOTS
        slots[place], keys[place] = number, key
        rows.append((pool_size, pool_size + len(text), tokens, tokens + len(lengths.get(text, ())), kind))
        pool_size, tokens = pool_size + len(text), rows[-1][3]
    return Rules(
        _classes([*units, *currencies], long),
        _words(),
        _shapes(list(lengths)),
        slots,
        keys,
        np.array(rows, np.int32),
        np.frombuffer(b"".join(strings), np.uint8),
        np.array([size for text in strings for size in lengths.get(text, ())], np.int32),
    )


def _classes(units: list[str], currencies: list[str]) -> NDArray[np.uint16]:
    """Return the bits of each code point; raises ValueError where a unit is longer than the kernel looks, or counts."""
    classes = np.zeros(sys.maxunicode + 1, np.uint16)
    for name, bit in _CLASSES.items():
        for first, last in tables()["classes"][name]:
            classes[first : last + 1] |= np.uint16(bit)
    for unit in units:
        classes[ord(unit[-1])] |= np.uint16(kernel.UNIT_END)
    for currency in currencies:
        classes[ord(currency[0])] |= np.uint16(kernel.CURRENCY_BEGIN)
    digits = any(sign in "0123456789" for unit in units for sign in unit)
    if digits or max(map(len, units)) > kernel.MOST_UNIT or max(map(len, currencies)) > kernel.MOST_CURRENCY:
        raise ValueError(
            f"{PATH.name} has units with a digit, or of over {kernel.MOST_UNIT} characters, or currencies of over "
            f"{kernel.MOST_CURRENCY}; the kernel does not look that far"
        )
    return classes


def _words() -> NDArray[np.uint8]:
    """Return where the kernel looks closer at a word of letters alone."""
    flags = np.zeros(kernel.PLACES, np.uint8)
    for text in {text.rstrip(".") for text in exceptions()}:
        if text.isascii() and text.isalpha():
            word = text.encode()
            flags[plain(word_place)(word[0], word[min(1, len(word) - 1)], word[-1], len(word))] = 1
    return flags


def _shapes(strings: list[bytes]) -> NDArray[np.uint64]:
    shapes = np.zeros((2, 256), np.uint64)
    for text in strings:
        if len(text) > kernel.MOST_BYTES:
            raise ValueError(f"{PATH.name} has an exception of {len(text)} bytes; expected at most {kernel.MOST_BYTES}")
        shapes[0, text[0]] |= np.uint64(1 << len(text))
        shapes[1, text[-1]] |= np.uint64(1 << len(text))
    return shapes


def _hash(text: bytes) -> int:
    """Return what `chunk_kernel.hash_bytes` makes of some bytes."""
    hash_bits = int(SEED)
    for byte in text:
        hash_bits = (hash_bits ^ byte) * int(PRIME) & _WORD
    with np.errstate(over="ignore"):
        return int(plain(mix)(np.uint64(hash_bits)))
