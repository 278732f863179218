"""Recognise files and folders that are not read as documents, and say what to do with them."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence

from bertdata.io import files, listing
from bertdata.io.compression import ENDINGS, compression_of
from bertdata.io.patterns import ends_in, walked

_ARCHIVE = "is an archive; unpack it and give the files in it, as the .ndjson of Wikimedia Enterprise"
_TEXT = "expected text: take the text out of it first, one JSON object with a `text` in a line (.jsonl)"
_PANDOC = "pandoc -t plain --wrap=none FILE -o NEW.txt"
_MARKDOWN = "is Markdown; expected plain text: name a copy .txt, with --whole-files one document each"
_WARC = f"is a web archive (WARC); {_TEXT}"
_SUBTITLES = f"is subtitles, with a time at each line; {_TEXT}"
_KINDS: dict[str, str] = {
    ".pdf": "is a PDF; expected text: take the text out of it first, as with pdftotext FILE, which writes a .txt",
    ".md": _MARKDOWN,
    ".markdown": _MARKDOWN,
    ".tex": f"is LaTeX; expected text: {_PANDOC}",
    ".rst": f"is reStructuredText; expected text: {_PANDOC}",
    ".org": f"is of Org mode; expected text: {_PANDOC}",
    ".srt": _SUBTITLES,
    ".vtt": _SUBTITLES,
    ".ass": _SUBTITLES,
    ".warc": _WARC,
    ".wet": _WARC,
    ".html": f"is HTML; {_TEXT}",
    ".htm": f"is HTML; {_TEXT}",
    ".epub": f"is an EPUB book; {_TEXT}, or as .txt with --books",
    ".docx": f"is a Word document; expected text: save it as .txt, or {_PANDOC}",
    ".doc": "is a Word document; expected text: save it as .txt",
    ".odt": f"is a text document of an office suite; expected text: save it as .txt, or {_PANDOC}",
    ".rtf": f"is rich text; expected text: save it as .txt, or {_PANDOC}",
    ".xlsx": "is a spreadsheet; expected a table of text: save it as .csv",
    ".xml": "is XML; a Wikipedia dump goes with --wikipedia, and of other XML take the text out first (.jsonl)",
    ".zip": "is an archive; unpack it (unzip FILE -d FOLDER) and give the folder, with --whole-files where a .txt is "
    "a document; one of books goes with --books as it is",
    ".tar": f"{_ARCHIVE} (tar -xf FILE)",
    ".tgz": f"{_ARCHIVE} (tar -xzf FILE)",
    ".json": "is one JSON value; expected JSON lines, one object in a line (.jsonl): jq -c '.[]' FILE > rows.jsonl "
    "(first unpack a compressed one)",
}
_UNNAMED = "is compressed by {0}, and its name does not say so; let it end in what is in it, as in .jsonl{1} or .txt{1}"
_WIKIEXTRACTOR = (
    "articles as wikiextractor writes them, with its tags between them; let it write JSON, and give the files by a "
    "pattern, as 'FOLDER/*/wiki_*'"
)
_BINARY = "is a binary file ({}); expected text, or a table as .parquet"
_KINDS |= {
    "wikiextractor": f"is {_WIKIEXTRACTOR}",
    "gz": _UNNAMED.format("gzip", ".gz"),
    "bz2": _UNNAMED.format("bzip2", ".bz2"),
    "zst": _UNNAMED.format("zstd", ".zst"),
    "xz": _UNNAMED.format("xz", ".xz"),
    "hdf5": _BINARY.format("HDF5"),
    "sqlite": _BINARY.format("SQLite"),
    "avro": _BINARY.format("Avro"),
    "orc": _BINARY.format("ORC"),
    "pickle": _BINARY.format("a pickle or a checkpoint"),
}
_STARTS = {
    b"\x89HDF": "hdf5",
    b"SQLite format 3": "sqlite",
    b"Obj\x01": "avro",
    b"ORC": "orc",
    b"\x80\x04\x95": "pickle",
    b"\x80\x05\x95": "pickle",
    b"%PDF": ".pdf",
    b"{\\rtf": ".rtf",
    b"PK\x03\x04": ".zip",
    b"<!doctype html": ".html",
    b"<html": ".html",
    b"<mediawiki": ".xml",
    b"<?xml": ".xml",
    b"WARC/1.": ".warc",
    b"WEBVTT": ".vtt",
    b'<doc id="': "wikiextractor",
}
_CONTROLS = {*range(1, 9), *range(14, 27), *range(28, 32)}
"""Bytes that no text has beside zeros, which UTF-16 has."""
_MARKED_UP = (
    ("JSON lines: end the name of rows in .jsonl", re.compile(rb'[{]\s*"[^"\n]{1,200}"\s*:')),
    ("a web archive (WARC), with headers between its texts", re.compile(rb"WARC/1\.")),
    ("subtitles, with a time at each line", re.compile(rb"WEBVTT\b|\d{1,9}\r?\n\d\d:\d\d:\d\d[,.]\d{3} --> ")),
    ("HTML, with its tags", re.compile(rb"(?i:<!doctype html|<html\b)")),
    (_WIKIEXTRACTOR, re.compile(rb'<doc id="[^"\n]*"')),
    ("XML, with its tags", re.compile(rb"<[?]xml\b")),
)
"""What text begins as that holds more than its text, and what to say of it."""
_BESIDE = re.compile(
    r"(?i:(?:readme|licen[cs]e|notice|changelog)(?:\.\w+)?|thumbs\.db|desktop\.ini|.*\.(?:md5|sha\d+|crc))"
    r"|(?:state|dataset_info|dataset_dict|dataset_infos|index|manifest|metadata|croissant)\.json"
)
"""Files that tell about the others, or are of the system."""
_SHOWN = 6
"""How many kinds of files a note names."""


def what_it_is(path: str, start: bytes = b"") -> str | None:
    """Return what a file is by its name or first bytes, and what to do, where it is of a kind that is not read.

    >>> what_it_is("news/page.html.gz")[:22]
    'is HTML; expected text'
    >>> what_it_is("page", b"<!DOCTYPE html><p>Salt")[:8], what_it_is("rows.jsonl", b'{"text": "Salt"}')
    ('is HTML;', None)
    >>> what_it_is("books.tgz", b"\\x1f\\x8b") == what_it_is("books.tgz")
    True
    """
    kind = _kind(files.name(path))
    start = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if kind == ".json" and start.startswith(b"{"):  # JSON lines under another name
        return None
    packed = compression_of(start)
    kind_by_start = next((of for sign, of in _STARTS.items() if start.lower().startswith(sign.lower())), packed)
    if not kind_by_start and b"\0" in start and {*start} & _CONTROLS:
        return _BINARY.format(f"it begins with the bytes {start[:8].hex(' ')}")
    in_it = kind_by_start == ".zip" or (kind in (".tar", ".tgz") and packed)
    return _KINDS.get(kind if in_it and kind in _KINDS else kind_by_start or kind)


def marked_up(start: bytes) -> str:
    """Return what a text begins as that is not text alone, "" where it is; for a file that is read as plain text.

    >>> [marked_up(start)[:9] for start in (b'{"text": "Salt"}', b"WEBVTT", b"<html>", b"{Salt}")]
    ['JSON line', 'subtitles', 'HTML, wit', '']
    """
    start = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    return next((kind for kind, begin in _MARKED_UP if begin.match(start)), "")


def _kind(name: str) -> str:
    """Return the ending of a file's name, without that of a compression; "" where it has none."""
    name = name.lower()
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    return "." + name.rpartition(".")[2] if "." in name else ""


