"""Read books from text files in bounded memory, and return the prose of Project Gutenberg or BookCorpus-like text.

A file is one book, a `.zip` one for each `.txt` in it; a very long file is several parts, each a book of its own.
`gutenberg` removes what an archive added, `layout` finds the prose; verse is kept, and `--` becomes an em dash, as in
later editions and Wikipedia.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, BinaryIO

from bertdata.errors import ConfigError, InputError
from bertdata.io import files
from bertdata.io.compression import compression, decompress
from bertdata.io.files import CHUNK, open_raw, size
from bertdata.io.languages import HEAD
from bertdata.kernels.use import Kernels
from bertdata.sources.books import gutenberg, layout
from bertdata.sources.books.aozora import is_of_aozora, without_notation
from bertdata.sources.books.archive_notes import without_archive_notes
from bertdata.sources.books.chapters import Chapter, cut_chapters
from bertdata.sources.books.encodings import as_utf8, decode
from bertdata.sources.books.headings import Heading
from bertdata.sources.books.long_texts import parts_of
from bertdata.sources.books.volumes import members_of
from bertdata.sources.names import NO_TEXT, LeftOut

PART_BYTES = 16 << 20
KERNELS = Kernels(*(f"bertdata.sources.books.layout_kernel:{name}_kernel" for name in ("lines", "blocks", "plain")))

_LINE_ENDS = "\f\v\x1c\x1d\x1e\x85\u2028\u2029"
_RULE = re.compile(r"^[ \t\u3000]*+([-=_*~#•─━═—–])(?:[ \t]*+\1){9,}+[ \t\u3000]*+$", re.MULTILINE)
"""A line across the page. It ends a paragraph as a blank line does."""
_CONTROL = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1a\x1b")) + b"\x7f"


@dataclass(frozen=True)
class Book:
    """A book, or a part of a long one, as read: `id` is the file's stem (`stem/member` in a zip, `stem#2` a part).

    `title` and `author` are what its header says; without one the title is the id and the author empty. `cut` says how
    a part was cut out of its text, `encoding` what it was in, "" for UTF-8, `doubt` why that may be wrong.
    """

    id: str
    title: str
    author: str
    text: str
    cut: layout.Cut = layout.WHOLE
    encoding: str = field(default="", compare=False)
    doubt: str = field(default="", compare=False)

    @property
    def bytes(self) -> int:
        """How many bytes its text has in UTF-8."""
        return _utf8_bytes(self.text)


@dataclass(frozen=True)
class BrokenBook:
    """A file that is not text, and why: `no text`, `not text`, `unknown encoding`, `encrypted` or `no .txt in it`.

    `bytes`: how many were read of it.
    """

    id: str
    title: str
    reason: str
    bytes: int = field(default=0, compare=False)


def clean_book(
    source: str,
    *,
    drops: Counter[str] | None = None,
    compiled: bool | None = None,
    cut: layout.Cut = layout.WHOLE,
    left_out: Counter[str] | None = None,
) -> str | None:
    """Return a book's paragraphs of prose, separated by a blank line; None, counted in `drops`, where there are none.

    `compiled` changes the speed and never the result: True runs compiled kernels, False plain Python; with None a
    process loads kernels after 1 MiB of books where they were compiled before, and compiles them after 32 MiB where
    not. `cut` is that of a `Book`. `left_out` counts the bytes of text in UTF-8 that are not in the result, by reason
    (`LeftOut`). Raises ConfigError where `source` is not a string.

    >>> clean_book("CHAPTER I\\n\\nIt was _late_;[1] the clock in the hall had\\nstruck--twice.\\n\\n[Illustration]\\n")
    'It was late; the clock in the hall had struck—twice.'
    """
    paragraphs, _, _ = _prose(source, drops, compiled, cut, left_out)
    return "\n\n".join(paragraphs) or None


def clean_chapters(
    source: str,
    *,
    drops: Counter[str] | None = None,
    compiled: bool | None = None,
    cut: layout.Cut = layout.WHOLE,
    left_out: Counter[str] | None = None,
) -> list[Chapter]:
    """Return a book's chapters with their paragraphs of prose; none, counted in `drops`, where there is no prose.

    The other arguments and errors are as in `clean_book`.

    >>> text = "CHAPTER I\\n\\nThe Sea\\n\\nIt was late.\\n\\nCHAPTER II\\n\\nThe clock had struck.\\n"
    >>> [(chapter.title, chapter.text) for chapter in clean_chapters(text)]
    [('CHAPTER I The Sea', 'It was late.'), ('CHAPTER II', 'The clock had struck.')]
    """
    paragraphs, before, headings = _prose(source, drops, compiled, cut, left_out)
    return cut_chapters(paragraphs, [Heading(before[heading.paragraphs], heading.line) for heading in headings])


def _prose(
    source: str,
    drops: Counter[str] | None,
    compiled: bool | None,
    cut: layout.Cut,
    left_out: Counter[str] | None,
) -> tuple[list[str], list[int], list[Heading]]:
    """Return a book's paragraphs of prose, its headings, and how many paragraphs are left of those before a heading."""
    if not isinstance(source, str):
        raise ConfigError(f"expected the text of one book as str, as of read_books, found {type(source).__name__}")
    text = source.replace("\0", "").replace("\ufeff", "")
    if "\r" in text:
        text = text.replace("\r\r\n", "\n").replace("\r\n", "\n").replace("\r", "\n")
    for other in _LINE_ENDS:
        text = text.replace(other, "\n")
    is_aozora = is_of_aozora(text)
    lines = gutenberg.body_lines(text.split("\n"))
    if is_aozora:
        lines = without_notation("\n".join(lines)).split("\n")
    lines = without_archive_notes(lines, text)
    body = _RULE.sub("", gutenberg.without_notes("\n".join(lines)))
    counted = Counter[str]()
    own_lines = layout.is_line_by_line_without_spaces(body, with_blanks=is_aozora)
    mixed = None if own_lines or not KERNELS.pay(len(source), compiled) else _mixed_prose(body, cut, counted)
    if own_lines:
        prose, headings = layout.lines_of(body.split("\n"))
    else:
        prose, headings = mixed or _laid_out_prose(body.split("\n"), cut, counted)
    paragraphs: list[str] = []
    before = [0]
    for paragraph in prose:
        cleaned = gutenberg.without_marks(paragraph).strip()
        if cleaned[:1].isalpha() or any(map(str.isalpha, cleaned)):
            paragraphs.append(cleaned)
        before.append(len(paragraphs))
    if not paragraphs and drops is not None:
        drops[LeftOut.NO_PROSE.value] += 1
    if left_out is not None:
        _count(left_out, text, body, paragraphs, counted[LeftOut.FRONT_MATTER])
    return paragraphs, before, headings


