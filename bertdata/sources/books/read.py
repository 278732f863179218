"""Read books from text files in bounded memory, and return the prose of Project Gutenberg or BookCorpus-like text.

A file is one book, a `.zip` one for each `.txt` in it; a very long file is several parts, each a book of its own.
`gutenberg` removes what an archive added, `layout` finds the prose; verse is kept, and `--` becomes an em dash, as in
later editions and Wikipedia.
"""

from __future__ import annotations

import os
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO

from bertdata.errors import ConfigError, InputError
from bertdata.io.compression import compression, decompress
from bertdata.io.files import CHUNK, open_raw, size
from bertdata.kernels.warmup import compiling_pays
from bertdata.sources.books import gutenberg, layout
from bertdata.sources.books.chapters import Chapter, cut_chapters
from bertdata.sources.books.encodings import as_utf8, decode

PART_BYTES = 16 << 20

_LINE_ENDS = "\f\v\x1c\x1d\x1e\x85\u2028\u2029"
_CONTROL = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1a\x1b")) + b"\x7f"


@dataclass(frozen=True)
class Book:
    """A book, or a part of a long one, as read: `id` is the file's stem (`stem/member` in a zip, `stem#2` a part).

    `title` and `author` are what its header says; without one the title is the id and the author empty.
    """

    id: str
    title: str
    author: str
    text: str


@dataclass(frozen=True)
class BrokenBook:
    """A file that is not text, and why: `empty`, `not text`, `unknown encoding`, `encrypted` or `no .txt in it`."""

    id: str
    title: str
    reason: str


def clean_book(source: str, *, drops: Counter[str] | None = None, compiled: bool | None = None) -> str | None:
    """Return a book's paragraphs of prose, separated by a blank line; None, counted in `drops`, where there are none.

    `compiled` changes the speed and never the result: True runs compiled kernels, False plain Python; None chooses by
    the size of this book alone, so a program that cleans many books says True. Raises ConfigError where `source` is
    not a string.

    >>> clean_book("CHAPTER I\\n\\nIt was _late_;[1] the clock in the hall had\\nstruck--twice.\\n\\n[Illustration]\\n")
    'It was late; the clock in the hall had struck—twice.'
    """
    paragraphs, _, _ = _prose(source, drops, compiled)
    return "\n\n".join(paragraphs) or None


def clean_chapters(source: str, *, drops: Counter[str] | None = None, compiled: bool | None = None) -> list[Chapter]:
    """Return a book's chapters with their paragraphs of prose; none, counted in `drops`, where there is no prose.

    `compiled` and errors are as in `clean_book`.

    >>> text = "CHAPTER I\\n\\nThe Sea\\n\\nIt was late.\\n\\nCHAPTER II\\n\\nThe clock had struck.\\n"
    >>> [(one.title, one.text) for one in clean_chapters(text)]
    [('CHAPTER I The Sea', 'It was late.'), ('CHAPTER II', 'The clock had struck.')]
    """
    paragraphs, before, headings = _prose(source, drops, compiled)
    return cut_chapters(paragraphs, [layout.Heading(before[one.paragraphs], one.line) for one in headings])


def _prose(
    source: str, drops: Counter[str] | None, compiled: bool | None
) -> tuple[list[str], list[int], list[layout.Heading]]:
    """Return a book's paragraphs of prose, its headings, and how many paragraphs are left of those before a heading."""
    if not isinstance(source, str):
        raise ConfigError(f"expected the text of one book as str, as of read_books, found {type(source).__name__}")
    text = source.replace("\0", "").replace("\ufeff", "")
    if "\r" in text:
        text = text.replace("\r\r\n", "\n").replace("\r\n", "\n").replace("\r", "\n")
    for other in _LINE_ENDS:
        text = text.replace(other, "\n")
    body = gutenberg.without_notes("\n".join(gutenberg.body_lines(text.split("\n"))))
    mixed = _mixed_prose(body) if compiling_pays(len(source), compiled) else None
    found, headings = mixed or _laid_out_prose(body.split("\n"))
    paragraphs: list[str] = []
    before = [0]
    for paragraph in found:
        cleaned = gutenberg.without_marks(paragraph).strip()
        if cleaned[:1].isalpha() or any(map(str.isalpha, cleaned)):
            paragraphs.append(cleaned)
        before.append(len(paragraphs))
    if not paragraphs and drops is not None:
        drops["no prose"] += 1
    return paragraphs, before, headings


