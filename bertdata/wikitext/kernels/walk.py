"""The walk over brackets, compiled: its state, the stack of open constructs, and its tokens."""

from __future__ import annotations

import numpy as np

from bertdata.kernels import characters as char
from bertdata.kernels.characters import Bytes, Int
from bertdata.kernels.jit import inlined
from bertdata.wikitext import rules
from bertdata.wikitext.kernels import buffers, common
from bertdata.wikitext.kernels.common import Ints

# the state: where to read on, how much is written, the number of frames and of bars, closing braces not yet matched,
# whether marks may be left, why the page is not an article; of the template call or link whose text is being written:
# whether it is in `out`, where its inside begins and ends, where its bars are in `bars`; at the end, whether a template
# call that Python is asked for stands inside a sentence
READ, WRITTEN, DEPTH, BARS, PENDING, ORPHANS, REASON = range(7)
IN_OUT, BEGIN, END, FIRST_BAR, LAST_BAR = range(7, 12)
# then the number of open constructs of each kind
OPEN = 12
CALL, LINK, WIKI_TABLE, TABLE, UL, OL, DL = range(7)
# then the place before which no construct is skipped, and where each argument of a template call begins and ends
SKIPPING_FROM = OPEN + 7
MOST_ARGUMENTS = 12
LEFT = SKIPPING_FROM + 1
RIGHT = LEFT + MOST_ARGUMENTS
INSIDE = RIGHT + MOST_ARGUMENTS
STATE_SIZE = INSIDE + 1
# a frame: its kind, where its mark is, its opening braces, the number of bars before it
KIND, BASE, BRACES, BARS_BEFORE = range(4)


@inlined
def push(state: Ints, frames: Ints, kind: int, braces: int, out: Bytes, n: int) -> Int:
    """Open a construct: put its mark to out[n] and a frame on the stack; returns how much is written."""
    depth = state[DEPTH]
    frames[depth, KIND], frames[depth, BASE], frames[depth, BRACES] = kind, n, braces
    frames[depth, BARS_BEFORE] = state[BARS]
    state[DEPTH] = depth + 1
    state[OPEN + kind] += 1
    out[n] = _MARKS[min(kind, WIKI_TABLE)]
    return n + 1


@inlined
def pop(state: Ints, frames: Ints) -> None:
    """Take the top frame off the stack."""
    depth = state[DEPTH] - 1
    state[DEPTH] = depth
    state[OPEN + frames[depth, KIND]] -= 1
    state[BARS] = frames[depth, BARS_BEFORE]


@inlined
def unwind(state: Ints, frames: Ints, kind: int) -> bool:
    """Make the innermost open construct of this kind the top frame; the frames above it are unclosed."""
    if state[OPEN + kind] == 0:
        return False
    while frames[state[DEPTH] - 1, KIND] != kind:
        pop(state, frames)
        state[ORPHANS] = 1
    return True


@inlined
def end_of_plain(text: Bytes, i: int, size: int, state: Ints) -> Int:
    """Return where the next token may begin: single brackets, line ends before text and the like are plain text."""
    while True:
        i = _next_special(text, i, size)
        if i + 1 >= size:
            return i
        byte, following = text[i], text[i + 1]
        if byte == char.NEWLINE:
            token = _LINE_BEGINS_WITH[following]
        elif byte == char.BAR:
            token = state[DEPTH] > 0
        elif byte == char.LESS_THAN:
            token = _TAG_BEGINS_WITH[following]
        else:
            token = following == byte
        if token:
            return i
        i += 1


@inlined
def set_construct(state: Ints, in_out: bool, begin: int, end: int, first_bar: int, last_bar: int) -> None:
    """Note the template call or link whose text is written next."""
    state[IN_OUT], state[BEGIN], state[END] = in_out, begin, end
    state[FIRST_BAR], state[LAST_BAR] = first_bar, last_bar


@inlined
def argument(bars: Ints, state: Ints, k: int) -> tuple[Int, Int]:
    """Return the bounds of what is after a bar."""
    return bars[k] + 1, bars[k + 1] if k + 1 < state[LAST_BAR] else state[END]


@inlined
def run_of(text: Bytes, begin: int, size: int) -> Int:
    """Return how often the byte at `begin` is repeated."""
    end = begin + 1
    while end < size and text[end] == text[begin]:
        end += 1
    return end - begin


@inlined
def closes_single_bracket(text: Bytes, i: int, size: int) -> bool:
    """Tell whether the first of three closing brackets belongs to a single one (see `reference.brackets`)."""
    return bool(i + 2 < size and text[i + 2] == char.RIGHT_BRACKET and follows_single_bracket(text, i))


@inlined
def follows_single_bracket(text: Bytes, i: int) -> bool:
    """Tell whether the last bracket before `i` is a single opening one."""
    i -= 1
    while i >= 0 and text[i] != char.LEFT_BRACKET and text[i] != char.RIGHT_BRACKET:
        i -= 1
    return bool(i >= 0 and text[i] == char.LEFT_BRACKET and (i == 0 or text[i - 1] != char.LEFT_BRACKET))


@inlined
def closes_call(text: Bytes, k: int, size: int) -> bool:
    """Tell whether `|}` is followed by one more "}", but not two: the end of a template call, and not of a table."""
    return k < size and text[k] == char.RIGHT_BRACE and not (k + 1 < size and text[k + 1] == char.RIGHT_BRACE)


@inlined
def end_of_block_tag(text: Bytes, begin: int, size: int, scratch: Bytes, state: Ints) -> Int:
    """Return where a tag of a table or list ends, with its kind in state[BEGIN]; -1 for other tags."""
    i = begin + 1
    if i < size and text[i] == char.SLASH:
        i += 1
    length = common.tag_name(text, i, size, scratch)
    if common.is_word(scratch, 0, length, _TABLE):
        state[BEGIN] = TABLE
    elif common.is_word(scratch, 0, length, _UL):
        state[BEGIN] = UL
    elif common.is_word(scratch, 0, length, _OL):
        state[BEGIN] = OL
    elif common.is_word(scratch, 0, length, _DL):
        state[BEGIN] = DL
    else:
        return -1
    i += length
    if i >= size or not common.ends_name(text, i, size, char.SLASH):
        return -1
    i = common.end_of_tag(text, i, size)
    return i + 1 if i < size and text[i] == char.GREATER_THAN else -1


_MARKS = np.array([ord(mark) for mark in (rules.TEMPLATE_MARK, rules.LINK_MARK, rules.TABLE_MARK)], np.uint8)
_TABLE, _UL, _OL, _DL = map(common.word, ("table", "ul", "ol", "dl"))
INDENTS = buffers.flags(rules.INDENTS.encode())
_LINE_BEGINS_WITH = buffers.flags(rules.INDENTS.encode() + b"{|")
_TAG_BEGINS_WITH = buffers.flags(b"tTuUoOdD/")
_next_special = buffers.scanner(b"{}[]|\n<")
