"""A vocabulary as a trie of bytes, in which each byte of a token takes one load and one comparison.

The trie is a double array (Aoe 1989, "An efficient digital search algorithm by using a double-array structure"), in
which the child of a node by a byte is the cell at the node's base, exclusive-or the byte; no two nodes have the same
base, so the byte in a cell tells whose child it is.

A cell is, from the lowest bit: 8 of its byte, 1 that it is taken, 27 of base, 28 of id, plus 1. A cell of no children
has base 0, which no node is given; one at which no token ends has 0 for the id.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import always_inlined, kernel

CELLS_A_BLOCK = 256
MAX_CELLS = 1 << 27
_BASE_SHIFT, _ID_SHIFT = 9, 36
_PATIENCE = 1
"""How many nodes of several children a block has no room for before it gets only nodes of one child."""
_FREE_CELL, _OPEN_BLOCK = range(2)
"""Where the search for a base goes on: the first cell that may be free, the first block for nodes of many children."""
_U = np.uint64
_0, _1 = _U(0), _U(1)
TAKEN, LABEL, BASE = _U(256), _U(511), _U(MAX_CELLS - 1)
TO_BASE, TO_ID = _U(_BASE_SHIFT), _U(_ID_SHIFT)


@always_inlined
def _fits(cells: Any, bases: Any, base: Any, labels: Any, n: Any) -> Any:
    """Tell whether a node of these labels can have a base."""
    fits: Any = not bases[base]
    for j in range(n):
        fits = fits and cells[base ^ labels[j]] == _0
    return fits


@always_inlined
def _find_base(cells: Any, bases: Any, blocks: Any, labels: Any, n: Any, search: Any) -> Any:
    """Return a base for a node of `n` labels; -1 where there is none."""
    if n == 1:
        for cell in range(search[_FREE_CELL], len(cells)):
            if cells[cell] == _0 and not bases[cell ^ labels[0]]:
                search[_FREE_CELL] = max(search[_FREE_CELL], cell - CELLS_A_BLOCK)
                return cell ^ labels[0]
        return -1
    while search[_OPEN_BLOCK] < len(blocks) and blocks[search[_OPEN_BLOCK]] == _PATIENCE:
        search[_OPEN_BLOCK] += 1
    for block in range(search[_OPEN_BLOCK], len(blocks)):
        if blocks[block] < _PATIENCE:
            for base in range(block * CELLS_A_BLOCK, (block + 1) * CELLS_A_BLOCK):
                if _fits(cells, bases, base, labels, n):
                    return base
            blocks[block] += 1
    return -1


@kernel
def build(data: Any, offsets: Any, ids: Any, cells: Any, bases: Any, blocks: Any, nodes: Any, labels: Any) -> Any:
    """Put keys, which are sorted and not empty, into cells that are all 0; False where these are too few.

    Room to work in, all 0: a flag for each cell, a byte for each block of them; `nodes` of shape (bytes of all keys
    + 1, 4); `labels` of shape (3, 257). The root of the whole is cell 0.
    """
    first: Any = 0
    last: Any = len(ids)
    depth: Any = 0
    own: Any = 0
    cells[0], bases[0] = _1, True
    begins, search = labels[1], labels[2]
    waiting: Any = 1
    nodes[0, 1] = last
    while waiting > 0:
        waiting -= 1
        first, last, depth, own = nodes[waiting, 0], nodes[waiting, 1], nodes[waiting, 2], nodes[waiting, 3]
        if offsets[first + 1] - offsets[first] == depth:
            cells[own] |= _U(ids[first] + 1) << TO_ID
            first += 1
        n: Any = 0
        for key in range(first, last):
            label = np.int64(data[offsets[key] + depth])
            if n == 0 or label != labels[0, n - 1]:
                labels[0, n], begins[n] = label, key
                n += 1
        if n > 0:
            begins[n] = last
            base = _find_base(cells, bases, blocks, labels[0], n, search)
            if base < 0:
                return False
            bases[base] = True
            cells[own] |= _U(base) << TO_BASE
            for j in range(n - 1, -1, -1):
                cells[base ^ labels[0, j]] = TAKEN | _U(labels[0, j])
                nodes[waiting, 0], nodes[waiting, 1] = begins[j], begins[j + 1]
                nodes[waiting, 2], nodes[waiting, 3] = depth + 1, base ^ labels[0, j]
                waiting += 1
    return True


def base_of(cells: NDArray[np.uint64], byte: int) -> int:
    """Return the base of the root's child by a byte, and 0, which leads nowhere, where it has none."""
    cell = int(cells[int(cells[0]) >> _BASE_SHIFT & MAX_CELLS - 1 ^ byte])
    return cell >> _BASE_SHIFT & MAX_CELLS - 1 if cell & 0x1FF == 0x100 | byte else 0