def _count(left_out: Counter[str], text: str, body: str, paragraphs: Sequence[str], front_matter: int) -> None:
    """Count the bytes of a book that are not in its paragraphs, by reason."""
    size = _utf8_bytes(body)
    left_out[LeftOut.ARCHIVE] += max(0, _utf8_bytes(text) - size)
    if not paragraphs:
        left_out[LeftOut.NO_PROSE] += size
        return
    left_out[LeftOut.FRONT_MATTER] += front_matter
    left_out[LeftOut.NOT_PROSE] += max(0, size - front_matter - sum(map(_utf8_bytes, paragraphs)))


def _utf8_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _laid_out_prose(
    lines: list[str], cut: layout.Cut = layout.WHOLE, left_out: Counter[str] | None = None
) -> tuple[list[str], list[Heading]]:
    if layout.is_line_by_line(lines):
        return layout.lines_of(lines)
    return layout.prose_of(_own_blocks(layout.blocks_of(lines)), cut=cut, left_out=left_out)


def _mixed_prose(body: str, cut: layout.Cut, left_out: Counter[str]) -> tuple[list[str], list[Heading]] | None:
    """Return what `_laid_out_prose` returns, by compiled code; None where the lines are not wrapped."""
    from bertdata.sources.books.prose_blocks import mixed_blocks

    mixed = mixed_blocks(body, _own_blocks)
    return None if mixed is None else layout.prose_of(*mixed, cut, left_out)


