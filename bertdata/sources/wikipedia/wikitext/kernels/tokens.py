"""The tokens of the walk over brackets, compiled: where plain text ends, runs of braces, tags of tables and lists."""

from __future__ import annotations

from bertdata.kernels.jit import inlined
from bertdata.sources.wikipedia.wikitext.kernels.common import (
    NEWLINE,
    Bytes,
    Int,
    Ints,
    is_space,
    marks,
    scanner,
    tag_name,
)
from bertdata.sources.wikipedia.wikitext.kernels.frames import BEGIN, DEPTH, DL, OL, PLAIN_VARIANTS, TABLE, UL


@inlined
def end_of_plain(text: Bytes, i: int, size: int, state: Ints) -> Int:
    """Return where the next token may begin: single brackets, line ends before text and the like are plain text."""
    while True:
        i = _next_special(text, i, size)
        if i + 1 >= size:
            return i
        byte, following = text[i], text[i + 1]
        if byte == NEWLINE:
            token = _LINE_BEGINS_WITH[following]
        elif byte == 124:  # |
            token = state[DEPTH] > 0
        elif byte == 60:  # <
            token = _TAG_BEGINS_WITH[following]
        elif byte == 123 and following != 123:  # {
            token = state[PLAIN_VARIANTS] == 0 and i > 0 and text[i - 1] == 45
        else:
            token = following == byte
        if token:
            return i
        i += 1


@inlined
def run_of(text: Bytes, begin: int, size: int) -> Int:
    """Return how often the byte at `begin` is repeated."""
    end = begin + 1
    while end < size and text[end] == text[begin]:
        end += 1
    return end - begin


@inlined
def end_of_simple_call(text: Bytes, begin: int, size: int) -> Int:
    """Return where the closing braces stand of a call without any bracket inside, -1 where it has one or no name."""
    i = _next_bracket(text, begin, size)
    closed = i + 1 < size and text[i] == 125 and text[i + 1] == 125
    return i if closed and i > begin and text[begin] != 124 else -1


@inlined
def end_of_piece(text: Bytes, begin: int, size: int) -> Int:
    """Return where the piece of a link that begins here ends: at a bar, a bracket or a line end."""
    return _next_in_link(text, begin, size)


@inlined
def closes_a_call(text: Bytes, k: int, size: int) -> bool:
    """Tell whether after "|}" comes one more "}", but not two: an empty last argument and not the end of a table."""
    return k < size and text[k] == 125 and not (k + 1 < size and text[k + 1] == 125)


@inlined
def end_of_block_tag(text: Bytes, begin: int, size: int, scratch: Bytes, state: Ints) -> Int:
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


INDENT = marks(b" \t:*#\x7f")
_LINE_BEGINS_WITH = marks(b" \t:*#\x7f{|")
_TAG_BEGINS_WITH = marks(b"tTuUoOdD/")
_next_special = scanner(marks(b"{}[]|\n<"))
_next_bracket = scanner(marks(b"{}[]"))
_next_in_link = scanner(marks(b"{}[]|\n"))
