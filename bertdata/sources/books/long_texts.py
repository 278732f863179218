r"""Cut a long text into parts of bounded size, where it may be cut: between paragraphs, else between sentences.

The text is bytes in any encoding that has ASCII, as most have; UTF-16 and UTF-32 were converted before.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import NamedTuple

from bertdata.sources.books.layout import Cut

_NEARBY = 1 << 16
_CLOSING = rb"(?:[\"')\]*_]|\xe2\x80[\x99\x9d]|\xc2\xbb|[\x92\x94\xbb]){0,8}"
_MARK = rb"(?:[.!?]|\xe2\x80\xa6|\xd8\x9f|\xdb\x94|\xe0\xa5\xa4)"
_AFTER_WORD = rb"(?<=[a-z\x80-\xff]{5})"
"""What precedes a mark that is not that of an abbreviation: five letters, none of them a capital."""
_LINE_END = rb"[ \t]*(?:\r\n|\n|\r)"
_SENTENCES = (
    re.compile(_AFTER_WORD + _MARK + _CLOSING + _LINE_END),
    re.compile(_AFTER_WORD + _MARK + _CLOSING + rb"[ \t]+"),
    re.compile(_MARK + _CLOSING + _LINE_END),
    re.compile(_MARK + _CLOSING + rb"[ \t]+"),
)
"""How sentences end, the surest sign first, and a line end before a space."""
_WIDE = re.compile(rb"(?:\xe3\x80\x82|\xef\xbc[\x81\x9f])(?:\xe3\x80[\x8d\x8f]|\xe2\x80[\x99\x9d])*")
"""How sentences of Chinese and Japanese end in UTF-8, without a space after them."""
_LINES = re.compile(rb"\r\n|\n|\r")
_SPACES = re.compile(rb"[ \t]+")


class Part(NamedTuple):
    """The bytes of a part of a text, and how it was cut."""

    data: bytes
    cut: Cut


def parts_of(chunks: Iterator[bytes], part_bytes: int) -> Iterator[Part]:
    """Yield a text in parts of at most `part_bytes`, whatever its chunks; none of a text of white space.

    >>> [data for data, _ in parts_of(iter([b"It rained. Nobody", b" went out. It was late."]), 25)]
    [b'It rained. ', b'Nobody went out. ', b'It was late.']
    """
    buffer = bytearray()
    is_later = inside = False
    for data in chunks:
        buffer += data
        while len(buffer) > part_bytes:
            end, ends_inside = cut_at(buffer, part_bytes)
            yield Part(bytes(buffer[:end]), Cut(is_later, inside, ends_inside))
            is_later, inside = True, ends_inside
            del buffer[:end]
    if buffer.strip():
        yield Part(bytes(buffer), Cut(is_later, inside, False))


def cut_at(buffer: bytearray, limit: int) -> tuple[int, bool]:
    """Return how many bytes, of the first `limit`, are a part, and whether that cuts a paragraph.

    The part ends with the last blank line of its second half, else with the last sentence, which is looked for in the
    second half first; where no sentence ends, with a line, a word, or a character of UTF-8.
    """
    half = limit // 2
    blank = max(buffer.rfind(mark, half, limit) + len(mark) for mark in (b"\n\n", b"\n\r\n", b"\r\r"))
    if blank > half + 2:
        return blank, False
    for begin in (half, 0):
        for pattern in _SENTENCES:
            if end := _last(pattern, buffer, begin, limit):
                return end, True
    if _is_utf8(buffer, limit) and (end := _last(_WIDE, buffer, 0, limit)):
        return end, True
    for pattern in (_LINES, _SPACES):
        if end := _last(pattern, buffer, 0, limit):
            return end, True
    nearby = [*range(limit, max(limit - 4, 0), -1), *range(limit + 1, limit + 4)]
    return next((end for end in nearby if end >= len(buffer) or buffer[end] & 0xC0 != 0x80), limit), True


def _last(pattern: re.Pattern[bytes], buffer: bytearray, begin: int, end: int) -> int:
    """Return where the last match between two places ends, 0 where there is none."""
    length = _NEARBY
    while True:
        start, last = max(begin, end - length), 0
        for match in pattern.finditer(buffer, start, end):
            last = match.end()
        if last or start == begin:
            return last
        length *= 4


def _is_utf8(buffer: bytearray, limit: int) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(buffer[:limit])
    except UnicodeDecodeError:
        return False
    return True
