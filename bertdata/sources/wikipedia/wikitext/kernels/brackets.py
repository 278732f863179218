"""The second pass over wikitext, compiled: braces, brackets and tables. The readable twin is `brackets`.

`out` is written and, where a construct closes, taken back to where it opened. The kernel knows by name what most calls
and links leave: nothing, a fixed text, one argument. For any other it stops and returns ASK_CALL or ASK_LINK,
with the pieces still standing in the buffers; GROW where a buffer is too small; VARIANTS at the first `-{`.
"""

from __future__ import annotations

from bertdata.kernels.jit import inlined
from bertdata.sources.wikipedia.wikitext.kernels.common import HOLE, NEWLINE, Bytes, Int, Ints, copy, find
from bertdata.sources.wikipedia.wikitext.kernels.frames import (
    BARS,
    BARS_BEFORE,
    BASE,
    BEGIN,
    BRACES,
    CALL,
    DEPTH,
    END,
    FIRST_BAR,
    IN_OUT,
    KIND,
    LAST_BAR,
    LINK,
    PENDING,
    PLAIN_VARIANTS,
    READ,
    WIKI_TABLE,
    WRITTEN,
    drop_frame,
    push,
    unwind,
)
from bertdata.sources.wikipedia.wikitext.kernels.skip import (
    IN_CALL,
    IN_LINK,
    IN_TABLE,
    call_leaves_nothing,
    end_of_dropped,
    link_leaves_nothing,
)
from bertdata.sources.wikipedia.wikitext.kernels.template_calls import write_call_text, write_hole, write_link
from bertdata.sources.wikipedia.wikitext.kernels.tokens import (
    INDENT,
    closes_a_call,
    end_of_block_tag,
    end_of_piece,
    end_of_plain,
    end_of_simple_call,
    run_of,
)
from bertdata.sources.wikipedia.wikitext.reference.brackets import MAX_DEPTH

DONE, ASK_CALL, ASK_LINK, GROW, VARIANTS = range(5)


@inlined
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
        begin = i
        i = end_of_plain(text, i, size, state)
        if i > begin:
            if out.size - n < i - begin + 128:
                state[READ], state[WRITTEN] = begin, n
                return GROW
            n = copy(text, begin, i, out, n)
        if i >= size:
            break
        byte = text[i]
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
            run = run_of(text, i, size)
            end = end_of_simple_call(text, i + 2, size) if run == 2 else -1
            if end < 0:
                if run == 2 and call_leaves_nothing(text, i + 2, size, table, blob, scratch):
                    end = end_of_dropped(text, i + 2, size, IN_CALL, state, scratch)
                    if end >= 0:
                        n = write_hole(out, n)
                        i = end
                        continue
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
                state[PENDING] = run_of(text, i, size)
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
            bar = end_of_piece(text, i + 2, size)
            end = bar
            if end < size and text[end] == 124:
                end = end_of_piece(text, end + 1, size)
            if not (end + 1 < size and text[end] == 93 and text[end + 1] == 93):
                if depth < MAX_DEPTH and link_leaves_nothing(text, i + 2, bar, table, blob, scratch):
                    end = end_of_dropped(text, i + 2, size, IN_LINK, state, scratch)
                    if end >= 0:
                        n = write_hole(out, n)
                        i = end
                        continue
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
            while k < size and INDENT[text[k]]:
                k += 1
            out[n] = NEWLINE
            if k + 1 < size and text[k] == 123 and text[k + 1] == 124:
                end = end_of_dropped(text, k + 2, size, IN_TABLE, state, scratch)
                if end >= 0:
                    out[n + 1], out[n + 2] = NEWLINE, HOLE
                    n += 3
                    i = end
                    continue
                n = push(state, frames, WIKI_TABLE, 0, out, n + 1)
                i = k + 2
            elif k + 1 < size and text[k] == 124 and text[k + 1] == 125 and not closes_a_call(text, k + 2, size):
                n = _close_block(out, n, frames, state, WIKI_TABLE)
                i = k + 2
            else:
                n += 1
                i += 1
        else:  # <
            end = end_of_block_tag(text, i, size, scratch, state)
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


@inlined
def _close_block(out: Bytes, n: int, frames: Ints, state: Ints, kind: int) -> Int:
    if not unwind(state, frames, kind):
        return n
    n = frames[state[DEPTH] - 1, BASE]
    drop_frame(state, frames)
    out[n], out[n + 1] = NEWLINE, HOLE
    return n + 2


@inlined
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


@inlined
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
