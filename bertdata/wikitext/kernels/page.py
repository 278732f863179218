"""All passes over one page, compiled: Python calls the kernel, does what it asks for, and calls it again.

It returns DONE with the prose in `first`; else what it asks for: the text of a tag, a template call or a link, the page
without tags, its first variants, the marks of unclosed constructs cleared, or larger buffers. The reference is
`clean.extract`.

Compiled, the passes are 16 times as fast as the reference (`benchmarks/kernels.py --only wikitext`).
"""

from __future__ import annotations

from bertdata.kernels import characters as char
from bertdata.kernels.characters import Bytes, Int
from bertdata.kernels.jit import kernel
from bertdata.wikitext.kernels import brackets, buffers, cleanup, inline, paragraphs, tags, walk
from bertdata.wikitext.kernels.common import DONE, GROW_PROSE, RECOVER, VARIANTS, Ints

# the stages between which the kernel may be left, and where the state of the first pass says which it is
_TAGS, BRACKETS, _LINES, _INLINE = range(4)
STAGE, SIZE, TAGS_STATE_SIZE = range(tags.STATE_SIZE, tags.STATE_SIZE + 3)


@kernel
def page_kernel(
    source: Bytes, first: Bytes, second: Bytes, third: Bytes, frames: Ints, bars: Ints,
    tags_state: Ints, state: Ints, table: Ints, blob: Bytes, scratch: Bytes, words: Bytes,
) -> Int:  # fmt: skip
    """Turn the wikitext `source`, tags_state[SIZE] bytes of it, into as many of prose in `first`.

    Returns DONE or what it needs. A page that is not an article has a reason in `state` and no prose.
    """
    if tags_state[STAGE] == _TAGS:
        answer = tags.tags_kernel(source, tags_state[SIZE], first, tags_state, table, blob, scratch)
        if answer != DONE:
            return answer
        tags_state[STAGE], tags_state[SIZE] = BRACKETS, tags_state[tags.WRITTEN]
        if buffers.find_pair(first, 0, tags_state[SIZE], char.HYPHEN, char.LEFT_BRACE) < tags_state[SIZE]:
            return VARIANTS
    if tags_state[STAGE] == BRACKETS:
        answer = brackets.brackets_kernel(first, tags_state[SIZE], second, frames, bars, state, table, blob, scratch)
        if answer != DONE:
            return answer
        tags_state[STAGE], tags_state[SIZE] = _LINES, state[walk.WRITTEN]
        if state[walk.REASON]:
            tags_state[SIZE] = 0
            return DONE
        if state[walk.ORPHANS] or state[walk.DEPTH]:
            return RECOVER
    size = tags_state[SIZE]
    if tags_state[STAGE] == _LINES:
        if third.size < 2 * size + 64:
            return GROW_PROSE
        size = paragraphs.lines_kernel(second, size, third, table, blob, scratch)
        tags_state[STAGE], tags_state[SIZE] = _INLINE, size
    if min(first.size, second.size, third.size) < 2 * size + 64 or bars.size < 2 * size + 64:
        return GROW_PROSE
    size = inline.inline_kernel(third, size, second, table, blob, scratch)
    tags_state[SIZE] = cleanup.finish_kernel(second, size, third, first, bars, words, table, blob, scratch)
    return DONE
