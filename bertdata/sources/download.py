"""`bertdata download`: a Wikipedia as it is published now, or plain texts of Project Gutenberg books.

Files are resumed and checked (`io.http`); the same command goes on where the last one stopped.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Sequence

from bertdata.errors import ConfigError, InputError, OutputError
from bertdata.io import files
from bertdata.io.downloads import RemoteFile, fetch_all
from bertdata.io.http import Client
from bertdata.io.http_request import NotThereError
from bertdata.sources.wikipedia.dump.exports import EXPORT_FILE
from bertdata.sources.wikipedia.dump.published import LATEST, Dump, find_export, find_legacy
from bertdata.sources.wikipedia.dump.siteinfo import SISTER_PROJECTS

WIKIMEDIA = "https://dumps.wikimedia.org"
GUTENBERG = "https://aleph.pglaf.org"
CONTACT = "BERTDATA_CONTACT"
_OTHER_NAMES = {"be-tarask": "be-x-old"}
"""Wikis whose dumps have another name than their address."""
DATASETS = {"content-current": "Content File Export", "pages-articles-multistream": "multistream dump"}


def wiki_name(language: str) -> str:
    """Return the name of a wiki: of the Wikipedia of a language, or of a sister project that is named.

    >>> wiki_name("zh-min-nan"), wiki_name("be-tarask"), wiki_name("dewiktionary"), wiki_name("zh-min-nanwikisource")
    ('zh_min_nanwiki', 'be_x_oldwiki', 'dewiktionary', 'zh_min_nanwikisource')
    """
    name = _OTHER_NAMES.get(language, language).replace("-", "_")
    return name if name.endswith(SISTER_PROJECTS) else f"{name}wiki"


def wikipedia(
    language: str,
    output: str,
    client: Client,
    *,
    date: str = LATEST,
    dataset: str = "auto",
    mirror: str = WIKIMEDIA,
) -> list[str]:
    """Fetch one Wikipedia and return the paths: the files of a dump, the list of their checksums, and its end mark.

    `dataset` is content-current, the files of a Content File Export; pages-articles-multistream, a legacy dump with its
    index; or auto, the first of the two that there is. `date` is YYYY-MM-DD or YYYYMMDD, or latest for the newest that
    is finished. Raises InputError where there is none, OutputError where `output` holds files of another export.
    """
    if not re.fullmatch(r"[a-z]{2,}(-[a-z]+)*", language):
        raise ConfigError(
            f"--language is {language!r}; expected the code in the wiki's address, as en, "
            "de or simple, or the name of a sister project's wiki, as dewiktionary"
        )
    if not re.fullmatch(r"latest|\d{4}-\d\d-\d\d|\d{8}", date):
        raise ConfigError(f"--date is {date!r}; expected YYYY-MM-DD or YYYYMMDD, or latest")
    if dataset not in ("auto", *DATASETS):
        raise ConfigError(f"--dataset is {dataset!r}; expected auto, {' or '.join(DATASETS)}")
    wiki, base = wiki_name(language), _mirror(mirror)
    day = date.replace("-", "")
    dashed = date if date == LATEST else f"{day[:4]}-{day[4:6]}-{day[6:]}"
    looked_at = []
    for name, what in DATASETS.items():
        if dataset in ("auto", name):
            dump, days = (
                find_export(client, base, wiki, dashed)
                if name == "content-current"
                else find_legacy(client, base, wiki, day)
            )
            if dump:
                return _fetch(dump, output, client)
            looked_at.append(f"no finished {what} of {wiki} ({', '.join(days) or 'no dates'} looked at)")
    raise InputError(
        f"has {' and '.join(looked_at)}; check --language, give another --date, or choose another --mirror", path=base
    )


def _fetch(dump: Dump, output: str, client: Client) -> list[str]:
    """Fetch the files of a dump; the mark that it is finished is there only once all are checked."""
    if dump.marker:
        _refuse_others(dump, output)
    sums = os.path.join(output, dump.sums_name)
    wanted = [
        RemoteFile(f"{dump.base}/{name}", os.path.join(output, name), digest) for name, digest in dump.checksums.items()
    ]
    if dump.marker:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(output, dump.marker))
    files.write_bytes(sums, dump.listing)
    paths = [*fetch_all(wanted, client, dump.title), sums]
    if dump.marker:
        paths.append(os.path.join(output, dump.marker))
        files.write_bytes(paths[-1], b"")
    return paths


def _refuse_others(dump: Dump, output: str) -> None:
    """Raise OutputError where a folder holds files of another export, which a build would read as well."""
    for entry in sorted(os.listdir(output)) if os.path.isdir(output) else ():
        name = entry.removesuffix(".part")
        if (match := EXPORT_FILE.fullmatch(name)) and name not in dump.checksums:
            raise OutputError(
                f"holds {entry}, which is not of the export {dump.title}; choose another --output, delete it, or go on "
                f"with the export that it is of by --date {match['date']}",
                path=output,
            )


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
