"""Which source formats the flags of a build take, by the kind of source, and which of them a file is of."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from bertdata.io import files
from bertdata.io.patterns import ends_in, expand
from bertdata.sources import SOURCE_FORMATS
from bertdata.sources.formats import SourceFormat

_DEFAULTS = {"wikipedia": "wikipedia", "books": "books", "documents": "json-lines"}
"""The format of a file of each kind whose name has the suffix of none."""


def formats_of(kind: str, unregistered: Sequence[str] = ()) -> dict[str, SourceFormat]:
    """Return the formats that the flag of a kind takes, by name: first `unregistered`, that are not registered."""
    names = [*unregistered, *SOURCE_FORMATS]
    return {name: source_format for name in names if (source_format := SOURCE_FORMATS[name]).kind == kind}


def format_of(path: str, kind: str, unregistered: Sequence[str] = ()) -> str:
    """Return the name of the format of a file of a kind.

    >>> format_of("a/Wiki.TXT.gz", "documents"), format_of("a/wiki.odd", "documents")
    ('plain-text', 'json-lines')
    """
    return formats_at([path], kind, unregistered)[path]


def formats_at(paths: Iterable[str], kind: str, unregistered: Sequence[str] = ()) -> dict[str, str]:
    """Return the name of the format of each file of a kind, by its path."""
    formats = formats_of(kind, unregistered)
    return {path: _format_of(path, kind, formats) for path in paths}


def _format_of(path: str, kind: str, formats: Mapping[str, SourceFormat]) -> str:
    """Return the name of the one of some formats that a file is of."""
    for name, source_format in formats.items():
        if ends_in(path, source_format.suffixes):
            return name
    signatures = {signature: name for name, source_format in formats.items() for signature in source_format.signatures}
    if signatures and files.exists(path) and not os.path.isdir(path):
        with files.open_raw(path) as raw:
            start = raw.read(max(map(len, signatures)))
        for signature, name in signatures.items():
            if start.startswith(signature):
                return name
    return _DEFAULTS[kind]


def find_kind(kind: str, paths: Sequence[str], unregistered: Sequence[str] = ()) -> list[str]:
    """Return the files of a kind that paths, folders and globs name; raises InputError where there are none."""
    formats = formats_of(kind, unregistered).values()
    matching = expand(paths, [suffix for source_format in formats for suffix in source_format.suffixes])
    for source_format in formats:
        matching = source_format.select(matching)
    return matching


def described(kind: str) -> str:
    """Return what the help of a kind's flag says of its formats."""
    return ", ".join(source_format.described for source_format in formats_of(kind).values() if source_format.described)


def settings_of(kind: str) -> list[str]:
    """Return the settings that the formats of a kind read, each once."""
    return list(dict.fromkeys(name for source_format in formats_of(kind).values() for name in source_format.settings))


def settings_read(kind: str, paths: Sequence[str], unregistered: Sequence[str] = ()) -> set[str]:
    """Return the settings by which files of a kind are read."""
    named = formats_at(paths, kind, unregistered)
    format_named = {name: SOURCE_FORMATS[name] for name in {*named.values()}}
    return {setting for path, name in named.items() for setting in format_named[name].settings_for(path)}
