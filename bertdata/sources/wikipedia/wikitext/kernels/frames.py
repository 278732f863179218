"""The state of the compiled walk over brackets: where it stands, and the stack of the constructs that are open."""

from __future__ import annotations

from bertdata.kernels.jit import inlined
from bertdata.sources.wikipedia.wikitext.kernels.common import Bytes, Int, Ints
from bertdata.sources.wikipedia.wikitext.kernels.templates import MOST_ARGUMENTS

# the state: where to read on, how much is written, how many frames and bars there are, closing braces not yet matched,
# whether marks may be left, why the page is no article, whether `-{` is plain text; of what Python is asked for:
# whether it stands in `out`, where it begins and ends, where its bars are; then how many of each kind are open
READ, WRITTEN, DEPTH, BARS, PENDING, ORPHANS, REASON, PLAIN_VARIANTS, IN_OUT = range(9)
BEGIN, END, FIRST_BAR, LAST_BAR = range(9, 13)
OPEN = 13
CALL, LINK, WIKI_TABLE, TABLE, UL, OL, DL = range(7)
# then before where no attempt is made to skip a construct, and where the arguments of a call begin and end
SKIPPING_FROM = OPEN + 7
SPANS = SKIPPING_FROM + 1
STATE_SIZE = SPANS + 2 * MOST_ARGUMENTS
# a frame: its kind, where its mark stands, its opening braces, how many bars there were
KIND, BASE, BRACES, BARS_BEFORE = range(4)


@inlined
def push(state: Ints, frames: Ints, kind: int, braces: int, out: Bytes, n: int) -> Int:
    """Open a construct: put its mark to out[n] and a frame on the stack; returns how much is written."""
    depth = state[DEPTH]
    frames[depth, KIND], frames[depth, BASE], frames[depth, BRACES] = kind, n, braces
    frames[depth, BARS_BEFORE] = state[BARS]
    state[DEPTH] = depth + 1
    state[OPEN + kind] += 1
    out[n] = 1 if kind == CALL else 3 if kind == LINK else 2
    return n + 1


@inlined
def drop_frame(state: Ints, frames: Ints) -> None:
    """Take the top frame off the stack."""
    depth = state[DEPTH] - 1
    state[DEPTH] = depth
    state[OPEN + frames[depth, KIND]] -= 1
    state[BARS] = frames[depth, BARS_BEFORE]


@inlined
def unwind(state: Ints, frames: Ints, kind: int) -> bool:
    """Make the innermost open construct of this kind the top frame; what stands above it is unclosed."""
    if state[OPEN + kind] == 0:
        return False
    while frames[state[DEPTH] - 1, KIND] != kind:
        drop_frame(state, frames)
        state[ORPHANS] = 1
    return True
