"""The second pass over wikitext, compiled: braces, brackets and tables. The readable twin is `brackets`.

`out` is written and, where a construct closes, taken back to where it opened. The kernel knows by name what most calls
and links leave: nothing, a fixed text, one argument. For any other it stops and returns ASK_CALL or ASK_LINK,
with the pieces still standing in the buffers; GROW where a buffer is too small; VARIANTS at the first `-{`.
"""

from __future__ import annotations

from bertdata.compiled import inner
from bertdata.wikipedia.kernel import (
    HOLE,
    NEWLINE,
    Bytes,
    Int,
    Ints,
    copy,
    find,
    is_space,
    marks,
    scanner,
    tag_name,
)
from bertdata.wikipedia.kernel_calls import write_call_text, write_hole, write_link
from bertdata.wikipedia.kernel_frames import (
    BARS,
    BARS_BEFORE,
    BASE,
    BEGIN,
    BRACES,
    CALL,
    DEPTH,
    DL,
    END,
    FIRST_BAR,
    IN_OUT,
    KIND,
    LAST_BAR,
    LINK,
    OL,
    PENDING,
    PLAIN_VARIANTS,
    READ,
    TABLE,
    UL,
    WIKI_TABLE,
    WRITTEN,
    drop_frame,
    push,
    unwind,
)

DONE, ASK_CALL, ASK_LINK, GROW, VARIANTS = range(5)
MAX_DEPTH = 100


