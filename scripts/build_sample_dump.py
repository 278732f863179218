"""Writes the sample dump of the package from its sources in scripts/sample: a multistream bz2 and its index.

usage: python scripts/build_sample_dump.py [DIRECTORY]

Articles, then a few redirects, then pages of other namespaces; ten pages per stream, where large dumps have a hundred.
The same sources give the same bytes.
"""

from __future__ import annotations

import bz2
import sys
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "scripts" / "sample"
NAMESPACES = {0: "", 1: "Talk", 2: "User", 3: "User talk", 4: "Project", 6: "File", 10: "Template", 14: "Category"}
REDIRECTS = {
    "Lighthouses": "Lighthouse",
    "Apis mellifera": "Honey bee",
    "Sun dial": "Sundial",
    "Tycho's assistant": "Johannes Kepler",
    "Fire of 1666": "Great Fire of London",
    "Pushbike": "Bicycle",
    "Octopuses": "Octopus",
    "Spud": "Potato",
}
PAGES_PER_STREAM = 10
NAME = "samplewiki-pages-articles-multistream"

HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">
  <siteinfo>
    <sitename>Sample Wiki</sitename>
    <dbname>samplewiki</dbname>
    <base>https://wiki.example.org/wiki/Main_Page</base>
    <generator>bertdata</generator>
    <case>first-letter</case>
    <namespaces>
{namespaces}
    </namespaces>
  </siteinfo>
"""


def pages() -> list[tuple[str, int, str, str | None]]:
    """Return (title, namespace, wikitext, redirect target) of every page, in page order."""
    result: list[tuple[str, int, str, str | None]] = []
    for path in sorted((SOURCES / "articles").glob("*.wikitext")):
        result.append((path.stem.replace("_", " "), 0, path.read_text("utf-8").rstrip("\n"), None))
    result += [(title, 0, f"#REDIRECT [[{target}]]", target) for title, target in REDIRECTS.items()]
    for path in sorted((SOURCES / "other").glob("*.wikitext")):
        prefix, title = path.stem.split("_", 1)
        number = next(number for number, name in NAMESPACES.items() if name == prefix)
        result.append((f"{prefix}:{title.replace('_', ' ')}", number, path.read_text("utf-8").rstrip("\n"), None))
    return result


def page_xml(identifier: int, title: str, namespace: int, text: str, redirect: str | None) -> str:
    """Return one page as the export format writes it."""
    target = f'    <redirect title="{escape(redirect)}" />\n' if redirect else ""
    return (
        f"  <page>\n    <title>{escape(title)}</title>\n    <ns>{namespace}</ns>\n    <id>{identifier}</id>\n{target}"
        f"    <revision>\n      <id>{1000 + identifier}</id>\n      <timestamp>2026-01-01T00:00:00Z</timestamp>\n"
        f"      <model>wikitext</model>\n      <format>text/x-wiki</format>\n"
        f'      <text bytes="{len(text.encode())}" xml:space="preserve">{escape(text)}</text>\n'
        f"    </revision>\n  </page>\n"
    )


def build(directory: Path) -> None:
    """Write the dump and its index into a directory."""
    names = "\n".join(
        f'      <namespace key="{key}" case="first-letter"' + (f">{name}</namespace>" if name else " />")
        for key, name in NAMESPACES.items()
    )
    dump = bz2.compress(HEAD.format(namespaces=names).encode())
    index = []
    listed = pages()
    for first in range(0, len(listed), PAGES_PER_STREAM):
        stream = ""
        for number, (title, namespace, text, redirect) in enumerate(
            listed[first : first + PAGES_PER_STREAM], first + 1
        ):
            index.append(f"{len(dump)}:{number}:{title}\n")
            stream += page_xml(number, title, namespace, text, redirect)
        dump += bz2.compress(stream.encode())
    dump += bz2.compress(b"</mediawiki>\n")
    directory.mkdir(parents=True, exist_ok=True)
    (directory / f"{NAME}.xml.bz2").write_bytes(dump)
    (directory / f"{NAME}-index.txt.bz2").write_bytes(bz2.compress("".join(index).encode()))


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "bertdata" / "sample" / "wikipedia")
