"""What a source has lost of its text by the bytes, by reason: however few the documents are that most of it was in."""

from __future__ import annotations

from collections.abc import Mapping

from bertdata.documents import BYTES_LEFT_OUT, BYTES_REMOVED, DocumentCount
from bertdata.engine.parts import BYTES_DROPPED
from bertdata.sources.names import InputCount, LeftOut

NO_LOSS = ("redirect", "not an article", "deleted", "disambiguation", "content model")
"""What the reasons begin with by which pages go that are no articles."""
FILTERED = ("filter ", "gopher_", "c4_", "fineweb_")
"""What the reasons of filters begin with; these have warnings of their own."""
_OF_BOOKS = (LeftOut.FRONT_MATTER, LeftOut.NOT_PROSE, LeftOut.NO_PROSE)


def lost_text(counts: Mapping[str, int]) -> tuple[dict[str, int], int]:
    """Return the bytes of the text of a source that are in no document by reason, the largest first, and all bytes.

    The text of books is without what an archive added, that of a wiki without pages that are no articles; rows have
    the text of documents and what was dropped of it.

    >>> lost_text({"rows": 9, "text_bytes": 40, "bytes dropped, not a JSON object": 60})
    ({'not a JSON object': 60}, 100)
    >>> lost_text({"pages": 2, "text_bytes": 9, "wikitext_bytes": 30, "bytes dropped, redirect": 20})
    ({}, 10)
    """
    left_out = _by_reason(counts, BYTES_LEFT_OUT)
    dropped = _by_reason(counts, BYTES_DROPPED)
    of_books = counts.get(InputCount.BOOK_BYTES, 0) - left_out.pop(LeftOut.ARCHIVE, 0)
    no_loss = sum(dropped.pop(reason) for reason in list(dropped) if reason.startswith(NO_LOSS))
    of_pages = counts.get(InputCount.WIKITEXT_BYTES, 0) - no_loss
    of_rows = 0
    if InputCount.ROWS in counts:
        of_rows = counts.get(DocumentCount.TEXT_BYTES, 0) + sum(dropped.values())
    lost = {reason: size for reason, size in dropped.items() if not reason.startswith(FILTERED)}
    for reason, size in left_out.items():
        if reason in _OF_BOOKS or reason.startswith("broken: "):
            lost[reason] = lost.get(reason, 0) + size
    return _largest_first(lost), max(0, of_books) + max(0, of_pages) + of_rows


def removed_text(counts: Mapping[str, int]) -> tuple[dict[str, int], int]:
    """Return the bytes that stages took out of the documents of a source by reason, the largest first, and all bytes.

    >>> removed_text({"text_bytes": 40, "bytes removed, near duplicate": 60})
    ({'near duplicate': 60}, 100)
    """
    removed = _by_reason(counts, BYTES_REMOVED)
    return _largest_first(removed), counts.get(DocumentCount.TEXT_BYTES, 0) + sum(removed.values())


def _largest_first(sizes: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(sizes.items(), key=lambda entry: (-entry[1], entry[0])))


def _by_reason(counts: Mapping[str, int], prefix: str) -> dict[str, int]:
    return {name.removeprefix(prefix): size for name, size in counts.items() if name.startswith(prefix)}
