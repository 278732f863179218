"""The bytes of books as text: UTF-8, else the encoding that a mark states, that is named, that a header declares,
or that they look like."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from bertdata.io.eight_bits import keeps_ascii
from bertdata.io.encoding_guess import Guess, guesses
from bertdata.io.encodings import (
    GUESS,
    WITH_CP1252,
    is_utf_8_with_others,
    of_mark,
    strays_from_cp1252,
)


class Decoded(NamedTuple):
    """A text, the encoding that it was in, "" for UTF-8, and why it may be in another, "" where that is not likely."""

    text: str
    encoding: str = ""
    doubt: str = ""


def as_utf8(chunks: Iterator[bytes], named: str = "") -> Iterator[bytes]:
    """Pass bytes on; those of a file that begins with a UTF-16 or UTF-32 byte-order mark are transcoded.

    So are those of a `named` encoding that does not contain ASCII.
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


def decode(part: bytes, notes: Counter[str], named: str = "", head: bytes = b"") -> Decoded | None:
    """Decode UTF-8, else what is `named`, else what the header in `head` declares or the bytes look like.

    A few stray bytes in UTF-8 text are read as cp1252. None where nothing fits.
    """
    part = part.replace(b"\0", b"")
    try:
        return Decoded(part.decode())
    except UnicodeDecodeError:
        text = part.decode("utf-8", "surrogateescape")
    if is_utf_8_with_others(part, text):
        notes[WITH_CP1252] += 1
        return Decoded(strays_from_cp1252(text), WITH_CP1252)
    for guess in guesses(part, head) if named in ("", GUESS) else [Guess(named)]:
        try:
            text = part.decode(guess.encoding)
        except UnicodeDecodeError:
            continue
        notes[guess.encoding] += 1
        return Decoded(text, guess.encoding, guess.doubt)
    return None
