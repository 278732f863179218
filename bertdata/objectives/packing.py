"""Several short examples in one row: best fit by a histogram of lengths, as for packing BERT's sequences
(Krell et al., "Efficient Sequence Packing without Cross-contamination", 2021, the histogram-packing algorithms).

From the longest to the shortest, an example goes into the row with the least room that it fits into, else into a new
row. All examples of one length are placed at once, so the time depends on the number of lengths more than on that of
examples.
"""

from __future__ import annotations

from bisect import bisect_left, insort

import numpy as np

from bertdata.arrays import Ints

_Row = tuple[int, ...]
"""The lengths in a row."""


def pack(lengths: Ints, room: int) -> tuple[Ints, Ints]:
    """Return which examples share a row: row r holds members[offsets[r]:offsets[r+1]], both int64, (E,) and (R+1,).

    `room` is the most tokens of a row. Examples of one length are taken in the order given. Raises ValueError for an
    example that is empty or longer than a row.

    >>> members, offsets = pack(np.array([5, 3, 8, 2, 6]), 8)
    >>> [members[a:b].tolist() for a, b in zip(offsets[:-1], offsets[1:])]
    [[2], [0, 1], [4, 3]]
    """
    if len(lengths) and not 0 < int(lengths.min()) <= int(lengths.max()) <= room:
        raise ValueError(f"examples have {lengths.min()} to {lengths.max()} tokens; expected 1 to the {room} of a row")
    order = np.argsort(lengths, kind="stable")
    counts = np.bincount(lengths, minlength=1)
    begins = np.concatenate([[0], np.cumsum(counts)])
    taken = begins[:-1].copy()
    members: list[Ints] = [np.zeros(0, np.int64)]
    sizes: list[Ints] = [np.zeros(0, np.int64)]
    for row, number in fill_rows(counts.tolist(), room):
        columns = []
        for length in row:
            columns.append(order[taken[length] : taken[length] + number])
            taken[length] += number
        members.append(np.stack(columns, axis=1).ravel())
        sizes.append(np.full(number, len(row), np.int64))
    return np.concatenate(members), np.concatenate([[0], np.cumsum(np.concatenate(sizes))])


def fill_rows(counts: list[int], room: int) -> list[tuple[_Row, int]]:
    """Return the kinds of rows and how many there are of each; `counts[n]` is the number of examples of n tokens.

    >>> fill_rows([0, 0, 3, 0, 0, 2], 8)
    [((5, 2), 2), ((2,), 1)]
    """
    spaces: list[int] = []
    rows: dict[int, list[tuple[_Row, int]]] = {}

    def put(space: int, row: _Row, number: int) -> None:
        if space not in rows:
            rows[space] = []
            insort(spaces, space)
        rows[space].append((row, number))

    for length in range(len(counts) - 1, 0, -1):
        to_place = counts[length]
        while to_place:
            place = bisect_left(spaces, length)
            if place < len(spaces):
                space = spaces[place]
                row, number = rows[space].pop()
                if not rows[space]:
                    del rows[space], spaces[place]
            else:
                space, row, number = room, (), to_place
            each = space // length
            full = min(number, to_place // each)
            rest = min(to_place - full * each, each - 1) if full < number else 0
            for row_count, more in ((full, each), (1 if rest else 0, rest)):
                if row_count:
                    put(space - more * length, (*row, *[length] * more), row_count)
            unused = number - full - (rest > 0)
            if unused and row:
                put(space, row, unused)
            to_place -= full * each + rest
    return [kind for space in spaces for kind in rows[space]]
