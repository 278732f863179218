"""The second pass over wikitext, compiled: braces, brackets and tables. The reference is `reference/brackets`.

`out` is written and, where a construct closes, taken back to where it opened. The kernel knows by name what most
template calls and links leave: nothing, a fixed text, one argument. For any other it stops and returns ASK_CALL or
ASK_LINK, with the parts still in the buffers; GROW_BRACKETS where a buffer is too small.
"""

from __future__ import annotations

from bertdata.kernels import characters as char
from bertdata.kernels.characters import Bytes, Int
from bertdata.kernels.copying import copy
from bertdata.kernels.jit import inlined
from bertdata.wikitext import rules
from bertdata.wikitext.kernels import buffers, common, skip, walk
from bertdata.wikitext.kernels.common import ASK_CALL, ASK_LINK, DONE, GROW_BRACKETS, Ints
from bertdata.wikitext.kernels.template_calls import write_call_text, write_link

# the longest template call or link, without others inside, that is read where it is; what it writes has room
_LONGEST = 1 << 12
ROOM = 2 * _LONGEST


@inlined
def brackets_kernel(
    text: Bytes, size: int, out: Bytes, frames: Ints, bars: Ints, state: Ints, table: Ints, blob: Bytes, scratch: Bytes
) -> Int:
    """Copy text[:size] to out with its brackets resolved; returns DONE or what it needs."""
    i, n = state[walk.READ], state[walk.WRITTEN]
    while True:
        # what is read up to i is written up to n, so the kernel can stop here and go on
        state[walk.READ], state[walk.WRITTEN] = i, n
        if out.size - n < ROOM or bars.size - state[walk.BARS] < ROOM or state[walk.DEPTH] >= frames.shape[0]:
            return GROW_BRACKETS
        # closing braces that were read: two or three close the innermost call or parameter, the others the next
        if state[walk.PENDING] >= 2:
            if not walk.unwind(state, frames, walk.CALL):
                state[walk.PENDING] = 0
                continue
            n, parameter = _close_braces(n, frames, bars, state)
            if parameter:
                n = _write_parameter(bars, out, n, state)
                continue
            after = size if state[walk.PENDING] >= 2 else i
            written = write_call_text(out, bars, out, n, state, table, blob, scratch, text, after, size)
            if written < 0:
                state[walk.WRITTEN] = n
                return ASK_CALL
            n = written
            continue
        begin = i
        i = walk.end_of_plain(text, i, size, state)
        if out.size - n < i - begin + ROOM:
            return GROW_BRACKETS
        n = copy(text, begin, i, out, n)
        if i + 1 >= size:
            n = copy(text, i, size, out, n)
            break
        byte = text[i]
        depth, first_bar = state[walk.DEPTH], state[walk.BARS]
        if byte == char.LEFT_BRACE:
            run = walk.run_of(text, i, size)
            end = _end_of_simple_call(text, i + 2, size) if run == 2 else -1
            # a call with brackets inside leaves nothing, or waits on the stack for its closing braces
            if end < 0:
                if run == 2:
                    end = skip.end_of_dropped_call(text, i + 2, size, out, n, state, table, blob, scratch)
                if end >= 0:
                    n = common.write_placeholder(out, n)
                    i = end
                else:
                    n = walk.push(state, frames, walk.CALL, run, out, n)
                    i += run
                continue
            in_call = depth and frames[depth - 1, walk.KIND] == walk.CALL
            if end == i + 3 and text[i + 2] == char.EXCLAMATION_MARK:
                if in_call:
                    out[n] = char.BAR
                    n += 1
                else:
                    n = _write_bar(out, n, bars, frames, state)
                i = end + 2
                continue
            last_bar, bar = first_bar, buffers.find(text, i + 2, end, char.BAR)
            while bar < end:
                bars[last_bar] = bar
                last_bar, bar = last_bar + 1, buffers.find(text, bar + 1, end, char.BAR)
            walk.set_construct(state, False, i + 2, end, first_bar, last_bar)
            i = end + 2
            written = write_call_text(text, bars, out, n, state, table, blob, scratch, text, i, size)
            if written < 0:
                state[walk.READ], state[walk.WRITTEN] = i, n
                return ASK_CALL
            n = written
        elif byte == char.RIGHT_BRACE:
            state[walk.PENDING] = walk.run_of(text, i, size)
            i += state[walk.PENDING]
        elif byte == char.LEFT_BRACKET:
            limit = min(size, i + _LONGEST)
            bar = end = _next_in_link(text, i + 2, limit)
            bars[first_bar] = bar
            labelled = end < limit and text[end] == char.BAR
            if labelled:
                end = _next_in_link(text, end + 1, limit)
            # a link with brackets, line ends or another bar inside waits on the stack, unless it leaves nothing
            if not (end + 1 < size and text[end] == char.RIGHT_BRACKET and text[end + 1] == char.RIGHT_BRACKET):
                end = -1
                if depth < rules.MAX_DEPTH and skip.link_leaves_nothing(text, i + 2, bar, table, blob, scratch):
                    end = skip.end_of_dropped(text, i + 2, size, skip.IN_LINK, state, scratch)
                if end >= 0:
                    n = common.write_placeholder(out, n)
                    i = end
                else:
                    n = walk.push(state, frames, walk.LINK, 0, out, n)
                    i += 2
                continue
            walk.set_construct(state, False, i + 2, end, first_bar, first_bar + labelled)
            i = end + 2
            written = write_link(text, bars, out, n, state, table, blob, scratch)
            if written < 0:
                state[walk.READ], state[walk.WRITTEN] = i, n
                return ASK_LINK
            n = written
        elif byte == char.RIGHT_BRACKET:
            in_link = depth and frames[depth - 1, walk.KIND] == walk.LINK
            three = i + 2 < size and text[i + 2] == char.RIGHT_BRACKET
            if (three or not in_link) and walk.follows_single_bracket(text, i):
                out[n] = byte
                n += 1
                i += three
            i += 2
            if in_link:
                base = frames[depth - 1, walk.BASE]
                walk.set_construct(state, True, base + 1, n, frames[depth - 1, walk.BARS_BEFORE], first_bar)
                walk.pop(state, frames)
                n = base
                if depth > rules.MAX_DEPTH:
                    continue
                written = write_link(out, bars, out, n, state, table, blob, scratch)
                if written < 0:
                    state[walk.READ], state[walk.WRITTEN] = i, n
                    return ASK_LINK
                n = written
        elif byte == char.BAR:
            n = _write_bar(out, n, bars, frames, state)
            i += 1
        elif byte == char.NEWLINE:
            k, listed = i + 1, False
            while k < size and walk.INDENTS[text[k]]:
                listed = listed or _LIST_MARKS[text[k]] != 0
                k += 1
            out[n] = char.NEWLINE
            i += 1
            if k + 1 < size and text[k] == char.LEFT_BRACE and text[k + 1] == char.BAR:
                i = skip.end_of_dropped(text, k + 2, size, skip.IN_TABLE, state, scratch)
                if i >= 0:
                    n = _write_end_of_block(out, n + 1, listed)
                else:
                    n = walk.push(state, frames, walk.WIKI_TABLE, 1 if listed else 0, out, n + 1)
                    i = k + 2
            elif _closes_table(text, k, size):
                n = _close_block(out, n, frames, state, walk.WIKI_TABLE)
                i = k + 2
            else:
                n += 1
        else:  # <
            end = walk.end_of_block_tag(text, i, size, scratch, state)
            if end < 0:
                out[n] = byte
                n += 1
                end = i + 1
            elif text[i + 1] == char.SLASH:
                n = _close_block(out, n, frames, state, state[walk.BEGIN])
            else:
                n = walk.push(state, frames, state[walk.BEGIN], 0, out, n)
            i = end
    state[walk.READ], state[walk.WRITTEN] = size, n
    return DONE