@inner
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
            if not unwind(state, frames, CALL):
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
            i = _next_special(text, i + 1, size)
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
                n = push(state, frames, CALL, run, out, n)
                i += run
                continue
            if out.size - n < end - i + 128:
                state[READ], state[WRITTEN] = i, n
                return GROW
            bar = find(text, i + 2, end, 124)
            action = write_call_text(text, i + 2, bar, end, -1, out, n, state, table, blob, scratch)
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
                n = push(state, frames, LINK, 0, out, n)
                i += 2
                continue
            if out.size - n < 5 * (end - i) + 128:
                state[READ], state[WRITTEN] = i, n
                return GROW
            written = write_link(
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
            if depth and frames[depth - 1, KIND] == LINK:
                end = n
                n = _close_link(out, n, frames, bars, state, table, blob, scratch)
                if n < 0:
                    state[READ], state[WRITTEN], state[IN_OUT], state[END] = i, -n - 1, 1, end
                    return ASK_LINK
        elif byte == 124:  # |
            if depth and frames[depth - 1, KIND] <= LINK:
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
                n = push(state, frames, WIKI_TABLE, 0, out, n + 1)
                i = k + 2
            elif k + 1 < size and text[k] == 124 and text[k + 1] == 125 and not _closes_a_call(text, k + 2, size):
                n = _close_block(out, n, frames, state, WIKI_TABLE)
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
                    n = push(state, frames, kind, 0, out, n)
                i = end
    state[READ], state[WRITTEN] = i, n
    return DONE


@inner
def _run(text: Bytes, begin: int, size: int) -> Int:
    """Return how often the byte at `begin` is repeated."""
    end = begin + 1
    while end < size and text[end] == text[begin]:
        end += 1
    return end - begin


@inner
def _end_of_simple_call(text: Bytes, begin: int, size: int) -> Int:
    """Return where the closing braces stand of a call without any bracket inside, -1 where it has one or no name."""
    i = _next_bracket(text, begin, size)
    closed = i + 1 < size and text[i] == 125 and text[i + 1] == 125
    return i if closed and i > begin and text[begin] != 124 else -1


@inner
def _end_of_piece(text: Bytes, begin: int, size: int) -> Int:
    """Return where the piece of a link that begins here ends: at a bar, a bracket or a line end."""
    return _next_in_link(text, begin, size)


@inner
def _closes_a_call(text: Bytes, k: int, size: int) -> bool:
    """Tell whether after "|}" comes one more "}", but not two: an empty last argument and not the end of a table."""
    return k < size and text[k] == 125 and not (k + 1 < size and text[k + 1] == 125)


@inner
def _end_of_block_tag(text: Bytes, begin: int, size: int, scratch: Bytes, state: Ints) -> Int:
    """Return where a tag of a table or list ends, its kind in state[BEGIN]; -1 for other tags, -2 for a `-{` inside."""
    i = begin + 1
    if i < size and text[i] == 47:
        i += 1
    length = tag_name(text, i, size, scratch)
    kind = -1
    if length == 2 and scratch[1] == 108:
        kind = UL if scratch[0] == 117 else OL if scratch[0] == 111 else DL if scratch[0] == 100 else -1
    elif length == 5 and scratch[0] == 116 and scratch[1] == 97 and scratch[2] == 98 and scratch[3] == 108:
        kind = TABLE if scratch[4] == 101 else -1
    i += length
    if kind < 0 or i >= size or not (is_space(text[i]) or text[i] == 47 or text[i] == 62):
        return -1
    while i < size and text[i] != 60 and text[i] != 62:
        if text[i] == 123 and text[i - 1] == 45 and state[PLAIN_VARIANTS] == 0:
            return -2
        i += 1
    state[BEGIN] = kind
    return i + 1 if i < size and text[i] == 62 else -1


@inner
def _close_block(out: Bytes, n: int, frames: Ints, state: Ints, kind: int) -> Int:
    if not unwind(state, frames, kind):
        return n
    n = frames[state[DEPTH] - 1, BASE]
    drop_frame(state, frames)
    out[n], out[n + 1] = NEWLINE, HOLE
    return n + 2


@inner
def _close_braces(
    out: Bytes, n: int, frames: Ints, bars: Ints, state: Ints, table: Ints, blob: Bytes, scratch: Bytes
) -> Int:
    """Match closing braces with the top frame: three make a parameter, two a call; -1 - n where Python is asked."""
    depth = state[DEPTH]
    base, braces, first = frames[depth - 1, BASE], frames[depth - 1, BRACES], frames[depth - 1, BARS_BEFORE]
    last = state[BARS]
    used = 3 if state[PENDING] >= 3 and braces >= 3 else 2
    begin, end = base + 1, n
    if depth > MAX_DEPTH:
        last, end = first, begin
    state[PENDING] -= used
    frames[depth - 1, BRACES] = braces - used
    state[BARS] = first
    n = begin
    if braces - used < 2:
        drop_frame(state, frames)
        n = base
    head_end = bars[first] if last > first else end
    if used == 3:
        if last == first:
            return write_hole(out, n)
        return copy(out, head_end + 1, bars[first + 1] if last > first + 1 else end, out, n)
    written = write_call_text(out, begin, head_end, end, last - first, out, n, state, table, blob, scratch)
    if written < 0:
        state[BEGIN], state[FIRST_BAR], state[LAST_BAR] = begin, first, last
        return -1 - n
    return written


@inner
def _close_link(
    out: Bytes, n: int, frames: Ints, bars: Ints, state: Ints, table: Ints, blob: Bytes, scratch: Bytes
) -> Int:
    """Write the text of the link on top; -1 - n where Python is asked."""
    depth = state[DEPTH]
    base, first, last = frames[depth - 1, BASE], frames[depth - 1, BARS_BEFORE], state[BARS]
    begin, end = base + 1, n
    drop_frame(state, frames)
    if depth > MAX_DEPTH:
        return base
    bar = bars[first] if last > first else end
    written = write_link(
        out, begin, bar, min(bar + 1, end), end, bar < end, out, base, depth - 1, True, table, blob, scratch
    )
    if written < 0:
        state[BEGIN], state[FIRST_BAR], state[LAST_BAR] = begin, first, last
        return -1 - base
    return written


_SPECIAL = marks(b"{}[]|\n<")
_next_special = scanner(_SPECIAL)
_next_bracket = scanner(marks(b"{}[]"))
_next_in_link = scanner(marks(b"{}[]|\n"))
_INDENT = marks(b" \t:*#\x7f")