def _laid_out_prose(lines: list[str]) -> tuple[list[str], list[layout.Heading]]:
    if layout.is_line_by_line(lines):
        return layout.lines_of(lines)
    return layout.prose_of(_own_blocks(layout.blocks_of(lines)))


def _mixed_prose(body: str) -> tuple[list[str], list[layout.Heading]] | None:
    """Return what `_laid_out_prose` returns, by compiled code; None where the lines are not wrapped."""
    from bertdata.sources.books.prose_blocks import mixed_blocks

    mixed = mixed_blocks(body, _own_blocks)
    return None if mixed is None else layout.prose_of(*mixed)


def _own_blocks(blocks: Sequence[Any]) -> list[Any]:
    """Return the blocks that are the book's own: neither its notes nor what an archive added."""
    return list(gutenberg.without_credits([block for block in blocks if not gutenberg.is_footnote(block)]))


def read_books(
    path: str,
    *,
    notes: Counter[str] | None = None,
    part_bytes: int = PART_BYTES,
    members: tuple[int, int] | None = None,
) -> Iterator[Book | BrokenBook]:
    """Yield the books of one .txt, .txt.gz, .txt.zst or .zip file, in parts of at most about `part_bytes`.

    A part ends at a blank line, else at a line end. `notes` counts the encodings that were guessed. Of a zip archive
    only `members` from one place to another are read, in the order of their names, where they are given. Raises
    InputError where the file is missing, cut off or corrupt; a file that is not text is yielded as a BrokenBook.
    """
    if part_bytes < 1:
        raise ConfigError(f"part_bytes is {part_bytes}; expected 1 or more")
    stem = _stem(path)
    counted = Counter[str]() if notes is None else notes
    if size(path) == 0:
        yield BrokenBook(stem, stem, "empty")
        return
    with open_raw(path) as raw:
        if compression(path) == "zip":
            yield from _zipped(raw, path, stem, counted, part_bytes, members)
        else:
            chunks = (data for _, data in decompress(raw, compression(path), path))
            yield from _books(chunks, stem, counted, part_bytes)


@dataclass(frozen=True)
class Volume:
    """A file of books, or a range of the members of a large zip archive, and its stored bytes."""

    path: str
    weight: int
    members: tuple[int, int] | None = None


def group_books(paths: Sequence[str], target_bytes: int) -> list[tuple[Volume, ...]]:
    """Return the sorted paths in groups of like size, about `target_bytes` of stored bytes each.

    A zip archive of more is cut into ranges of its members, so that several workers read it.
    """
    if target_bytes < 1:
        raise ConfigError(f"target_bytes is {target_bytes}; expected 1 or more")
    volumes: list[Volume] = []
    for path in sorted(paths):
        weight = size(path)
        if compression(path) == "zip" and weight > target_bytes:
            sizes = _member_sizes(path)
            ranges = [(one[0], one[-1] + 1) for one in _grouped(sizes, target_bytes)]
            if len(ranges) > 1:
                volumes += [Volume(path, sum(sizes[slice(*members)]), members) for members in ranges]
                continue
        volumes.append(Volume(path, weight))
    groups = _grouped([one.weight for one in volumes], target_bytes)
    return [tuple(volumes[place] for place in group) for group in groups]


