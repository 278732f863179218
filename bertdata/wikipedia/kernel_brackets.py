"""The second pass over wikitext, compiled: braces, brackets and tables. The readable twin is `brackets`.

`out` is written and, where a construct closes, taken back to where it opened. The kernel knows by name what most calls
and links leave: nothing, a fixed text, one argument. For any other it stops and returns ASK_CALL or ASK_LINK,
with the pieces still standing in the buffers; GROW where a buffer is too small; VARIANTS at the first `-{`.
"""

# ruff: noqa: PLR1714, SIM109  (numba compiles comparisons and loops well, sets and generators not)

from __future__ import annotations

import numpy as np

from bertdata.compiled import compiled
from bertdata.wikipedia.kernel import (
    CODE,
    FUNCTION,
    HOLE,
    LONGEST_NAME,
    NEWLINE,
    PREFIX,
    SPACE,
    TEMPLATE,
    VALUE_BEGIN,
    VALUE_END,
    Bytes,
    Int,
    Ints,
    copy,
    find,
    hole_fits,
    is_space,
    lookup,
    tag_name,
)

DONE, ASK_CALL, ASK_LINK, GROW, VARIANTS = range(5)
# the state: where to read on, how much is written, how many frames and bars there are, closing braces not yet matched,
# whether marks may be left, why the page is no article, whether `-{` is plain text; of what Python is asked for:
# whether it stands in `out`, where it begins and ends, where its bars are; then how many of each kind are open
READ, WRITTEN, DEPTH, BARS, PENDING, ORPHANS, REASON, PLAIN_VARIANTS, IN_OUT = range(9)
BEGIN, END, FIRST_BAR, LAST_BAR = range(9, 13)
OPEN = 13
_TEMPLATE, _LINK, _WIKI_TABLE, _TABLE, _UL, _OL, _DL = range(7)
STATE_SIZE = OPEN + 7
# a frame: its kind, where its mark stands, its opening braces, how many bars there were
_KIND, _BASE, _BRACES, _BARS_BEFORE = range(4)
MAX_DEPTH = 100
_COLON = -2
# what a call leaves: Python is asked, a fixed text, one of its arguments, a hole that tells why this is no article
ASKED, LITERAL, KEPT, NO_ARTICLE = range(4)


