"""The bytes of books as text: UTF-8, else the encoding that a mark states, that is named, or that they look like."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Iterator

from bertdata.io.encodings import (
    GUESS,
    WITH_CP1252,
    guesses,
    is_utf_8_with_others,
    keeps_ascii,
    of_mark,
    strays_from_cp1252,
)


def as_utf8(chunks: Iterator[bytes], named: str = "") -> Iterator[bytes]:
    """Pass bytes on; those of a file that begins with a UTF-16 or UTF-32 byte-order mark are transcoded.

    So are those of a `named` encoding in which ASCII is something else.
    """
    head = b""
    for data in chunks:
        head += data
        if len(head) >= 4:
            break
    encoding = of_mark(head)
    if encoding is None and named not in ("", GUESS) and not keeps_ascii(named):
        encoding = named
    if encoding in (None, "utf-8"):
        yield head.removeprefix(codecs.BOM_UTF8)
        yield from chunks
        return
    decoder = codecs.getincrementaldecoder(str(encoding))("replace")
    yield decoder.decode(head).encode()
    for data in chunks:
        yield decoder.decode(data).encode()
    yield decoder.decode(b"", final=True).encode()


def decode(part: bytes, notes: Counter[str], named: str = "") -> str | None:
    """Decode UTF-8, else what is `named`, else what the bytes look like.

    A few stray bytes in UTF-8 text are read as cp1252.
    """
    part = part.replace(b"\0", b"")
    try:
        return part.decode()
    except UnicodeDecodeError:
        text = part.decode("utf-8", "surrogateescape")
    if is_utf_8_with_others(part, text):
        notes[WITH_CP1252] += 1
        return strays_from_cp1252(text)
    for encoding in guesses(part) if named in ("", GUESS) else [named]:
        try:
            text = part.decode(encoding)
        except UnicodeDecodeError:
            continue
        notes[encoding] += 1
        return text
    return None
