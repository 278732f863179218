"""`bertdata download`: the multistream dump of a Wikipedia, or plain texts of Project Gutenberg books.

Files are resumed and checked (`io/http`); the same command goes on where the last one stopped.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
from collections.abc import Sequence

from bertdata.errors import ConfigError, InputError
from bertdata.io import files
from bertdata.io.http import Client, NotThereError

WIKIMEDIA = "https://dumps.wikimedia.org"
GUTENBERG = "https://aleph.pglaf.org"


def wikipedia(
    language: str, output: str, client: Client, *, date: str = "latest", mirror: str = WIKIMEDIA
) -> list[str]:
    """Fetch the multistream dump of one Wikipedia, its index and the list of SHA-1 sums; returns their paths.

    `date` is YYYYMMDD, or latest for the newest dump that is finished. Raises InputError where there is none.
    """
    if not re.fullmatch(r"[a-z]{2,}(-[a-z]+)*", language):
        raise ConfigError(f"--language is {language!r}; expected the code in the wiki's address, as en, de or simple")
    if not re.fullmatch(r"latest|\d{8}", date):
        raise ConfigError(f"--date is {date!r}; expected YYYYMMDD, or latest")
    wiki = f"{language.replace('-', '_')}wiki"
    base = f"{_mirror(mirror)}/{wiki}"
    day, listing = _finished_dump(client, base, wiki, date)
    sums = _parse_sums(listing)
    paths = []
    for name in _dump_names(wiki, day):
        paths.append(client.fetch(f"{base}/{day}/{name}", os.path.join(output, name), sha1=sums[name]))
    path = os.path.join(output, f"{wiki}-{day}-sha1sums.txt")
    files.write_bytes(path, listing)
    return [*paths, path]


def _dump_names(wiki: str, day: str) -> tuple[str, str]:
    stem = f"{wiki}-{day}-pages-articles-multistream"
    return f"{stem}-index.txt.bz2", f"{stem}.xml.bz2"


def _parse_sums(listing: bytes) -> dict[str, str]:
    r"""Return the SHA-1 of each file of a list, "SUM  NAME" in a line.

    >>> _parse_sums(b"ABCD" * 10 + b"  a.xml\nnot a line\n")
    {'a.xml': 'abcdabcdabcdabcdabcdabcdabcdabcdabcdabcd'}
    """
    found = re.findall(r"^([0-9a-fA-F]{40})\s+\*?(\S+)\s*$", listing.decode("utf-8", "replace"), re.MULTILINE)
    return {name: digest.lower() for digest, name in found}


def _finished_dump(client: Client, base: str, wiki: str, date: str) -> tuple[str, bytes]:
    """Return the day of a dump whose files are all listed, and the list; the newest one for `latest`."""
    days = [date] if date != "latest" else _days(client, base, wiki)
    for day in days:
        try:
            listing = client.read(f"{base}/{day}/{wiki}-{day}-sha1sums.txt")
        except NotThereError:
            continue
        if set(_dump_names(wiki, day)) <= _parse_sums(listing).keys():
            return day, listing
    raise InputError(
        f"has no finished multistream dump of {wiki} ({', '.join(days) or 'no dumps'} looked at); "
        "check --language, give another --date, or choose another --mirror",
        path=base,
    )


def _days(client: Client, base: str, wiki: str) -> list[str]:
    """Return the days of the dumps there are, newest first: from the folder's listing, else from `latest`."""
    days: set[str] = set()
    with contextlib.suppress(NotThereError):
        days = set(re.findall(r'href="(?:[^"]*/)?(\d{8})/?"', client.read(f"{base}/").decode("utf-8", "replace")))
    if not days:
        with contextlib.suppress(NotThereError):
            listing = client.read(f"{base}/latest/{wiki}-latest-sha1sums.txt").decode("utf-8", "replace")
            days = set(re.findall(rf"{wiki}-(\d{{8}})-pages-articles-multistream", listing))
    return sorted(days, reverse=True)