@compiled
def brackets_kernel(
    text: Bytes, size: int, out: Bytes, frames: Ints, bars: Ints, state: Ints, table: Ints, blob: Bytes, scratch: Bytes
) -> Int:
    """Copy text[:size] to out with its brackets resolved; returns DONE, ASK_CALL, ASK_LINK, GROW or VARIANTS."""
    i, n = state[READ], state[WRITTEN]
    while True:
        if out.size - n < 128 or state[DEPTH] >= frames.shape[0] or state[BARS] + 1 >= bars.size:
            state[READ], state[WRITTEN] = i, n
            return GROW
        if state[PENDING] >= 2:
            if not _unwind(state, frames, _TEMPLATE):
                state[PENDING] = 0
                continue
            end = n
            n = _close_braces(out, n, frames, bars, state, table, blob, scratch)
            if n < 0:
                state[READ], state[WRITTEN], state[IN_OUT], state[END] = i, -n - 1, 1, end
                return ASK_CALL
            continue
        if i >= size:
            break
        byte = text[i]
        if _SPECIAL[byte] == 0:
            begin = i
            i += 1
            while i < size and _SPECIAL[text[i]] == 0:
                i += 1
            if out.size - n < i - begin + 128:
                state[READ], state[WRITTEN] = begin, n
                return GROW
            n = copy(text, begin, i, out, n)
            continue
        following = text[i + 1] if i + 1 < size else 0
        depth = state[DEPTH]
        if byte == 123:  # {
            if following != 123:
                if state[PLAIN_VARIANTS] == 0 and i > 0 and text[i - 1] == 45:
                    return VARIANTS
                out[n] = byte
                n += 1
                i += 1
                continue
            run = _run(text, i, size)
            end = _end_of_simple_call(text, i + 2, size) if run == 2 else -1
            if end < 0:
                n = _push(state, frames, _TEMPLATE, run, out, n)
                i += run
                continue
            if out.size - n < end - i + 128:
                state[READ], state[WRITTEN] = i, n
                return GROW
            bar = find(text, i + 2, end, 124)
            action = _call(text, i + 2, bar, end, -1, out, n, state, table, blob, scratch)
            if action < 0:
                state[READ], state[WRITTEN], state[IN_OUT], state[BEGIN], state[END] = end + 2, n, 0, i + 2, end
                return ASK_CALL
            n = action
            i = end + 2
        elif byte == 125:  # }
            if following == 125:
                state[PENDING] = _run(text, i, size)
                i += state[PENDING]
            else:
                out[n] = byte
                n += 1
                i += 1
        elif byte == 91:  # [
            if following != 91:
                out[n] = byte
                n += 1
                i += 1
                continue
            bar = _end_of_piece(text, i + 2, size)
            end = bar
            if end < size and text[end] == 124:
                end = _end_of_piece(text, end + 1, size)
            if not (end + 1 < size and text[end] == 93 and text[end + 1] == 93):
                n = _push(state, frames, _LINK, 0, out, n)
                i += 2
                continue
            if out.size - n < 5 * (end - i) + 128:
                state[READ], state[WRITTEN] = i, n
                return GROW
            written = _link(
                text, i + 2, bar, min(bar + 1, end), end, bar < end, out, n, depth, False, table, blob, scratch
            )
            if written < 0:
                state[READ], state[WRITTEN], state[IN_OUT], state[BEGIN], state[END] = end + 2, n, 0, i + 2, end
                return ASK_LINK
            n = written
            i = end + 2
        elif byte == 93:  # ]
            if following != 93:
                out[n] = byte
                n += 1
                i += 1
                continue
            i += 2
            if depth and frames[depth - 1, _KIND] == _LINK:
                end = n
                n = _close_link(out, n, frames, bars, state, table, blob, scratch)
                if n < 0:
                    state[READ], state[WRITTEN], state[IN_OUT], state[END] = i, -n - 1, 1, end
                    return ASK_LINK
        elif byte == 124:  # |
            if depth and frames[depth - 1, _KIND] <= _LINK:
                bars[state[BARS]] = n
                state[BARS] += 1
            out[n] = byte
            n += 1
            i += 1
        elif byte == NEWLINE:
            k = i + 1
            while k < size and _INDENT[text[k]]:
                k += 1
            out[n] = NEWLINE
            if k + 1 < size and text[k] == 123 and text[k + 1] == 124:
                n = _push(state, frames, _WIKI_TABLE, 0, out, n + 1)
                i = k + 2
            elif k + 1 < size and text[k] == 124 and text[k + 1] == 125 and not _closes_a_call(text, k + 2, size):
                n = _close_block(out, n, frames, state, _WIKI_TABLE)
                i = k + 2
            else:
                n += 1
                i += 1
        else:  # <
            end = _end_of_block_tag(text, i, size, scratch, state)
            if end < 0:
                if end == -2:
                    return VARIANTS
                out[n] = byte
                n += 1
                i += 1
            else:
                kind = state[BEGIN]
                if text[i + 1] == 47:
                    n = _close_block(out, n, frames, state, kind)
                else:
                    n = _push(state, frames, kind, 0, out, n)
                i = end
    state[READ], state[WRITTEN] = i, n
    return DONE


@compiled
def _run(text: Bytes, begin: int, size: int) -> Int:
    """Return how often the byte at `begin` is repeated."""
    end = begin + 1
    while end < size and text[end] == text[begin]:
        end += 1
    return end - begin


@compiled
def _end_of_simple_call(text: Bytes, begin: int, size: int) -> Int:
    """Return where the closing braces stand of a call without any bracket inside, -1 where it has one or no name."""
    i = begin
    while i < size and _BRACKET[text[i]] == 0:
        i += 1
    closed = i + 1 < size and text[i] == 125 and text[i + 1] == 125
    return i if closed and i > begin and text[begin] != 124 else -1


