"""WordPiece's greedy longest match in a vocabulary of two tries: tokens with ## and those without."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import always_inlined
from bertdata.tokenizers.encode.kernels.double_array import BASE, LABEL, TAKEN, TO_BASE, TO_ID

SLACK = 16
"""Room after the ids that may be written to."""
NO_ROOM = -4
WORD_ROOT, CONTINUATION_ROOT, UNK_ID = range(3)
_U = np.uint64
_0, _1 = _U(0), _U(1)


class Trie(NamedTuple):
    """A vocabulary: tokens with ## and those without are in one double array, and begin at two roots."""

    cells: NDArray[np.uint64]
    settings: NDArray[np.int64]  # bases of the two roots, UNK_ID


@always_inlined
def longest_match(trie: Trie, word: Any, n_word: Any, out: Any, written: Any) -> Any:
    """Write the ids of a word, longest token first, or [UNK]; returns how many ids there are now, or NO_ROOM."""
    start: Any = _0
    end, first = _U(n_word), written
    root = _U(trie.settings[WORD_ROOT])
    while start < end:
        at, stop, base, piece = start, start, root, _0
        while at < end:
            label = _U(word[at])
            cell = trie.cells[base ^ label]
            if cell & LABEL != label | TAKEN:
                break
            at += _1
            if cell >> TO_ID != _0:
                piece, stop = cell >> TO_ID, at
            base = cell >> TO_BASE & BASE
        if written + SLACK > len(out):
            return NO_ROOM
        if piece == _0:
            out[first] = trie.settings[UNK_ID]
            return first + 1
        out[written] = piece - _1
        written += 1
        start = stop
        root = _U(trie.settings[CONTINUATION_ROOT])
    return written
