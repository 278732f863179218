"""Skip template calls, links and tables that leave nothing, compiled: find their end without parsing what is inside.

An infobox, a table or a file with its caption is most of many pages. `end_of_dropped` finds the end by matching braces,
tables and, inside a link, brackets. Wherever the walk of `kernels/brackets` could come to another end it gives up, and
the walk takes over.
"""

from __future__ import annotations

from bertdata.kernels import characters as char
from bertdata.kernels.characters import Bytes, Int
from bertdata.kernels.jit import inlined
from bertdata.wikitext.kernels import buffers, common, place, template_calls, walk
from bertdata.wikitext.kernels.common import Ints
from bertdata.wikitext.reference.place import IF_IT_GOES_ON, INSIDE, NOWHERE

# what is open inside, two bits each, the innermost lowest
IN_CALL, IN_LINK, IN_TABLE = 1, 2, 3
_DEEPEST = 1 << 58


@inlined
def end_of_dropped_call(
    text: Bytes, begin: int, size: int, out: Bytes, n: int, state: Ints, table: Ints, blob: Bytes, scratch: Bytes
) -> Int:
    """Return where the template call ends whose head begins here, -1 where it may leave text or only the walk can tell.

    out[:n] is what is before it. One that may begin a sentence is skipped, and walked after all where the sentence
    goes on after it.
    """
    build_state = _standing(text, begin, size, out, n, state, table, blob, scratch)
    if build_state == INSIDE:
        return -1
    end = end_of_dropped(text, begin, size, IN_CALL, state, scratch)
    if end >= 0 and build_state == IF_IT_GOES_ON and state[walk.PENDING] < 2 and place.goes_on(text, end, size):
        state[walk.PENDING] = 0
        state[walk.SKIPPING_FROM] = max(end, state[walk.SKIPPING_FROM])
        return -1
    return end


@inlined
def _standing(
    text: Bytes, begin: int, size: int, out: Bytes, n: int, state: Ints, table: Ints, blob: Bytes, scratch: Bytes
) -> Int:
    """Return where a call stands that may leave text there; NOWHERE where its name tells that it leaves nothing."""
    end = _next_in_head(text, begin, size)
    if end == size or text[end] != char.BAR:
        return INSIDE
    length = template_calls.fold_name(text, begin, end, scratch)
    if length == template_calls.COLON:
        return INSIDE if template_calls.is_function(text, begin, end, table, blob, scratch) else NOWHERE
    if length <= 0:
        return NOWHERE
    row = common.lookup(table, blob, common.TEMPLATE, scratch, 0, length)
    if row >= 0:
        return NOWHERE if table[row, common.CODE] == template_calls.SILENT else INSIDE
    if common.starts_with(scratch, 0, length, template_calls.LANGUAGE):
        return INSIDE
    return place.place_after(out, n, state[walk.DEPTH] > 0)


@inlined
def link_leaves_nothing(text: Bytes, begin: int, end: int, table: Ints, blob: Bytes, scratch: Bytes) -> bool:
    """Tell whether the link to text[begin:end] is to a file, a category or the like."""
    colon = buffers.find(text, begin, end, char.COLON)
    if colon == end:
        return False
    length = template_calls.fold_prefix(text, begin, colon, scratch)
    return bool(length >= 0 and common.lookup(table, blob, common.PREFIX, scratch, 0, length) >= 0)


@inlined
def end_of_dropped(text: Bytes, begin: int, size: int, kind: int, state: Ints, scratch: Bytes) -> Int:
    """Return where the construct ends whose inside begins here, -1 where only the walk can tell.

    Closing braces that it leaves are in state[PENDING]. Where it gave up it is not tried again before that place, so
    the time is linear.
    """
    i = begin
    stack: Int = kind
    while begin >= state[walk.SKIPPING_FROM]:
        i = _next_in_link(text, i, size) if kind == IN_LINK else _next_mark(text, i, size)
        if i + 1 >= size:
            break
        byte, following = text[i], text[i + 1]
        if byte == char.LEFT_BRACE:
            if following == char.LEFT_BRACE:
                if i + 2 < size and text[i + 2] == char.LEFT_BRACE:
                    break
                stack = stack << 2 | IN_CALL
                i += 2
            elif following == char.BAR and _begins_line(text, begin, i):
                stack = stack << 2 | IN_TABLE
                i += 2
            else:
                i += 1
            if stack > _DEEPEST:
                break
        elif byte == char.RIGHT_BRACE:
            if text[i - 1] == char.BAR and _begins_line(text, begin, i - 1) and not walk.closes_call(text, i + 1, size):
                if stack & 3 != IN_TABLE:
                    break
                stack >>= 2
                i += 1
                if stack == 0:
                    return i
            elif following == char.RIGHT_BRACE:
                pending = walk.run_of(text, i, size)
                i += pending
                stack, pending = _close_calls(stack, pending, state)
                if stack == 0:
                    state[walk.PENDING] = pending
                    return i
                if pending >= 2:
                    break
            else:
                i += 1
        elif byte == char.LEFT_BRACKET:
            if following == char.LEFT_BRACKET:
                stack = stack << 2 | IN_LINK
                i += 1
                if stack > _DEEPEST:
                    break
            i += 1
        elif byte == char.RIGHT_BRACKET:
            if following == char.RIGHT_BRACKET:
                i += 1 + walk.closes_single_bracket(text, i, size)
                if stack & 3 == IN_LINK:
                    stack >>= 2
                    if stack == 0:
                        return i + 1
            i += 1
        elif walk.end_of_block_tag(text, i, size, scratch, state) == -1:  # <
            i += 1
        else:
            break
    state[walk.SKIPPING_FROM] = max(i, state[walk.SKIPPING_FROM])
    return -1


@inlined
def _close_calls(stack: int, pending: int, state: Ints) -> tuple[Int, Int]:
    """Match a run of closing braces; returns what is open then, and how many braces are left, 2 or more: give up."""
    while pending >= 2 and stack:
        inside = stack
        while inside & 3 == IN_LINK:
            inside >>= 2
        if inside & 3 == IN_CALL:
            stack = inside >> 2
            pending -= 2
            continue
        calls = state[walk.OPEN + walk.CALL]
        while inside:
            calls += inside & 3 == IN_CALL
            inside >>= 2
        return stack, pending if calls else 0
    return stack, pending


@inlined
def _begins_line(text: Bytes, begin: int, i: int) -> bool:
    """Tell whether only indents are between the beginning of a line and text[i]."""
    i -= 1
    while i >= begin and walk.INDENTS[text[i]]:
        i -= 1
    return i >= begin and text[i] == char.NEWLINE


_next_in_head = buffers.scanner(b"{}[]|")
_next_mark = buffers.scanner(b"{}<")
_next_in_link = buffers.scanner(b"{}<[]")
