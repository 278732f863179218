"""The documents that share a key with another, with their signatures, brought together by the piece they are in.

They come from the files of one block of the signature store and are written as streams, each of one piece, so that the
task of a piece reads its documents alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.engine.byte_ranges import Stream, read_stream, write_stream

HELD_BYTES = 32 << 20
"""Bytes of documents after which those held are written."""


@dataclass(frozen=True)
class SignedFile:
    """One file of the signature store: its number, its documents, how many these are, and the number of the first."""

    number: int
    documents: Stream
    count: int
    first: int


@dataclass(frozen=True)
class Block:
    """Files of the signature store, one after another, and a table of `components.PIECES` of their documents."""

    files: tuple[SignedFile, ...]
    pieces: Stream


def write_candidates(block: Block, file: BinaryIO, held_bytes: int = HELD_BYTES) -> list[list[int]]:
    """Write the documents of a block that are in a piece; returns [piece, offset, length] of each stream.

    To the columns of the store come the file and the row of a document. Memory is a file of the store, twice
    `held_bytes`, and 8 bytes for each document of the block.
    """
    table = read_stream(block.pieces)
    documents, pieces = table["document"].to_numpy(), table["piece"].to_numpy()
    begins = [signed_file.first - block.files[0].first for signed_file in block.files]
    bounds = [*np.searchsorted(documents, begins).tolist(), len(documents)]
    streams: list[list[int]] = []
    pending: list[pa.Table] = []
    written = 0
    for place, signed_file in enumerate(block.files):
        begin, end = bounds[place], bounds[place + 1]
        if begin < end:
            pending.append(_taken(signed_file, documents[begin:end] - np.uint32(begins[place])))
        if pending and (sum(table.nbytes for table in pending) >= held_bytes or end == len(documents)):
            streams += _by_piece(pending, pieces[written:end], file)
            pending, written = [], end
    return streams


def _taken(file: SignedFile, rows: NDArray[np.uint32]) -> pa.Table:
    """Return documents of a file, with its number and their rows."""
    number = pa.array(np.full(len(rows), file.number, np.uint32))
    taken = read_stream(file.documents).take(pa.array(rows))
    return taken.append_column("file", number).append_column("row", pa.array(rows))


def _by_piece(tables: Sequence[pa.Table], pieces: NDArray[np.uint32], file: BinaryIO) -> list[list[int]]:
    """Write documents, each to the piece that `pieces` names."""
    table = pa.concat_tables(tables)
    order = np.argsort(pieces, kind="stable")
    numbers, begins = np.unique(pieces[order], return_index=True)
    ends = [*begins[1:].tolist(), len(order)]
    return [
        [piece, *write_stream(file, table.take(pa.array(order[begin:end])).combine_chunks())]
        for piece, begin, end in zip(numbers.tolist(), begins.tolist(), ends, strict=True)
    ]