def gutenberg(ids: Sequence[int], output: str, client: Client, *, mirror: str = GUTENBERG) -> list[str]:
    """Fetch the plain text of books by their numbers, under the names they have on the mirror; returns the paths.

    UTF-8 is taken before Latin-1 and ASCII. A book that is there in any form is not fetched again. Raises InputError
    after the others are fetched where a book is not there.
    """
    base = _mirror(mirror)
    paths, missing = [], []
    for number in dict.fromkeys(ids):
        path = _fetch_book(number, output, client, base)
        if path is None:
            missing.append(number)
        else:
            paths.append(path)
    if missing:
        raise InputError(
            f"has no plain text of {', '.join(map(str, missing))}; the other {len(paths)} are in {output}. "
            "Leave out these, or choose another --mirror",
            path=base,
        )
    return paths


def book_urls(number: int) -> list[str]:
    """Return where a mirror may have the plain text of a book, the best first, relative to its root.

    >>> book_urls(84)[:2], book_urls(5)[0]
    (['8/84/84-0.txt', '8/84/84-8.txt'], '0/5/5-0.txt')
    """
    text = str(number)
    folder = "/".join(text[:-1] or "0")
    stored = [f"{folder}/{text}/{text}{kind}.txt" for kind in ("-0", "-8", "")]
    return [*stored, f"cache/epub/{text}/pg{text}.txt"]


def _fetch_book(number: int, output: str, client: Client, base: str) -> str | None:
    urls = book_urls(number)
    for url in urls:
        path = os.path.join(output, files.name(url))
        if os.path.exists(path):
            return path
    for url in urls:
        path = os.path.join(output, files.name(url))
        with contextlib.suppress(NotThereError):
            return client.fetch(f"{base}/{url}", path)
    return None


def _mirror(mirror: str) -> str:
    if not re.match(r"https?://[^/]", mirror):
        raise ConfigError(f"--mirror is {mirror!r}; expected an address that begins with https:// or http://")
    return mirror.rstrip("/")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata download` to a parser."""
    sources = parser.add_subparsers(dest="source", required=True, metavar="wikipedia|gutenberg")
    wiki = sources.add_parser("wikipedia", help="a multistream dump, its index and its checksums")
    wiki.add_argument("--language", required=True, metavar="CODE", help="the code in the wiki's address, as en or de")
    wiki.add_argument("--date", default="latest", metavar="YYYYMMDD", help="default: the newest finished dump")
    wiki.add_argument("--mirror", default=WIKIMEDIA, metavar="URL", help=f"where the dumps are (default: {WIKIMEDIA})")
    books = sources.add_parser("gutenberg", help="plain texts of Project Gutenberg books")
    books.add_argument("--ids", nargs="+", type=int, required=True, metavar="N", help="the numbers of the books")
    books.add_argument(
        "--mirror",
        default=GUTENBERG,
        metavar="URL",
        help=f"where the books are (default: {GUTENBERG}); not Project Gutenberg's own site, which is for people: "
        "www.gutenberg.org/MIRRORS.ALL lists the mirrors",
    )
    for one in (wiki, books):
        one.add_argument("--output", required=True, metavar="DIR", help="a local folder")


def run(arguments: argparse.Namespace, client: Client | None = None) -> int:
    """Download as parsed arguments say and print the paths."""
    if files.is_remote(arguments.output):
        raise ConfigError("--output is a URL; downloads go to a local folder", path=arguments.output)
    if arguments.source == "wikipedia":
        client = client or Client()
        date, mirror = arguments.date, arguments.mirror
        paths = wikipedia(arguments.language, arguments.output, client, date=date, mirror=mirror)
    else:
        if any(number < 1 for number in arguments.ids):
            raise ConfigError("--ids are the numbers of books; expected 1 or more")
        paths = gutenberg(arguments.ids, arguments.output, client or Client(pause=1.0), mirror=arguments.mirror)
    print("\n".join(paths))
    return 0