@inlined
def _end_of_simple_call(text: Bytes, begin: int, size: int) -> Int:
    """Return where the closing braces are of a call without any bracket inside, -1 where it has one or no name."""
    i = _next_bracket(text, begin, min(size, begin + _LONGEST))
    closed = i + 1 < size and text[i] == char.RIGHT_BRACE and text[i + 1] == char.RIGHT_BRACE
    return i if closed and i > begin and text[begin] != char.BAR else -1


@inlined
def _closes_table(text: Bytes, k: int, size: int) -> bool:
    closing = k + 1 < size and text[k] == char.BAR and text[k + 1] == char.RIGHT_BRACE
    return closing and not walk.closes_call(text, k + 2, size)


@inlined
def _close_block(out: Bytes, n: int, frames: Ints, state: Ints, kind: int) -> Int:
    """Close a table or list, whose frame has in place of braces whether it is in a list."""
    if not walk.unwind(state, frames, kind):
        return n
    top = state[walk.DEPTH] - 1
    n, listed = frames[top, walk.BASE], frames[top, walk.BRACES] != 0
    walk.pop(state, frames)
    return _write_end_of_block(out, n, listed)


@inlined
def _write_end_of_block(out: Bytes, n: int, in_list: bool) -> Int:
    """Write what a table or list leaves; what follows on the line of its end is in the list that it is in."""
    out[n], out[n + 1] = char.NEWLINE, common.PLACEHOLDER
    if in_list:
        out[n + 1] = char.COLON
    return n + 2


@inlined
def _write_bar(out: Bytes, n: int, bars: Ints, frames: Ints, state: Ints) -> Int:
    """Write a bar, which parts the arguments of a call, and the target and the label of a link."""
    depth = state[walk.DEPTH]
    if depth and frames[depth - 1, walk.KIND] <= walk.LINK:
        bars[state[walk.BARS]] = n
        state[walk.BARS] += 1
    out[n] = char.BAR
    return n + 1


@inlined
def _close_braces(n: int, frames: Ints, bars: Ints, state: Ints) -> tuple[Int, bool]:
    """Match closing braces with the top frame; returns where its text goes, and if three braces make it a parameter."""
    depth = state[walk.DEPTH]
    base, braces = frames[depth - 1, walk.BASE], frames[depth - 1, walk.BRACES]
    first, last, end = frames[depth - 1, walk.BARS_BEFORE], state[walk.BARS], n
    used = 3 if state[walk.PENDING] >= 3 and braces >= 3 else 2
    if depth > rules.MAX_DEPTH:
        last, end = first, base + 1
    walk.set_construct(state, True, base + 1, end, first, last)
    state[walk.PENDING] -= used
    frames[depth - 1, walk.BRACES] = braces - used
    state[walk.BARS] = first
    n = base + 1
    if braces - used < 2:
        walk.pop(state, frames)
        n = base
    return n, used == 3


@inlined
def _write_parameter(bars: Ints, out: Bytes, n: int, state: Ints) -> Int:
    """Write the default of a parameter."""
    if state[walk.FIRST_BAR] == state[walk.LAST_BAR]:
        return common.write_placeholder(out, n)
    begin, end = walk.argument(bars, state, state[walk.FIRST_BAR])
    return copy(out, begin, end, out, n)


_LIST_MARKS = buffers.flags(rules.LIST_MARKS.encode())
_next_bracket = buffers.scanner(b"{}[]")
_next_in_link = buffers.scanner(b"{}[]|\n")
