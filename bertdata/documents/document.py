"""The document: one row of text with its identity, and what is counted of documents.

A document's text is paragraphs with a blank line between them. The column `source` is the kind of input, or what a row
of a table has there; the name of a build's source (`sources.names`) is not stored with the document.
"""

from __future__ import annotations

import re
from enum import StrEnum

import pyarrow as pa

from bertdata.counter_rng import text_bits

SCHEMA = pa.schema([pa.field(name, pa.string(), nullable=False) for name in ("id", "source", "title", "url", "text")])
COLUMNS = "columns"
WITH_COLUMNS = SCHEMA.append(pa.field(COLUMNS, pa.string()))
"""With the columns of a table that selections read, as a JSON object."""
SLOTS = 1 << 16
CHANGED = "changed by "
"""What the counts of documents that a cleaner changed begin with."""
LEFT_OUT = " left out, "
"""What the counts of lines, paragraphs, sentences and bytes that rules left out of documents have before the reason."""
BYTES_LEFT_OUT = f"bytes{LEFT_OUT}"
"""What the counts of bytes of text that a source format left out have before the reason."""
BYTES_REMOVED = "bytes removed, "
"""What the counts of bytes of text that stages took out of documents that were read have before the reason."""
DOCUMENT_LANGUAGES = "document_languages"
"""The detail of records that has the documents and bytes of text by language."""
_SURROGATES = re.compile("[\ud800-\udfff]")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_BLANK_LINES = re.compile(r"\n[^\S\n]*\n\s*")
_LINE_BREAKS = re.compile(r"\n+")
_UNEVEN = re.compile(r"\n(?:\n\n|[^\S\n]|(?<=[^\S\n]\n))")
"""Where a border is not one or two line breaks alone: three, or other white space after or before one."""


def slot(document_id: str) -> int:
    """Return the hash bucket of a document, 0 to 65535: the top 16 bits of the hash of its id.

    Shards are ranges of buckets, so the bucket decides the shard and the split, whatever the order of the input.

    >>> slot("enwiki:12")
    8310
    """
    return text_bits(document_id) >> 48


def storable(text: str) -> str:
    """Return a text that UTF-8 can hold, with U+FFFD for lone surrogates."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return _SURROGATES.sub("\ufffd", text)
    return text


def stored(text: str) -> bytes:
    r"""Return a text in UTF-8, with U+FFFD for lone surrogates.

    >>> stored("caf\u00e9 \ud800").decode()
    'caf\xe9 \ufffd'
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _SURROGATES.sub("\ufffd", text).encode()


def paragraphs(text: str) -> str:
    r"""Return text with one blank line between paragraphs and none at its ends.

    >>> paragraphs("One.\nTwo."), paragraphs("One\nline.\n\n\nTwo.")
    ('One.\n\nTwo.', 'One\nline.\n\nTwo.')
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = text.strip()
    if not _UNEVEN.search(text):
        return text if "\n\n" in text else text.replace("\n", "\n\n")
    parts = (_BLANK_LINES if _BLANK_LINE.search(text) else _LINE_BREAKS).split(text)
    return "\n\n".join([part for part in map(str.strip, parts) if part])


class DocumentCount(StrEnum):
    """What records of parts of documents count."""

    DOCUMENTS = "documents"
    TEXT_BYTES = "text_bytes"