def _grouped(weights: Sequence[int], target: int) -> list[list[int]]:
    """Return the places of some weights, in order, in groups of about the target and of like weight."""
    total = max(1, sum(weights))
    count = -(-total // target)
    groups: dict[int, list[int]] = {}
    before = 0
    for place, weight in enumerate(weights):
        groups.setdefault((2 * before + weight) * count // (2 * total), []).append(place)
        before += weight
    return list(groups.values())


def _members(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Return the books of an archive in the order of their names."""
    found = [item for item in archive.infolist() if item.filename.lower().endswith(".txt")]
    return sorted(found, key=lambda item: item.filename)


def _member_sizes(path: str) -> list[int]:
    """Return the stored bytes of each book of a zip archive; none where it is damaged, an error when it is read."""
    with open_raw(path) as raw:
        try:
            with zipfile.ZipFile(raw) as archive:
                return [item.compress_size for item in _members(archive)]
        except (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError):
            return []


def _stem(path: str) -> str:
    name = os.path.basename(path)
    return re.sub(r"(\.(txt|text))?(\.(gz|bgz|bz2|zst|zip))?$", "", name, flags=re.IGNORECASE) or name


def _zipped(
    raw: BinaryIO, path: str, stem: str, notes: Counter[str], part_bytes: int, range_of: tuple[int, int] | None
) -> Iterator[Book | BrokenBook]:
    member = None
    try:
        with zipfile.ZipFile(raw) as archive:
            members = _members(archive)
            if not members:
                yield BrokenBook(stem, stem, "no .txt in it")
            for item in members if range_of is None else members[slice(*range_of)]:
                member, name = item.filename, f"{stem}/{item.filename[:-4]}"
                if item.flag_bits & 1:
                    yield BrokenBook(name, name, "encrypted")
                    continue
                with archive.open(item) as file:
                    yield from _books(iter(partial(file.read, CHUNK), b""), name, notes, part_bytes)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, zlib.error) as error:
        raise InputError(
            f"the zip file is corrupt or cut off{f' at its member {member}' if member else ''} ({error}); "
            "get it again and check its size",
            path=path,
        ) from error


def _books(chunks: Iterator[bytes], name: str, notes: Counter[str], part_bytes: int) -> Iterator[Book | BrokenBook]:
    title, author, number = name, "", 0
    for part in _parts(as_utf8(chunks), part_bytes):
        number += 1
        identity = name if number == 1 else f"{name}#{number}"
        if len(part.translate(None, _CONTROL)) < 0.97 * len(part):
            yield BrokenBook(identity, title, "not text")
            continue
        text = decode(part, notes)
        if text is None:
            yield BrokenBook(identity, title, "unknown encoding")
            continue
        if number == 1:
            found = gutenberg.title_and_author(text[: 1 << 16])
            title, author = found[0] or name, found[1]
        yield Book(identity, title, author, text)
    if not number:
        yield BrokenBook(name, name, "empty")


def _parts(chunks: Iterator[bytes], part_bytes: int) -> Iterator[bytes]:
    buffer = bytearray()
    for data in chunks:
        buffer += data
        while len(buffer) > part_bytes:
            cut = _cut(buffer, part_bytes)
            yield bytes(buffer[:cut])
            del buffer[:cut]
    if buffer.strip():
        yield bytes(buffer)


def _cut(buffer: bytearray, limit: int) -> int:
    """Return where to end a part: at the last blank line of its second half, else line end, else blank, else letter."""
    for marks in ((b"\n\n", b"\n\r\n", b"\r\r"), (b"\n", b"\r"), (b" ",)):
        found = max(buffer.rfind(mark, limit // 2, limit) + len(mark) for mark in marks)
        if found > limit // 2 + 2:
            return found
    nearby = [*range(limit, max(limit - 4, 0), -1), *range(limit + 1, limit + 4)]
    return next((cut for cut in nearby if cut >= len(buffer) or buffer[cut] & 0xC0 != 0x80), limit)
