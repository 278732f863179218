"""A book's blocks of lines: those that `layout_kernel` finds to be prose as strings, all others as lists of lines.

`layout` applies its rules to the lists alone; the result is the same as when it is given all blocks as lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from bertdata.sources.books import layout_kernel as kernel
from bertdata.sources.books.block_kinds import Block
from bertdata.sources.books.layout import WRAP_LIMIT, PlainBlock, width_of

Table = Any


class Candidate(NamedTuple):
    """A block that may be prose: its lines, separated by line feeds, and its number in the table of blocks."""

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
    lines = np.empty((text.count("\n") + 1, kernel.LINE_COLUMNS), np.int32)
    count = kernel.lines_kernel(data, lines, kernel.STARTS)
    if count < 0 or not _is_wrapped(lines, len(text)):
        return None
    blocks = np.empty((count // 2 + 1, kernel.BLOCK_COLUMNS), np.int32)
    blocks = blocks[: kernel.blocks_kernel(lines, count, blocks)]
    remaining = list(keep(list(_blocks(text, lines, blocks))))
    width = width_of(_lengths(remaining, lines, blocks))
    kernel.plain_kernel(lines, blocks, len(blocks), width)
    plain = blocks[:, kernel.PLAIN].tolist()
    return [
        block if isinstance(block, list) else PlainBlock(block.text) if plain[block.number] else block.text.split("\n")
        for block in remaining
    ], width


def _is_wrapped(lines: Table, size: int) -> bool:
    """Tell text that is neither unwrapped nor a sentence to a line, by its lines as they are, spaces included."""
    lengths = np.diff(lines[:, kernel.BEGIN], append=size + 1) - 1
    full = lines[:, kernel.END] > lines[:, kernel.BEGIN]
    filled = int(full.sum())
    long = full & (lengths > WRAP_LIMIT)
    return len(lines) - filled > filled / 12 and not lengths[long].sum() > lengths[full].sum() / 2


def _blocks(text: str, lines: Table, blocks: Table) -> Iterator[Block | Candidate]:
    begins = lines[blocks[:, kernel.FIRST], kernel.BEGIN].tolist()
    ends = lines[blocks[:, kernel.LAST] - 1, kernel.END].tolist()
    for number, (begin, end, plain) in enumerate(zip(begins, ends, blocks[:, kernel.PLAIN].tolist(), strict=True)):
        block = text[begin:end]
        if plain:
            yield Candidate(block, number)
        else:
            yield [(line.expandtabs() if "\t" in line else line).rstrip() for line in block.split("\n")]


def _lengths(remaining: Sequence[Block | Candidate], lines: Table, blocks: Table) -> list[int]:
    """Return the lengths of the lines that another follows in a block of three or more."""
    lengths = [len(line) for block in remaining if isinstance(block, list) and len(block) > 2 for line in block[:-1]]
    numbers = [block.number for block in remaining if not isinstance(block, list)]
    chosen = blocks[np.array(numbers, np.int64)]
    chosen = chosen[chosen[:, kernel.LAST] - chosen[:, kernel.FIRST] > 2]
    turns = np.zeros(len(lines) + 1, np.int32)
    turns[chosen[:, kernel.FIRST]] = 1
    turns[chosen[:, kernel.LAST] - 1] = -1
    inside = np.cumsum(turns[:-1]) > 0
    return [*lengths, *(lines[inside, kernel.END] - lines[inside, kernel.BEGIN]).tolist()]
