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
DOCUMENT_LANGUAGES = "document_languages"
"""The detail of records that has the documents and bytes of text by language."""
_SURROGATES = re.compile("[\ud800-\udfff]")


def slot(document_id: str) -> int:
    """Return the hash bucket of a document, 0 to 65535: the top 16 bits of the hash of its id.

    Shards are ranges of buckets, so the bucket decides the shard and the split, whatever the order of the input.

    >>> slot("enwiki:12")
    8310
    """
    return text_bits(document_id) >> 48


def storable(text: str) -> str:
    """Return a text that UTF-8 can hold, with U+FFFD for lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATES.sub("\ufffd", text)
    return text


def paragraphs(text: str) -> str:
    r"""Return text with one blank line between paragraphs and none at its ends.

    >>> paragraphs("One.\nTwo."), paragraphs("One\nline.\n\n\nTwo.")
    ('One.\n\nTwo.', 'One\nline.\n\nTwo.')
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    border = r"\n[^\S\n]*\n\s*" if re.search(r"\n[^\S\n]*\n", text) else r"\n+"
    return "\n\n".join(part.strip() for part in re.split(border, text) if part.strip())


class DocumentCount(StrEnum):
    """What records of parts of documents count."""

    DOCUMENTS = "documents"
    TEXT_BYTES = "text_bytes"
