"""Small dumps for tests: pages, whole dumps, streams, an index beside them, and how they are read."""

from __future__ import annotations

import bz2
import itertools
import os
from collections.abc import Sequence
from pathlib import Path

from hypothesis import strategies as st

from bertdata.sources.wikipedia.dump.ranges import DumpRange, plan_ranges
from bertdata.sources.wikipedia.dump.reader import BrokenPage, Page, read_pages
from bertdata.sources.wikipedia.dump.siteinfo import read_siteinfo

HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/" version="0.10" xml:lang="de">
  <siteinfo>
    <sitename>Wikipedia</sitename>
    <dbname>dewiki</dbname>
    <base>https://de.wikipedia.org/wiki/Wikipedia:Hauptseite</base>
    <case>first-letter</case>
    <namespaces>
      <namespace key="0" case="first-letter" />
      <namespace key="1" case="first-letter">Diskussion</namespace>
      <namespace key="10" case="first-letter">Vorlage</namespace>
    </namespaces>
  </siteinfo>
"""
TAIL = "</mediawiki>\n"


def page(title: str, text: str, *, number: int = 1, attributes: str = "") -> str:
    return (
        f"  <page{attributes}>\n    <title>{title}</title>\n    <ns>0</ns>\n    <id>{number}</id>\n    <revision>\n"
        f'      <timestamp>2020-01-01T00:00:00Z</timestamp>\n      <text xml:space="preserve">{text}</text>\n'
        "    </revision>\n  </page>\n"
    )


def dump(*pages: str, head: str = HEAD, tail: str = TAIL) -> bytes:
    return (head + "".join(pages) + tail).encode()


def ranges_of(path: str, cuts: Sequence[int]) -> list[DumpRange]:
    whole = os.path.getsize(path)
    edges = [0, *sorted({cut % whole for cut in cuts} - {0}), whole]
    return [DumpRange(path, start, end) for start, end in itertools.pairwise(edges)]


def read(path: str, ranges: Sequence[DumpRange] | None = None, compiled: bool | None = None) -> list[Page | BrokenPage]:
    info, spans = read_siteinfo(path), ranges or plan_ranges(path, 1 << 30).ranges
    return [page for span in spans for page in read_pages(span, info, compiled=compiled)]


def write(folder: Path, name: str, data: bytes) -> str:
    target = folder / name
    target.write_bytes(data)
    return str(target)


def one(folder: Path, body: str, head: str = HEAD) -> Page:
    (page,) = read(write(folder, "one.xml", dump(body, head=head)))
    assert isinstance(page, Page)
    return page


def broken(folder: Path, *pages: str | bytes) -> list[tuple[str, str | None]]:
    body = b"".join(part if isinstance(part, bytes) else part.encode() for part in pages)
    pages_read = read(write(folder, "broken.xml", HEAD.encode() + body + TAIL.encode()))
    return [(item.reason, item.title) if isinstance(item, BrokenPage) else ("", item.title) for item in pages_read]


PAGES = [page(f"T{n}", "&amp;" * n + "Straße " * (n % 5) + "x" * (37 * n % 211), number=n) for n in range(1, 24)]
PLAIN = dump(*PAGES)
WHOLE = [(n, f"T{n}", "&" * n + "Straße " * (n % 5) + "x" * (37 * n % 211)) for n in range(1, 24)]


CUTS = st.lists(st.integers(0, 1 << 20), max_size=25)


def contents(pages: Sequence[Page | BrokenPage]) -> list[tuple[int, str, str]]:
    return [(item.id, item.title, item.text) for item in pages if isinstance(item, Page)]


def streams(data: bytes, cuts: Sequence[int]) -> bytes:
    edges = [0, *sorted({cut % len(data) for cut in cuts} - {0}), len(data)]
    return b"".join(bz2.compress(data[start:end]) for start, end in itertools.pairwise(edges))


def multistream(folder: Path) -> tuple[str, list[int]]:
    """Write a dump of several streams; returns its path, and where they begin."""
    pieces = [HEAD.encode(), *("".join(PAGES[n : n + 4]).encode() for n in range(0, 23, 4)), TAIL.encode()]
    offsets = [0, *itertools.accumulate(len(bz2.compress(piece)) for piece in pieces)]
    return write(folder, "x-multistream.xml.bz2", b"".join(bz2.compress(piece) for piece in pieces)), offsets
