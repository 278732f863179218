"""Pages out of a MediaWiki XML dump, one range of the file at a time, in bounded memory.

A page belongs to the range in which the first byte of its `<page` tag lies, so any cut of a file into ranges gives
each page exactly once. The XML is cut by scanning bytes: no tree is built, and text inside a page is escaped, so a tag
that is seen is a tag.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, replace

from bertdata.errors import InputError
from bertdata.io.files import size
from bertdata.kernels.warmup import compiling_pays
from bertdata.sources.names import NO_TEXT
from bertdata.sources.wikipedia.dump.ranges import DumpRange, read_chunks
from bertdata.sources.wikipedia.dump.revisions import (
    REVISION,
    REVISION_END,
    SLOT,
    keep_newest,
    newest_revision,
    without_slots,
)
from bertdata.sources.wikipedia.dump.siteinfo import SiteInfo
from bertdata.sources.wikipedia.dump.unescape import unescape, unescaper
from bertdata.wikitext.mediawiki.redirect_words import redirect_target

_TAG = re.compile(rb"<(?:page[\s/>]|/page>|/mediawiki)")
_LONGEST_TAG = len(b"</mediawiki")
_TITLE = re.compile(rb"<title>([^<]*)</title>")
_NS = re.compile(rb"<ns>\s*(-?\d+)\s*</ns>")
_ID = re.compile(rb"<id>\s*(\d+)\s*</id>")
_REDIRECT = re.compile(rb"<redirect(?=[\s/>])(?:\s+title=\"([^\"<]*)\")?")
_MODEL = re.compile(rb"<model>([^<]*)</model>")
_TEXT = re.compile(rb"<text(?=[\s/>])[^<>]*>")
_LONG_PAGE = 8 << 20
"""Bytes of a page from which on only its newest revision so far is kept."""
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class Page:
    """One page: the wikitext in UTF-8 of its newest revision's main slot, XML entities unescaped once.

    `redirect` is the target's title as `<redirect>` has it, else as the link after a redirect word; empty where a
    redirect does not name its target, None where the page is not a redirect. `model` is the content model, `wikitext`
    where the dump does not say. `offset` is that of the `<page` tag in a plain file, else of the compressed stream it
    lies in; of a bz2 file, of the block, which is the stream for the first block of one. `deleted` says that the wiki
    hides the text of the revision (`<text deleted="deleted" />`).
    """

    id: int
    ns: int
    title: str
    redirect: str | None
    model: str
    wikitext: bytes
    offset: int
    deleted: bool = False

    @property
    def text(self) -> str:
        """The wikitext, decoded."""
        return self.wikitext.decode()


@dataclass(frozen=True)
class BrokenPage:
    """A page that cannot be read, and why.

    Reasons are `not closed`, `no title`, `no text`, `no id`, `bad utf-8` and `damaged block`. The last is said of a
    page of which a damaged bz2 block has a part, and once for the pages that begin in damaged blocks, however many;
    their titles are not known, and `offset` is that of the first of these blocks. `path` is the file that the offset
    is in, where a page is in several.
    """

    reason: str
    title: str | None
    offset: int
    path: str = ""


def read_pages(
    span: DumpRange, siteinfo: SiteInfo, *, compiled: bool | None = None, namespaces: Container[int] | None = None
) -> Iterator[Page | BrokenPage]:
    """Yield the pages of one range in file order, holding one page, one block of bz2 and a few buffers.

    `compiled` says whether kernels decode bz2 and undo escapes, which changes only the speed; None decides by the size
    of the range. Pages outside `namespaces` are yielded without their wikitext, which is passed over; None has all of
    them. Raises InputError, after the whole pages before it, where a compressed stream is corrupt or the dump ends
    without `</mediawiki>`; the latter in the range that has the last page. A page that cannot be read is yielded as a
    BrokenPage.

    >>> from bertdata.io.files import write_bytes
    >>> from bertdata.sources.wikipedia.dump.siteinfo import read_siteinfo
    >>> page = "<page><title>A</title><id>7</id><text>&lt;b></text></page>"
    >>> write_bytes("memory://d.xml", f"<mediawiki>{page}</mediawiki>".encode())
    >>> list(read_pages(DumpRange("memory://d.xml", 0, 85), read_siteinfo("memory://d.xml")))
    [Page(id=7, ns=0, title='A', redirect=None, model='wikitext', wikitext=b'<b>', offset=11, deleted=False)]
    """
    plain = unescaper(span.weight, compiled)
    for cut_page in _cut_pages(span, compiled):
        yield cut_page if isinstance(cut_page, BrokenPage) else _parse(*cut_page, siteinfo, plain, namespaces)


def read_split_page(
    spans: Sequence[DumpRange],
    siteinfo: SiteInfo,
    *,
    compiled: bool | None = None,
    namespaces: Container[int] | None = None,
) -> Iterator[Page | BrokenPage]:
    """Yield one page whose revisions are in several files, with the newest of all of them.

    Where a part of it is damaged, the newest may be lost, so it is a BrokenPage. The files may be in any order; the
    other arguments are as in `read_pages`. Raises InputError as `read_pages` does, and where the files hold more than
    one page.
    """
    merged: bytes | None = None
    number, begin = None, ("", 0)
    broken: BrokenPage | None = None
    for span in spans:
        for cut_page in _cut_pages(span, compiled):
            if isinstance(cut_page, BrokenPage):
                broken = broken or replace(cut_page, path=span.path)
                continue
            data, place = cut_page
            first = data.find(REVISION)
            id_here = _ID.search(data, 0, first if first >= 0 else len(data))
            if merged is None:
                merged, number, begin = data, id_here, (span.path, place)
            elif (id_here and id_here[1]) != (number and number[1]):
                raise InputError(
                    "is named as a file of revisions of one page, and holds another page; give the files the names "
                    "under which they were published",
                    path=span.path,
                    offset=place,
                    title=_title_of(data),
                )
            elif first >= 0:
                merged = keep_newest(merged + data[first:])
    if broken is not None:
        title = broken.title or (None if merged is None else _title_of(merged))
        yield replace(broken, title=title)
    elif merged is not None:
        path, offset = begin
        plain = unescaper(sum(span.weight for span in spans), compiled)
        page = _parse(merged, offset, siteinfo, plain, namespaces)
        yield replace(page, path=path) if isinstance(page, BrokenPage) else page


def _cut_pages(span: DumpRange, compiled: bool | None) -> Iterator[tuple[bytes, int] | BrokenPage]:
    """Yield the XML and the offset of each page of a range; of a long page only its newest revision."""
    buffer, base, scanned, page_so_far = bytearray(), 0, 0, b""
    origins: deque[tuple[int, int, bool]] = deque()
    opened: int | None = None
    page_offset = 0
    must_end = span.start == 0

    def origin(position: int) -> int:
        while len(origins) > 1 and origins[1][0] <= position:
            origins.popleft()
        begin, offset, exact = origins[0]
        return offset + position - begin if exact else offset

    for offset, data, exact in read_chunks(span, compiled=compiling_pays(span.weight, compiled)):
        if data is None:
            if opened is not None:
                yield BrokenPage("damaged block", _title_of(page_so_far + bytes(buffer[opened - base :])), page_offset)
            if origins and origins[-1][1] >= span.end:
                return
            yield BrokenPage("damaged block", None, offset)
            base += len(buffer)
            buffer.clear()
            opened, page_so_far, must_end, scanned = None, b"", False, base
            continue
        origins.append((base + len(buffer), offset, exact))
        buffer += data
        fresh = max(scanned - len(REVISION_END), base)
        for tag in _TAG.finditer(buffer, scanned - base):
            scanned = base + tag.end()
            if tag.group() == b"</page>":
                if opened is not None:
                    yield page_so_far + bytes(buffer[opened - base : tag.end()]), page_offset
                opened, page_so_far = None, b""
                continue
            if opened is not None:
                page = page_so_far + bytes(buffer[opened - base : tag.start()])
                yield BrokenPage("not closed", _title_of(page), page_offset)
            opened, page_so_far, must_end = None, b"", False
            if tag.group() != b"</mediawiki":
                page_offset = origin(base + tag.start())
                if page_offset >= span.end:
                    return
                opened, must_end = base + tag.start(), True
        scanned = max(scanned, base + len(buffer) - _LONGEST_TAG + 1)
        if opened is not None and base + len(buffer) - opened > _LONG_PAGE:
            ended = buffer.rfind(REVISION_END, max(opened, fresh) - base) + len(REVISION_END)
            if ended >= len(REVISION_END):
                page_so_far = keep_newest(page_so_far + bytes(buffer[opened - base : ended]))
                opened = base + ended
                scanned = max(scanned, opened)
        keep = scanned if opened is None else opened
        del buffer[: keep - base]
        base = keep
        if opened is None and not must_end and origin(scanned) >= span.end:
            return
    if opened is not None or must_end:
        raise InputError(
            f"the dump is cut off: it ends {'without </mediawiki>' if opened is None else 'inside this page'}; "
            "get it again and check its size",
            path=span.path,
            offset=size(span.path),
            title=None if opened is None else _title_of(page_so_far + bytes(buffer)),
        )


def _parse(
    data: bytes,
    offset: int,
    siteinfo: SiteInfo,
    plain: Callable[[bytes], bytes],
    namespaces: Container[int] | None,
) -> Page | BrokenPage:
    first = data.find(REVISION)
    start, end = newest_revision(data, first)
    opening, raw = _TEXT.search(data, start, end), b""
    if opening and data.find(SLOT, start, opening.start()) >= 0:
        data = data[:start] + without_slots(data[start:end])
        end = len(data)
        opening = _TEXT.search(data, start)
    text_end = header = len(data) if first < 0 else first
    if opening:
        text_end = opening.end()
        header = min(header, opening.start())
        if not opening[0].endswith(b"/>"):
            text_end = data.find(b"</text>", opening.end(), end)
            raw = data[opening.end() : text_end]
    name = _TITLE.search(data, 0, header)
    if not name or not name[1].strip():
        return BrokenPage("no title", None, offset)
    if not opening or text_end < 0:
        return BrokenPage(NO_TEXT, _readable(name[1]), offset)
    number = _ID.search(data, 0, header)
    if not number:
        return BrokenPage("no id", _readable(name[1]), offset)
    ns, marked = _NS.search(data, 0, header), _REDIRECT.search(data, 0, header)
    model = _MODEL.search(data, start, opening.start()) or _MODEL.search(without_slots(data[text_end:end]))
    try:
        model_name = model[1].decode().strip() if model else "wikitext"
        title = _plain(unescape(name[1]).decode())
        namespace = int(ns[1]) if ns else siteinfo.namespace(title)
        text = plain(raw) if namespaces is None or namespace in namespaces else b""
        if not text.isascii():
            text.decode()
        redirect = unescape(marked[1] or b"").decode() if marked else None
        if not redirect and (marked or model_name == "wikitext"):
            linked = redirect_target(text)
            redirect = redirect if linked is None else linked
        return Page(
            int(number[1]),
            namespace,
            title,
            redirect,
            model_name,
            text,
            offset,
            b" deleted=" in opening[0],
        )
    except UnicodeDecodeError:
        return BrokenPage("bad utf-8", _readable(name[1]), offset)


def _title_of(data: bytes) -> str | None:
    match = _TITLE.search(data)
    return _readable(match[1]) if match else None


def _readable(title: bytes) -> str:
    return _plain(unescape(title).decode("utf-8", "replace"))


def _plain(title: str) -> str:
    """Return a title without control characters, which no title of a wiki has."""
    return _CONTROL.sub("", title).strip()
