"""A book's blocks of lines, those that are plainly prose as one string each: the rules of `layout` look at the others.

`layout_kernel` tells them by the bytes of their lines; all others are lists of lines, as `layout.blocks_of` gives. The
text that comes out of a book is the same either way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from bertdata.sources.books.layout import WRAP_LIMIT, Block, PlainBlock, width_of
from bertdata.sources.books.layout_kernel import (
    BEGIN,
    BLOCK_COLUMNS,
    END,
    FIRST,
    LAST,
    LINE_COLUMNS,
    PLAIN,
    STARTS,
    blocks_kernel,
    lines_kernel,
    plain_kernel,
)

Table = Any


class Candidate(NamedTuple):
    """A block that may be plainly prose: its lines, separated by line feeds, and its number in the table of blocks."""

    text: str
    number: int


def mixed_blocks(
    text: str, keep: Callable[[Sequence[Block | Candidate]], Iterable[Block | Candidate]]
) -> tuple[list[Block | PlainBlock], int] | None:
    """Return the blocks of text that `keep` leaves, and the width of its lines; None where its lines are not wrapped.

    >>> blocks, width = mixed_blocks("Late.\\n\\n" + "It was a dark and stormy night, and nobody spoke\\n" * 4, list)
    >>> [type(block).__name__ for block in blocks], width
    (['list', 'str'], 48)
    """
    data = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    lines = np.empty((text.count("\n") + 1, LINE_COLUMNS), np.int32)
    count = lines_kernel(data, lines, STARTS)
    if count < 0 or not _is_wrapped(lines, len(text)):
        return None
    blocks = np.empty((count // 2 + 1, BLOCK_COLUMNS), np.int32)
    blocks = blocks[: blocks_kernel(lines, count, blocks)]
    kept = list(keep(list(_blocks(text, lines, blocks))))
    width = width_of(_lengths(kept, lines, blocks))
    plain_kernel(lines, blocks, len(blocks), width)
    plain = blocks[:, PLAIN].tolist()
    return [
        block if isinstance(block, list) else PlainBlock(block.text) if plain[block.number] else block.text.split("\n")
        for block in kept
    ], width


def _is_wrapped(lines: Table, size: int) -> bool:
    """Tell text that is neither unwrapped nor a sentence to a line, by its lines as they are, spaces included."""
    lengths = np.diff(lines[:, BEGIN], append=size + 1) - 1
    full = lines[:, END] > lines[:, BEGIN]
    filled = int(full.sum())
    long = full & (lengths > WRAP_LIMIT)
    return len(lines) - filled > filled / 12 and not lengths[long].sum() > lengths[full].sum() / 2


def _blocks(text: str, lines: Table, blocks: Table) -> Iterator[Block | Candidate]:
    begins, ends = lines[blocks[:, FIRST], BEGIN].tolist(), lines[blocks[:, LAST] - 1, END].tolist()
    for number, (begin, end, plain) in enumerate(zip(begins, ends, blocks[:, PLAIN].tolist(), strict=True)):
        block = text[begin:end]
        if plain:
            yield Candidate(block, number)
        else:
            yield [(line.expandtabs() if "\t" in line else line).rstrip() for line in block.split("\n")]


def _lengths(kept: Sequence[Block | Candidate], lines: Table, blocks: Table) -> list[int]:
    """Return the lengths of the lines that another follows in a block of three or more."""
    lengths = [len(line) for block in kept if isinstance(block, list) and len(block) > 2 for line in block[:-1]]
    numbers = [block.number for block in kept if not isinstance(block, list)]
    chosen = blocks[np.array(numbers, np.int64)]
    chosen = chosen[chosen[:, LAST] - chosen[:, FIRST] > 2]
    turns = np.zeros(len(lines) + 1, np.int32)
    turns[chosen[:, FIRST]] = 1
    turns[chosen[:, LAST] - 1] = -1
    inside = np.cumsum(turns[:-1]) > 0
    return [*lengths, *(lines[inside, END] - lines[inside, BEGIN]).tolist()]
