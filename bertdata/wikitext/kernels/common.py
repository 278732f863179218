"""What the kernels over wikitext share: the table of names, white space, words, placeholders.

The table holds every name the passes know: templates, link prefixes, section titles, tags, protocols, entities. It is
an open-addressing hash table over a blob of bytes; a lookup compares the bytes.
"""

# ruff: noqa: SIM110  (numba compiles loops well, generators not)

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from bertdata.kernels import characters as char
from bertdata.kernels import utf8
from bertdata.kernels.characters import Bytes, Int
from bertdata.kernels.jit import inlined, plain
from bertdata.wikitext import rules
from bertdata.wikitext.kernels import buffers

Ints = Any  # an array of int64

PLACEHOLDER, LINE_BREAK = ord(rules.PLACEHOLDER), ord(rules.LINE_BREAK)
LONGEST_NAME = 200
_LONGEST_TAG = 20
# what a kernel returns: DONE, or what it needs before it goes on
DONE, ASK_TAG, ASK_CALL, ASK_LINK, CUT_REFERENCE, VARIANTS, RECOVER, GROW_TAGS, GROW_BRACKETS, GROW_PROSE = range(10)
# what a function returns that writes the text of a template call or a link: where it ends, or
ASK, NOTHING = -1, -2
# kinds of names
TEMPLATE, FUNCTION, PREFIX, SECTION, TAG, BLOCK_TAG, INLINE_TAG, PROTOCOL, SWITCH, ENTITY, UNIT, EXACT_SWITCH = range(
    12
)
# columns of the table; `lookup` returns a row for its columns CODE to VALUE_END
_USED, _KIND, _BEGIN, _END, CODE, VALUE_BEGIN, VALUE_END = range(7)


def codes(characters: str) -> Ints:
    """Return the code points of characters."""
    return np.array([ord(character) for character in characters], np.int64)


def build_table(entries: Iterable[tuple[int, bytes, int, bytes]]) -> tuple[Ints, Bytes]:
    """Return (table, blob) for entries (kind, name, code, value); of two entries of one name the first counts.

    >>> table, blob = build_table([(TAG, b"ref", 7, b"value")])
    >>> int(table[:, CODE].max()), blob[:8].tobytes()
    (7, b'refvalue')
    """
    rows = {(kind, name): (code, value) for kind, name, code, value in reversed(list(entries))}
    size = 64
    while size < 2 * len(rows):
        size *= 2
    table, blob = np.zeros((size, 7), np.int64), bytearray()
    for (kind, name), (code, value) in rows.items():
        slot = plain(_hash)(kind, np.frombuffer(name, np.uint8).copy(), 0, len(name)) & (size - 1)
        while table[slot, _USED]:
            slot = (slot + 1) & (size - 1)
        begin, middle = len(blob), len(blob) + len(name)
        blob += name + value
        table[slot] = (1, kind, begin, middle, code, middle, len(blob))
    return table, np.frombuffer(bytes(blob) or b"\0", np.uint8).copy()


@inlined
def _hash(kind: int, text: Bytes, begin: int, end: int) -> Int:
    value = np.int64(kind + 77)
    for position in range(begin, end):
        value = ((value ^ np.int64(text[position])) * 16777619) & 0x7FFFFFFF
    return value ^ (value >> 15)


@inlined
def lookup(table: Ints, blob: Bytes, kind: int, text: Bytes, begin: int, end: int) -> Int:
    """Return the row of the name text[begin:end], -1 if there is none."""
    mask = table.shape[0] - 1
    slot = _hash(kind, text, begin, end) & mask
    while table[slot, _USED]:
        first = table[slot, _BEGIN]
        if table[slot, _KIND] == kind and table[slot, _END] - first == end - begin:
            offset = 0
            while offset < end - begin and blob[first + offset] == text[begin + offset]:
                offset += 1
            if offset == end - begin:
                return slot
        slot = (slot + 1) & mask
    return -1


def word(text: str) -> Bytes:
    """Return a text to compare with."""
    return np.frombuffer(text.encode(), np.uint8).copy()


@inlined
def is_word(text: Bytes, begin: int, end: int, word: Bytes) -> bool:
    """Tell whether text[begin:end] is a word."""
    return end - begin == word.size and starts_with(text, begin, end, word)


@inlined
def starts_with(text: Bytes, begin: int, end: int, word: Bytes) -> bool:
    """Tell whether text[begin:end] starts with a word."""
    if end - begin < word.size:
        return False
    for k in range(word.size):
        if text[begin + k] != word[k]:
            return False
    return True


@inlined
def is_one_of(code: int, characters: Ints) -> bool:
    """Tell whether a character is one of these."""
    for character in characters:
        if character == code:
            return True
    return False