def left_out(path: str, suffixes: Sequence[str]) -> str:
    """Return how many files of a folder are not read, by kind, as a note; "" of none, or where it is no folder.

    suffixes: those of the files that are read.
    """
    if files.is_remote(path) or not os.path.isdir(path):
        return ""
    counts: Counter[str] = Counter()
    for _, names in walked(path):
        counts.update(_kind(name) for name in names if not ends_in(name, suffixes) and not _BESIDE.fullmatch(name))
    if not counts:
        return ""
    by_number = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    listed = [f"{number:,} {kind or 'without an ending'}" for kind, number in by_number[:_SHOWN]]
    kinds = ", ".join(listed) + (f" and {len(counts) - _SHOWN:,} more kinds" if len(counts) > _SHOWN else "")
    return f"{path}: files that --documents does not read are left out: {kinds} (name one of them to see what to do)"


def what_a_build_is(path: str) -> str | None:
    """Return what to do with a folder that holds a finished build, None for any other folder."""
    if {"dataset_dict.json", "manifest.json"} <= {*listing.names(path)}:
        return (
            "is a finished build; expected documents: those it was made from, or its stages/wikipedia, books or tables"
        )
    return None


def what_a_data_set_is(path: str) -> str | None:
    """Return what to do with a folder of `datasets` that lacks its data, None for any other folder."""
    if {"dataset_dict.json", "state.json"} & {*listing.names(path)}:
        return (
            "is a folder of datasets' save_to_disk whose .arrow files are missing; copy them as well, or save it again"
        )
    return None


def what_a_folder_is(path: str) -> str | None:
    """Return what a folder without documents is, where it is of a known kind or holds files of one, and what to do."""
    if description := what_a_data_set_is(path):
        return description
    names = listing.names(path)
    kinds = Counter(_kind(name) for name in names if "." in name[1:])
    for kind, number in kinds.most_common():
        if kind in _KINDS:
            endings = {name[name.lower().rindex(kind) :] for name in names if _kind(name) == kind}
            count = f"{number:,} {'file' if number == 1 else 'files'} ending in {' or '.join(sorted(endings))}"
            return f"holds {count}; a file of these {_KINDS[kind]}"
    return None
