"""One small wiki, written as a legacy multistream dump and as a Content File Export of three files."""

from __future__ import annotations

import bz2
import hashlib
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

PROSE = "Salt is a mineral of the sea and of the earth, and people have carried it over mountains for ages."
DATE = "2026-09-01"


@dataclass(frozen=True)
class Revision:
    """A revision; `hidden`: its text is deleted; `slots`: further slots as (role, text)."""

    id: int
    time: str
    text: str
    model: str = "wikitext"
    hidden: bool = False
    slots: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class WikiPage:
    """A page with all of its revisions; `marked`: an export has `<redirect>` for it, as the legacy dump always has."""

    id: int
    title: str
    revisions: tuple[Revision, ...]
    ns: int = 0
    redirect: str = ""
    marked: bool = True

    @property
    def newest(self) -> Revision:
        """Its newest revision."""
        return max(self.revisions, key=lambda revision: (revision.time, revision.id))


def _page(number: int, title: str, text: str, *, ns: int = 0, redirect: str = "", marked: bool = True) -> WikiPage:
    return WikiPage(number, title, (Revision(number * 100, "2026-08-01T00:00:00Z", text),), ns, redirect, marked)


MEDIA_INFO = (("mediainfo", '{"labels": "<text> of a slot"}'), ("aaa", "''A slot''"))
SPLIT = WikiPage(
    9,
    "Sea",
    (
        Revision(901, "2004-01-01T00:00:00Z", "An old sea."),
        Revision(990, "2005-01-01T00:00:00Z", "Imported: an older sea with a higher number."),
        Revision(902, "2026-08-02T00:00:00Z", f"The '''sea''' of today. {PROSE}"),
        Revision(903, "2026-08-01T00:00:00Z", "The sea of yesterday."),
        Revision(904, "2026-08-02T00:00:00Z", f"The '''sea''' of now. {PROSE}"),
    ),
)
PAGES = (
    _page(1, "Salt", f"'''Salt''' is &amp; stays [[white]].<ref>A <b>book</b>.</ref> {PROSE}"),
    _page(2, "Table salt", "#REDIRECT [[Salt]]", redirect="Salt"),
    _page(3, "Kochsalz", "#WEITERLEITUNG [[Salt]]", redirect="Salt", marked=False),
    _page(4, "Talk:Salt", "Is it white?", ns=1),
    WikiPage(5, "Libel", (Revision(500, "2026-08-01T00:00:00Z", "hidden", hidden=True),)),
    WikiPage(6, "Mine", (Revision(600, "2026-08-01T00:00:00Z", f"A mine. {PROSE}", slots=MEDIA_INFO),)),
    WikiPage(7, "Data", (Revision(700, "2026-08-01T00:00:00Z", '{"a": 1}', model="json"),)),
    _page(8, "Nothing", ""),
    SPLIT,
)


def _head(version: str, generator: str) -> str:
    return (
        f'<mediawiki xmlns="http://www.mediawiki.org/xml/export-{version}/" version="{version}" xml:lang="en">\n'
        "  <siteinfo>\n    <sitename>Wikipedia</sitename>\n    <dbname>xwiki</dbname>\n"
        "    <base>https://x.example.org/wiki/Main_Page</base>\n"
        f"    <generator>{generator}</generator>\n    <case>first-letter</case>\n    <namespaces>\n"
        '      <namespace key="0" case="first-letter" />\n'
        '      <namespace key="1" case="first-letter">Talk</namespace>\n    </namespaces>\n  </siteinfo>\n'
    )


TAIL = "</mediawiki>\n"


def _text(text: str, hidden: bool, sha1: bool) -> str:
    if hidden:
        return '<text bytes="-1" deleted="deleted" />' if sha1 else '<text deleted="deleted" />'
    if not text:
        return '<text bytes="0" />'
    size = len(text.encode())
    attribute = f' sha1="{hashlib.sha1(text.encode()).hexdigest()}"' if sha1 else ""
    return f'<text bytes="{size}"{attribute} xml:space="preserve">{escape(text)}</text>'


def _revision(revision: Revision, *, export: bool) -> str:
    origin = f"      <origin>{revision.id}</origin>\n" if export else ""
    slots = "".join(
        f"      <content>\n        <role>{role}</role>\n        <origin>{revision.id}</origin>\n"
        "        <model>other</model>\n        <format>application/json</format>\n"
        f"        {_text(text, False, True)}\n      </content>\n"
        for role, text in (revision.slots if export else ())
    )
    return (
        f"    <revision>\n      <id>{revision.id}</id>\n      <timestamp>{revision.time}</timestamp>\n"
        "      <contributor>\n        <username>A</username>\n        <id>77</id>\n      </contributor>\n"
        f"{origin}      <model>{revision.model}</model>\n      <format>text/x-wiki</format>\n"
        f"      {_text(revision.text, revision.hidden, export)}\n{slots}      <sha1>abc</sha1>\n    </revision>\n"
    )


def _xml(page: WikiPage, revisions: tuple[Revision, ...], *, export: bool) -> str:
    marked = page.redirect and (page.marked or not export)
    redirect = f'    <redirect title="{page.redirect}" />\n' if marked else ""
    body = "".join(_revision(revision, export=export) for revision in revisions)
    head = f"    <title>{page.title}</title>\n    <ns>{page.ns}</ns>\n    <id>{page.id}</id>\n"
    return f"  <page>\n{head}{redirect}{body}  </page>\n"


def legacy(pages: tuple[WikiPage, ...] = PAGES) -> bytes:
    """Return a multistream dump of schema 0.10 with the newest revision of each page, two pages a stream."""
    written = [_xml(page, (page.newest,), export=False) for page in pages]
    pieces = ["".join(written[n : n + 2]) for n in range(0, len(written), 2)]
    return b"".join(bz2.compress(piece.encode()) for piece in (_head("0.10", "MediaWiki 1.39"), *pieces, TAIL))


def export_file(*pages: tuple[WikiPage, tuple[Revision, ...]]) -> bytes:
    """Return one file of an export, a single bz2 stream, with some revisions of some pages."""
    body = "".join(_xml(page, revisions, export=True) for page, revisions in pages)
    return bz2.compress((_head("0.11", "MediaWiki Content File Export 0.3.12") + body + TAIL).encode())


def export() -> dict[str, bytes]:
    """Return the files of an export by name: the last page is split over two files by its revisions."""
    whole = [(page, (page.newest,)) for page in PAGES[:-1]]
    older, newer = SPLIT.revisions[:3], SPLIT.revisions[3:]
    return {
        f"xwiki-{DATE}-p1p8.xml.bz2": export_file(*whole),
        f"xwiki-{DATE}-p9r901r902.xml.bz2": export_file((SPLIT, older)),
        f"xwiki-{DATE}-p9r903r904.xml.bz2": export_file((SPLIT, newer)),
    }


def sha256sums(files: dict[str, bytes]) -> bytes:
    """Return the list of SHA-256 sums of files."""
    return "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in files.items()).encode()


def write_export(folder: Path, files: dict[str, bytes] | None = None, *, finished: bool = True) -> Path:
    """Write an export as a folder, with SHA256SUMS and, where it is finished, `_SUCCESS`."""
    files = export() if files is None else files
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    (folder / "SHA256SUMS").write_bytes(sha256sums(files))
    if finished:
        (folder / "_SUCCESS").touch()
    return folder
