"""The newest of a page's revisions, and its main slot: what of a page's XML becomes its wikitext.

Histories have all revisions, and not always the newest last. The main slot is the `<text>` directly in `<revision>`;
the others are in `<content>` (https://www.mediawiki.org/xml/export-0.11.xsd).
"""

from __future__ import annotations

import re

REVISION, REVISION_END = b"<revision", b"</revision>"
SLOT, SLOT_END = b"<content", b"</content>"
_ID = re.compile(rb"<id>\s*(\d+)\s*</id>")
_TIMESTAMP = re.compile(rb"<timestamp>([^<]*)</timestamp>")


def newest_revision(data: bytes, first: int) -> tuple[int, int]:
    """Return where the newest revision lies, that of the highest id where timestamps are equal; else the whole page."""
    if first < 0:
        return 0, len(data)
    best, newest, start = (first, len(data)), (b"", 0), first
    if data.find(REVISION, first + len(REVISION)) < 0:
        return best
    while start >= 0:
        following = data.find(REVISION, start + len(REVISION))
        end = len(data) if following < 0 else following
        stamp, number = _TIMESTAMP.search(data, start, end), _ID.search(data, start, end)
        age = stamp[1].strip() if stamp else b"", int(number[1]) if number else 0
        if age >= newest:
            best, newest = (start, end), age
        start = following
    return best


def keep_newest(page: bytes) -> bytes:
    """Return a page with its newest revision alone."""
    first = page.find(REVISION)
    start, end = newest_revision(page, first)
    return page[: max(first, 0)] + page[start:end]


def without_slots(revision: bytes) -> bytes:
    """Return the XML of a revision without its slots beside the main one; one that does not end is dropped to the end.

    >>> without_slots(b"<id>1</id><content><text>a</text></content><text>b</text>")
    b'<id>1</id><text>b</text>'
    """
    pieces, position = [], 0
    while (start := revision.find(SLOT, position)) >= 0:
        pieces.append(revision[position:start])
        end = revision.find(SLOT_END, start)
        position = end + len(SLOT_END) if end >= 0 else len(revision)
    return b"".join((*pieces, revision[position:]))
