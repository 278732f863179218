"""What a server publishes of a wiki: the newest finished Content File Export, or the newest finished legacy dump.

Exports are described in https://wikitech.wikimedia.org/wiki/MediaWiki_Content_File_Exports, legacy dumps in
https://meta.wikimedia.org/wiki/Data_dumps.
"""

from __future__ import annotations

import contextlib
import datetime
import re
from dataclasses import dataclass

from bertdata.io.http import Client
from bertdata.io.http_request import NotThereError
from bertdata.sources.wikipedia.dump.exports import EXPORT_FILE, SHA256SUMS, SUCCESS, parse_sums

LATEST = "latest"
_EXPORTS = "other/mediawiki_content_current"
_MONTHS = 4
"""Exports are kept for about three months; as many are looked for where a server does not list them."""


@dataclass(frozen=True)
class Dump:
    """A finished dump: a title, the URL of its folder, the checksum of each file, and the list of these.

    sums_name: what the list is called locally. marker: the name of the empty file that says that an export is finished.
    """

    title: str
    base: str
    checksums: dict[str, str]
    listing: bytes
    sums_name: str
    marker: str = ""


def find_export(client: Client, mirror: str, wiki: str, date: str = LATEST) -> tuple[Dump | None, list[str]]:
    """Return the newest finished Content File Export of a wiki, or that of a date, and the dates looked at.

    It has the newest revision of each page of all namespaces, one folder a month. `date` is YYYY-MM-DD.
    """
    root = f"{mirror}/{_EXPORTS}/{wiki}"
    dates = [date]
    if date == LATEST:
        dates = _listed(client, f"{root}/", r"\d{4}-\d\d-\d\d") or _first_days(datetime.date.today())
    for day in dates:
        base = f"{root}/{day}/xml/bzip2"
        with contextlib.suppress(NotThereError):
            client.read(f"{base}/{SUCCESS}")
            listing = client.read(f"{base}/{SHA256SUMS}")
            checksums = {
                name: checksum
                for name, checksum in parse_sums(listing).items()
                if (match := EXPORT_FILE.fullmatch(name)) and (match["wiki"], match["date"]) == (wiki, day)
            }
            if checksums:
                return Dump(f"{wiki} {day}", base, checksums, listing, SHA256SUMS, SUCCESS), dates
    return None, dates


def find_legacy(client: Client, mirror: str, wiki: str, date: str = LATEST) -> tuple[Dump | None, list[str]]:
    """Return the newest finished multistream dump of a wiki's articles with its index, or that of a date, and the days.

    It is one file, of articles and templates. `date` is YYYYMMDD.
    """
    root = f"{mirror}/{wiki}"
    days = [date] if date != LATEST else _listed(client, f"{root}/", r"\d{8}")
    if not days:
        with contextlib.suppress(NotThereError):
            listing = client.read(f"{root}/latest/{wiki}-latest-sha1sums.txt").decode("utf-8", "replace")
            days = sorted(set(re.findall(rf"{wiki}-(\d{{8}})-pages-articles-multistream", listing)), reverse=True)
    for day in days:
        sums_name, stem = f"{wiki}-{day}-sha1sums.txt", f"{wiki}-{day}-pages-articles-multistream"
        with contextlib.suppress(NotThereError):
            listing_bytes = client.read(f"{root}/{day}/{sums_name}")
            sums = parse_sums(listing_bytes)
            names = (f"{stem}-index.txt.bz2", f"{stem}.xml.bz2")
            if sums.keys() >= set(names):
                checksums = {name: sums[name] for name in names}
                return Dump(f"{wiki} {day}", f"{root}/{day}", checksums, listing_bytes, sums_name), days
    return None, days


def _listed(client: Client, url: str, form: str) -> list[str]:
    """Return the folders of a form that a server lists in one, the highest first; none where it does not list."""
    with contextlib.suppress(NotThereError):
        page = client.read(url).decode("utf-8", "replace")
        return sorted(set(re.findall(rf'href="(?:[^"]*/)?({form})/?"', page)), reverse=True)
    return []


def _first_days(today: datetime.date) -> list[str]:
    """Return the first days of this month and of those before.

    >>> _first_days(datetime.date(2026, 2, 14))
    ['2026-02-01', '2026-01-01', '2025-12-01', '2025-11-01']
    """
    months = [today.year * 12 + today.month - 1 - back for back in range(_MONTHS)]
    return [f"{month // 12}-{month % 12 + 1:02d}-01" for month in months]
