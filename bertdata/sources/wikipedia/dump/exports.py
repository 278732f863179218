"""MediaWiki Content File Exports as folders of files: their names, pages split over files, and what is missing.

https://wikitech.wikimedia.org/wiki/MediaWiki_Content_File_Exports: an export of a wiki is a folder of files named
`{wiki}-{date}-p{first page}p{last page}.xml.bz2`, or `...-p{page}r{revision}r{revision}.xml.bz2` where a file holds
revisions of one page, beside SHA256SUMS, and `_SUCCESS` once it is finished.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Sequence

from bertdata.errors import InputError
from bertdata.io import files
from bertdata.io.console import counted
from bertdata.sources.wikipedia.dump.ranges import DumpRange, read_chunks, read_head

SUCCESS, SHA256SUMS = "_SUCCESS", "SHA256SUMS"
EXPORT_FILE = re.compile(
    r"(?P<wiki>[a-z0-9_]+)-(?P<date>\d{4}-\d\d-\d\d)-p(?P<page>\d+)(?:p\d+|(?P<revisions>r\d+r\d+))\.xml(?:\.\w+)?"
)
_GENERATOR = re.compile(rb"<generator>\s*MediaWiki Content File Export")
_DBNAME = re.compile(rb"<dbname>([^<]*)</dbname>")
_PAGE = re.compile(rb"<page[\s>]")
_ID = re.compile(rb"<id>\s*(\d+)\s*</id>")
_START = 1 << 20
"""Bytes read of a dump to find its first page, and of a list of sums: an export has some hundreds of files at most."""


def parse_sums(listing: bytes) -> dict[str, str]:
    r"""Return the checksum of each file of a list, "SUM  NAME" in a line, where it is a SHA-1 or a SHA-256.

    >>> parse_sums(b"ABCD" * 10 + b"  a.xml\nnot a line\n")
    {'a.xml': 'abcdabcdabcdabcdabcdabcdabcdabcdabcdabcd'}
    """
    line = re.compile(r"^([0-9a-fA-F]{40}|[0-9a-fA-F]{64})\s+\*?(?:\./)?(\S+)\s*$", re.MULTILINE)
    return {name: digest.lower() for digest, name in line.findall(listing.decode("utf-8", "replace"))}


def join_split_pages(paths: Sequence[str]) -> list[tuple[str, ...]]:
    """Return files, those that hold revisions of the same page together, in the order of the first of each.

    >>> join_split_pages(["x-2026-09-01-p7r1r5.xml.bz2", "x-2026-09-01-p8p9.xml.bz2", "x-2026-09-01-p7r6r9.xml.bz2"])
    [('x-2026-09-01-p7r1r5.xml.bz2', 'x-2026-09-01-p7r6r9.xml.bz2'), ('x-2026-09-01-p8p9.xml.bz2',)]
    """
    groups: dict[tuple[str, ...], list[str]] = {}
    for path in paths:
        name = EXPORT_FILE.fullmatch(files.name(path))
        split = name is not None and name["revisions"]
        groups.setdefault((name["wiki"], name["date"], name["page"]) if name and split else (path,), []).append(path)
    return [tuple(group) for group in groups.values()]


def check_overlap(groups: Iterable[Sequence[str]]) -> list[str]:
    """Return notes on dumps that begin with the same page of the same wiki: their pages would be read twice.

    Raises InputError where both are Content File Exports, whose files have no page in common.
    """
    notes = []
    seen: dict[tuple[bytes, bytes], tuple[str, bool]] = {}
    for path, *_ in groups:
        head = read_head(path)[0]
        wiki, page, exported = _DBNAME.search(head), _first_page(path), _GENERATOR.search(head) is not None
        if wiki is None or page is None:
            continue
        other, other_exported = seen.setdefault((wiki[1], page), (path, exported))
        if other == path:
            continue
        overlap = f"begins with page {page.decode()} of {wiki[1].decode('utf-8', 'replace')}, as {other} does"
        if exported and other_exported:
            raise InputError(
                f"{overlap}: they are of two exports, or copies, or hold revisions of one page; give one export, each "
                "file once, and under the name it was published with, by which a page in several files is put together",
                path=path,
            )
        notes.append(f"{path} {overlap}: leave one of them out if they hold the same pages, which are else read twice")
    return notes


def _first_page(path: str) -> bytes | None:
    """Return the id of a dump's first page, None where its first megabyte has none or is damaged."""
    start = bytearray()
    with contextlib.suppress(InputError):
        for _, data, _ in read_chunks(DumpRange(path, 0, files.size(path))):
            if data is None:
                return None
            start += data
            page = _PAGE.search(start)
            page_id = page and _ID.search(start, page.end())
            if page_id or len(start) > _START:
                return page_id[1] if page_id else None
    return None


def check_folders(paths: Iterable[str]) -> list[str]:
    """Return notes on folders of exports that are not finished: without `_SUCCESS`, or without a file of SHA256SUMS."""
    names_in: dict[str, set[str]] = {}
    for path in paths:
        if EXPORT_FILE.fullmatch(files.name(path)):
            names_in.setdefault(path.removesuffix(files.name(path)), set()).add(files.name(path))
    notes = []
    for folder, names in names_in.items():
        label = folder.rstrip("/") or "."
        if not files.exists(files.join(folder, SUCCESS)):
            notes.append(
                f"{label} has no {SUCCESS}: this export may not be finished, or not be downloaded whole; "
                "`bertdata download wikipedia` goes on with it"
            )
        with contextlib.suppress(InputError), files.open_raw(files.join(folder, SHA256SUMS)) as file:
            listed = {name for name in parse_sums(file.read(_START)) if EXPORT_FILE.fullmatch(name)}
            if missing := sorted(listed - names):
                more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
                notes.append(
                    f"{label}: {len(missing)} of the {counted(len(listed), 'file')} of this export are not read: "
                    f"{', '.join(missing[:3])}{more}"
                )
    return notes