@compiled
def _end_of_piece(text: Bytes, begin: int, size: int) -> Int:
    """Return where the piece of a link that begins here ends: at a bar, a bracket or a line end."""
    i = begin
    while i < size and (_SPECIAL[text[i]] == 0 or text[i] == 60):
        i += 1
    return i


@compiled
def _closes_a_call(text: Bytes, k: int, size: int) -> bool:
    """Tell whether after "|}" comes one more "}", but not two: an empty last argument and not the end of a table."""
    return k < size and text[k] == 125 and not (k + 1 < size and text[k + 1] == 125)


@compiled
def _end_of_block_tag(text: Bytes, begin: int, size: int, scratch: Bytes, state: Ints) -> Int:
    """Return where a tag of a table or list ends, its kind in state[BEGIN]; -1 for other tags, -2 for a `-{` inside."""
    i = begin + 1
    if i < size and text[i] == 47:
        i += 1
    length = tag_name(text, i, size, scratch)
    kind = -1
    if length == 2 and scratch[1] == 108:
        kind = _UL if scratch[0] == 117 else _OL if scratch[0] == 111 else _DL if scratch[0] == 100 else -1
    elif length == 5 and scratch[0] == 116 and scratch[1] == 97 and scratch[2] == 98 and scratch[3] == 108:
        kind = _TABLE if scratch[4] == 101 else -1
    i += length
    if kind < 0 or i >= size or not (is_space(text[i]) or text[i] == 47 or text[i] == 62):
        return -1
    while i < size and text[i] != 60 and text[i] != 62:
        if text[i] == 123 and text[i - 1] == 45 and state[PLAIN_VARIANTS] == 0:
            return -2
        i += 1
    state[BEGIN] = kind
    return i + 1 if i < size and text[i] == 62 else -1


@compiled
def _push(state: Ints, frames: Ints, kind: int, braces: int, out: Bytes, n: int) -> Int:
    depth = state[DEPTH]
    frames[depth, _KIND], frames[depth, _BASE], frames[depth, _BRACES] = kind, n, braces
    frames[depth, _BARS_BEFORE] = state[BARS]
    state[DEPTH] = depth + 1
    state[OPEN + kind] += 1
    out[n] = 1 if kind == _TEMPLATE else 3 if kind == _LINK else 2
    return n + 1


@compiled
def _drop_frame(state: Ints, frames: Ints) -> None:
    depth = state[DEPTH] - 1
    state[DEPTH] = depth
    state[OPEN + frames[depth, _KIND]] -= 1
    state[BARS] = frames[depth, _BARS_BEFORE]


@compiled
def _unwind(state: Ints, frames: Ints, kind: int) -> bool:
    """Make the innermost open construct of this kind the top frame; what stands above it is unclosed."""
    if state[OPEN + kind] == 0:
        return False
    while frames[state[DEPTH] - 1, _KIND] != kind:
        _drop_frame(state, frames)
        state[ORPHANS] = 1
    return True


@compiled
def _close_block(out: Bytes, n: int, frames: Ints, state: Ints, kind: int) -> Int:
    if not _unwind(state, frames, kind):
        return n
    n = frames[state[DEPTH] - 1, _BASE]
    _drop_frame(state, frames)
    out[n], out[n + 1] = NEWLINE, HOLE
    return n + 2


