"""Where a construct ends that leaves nothing, compiled: its insides are not walked but for what can end it.

An infobox, a table or a file with its caption is most of many pages. `end_of_dropped` finds the end by matching braces,
tables and, inside a link, brackets. Wherever the walk of `kernels/brackets` could come to another end it gives up, and
the walk takes over. Which constructs leave nothing is told by `call_leaves_nothing` and `link_leaves_nothing`.
"""

from __future__ import annotations

from bertdata.kernels.jit import inlined
from bertdata.sources.wikipedia.wikitext.kernels.common import (
    FUNCTION,
    NEWLINE,
    PREFIX,
    TEMPLATE,
    Bytes,
    Int,
    Ints,
    find,
    lookup,
    marks,
    scanner,
)
from bertdata.sources.wikipedia.wikitext.kernels.frames import CALL, OPEN, PENDING, PLAIN_VARIANTS, SKIPPING_FROM
from bertdata.sources.wikipedia.wikitext.kernels.template_calls import COLON, fold_name, fold_prefix
from bertdata.sources.wikipedia.wikitext.kernels.tokens import INDENT, closes_a_call, end_of_block_tag, run_of

# what is open inside, two bits each, the innermost lowest
IN_CALL, IN_LINK, IN_TABLE = 1, 2, 3
_DEEPEST = 1 << 58


@inlined
def call_leaves_nothing(text: Bytes, begin: int, size: int, table: Ints, blob: Bytes, scratch: Bytes) -> bool:
    """Tell whether the call whose head begins here is of a template that no table knows."""
    end = _next_in_head(text, begin, size)
    if end == size or text[end] != 124:
        return False
    length = fold_name(text, begin, end, scratch)
    if length == COLON:
        length = fold_prefix(text, begin, find(text, begin, end, 58), scratch)
        return bool(length < 0 or lookup(table, blob, FUNCTION, scratch, 0, length) < 0)
    if length >= 5 and scratch[0] == 108 and scratch[1] == 97 and scratch[2] == 110 and scratch[3] == 103:
        return False
    return bool(length < 0 or lookup(table, blob, TEMPLATE, scratch, 0, length) < 0)


@inlined
def link_leaves_nothing(text: Bytes, begin: int, end: int, table: Ints, blob: Bytes, scratch: Bytes) -> bool:
    """Tell whether the link whose first piece is text[begin:end] is to a file, a category or the like."""
    colon = find(text, begin, end, 58)
    if colon == end:
        return False
    length = fold_prefix(text, begin, colon, scratch)
    return bool(length >= 0 and lookup(table, blob, PREFIX, scratch, 0, length) >= 0)


@inlined
def end_of_dropped(text: Bytes, begin: int, size: int, kind: int, state: Ints, scratch: Bytes) -> Int:
    """Return where the construct ends whose inside begins here, -1 where only the walk can tell.

    Closing braces that it leaves are in state[PENDING]. Where it gave up it is not tried again before that place, so
    the time is linear.
    """
    i = begin
    stack: Int = kind
    while begin >= state[SKIPPING_FROM]:
        i = _next_in_link(text, i, size) if kind == IN_LINK else _next_mark(text, i, size)
        if i + 1 >= size:
            break
        byte, following = text[i], text[i + 1]
        if byte == 123:  # {
            if following == 123:
                if i + 2 < size and text[i + 2] == 123:
                    break
                stack = stack << 2 | IN_CALL
                i += 2
            elif following == 124 and _begins_a_line(text, begin, i):
                stack = stack << 2 | IN_TABLE
                i += 2
            elif text[i - 1] == 45 and state[PLAIN_VARIANTS] == 0:
                break
            else:
                i += 1
            if stack > _DEEPEST:
                break
        elif byte == 125:  # }
            if text[i - 1] == 124 and _begins_a_line(text, begin, i - 1) and not closes_a_call(text, i + 1, size):
                if stack & 3 != IN_TABLE:
                    break
                stack >>= 2
                i += 1
                if stack == 0:
                    return i
            elif following == 125:
                pending = run_of(text, i, size)
                i += pending
                stack, pending = _close_calls(stack, pending, state)
                if stack == 0:
                    state[PENDING] = pending
                    return i
                if pending >= 2:
                    break
            else:
                i += 1
        elif byte == 91:  # [
            if following == 91:
                stack = stack << 2 | IN_LINK
                i += 1
                if stack > _DEEPEST:
                    break
            i += 1
        elif byte == 93:  # ]
            if following == 93:
                i += 1
                if stack & 3 == IN_LINK:
                    stack >>= 2
                    if stack == 0:
                        return i + 1
            i += 1
        elif end_of_block_tag(text, i, size, scratch, state) == -1:  # <
            i += 1
        else:
            break
    state[SKIPPING_FROM] = max(i, state[SKIPPING_FROM])
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
        calls = state[OPEN + CALL]
        while inside:
            calls += inside & 3 == IN_CALL
            inside >>= 2
        return stack, pending if calls else 0
    return stack, pending


@inlined
def _begins_a_line(text: Bytes, begin: int, i: int) -> bool:
    """Tell whether only marks of indents stand between the begin of a line and text[i]."""
    i -= 1
    while i >= begin and INDENT[text[i]]:
        i -= 1
    return bool(i >= begin and text[i] == NEWLINE)


_next_in_head = scanner(marks(b"{}[]|"))
_next_mark = scanner(marks(b"{}<"))
_next_in_link = scanner(marks(b"{}<[]"))
