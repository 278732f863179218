"""The first bytes of files, from which a build is estimated: tasks that read these alone, and copies of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from bertdata.engine.parts import Task
from bertdata.io import files
from bertdata.io.compression import compression, decompress
from bertdata.io.console import byte_size
from bertdata.io.encodings import beginning_as_utf8
from bertdata.sources.formats import FileRange

_EXPANDED = 16
"""How many bytes of text a sample has at most for each of its stored bytes."""


def first_lines(task: Task, size: int, folder: str) -> Task | str:
    """Return the task of the first `size` bytes of a range that is counted in bytes, of a compressed one a copy."""
    chosen: FileRange = task.payload
    if task.weight <= size:
        return task
    if compression(chosen.path) is None and not chosen.encoding:
        return replace(task, weight=size, payload=replace(chosen, end=chosen.start + size))
    return first_whole(task, size, folder, _whole_lines, "line")


def first_whole(task: Task, size: int, folder: str, whole: Callable[[bytes], bytes], what: str) -> Task | str:
    """Return the task of a copy of the first `size` bytes of a file, or a sentence where these hold no whole row.

    whole: as in `copy_beginning`; what: what it calls a row.
    """
    chosen: FileRange = task.payload
    text = partial(beginning_as_utf8, encoding=chosen.encoding)
    copied = copy_beginning(chosen.path, size, files.join(folder, task.name), whole, text)
    if copied is None:
        return f"{files.name(chosen.path)} has no {what} that ends in its first {byte_size(size)}"
    path, taken = copied
    return replace(task, weight=taken, payload=replace(chosen, path=path, end=files.size(path), encoding=""))


def _whole_lines(data: bytes) -> bytes:
    return data[: data.rfind(b"\n") + 1]


def copy_beginning(
    path: str, size: int, to: str, whole: Callable[[bytes], bytes], text: Callable[[bytes], bytes] = bytes
) -> tuple[str, int] | None:
    """Write what the first `size` stored bytes of a file hold, at most 16 times as much; decompressed.

    text: returns the bytes in the encoding of the copy. whole: returns these without a last row, page or line that is
    cut off, nothing where no row is whole. Returns the copy, named as the file without its compression, and the stored
    bytes that it stands for; None where it would have nothing.
    """
    kind = compression(path)
    name = files.name(path)
    copy = to + os.path.splitext(name.removesuffix(os.path.splitext(name)[1]) if kind else name)[1]
    data, taken = bytearray(), 0
    with files.open_raw(path) as raw:
        for _, piece in decompress(raw, kind, path, max(1, min(1 << 16, size // 8))):
            if raw.tell() != taken and (taken >= size or len(data) >= _EXPANDED * size):
                break
            data += piece
            taken = raw.tell()
    converted = text(bytes(data))
    beginning = whole(converted)
    if not beginning:
        return None
    files.write_bytes(copy, beginning)
    return copy, max(1, taken * min(len(beginning), len(converted)) // len(converted))