def _own_blocks(blocks: Sequence[Any]) -> list[Any]:
    """Return the blocks that are the book's own: neither its notes nor what an archive added."""
    return list(gutenberg.without_credits([block for block in blocks if not gutenberg.is_footnote(block)]))


def read_books(
    path: str,
    *,
    notes: Counter[str] | None = None,
    part_bytes: int = PART_BYTES,
    members: tuple[int, int] | None = None,
    encoding: str = "",
) -> Iterator[Book | BrokenBook]:
    """Yield the books of one .txt file, plain or compressed, or of a .zip file, in parts of at most about `part_bytes`.

    A part ends at a blank line, else at the end of a sentence (see `long_texts`). `notes` counts the encodings that
    were guessed. Of a zip archive only `members` from one place to another are read, in the order of their names, where
    they are given. `encoding` is that of books which are not UTF-8, else it is that of their
    header, or guessed.
    Raises InputError where the file is missing, cut off or corrupt; a file that is not text is yielded
    as a BrokenBook.
    """
    if part_bytes < 1:
        raise ConfigError(f"part_bytes is {part_bytes}; expected 1 or more")
    stem = _stem(path)
    counted = Counter[str]() if notes is None else notes
    if size(path) == 0:
        yield BrokenBook(stem, stem, NO_TEXT)
        return
    with open_raw(path) as raw:
        if compression(path) == "zip":
            yield from _zipped(raw, path, stem, counted, part_bytes, members, encoding)
        else:
            chunks = (data for _, data in decompress(raw, compression(path), path))
            yield from _books(chunks, stem, counted, part_bytes, encoding)


def _stem(path: str) -> str:
    name = files.name(path)
    return re.sub(r"(\.(txt|text))?(\.(gz|bgz|bz2|zst|xz|zip))?$", "", name, flags=re.IGNORECASE) or name


def _zipped(
    raw: BinaryIO,
    path: str,
    stem: str,
    notes: Counter[str],
    part_bytes: int,
    range_of: tuple[int, int] | None,
    encoding: str,
) -> Iterator[Book | BrokenBook]:
    member = None
    try:
        with zipfile.ZipFile(raw) as archive:
            members = members_of(archive)
            if not members:
                yield BrokenBook(stem, stem, "no .txt in it")
            for item in members if range_of is None else members[slice(*range_of)]:
                member, name = item.filename, f"{stem}/{item.filename[:-4]}"
                if item.flag_bits & 1:
                    yield BrokenBook(name, name, "encrypted")
                    continue
                with archive.open(item) as file:
                    yield from _books(iter(partial(file.read, CHUNK), b""), name, notes, part_bytes, encoding)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, zlib.error) as error:
        raise InputError(
            f"the zip file is corrupt or cut off{f' at its member {member}' if member else ''} ({error}); "
            "get it again and check its size",
            path=path,
        ) from error


def _books(
    chunks: Iterator[bytes], name: str, notes: Counter[str], part_bytes: int, encoding: str
) -> Iterator[Book | BrokenBook]:
    title, author, number, head = name, "", 0, b""
    for part, cut in parts_of(as_utf8(chunks, encoding), part_bytes):
        number += 1
        identity = name if number == 1 else f"{name}#{number}"
        if len(part.translate(None, _CONTROL)) < 0.97 * len(part):
            yield BrokenBook(identity, title, "not text", len(part))
            continue
        head = part[:HEAD] if number == 1 else head
        decoded = decode(part, notes, encoding, head)
        if decoded is None:
            yield BrokenBook(identity, title, "unknown encoding", len(part))
            continue
        if number == 1:
            title_author = gutenberg.title_and_author(decoded.text[: 1 << 16])
            title, author = title_author[0] or name, title_author[1]
        yield Book(identity, title, author, decoded.text, cut, decoded.encoding, decoded.doubt)
    if not number:
        yield BrokenBook(name, name, NO_TEXT)
