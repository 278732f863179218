"""Where a template call stands, compiled; the reference is `reference/place`."""

# ruff: noqa: PLR1714  (numba compiles comparisons well, sets not)

from __future__ import annotations

from bertdata.kernels import characters as char
from bertdata.kernels import utf8
from bertdata.kernels.characters import Bytes, Int
from bertdata.kernels.jit import inlined
from bertdata.wikitext import rules
from bertdata.wikitext.kernels import buffers, common
from bertdata.wikitext.reference.place import IF_IT_GOES_ON, INSIDE, NOWHERE

_MOST_PASSED = rules.MOST_PASSED


@inlined
def place_after(out: Bytes, n: int, nested: bool) -> Int:
    """Return whether a call after out[:n] stands inside a sentence, only if the sentence goes on, or does not."""
    gap, i = False, n
    while i > 0 and (out[i - 1] == char.SPACE or _PASSED_BEFORE[out[i - 1]]):
        i -= 1
        gap |= out[i] == char.SPACE
        if n - i == _MOST_PASSED:
            return NOWHERE
    if i == 0:
        return NOWHERE
    last, _ = utf8.decode_last(out, 0, i)
    if last < 128 and _LIST_MARKS[last] and (i == 1 or out[i - 2] == char.NEWLINE or _LIST_MARKS[out[i - 2]]):
        return NOWHERE
    if last == char.NEWLINE:
        return IF_IT_GOES_ON
    if last == char.BAR or last == char.EQUALS:
        return INSIDE if nested else NOWHERE
    if common.is_one_of(last, _OPENING):
        return INSIDE
    if not gap or common.is_one_of(last, _RESERVED):
        return NOWHERE
    return IF_IT_GOES_ON if common.is_one_of(last, _ENDS) else INSIDE


@inlined
def goes_on(text: Bytes, begin: int, size: int) -> bool:
    """Tell whether the sentence goes on in text[begin:size], after a call that begins it."""
    i = begin
    while i < size and i - begin < _MOST_PASSED and _PASSED_AFTER[text[i]]:
        i += 1
    if i < size and text[i] == char.SPACE:
        return bool(i + 1 < size and char.LOWER_A <= text[i + 1] <= char.LOWER_Z)
    return bool(i < size and common.is_one_of(utf8.decode(text, i, size)[0], _GOES_ON))


@inlined
def is_inside(out: Bytes, n: int, nested: bool, text: Bytes, after: int, size: int) -> bool:
    """Tell whether a call after out[:n], with text[after:size] after it, stands inside a sentence."""
    place = place_after(out, n, nested)
    return place == INSIDE or (place == IF_IT_GOES_ON and goes_on(text, after, size))


_PASSED_BEFORE = buffers.flags(rules.PASSED_BEFORE_CALL.replace(" ", "").encode())
_LIST_MARKS = buffers.flags(rules.LIST_MARKS.replace("|", "").encode())
_PASSED_AFTER = buffers.flags(rules.PASSED_AFTER_CALL.encode())
_OPENING, _ENDS, _GOES_ON, _RESERVED = map(
    common.codes, (rules.OPENS_CALL, rules.ENDS_SENTENCE, rules.GOES_ON, rules.RESERVED)
)
