"""The newest of a page's revisions: history exports and dumps have all of them, and not always the newest last."""

from __future__ import annotations

import re

REVISION, REVISION_END = b"<revision", b"</revision>"
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
