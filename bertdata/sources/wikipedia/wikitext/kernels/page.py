"""The passes over one page, compiled, in a row: what Python calls, and calls again once it has done what was asked.

It returns DONE with the prose in `first`; else what it needs: the text of a tag, a call or a link, the variants of a
page that has them, marks of unclosed constructs cleared, or larger buffers. The readable twin is `clean.extract`.

Compiled, the passes are 16 times as fast as the reference (`benchmarks/kernels.py --only wikitext`).
"""

from __future__ import annotations

from bertdata.kernels.jit import inlined, kernel
from bertdata.sources.wikipedia.wikitext.kernels import brackets, tags
from bertdata.sources.wikipedia.wikitext.kernels.brackets import brackets_kernel
from bertdata.sources.wikipedia.wikitext.kernels.cleanup import finish_kernel
from bertdata.sources.wikipedia.wikitext.kernels.common import NEWLINE, RESERVED, Bytes, Int, Ints, copy, scanner
from bertdata.sources.wikipedia.wikitext.kernels.frames import DEPTH, ORPHANS, REASON, WRITTEN
from bertdata.sources.wikipedia.wikitext.kernels.inline import inline_kernel
from bertdata.sources.wikipedia.wikitext.kernels.paragraphs import lines_kernel
from bertdata.sources.wikipedia.wikitext.kernels.tags import tags_kernel

DONE, ASK_TAG, ASK_CALL, ASK_LINK, VARIANTS, RECOVER, GROW_TAGS, GROW_BRACKETS, GROW_PROSE = range(9)
# the stages between which the kernel may be left, and where the state of the first pass says which it is
_READ, _TAGS, _BRACKETS, _LINES, _INLINE = range(5)
STAGE, SIZE, TAGS_STATE_SIZE = range(tags.STATE_SIZE, tags.STATE_SIZE + 3)


@kernel
def page_kernel(
    data: Bytes, source: Bytes, first: Bytes, second: Bytes, third: Bytes, frames: Ints, bars: Ints,
    tags_state: Ints, state: Ints, table: Ints, blob: Bytes, scratch: Bytes, words: Bytes,
) -> Int:  # fmt: skip
    """Turn the wikitext `data` into prose in `first`, tags_state[SIZE] bytes of it; returns what it needs, or DONE.

    `source` has room for the data. A page that is no article has a reason in `state` and no prose.
    """
    if tags_state[STAGE] == _READ:
        tags_state[SIZE] = _without_reserved(data, source)
        first[0] = NEWLINE
        tags_state[tags.WRITTEN] = 1
        tags_state[STAGE] = _TAGS
    if tags_state[STAGE] == _TAGS:
        answer = tags_kernel(source, tags_state[SIZE], first, tags_state, table, blob, scratch)
        if answer != tags.DONE:
            return ASK_TAG if answer == tags.ASK else GROW_TAGS
        tags_state[STAGE], tags_state[SIZE] = _BRACKETS, tags_state[tags.WRITTEN]
    if tags_state[STAGE] == _BRACKETS:
        answer = brackets_kernel(first, tags_state[SIZE], second, frames, bars, state, table, blob, scratch)
        if answer != brackets.DONE:
            if answer == brackets.GROW:
                return GROW_BRACKETS
            asked = ASK_CALL if answer == brackets.ASK_CALL else ASK_LINK
            return VARIANTS if answer == brackets.VARIANTS else asked
        tags_state[STAGE], tags_state[SIZE] = _LINES, state[WRITTEN]
        if state[REASON]:
            tags_state[SIZE] = 0
            return DONE
        if state[ORPHANS] or state[DEPTH]:
            return RECOVER
    size = tags_state[SIZE]
    if tags_state[STAGE] == _LINES:
        if third.size < 2 * size + 64:
            return GROW_PROSE
        size = lines_kernel(second, size, third, table, blob, scratch)
        tags_state[STAGE], tags_state[SIZE] = _INLINE, size
    if min(first.size, second.size, third.size) < 2 * size + 64 or bars.size < 2 * size + 64:
        return GROW_PROSE
    size = inline_kernel(third, size, second, table, blob, scratch)
    tags_state[SIZE] = finish_kernel(second, size, third, first, bars, words)
    return DONE


@inlined
def _without_reserved(data: Bytes, out: Bytes) -> Int:
    """Copy wikitext with plain line ends and without the characters that the passes use as marks."""
    size = data.size
    i = n = 0
    while i < size:
        begin = i
        i = _next_reserved(data, i, size)
        n = copy(data, begin, i, out, n)
        if i < size and data[i] == 13:
            k = i + 1
            while k < size and data[k] != 13 and RESERVED[data[k]]:
                k += 1
            if k == size or data[k] != NEWLINE:
                out[n] = 13
                n += 1
        i += 1
    return n


_next_reserved = scanner(RESERVED)
