r"""Plain text as BERT's own script reads it: one sentence a line, a blank line between documents.

A line becomes a paragraph, so that a sentence ends where its line does; ASCII white space at the ends of lines is left
out, so lines may end in `\r\n`, and a line of white space is blank. A document's id is the file's label and the byte at
which the document begins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.documents import DocumentGroups
from bertdata.engine.parts import Counters, Task
from bertdata.errors import InputError
from bertdata.io import files
from bertdata.io.bounded_lines import LONGEST
from bertdata.io.compression import endings
from bertdata.io.decoding import decode_utf8
from bertdata.io.encodings import SKIP, is_stream, open_text
from bertdata.sources import text_files
from bertdata.sources.beginnings import first_lines
from bertdata.sources.formats import FileRange, RangeFormat, Request, SourceFile
from bertdata.sources.names import InputCount

SUFFIXES = endings(".txt")
PIECE = 8 << 20
BEYOND = 1 << 16
"""Bytes after the end of a range that are read with it: its last document mostly ends in them."""
_BOM = b"\xef\xbb\xbf"
_NEWLINE = 10
_FEW_ENDS = 3
"""Carriage returns from which on they are the ends of lines."""


class Documents(NamedTuple):
    """Documents of a file: the byte at which each begins, int64 (D,), and their paragraphs, string (D,)."""

    places: NDArray[np.int64]
    texts: pa.StringArray


class PlainTextFormat(RangeFormat):
    """Plain text with one sentence a line; a range is a run of bytes, a compressed file one range. See `read_texts`."""

    name = "plain-text"
    suffixes = SUFFIXES
    described = (
        "plain text with one sentence a line, a blank line between documents (.txt, also .gz, .zst, .bz2 or .xz)"
    )
    revision = 2
    text = "files"
    settings = ("whole_files", "encoding", "bad_files")

    def plan(self, sources: Sequence[SourceFile], request: Request) -> tuple[list[Task], list[str]]:
        """Return one task for each range of the files; with `whole_files` one for each group of files.

        Without, there is a note where files look like ordinary text.
        """
        if request.config.whole_files:
            return text_files.TEXT_FILES.plan(sources, request)
        tasks, notes = super().plan(sources, request)
        notes += text_files.notes_of_marks(sources)
        odd = [
            source.label for source in sources if source.encoding != SKIP and text_files.looks_like_prose(source.path)
        ]
        if odd:
            others = f" and {len(odd) - 1:,} more" if len(odd) > 1 else ""
            notes.append(
                f"{odd[0]}{others}: looks like ordinary text, and is read as one sentence a line, a document ending at "
                "each blank line; if each file is one document, add --whole-files"
            )
        return tasks, notes

    def ranges(self, path: str, target_bytes: int, text_column: str) -> Iterator[tuple[int, int, int]]:
        """Yield runs of bytes."""
        size = files.size(path)
        files.open_raw(path).close()
        step = size if is_stream(path) else target_bytes
        for start in range(0, size, step):
            end = min(size, start + step)
            yield start, end, end - start

    def read(self, chosen: FileRange, writer: DocumentGroups, counters: Counters) -> None:
        """Write the documents of one range."""
        for batch in read_texts(chosen.path, chosen.start, chosen.end):
            counters.add(InputCount.ROWS, len(batch.texts))
            ids = [f"{chosen.label}:{place}" for place in batch.places.tolist()]
            writer.add_texts(ids, "documents", batch.texts)

    def beginning(self, task: Task, size: int, folder: str) -> Task | str:
        """Return the task of the first bytes of a range."""
        return first_lines(task, size, folder)


PLAIN_TEXT = PlainTextFormat()


def read_texts(path: str, start: int, end: int) -> Iterator[Documents]:
    """Yield the documents of one range of a file, about 8 MiB of them at a time.

    A document belongs to the range in which the blank line before it begins, the first document to the first range.
    Raises InputError for bytes that are not UTF-8, for a document of over 256 MiB, as in a file without blank lines,
    and for a file whose lines end in carriage returns alone.
    """
    compressed = is_stream(path)
    with open_text(path) if compressed else files.open_raw(path) as stream:
        begin, limit = start, np.iinfo(np.int64).max if compressed else end
        if start:
            stream.seek(start - 1)
            begin += len(stream.readline(end - start + 1)) - 1
        if begin < limit:
            yield from _documents(stream, begin, limit, path)


def _documents(stream: BinaryIO, begin: int, limit: int, path: str) -> Iterator[Documents]:
    from bertdata.sources import plain_text_kernel

    data, whole = b"", False
    state = np.zeros(plain_text_kernel.STATES, np.int64)
    state[plain_text_kernel.SKIPPING] = begin > 0
    while not whole and not state[plain_text_kernel.ENDED]:
        if len(data) > LONGEST:
            raise InputError(
                f"a document of over {LONGEST >> 20} MiB begins here; expected one sentence a line and a blank line "
                "between documents: put blank lines there, or give JSON lines",
                path=path,
                offset=begin,
            )
        wanted = max(min(PIECE, max(limit - begin - len(data), 0) + BEYOND), len(data))
        more = _read(stream, wanted)
        whole = len(more) < wanted
        if not begin and not data and more.startswith(_BOM):
            more = more.replace(_BOM, b" " * len(_BOM), 1)
        if not begin and not data and b"\n" not in more and more.count(b"\r") >= _FEW_ENDS:
            raise InputError(
                "has lines that end in a carriage return alone, as old files of Macs: all would be one; expected line "
                "feeds: make them, as by tr '\\r' '\\n' < FILE > NEW",
                path=path,
            )
        data += more
        values = np.frombuffer(data, np.uint8)
        line_ends = np.flatnonzero(values == _NEWLINE)
        if whole and not data.endswith(b"\n"):
            line_ends = np.append(line_ends, len(data))
        text = np.empty(len(data) + len(line_ends), np.uint8)
        ends, places = np.empty((2, len(line_ends)), np.int64)
        count = plain_text_kernel.find_documents(values, line_ends, limit - begin, whole, state, text, ends, places)
        offsets = np.concatenate([[0], ends[:count]]).astype(np.int32)
        texts = pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(text))
        try:
            texts.validate(full=True)
        except pa.ArrowInvalid:
            decode_utf8(data, path, begin)
            raise
        if count:
            yield Documents(places[:count] + begin, texts)
        used = int(state[plain_text_kernel.USED])
        data, begin = data[used:], begin + used


def _read(stream: BinaryIO, size: int) -> bytes:
    """Return `size` bytes, fewer only at the end."""
    chunks, remaining = [], size
    while remaining and (chunk := stream.read(remaining)):
        chunks.append(chunk)
        remaining -= len(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)