@compiled
def _close_braces(
    out: Bytes, n: int, frames: Ints, bars: Ints, state: Ints, table: Ints, blob: Bytes, scratch: Bytes
) -> Int:
    """Match closing braces with the top frame: three make a parameter, two a call; -1 - n where Python is asked."""
    depth = state[DEPTH]
    base, braces, first = frames[depth - 1, _BASE], frames[depth - 1, _BRACES], frames[depth - 1, _BARS_BEFORE]
    last = state[BARS]
    used = 3 if state[PENDING] >= 3 and braces >= 3 else 2
    begin, end = base + 1, n
    if depth > MAX_DEPTH:
        last, end = first, begin
    state[PENDING] -= used
    frames[depth - 1, _BRACES] = braces - used
    state[BARS] = first
    n = begin
    if braces - used < 2:
        _drop_frame(state, frames)
        n = base
    head_end = bars[first] if last > first else end
    if used == 3:
        if last == first:
            return _write_hole(out, n)
        return copy(out, head_end + 1, bars[first + 1] if last > first + 1 else end, out, n)
    written = _call(out, begin, head_end, end, last - first, out, n, state, table, blob, scratch)
    if written < 0:
        state[BEGIN], state[FIRST_BAR], state[LAST_BAR] = begin, first, last
        return -1 - n
    return written


@compiled
def _close_link(
    out: Bytes, n: int, frames: Ints, bars: Ints, state: Ints, table: Ints, blob: Bytes, scratch: Bytes
) -> Int:
    """Write the text of the link on top; -1 - n where Python is asked."""
    depth = state[DEPTH]
    base, first, last = frames[depth - 1, _BASE], frames[depth - 1, _BARS_BEFORE], state[BARS]
    begin, end = base + 1, n
    _drop_frame(state, frames)
    if depth > MAX_DEPTH:
        return base
    bar = bars[first] if last > first else end
    written = _link(
        out, begin, bar, min(bar + 1, end), end, bar < end, out, base, depth - 1, True, table, blob, scratch
    )
    if written < 0:
        state[BEGIN], state[FIRST_BAR], state[LAST_BAR] = begin, first, last
        return -1 - base
    return written


@compiled
def _write_hole(out: Bytes, n: int) -> Int:
    if hole_fits(out, 0, n):
        out[n] = HOLE
        return n + 1
    return n


@compiled
def _call(
    source: Bytes, begin: int, head_end: int, end: int, count: int,
    out: Bytes, n: int, state: Ints, table: Ints, blob: Bytes, scratch: Bytes,
) -> Int:  # fmt: skip
    """Write what a call leaves, given its head and all of it, and how many bars part it; -1 where Python is asked."""
    length = _fold_name(source, begin, head_end, scratch)
    if length == _COLON:
        length = _fold_prefix(source, begin, find(source, begin, head_end, 58), scratch)
        known = length >= 0 and lookup(table, blob, FUNCTION, scratch, 0, length) >= 0
        return -1 if known else _write_hole(out, n)
    row = lookup(table, blob, TEMPLATE, scratch, 0, length) if length >= 0 else -1
    if row < 0:
        prefix = length >= 5 and scratch[0] == 108 and scratch[1] == 97 and scratch[2] == 110 and scratch[3] == 103
        return -1 if prefix and scratch[4] == 45 else _write_hole(out, n)
    code = table[row, CODE] & 3
    if code == LITERAL:
        return copy(blob, table[row, VALUE_BEGIN], table[row, VALUE_END], out, n)
    if code == KEPT:
        return _keep(source, head_end, end, count, table[row, CODE] >> 2, out, n)
    if code == NO_ARTICLE:
        if state[DEPTH] == 0 and state[REASON] == 0:
            state[REASON] = table[row, CODE] >> 2
        return _write_hole(out, n)
    return -1


@compiled
def _keep(source: Bytes, begin: int, end: int, count: int, wanted: int, out: Bytes, n: int) -> Int:
    """Write one of the arguments that begin with the bar at `begin`; -1 if it is blank, or one has a name."""
    bars, first, last = 0, end, end
    for i in range(begin, end):
        if source[i] == 61:
            return -1
        if source[i] == 124:
            bars += 1
            if bars == wanted:
                first = i + 1
            elif bars == wanted + 1:
                last = i
    if bars < wanted or (count >= 0 and bars != count):
        return -1
    for i in range(first, last):
        byte = source[i]
        if 32 < byte < 127 or (byte > 0xC2 and (byte < 0xE1 or byte > 0xE3)):
            return copy(source, first, last, out, n)
    return -1