@inlined
def strip(text: Bytes, begin: int, end: int) -> tuple[Int, Int]:
    """Return the bounds of text[begin:end] without white space at its ends, as `str.strip` leaves it."""
    while begin < end:
        code, length = utf8.decode(text, begin, end)
        if not is_one_of(code, WHITE_SPACE):
            break
        begin += length
    while end > begin:
        code, length = utf8.decode_last(text, begin, end)
        if not is_one_of(code, WHITE_SPACE):
            break
        end -= length
    return begin, end


@inlined
def strip_flagged(text: Bytes, begin: int, end: int, table: Bytes) -> tuple[Int, Int]:
    """Return the bounds of text[begin:end] without the flagged bytes at its ends."""
    while begin < end and table[text[begin]]:
        begin += 1
    while end > begin and table[text[end - 1]]:
        end -= 1
    return begin, end


@inlined
def skip_spaces(text: Bytes, begin: int, end: int) -> Int:
    r"""Return the first place in text[begin:end] of what `\s` does not match in ASCII, else `end`."""
    while begin < end and char.is_space(text[begin]):
        begin += 1
    return begin


@inlined
def ends_name(text: Bytes, i: int, end: int, also: int) -> bool:
    """Tell whether a tag's name can end before text[i]: at white space, a slash, ">", this other byte or the end."""
    return (
        i == end or char.is_space(text[i]) or text[i] == char.SLASH or text[i] == char.GREATER_THAN or text[i] == also
    )


@inlined
def end_of_tag(text: Bytes, begin: int, end: int) -> Int:
    """Return where the ">" or "<" is that comes first in text[begin:end], else `end`."""
    while begin < end and text[begin] != char.LESS_THAN and text[begin] != char.GREATER_THAN:
        begin += 1
    return begin


@inlined
def tag_name(text: Bytes, begin: int, end: int, scratch: Bytes) -> Int:
    """Write the lower-cased ASCII letters and digits at `begin` to scratch; returns how many, 0 if over 20."""
    length = 0
    while begin + length < end and (char.is_letter(text[begin + length]) or char.is_digit(text[begin + length])):
        if length == _LONGEST_TAG:
            return 0
        scratch[length] = char.lower(text[begin + length])
        length += 1
    return length


@inlined
def end_of_protocol(text: Bytes, begin: int, end: int, table: Ints, blob: Bytes, scratch: Bytes) -> Int:
    """Return the end of the `http:` that an address at `begin` begins with, -1 where it begins with no protocol."""
    length = tag_name(text, begin, end, scratch)
    colon = begin + length
    if colon >= end or text[colon] != char.COLON or lookup(table, blob, PROTOCOL, scratch, 0, length) < 0:
        return -1
    return colon + 1


@inlined
def end_of_url(text: Bytes, begin: int, end: int, table: Ints, blob: Bytes, scratch: Bytes) -> Int:
    """Return where the address of an external link ends, -1 where none begins."""
    slashes = begin + 1 < end and text[begin] == char.SLASH and text[begin + 1] == char.SLASH
    i = begin if slashes else end_of_protocol(text, begin, end, table, blob, scratch)
    if i < 0:
        return i
    if i + 1 < end and text[i] == char.SLASH and text[i + 1] == char.SLASH:
        i = _end_of_ipv6(text, i + 2, end)
    while i < end and not _ENDS_URL[text[i]]:
        length = 1
        if text[i] >= 128:
            code, length = utf8.decode(text, i, end)
            if is_one_of(code, URL_SPACES):
                break
        i += length
    return i


@inlined
def _end_of_ipv6(text: Bytes, begin: int, end: int) -> Int:
    """Return where a host such as `[2001:db8::1]` ends, `begin` where none is."""
    i = begin + 1
    while i < end and _IPV6[text[i]]:
        i += 1
    closed = i < end and text[i] == char.RIGHT_BRACKET and text[begin] == char.LEFT_BRACKET
    return i + 1 if closed and i > begin + 1 else begin


@inlined
def placeholder_fits(text: Bytes, begin: int, end: int) -> bool:
    """Tell whether a construct dropped after text[begin:end] leaves a placeholder (see `placeholder_after`)."""
    return end <= begin or is_one_of(utf8.decode_last(text, begin, end)[0], _BEFORE_PLACEHOLDER)


@inlined
def write_placeholder(out: Bytes, n: int) -> Int:
    """Write what a dropped construct leaves after out[:n]; returns how much is written."""
    if placeholder_fits(out, 0, n):
        out[n] = PLACEHOLDER
        n += 1
    return n


URL_SPACES, _IPV6 = codes(rules.URL_SPACES), buffers.flags(b"0123456789abcdefABCDEF:.")
_ENDS_URL = buffers.flags(b' \t\n\x0b\x0c\r[]<>"')
_BEFORE_PLACEHOLDER = codes(rules.BEFORE_PLACEHOLDER)
WHITE_SPACE = codes("".join(character for character in map(chr, range(1 << 16)) if character.isspace()))