@compiled
def _fold_name(source: Bytes, begin: int, end: int, scratch: Bytes) -> Int:
    """Write a folded template name to scratch; returns its length, -1 if it is too long, _COLON if it has a colon."""
    while begin < end and _EDGE[source[begin]]:
        begin += 1
    while end > begin and _EDGE[source[end - 1]]:
        end -= 1
    length, gap = 0, False
    for i in range(begin, end):
        byte = source[i]
        if byte == 58:
            return _COLON
        if byte == SPACE or byte == 95 or byte == 9 or byte == NEWLINE:
            gap = length > 0
            continue
        if length + 2 > LONGEST_NAME:
            return _COLON if find(source, i, end, 58) < end else -1
        if gap:
            scratch[length] = SPACE
            length += 1
            gap = False
        scratch[length] = byte + 32 if 65 <= byte <= 90 else byte
        length += 1
    return length


@compiled
def _link(
    source: Bytes, begin: int, end: int, label: int, label_end: int, has_label: bool,
    out: Bytes, n: int, depth: int, inside: bool, table: Ints, blob: Bytes, scratch: Bytes,
) -> Int:  # fmt: skip
    """Write the text of a link, given its target and label; -1 where Python is asked. `inside`: source is out."""
    colon = find(source, begin, end, 58)
    target = begin
    if colon < end:
        length = _fold_prefix(source, begin, colon, scratch)
        if length >= 0 and lookup(table, blob, PREFIX, scratch, 0, length) >= 0:
            return _write_hole(out, n)
        if length == 0:
            target = colon + 1
    if inside and find(source, target, end, NEWLINE) < end:
        n = copy(source, target, end, out, n)
        if has_label:
            out[n] = 124
            n = copy(source, label, label_end, out, n + 1)
        return n
    if has_label:
        target, end = label, label_end
    else:
        while target < end and (source[target] == SPACE or source[target] == 9):
            target += 1
        while end > target and (source[end - 1] == SPACE or source[end - 1] == 9):
            end -= 1
    if target >= end:
        return -1
    equals = depth > 0 and find(source, target, end, 61) < end
    first = source[target]
    marked = _LINE_MARKUP[first]
    if not equals and not marked:
        return copy(source, target, end, out, n)
    if inside:
        return -1
    for i in range(target, end):
        byte = source[i]
        if (i == target and marked) or (equals and byte == 61):
            if i == target and byte == 61 and equals:
                return -1
            out[n], out[n + 1] = 38, 35
            if byte >= 100:
                out[n + 2], out[n + 3], out[n + 4] = 49, 50, 52
                n += 5
            else:
                out[n + 2], out[n + 3] = 48 + byte // 10, 48 + byte % 10
                n += 4
            out[n] = 59
        else:
            out[n] = byte
        n += 1
    return n


@compiled
def _fold_prefix(source: Bytes, begin: int, end: int, scratch: Bytes) -> Int:
    """Write a folded link prefix to scratch; returns its length, -1 if it is too long."""
    while begin < end and (_EDGE[source[begin]] or source[begin] == 95):
        begin += 1
    while end > begin and (_EDGE[source[end - 1]] or source[end - 1] == 95):
        end -= 1
    if end - begin > LONGEST_NAME:
        return -1
    for i in range(begin, end):
        byte = source[i]
        scratch[i - begin] = SPACE if byte == 95 else byte + 32 if 65 <= byte <= 90 else byte
    return end - begin


def _marked(characters: bytes, size: int = 256) -> Bytes:
    table = np.zeros(size, np.uint8)
    table[list(characters)] = 1
    return table


_SPECIAL = _marked(b"{}[]|\n<")
_BRACKET = _marked(b"{}[]")
_INDENT = _marked(b" \t:*#\x7f")
_LINE_MARKUP = _marked(b"*#:;=|! ")
_EDGE = _marked(b" \t\n\x7f")
