"""The sources of a build by name: what NAME=PATH on a command line means, and in what order sources are numbered.

Examples are numbered and weighted by source; the files of a source may be dumps, books and tables. A path without a
name belongs to the source named after its kind. The name is not stored with the cleaned documents, so that
they are not cleaned again under another name.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum

from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.io.console import counted
from bertdata.io.paths import as_given
from bertdata.sources.problems import Problems


class InputCount(StrEnum):
    """What the records of parts of documents count of their input; of books also bytes of text, and chapters."""

    PAGES = "pages"
    WIKITEXT_BYTES = "wikitext_bytes"
    BOOKS = "books"
    BOOK_BYTES = "book_bytes"
    BOOKS_IN_CHAPTERS = "books_in_chapters"
    CHAPTERS = "chapters"
    ROWS = "rows"


class IdCount(StrEnum):
    """What the records of parts of documents count of token ids that documents were read from (`token_ids`)."""

    READ = "ids read"
    SPECIAL = "special ids left out"
    CHANGED_DOCUMENTS = "documents whose text has other ids"
    CHANGED = "ids that are others in the text"


NO_TEXT = "no text"
"""The reason for which a row, a file or a page without text makes no document, whatever it is read from."""


class LeftOut(StrEnum):
    """Why bytes of the text of books are in no document, as `bertdata.documents.BYTES_LEFT_OUT` goes before it."""

    ARCHIVE = "header and licence"
    FRONT_MATTER = "front matter"
    NOT_PROSE = "headings and tables"
    NO_PROSE = "no prose"


KINDS: dict[str, str] = {
    "wikipedia": InputCount.PAGES.value,
    "books": InputCount.BOOKS.value,
    "documents": InputCount.ROWS.value,
}
"""The kinds of input in their order, and what each is counted in."""
MOST_SOURCES = 32_767
"""The column that numbers them is int8, or int16 for over 127."""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
_PATH_SIGNS = re.compile(r"[/\\:*?\[]")


def named(argument: str, default: str) -> tuple[str, str]:
    """Return the source that a path of a command line is of, and the path: that of NAME=PATH, or all of it.

    A name has letters a to z, digits, _ and -, and does not begin with -. If the whole string names an existing path,
    or matches one as a glob, it is a path: a=b.txt, or year=2024/*.parquet. So is a string with a / or : before the =,
    so that ./ at the beginning makes it a path, and ./ after the = a name and a path. Raises ConfigError for anything
    else with a =.

    >>> named("news=dir/*.parquet", "documents"), named("s3://bucket/x?y=z", "documents")
    (('news', 'dir/*.parquet'), ('documents', 's3://bucket/x?y=z'))
    """
    argument = as_given(argument)
    name, sign, path = argument.partition("=")
    if not sign or _PATH_SIGNS.search(name):
        return default, argument
    if not files.is_remote(argument) and (os.path.lexists(argument) or any(glob.iglob(argument, recursive=True))):
        return default, argument
    if not path or not is_source_name(name):
        raise ConfigError(
            f"{argument} is neither an existing path nor NAME=PATH; expected as news=PATH, the name of letters, "
            "digits, _ and -, or ./ in front of a path with a ="
        )
    path = as_given(path)
    return name, path if files.is_remote(path) else os.path.expanduser(path)


def is_source_name(name: str) -> bool:
    """Return whether a source can have this name: letters, digits, _ and -, of which - does not come first.

    >>> is_source_name("long-1024"), is_source_name("-x"), is_source_name("a b")
    (True, False, False)
    """
    return bool(_NAME.fullmatch(name))


def anywhere(argument: str) -> str:
    """Return a path of a command line with an absolute path in it, with its NAME= if it has one."""
    name, path = named(argument, "")
    if not files.is_remote(path):
        path = os.path.abspath(path)
    return f"{name}={path}" if name else path


def find_files(arguments: Sequence[str], default: str, expand: Callable[[Sequence[str]], list[str]]) -> dict[str, str]:
    """Return the files that paths name, sorted, each with its source; a path without a name is of `default`.

    `expand` makes files of paths, folders and globs, and raises InputError where there are none; those of all sources
    are raised as one. Raises ConfigError for a file of two sources.
    """
    paths_by_source: dict[str, list[str]] = {}
    for argument in arguments:
        source, path = named(argument, default)
        paths_by_source.setdefault(source, []).append(path)
    source_of: dict[str, str] = {}
    source_of_real_path: dict[str, str] = {}
    problems = Problems()
    files_by_source: dict[str, list[str]] = {}
    for source, paths in paths_by_source.items():
        with problems.noted():
            files_by_source[source] = expand(paths)
    problems.raise_any()
    for source, expanded in files_by_source.items():
        for path, real_path in zip(expanded, files.real_paths(expanded), strict=True):
            other = source_of_real_path.setdefault(real_path, source)
            if other != source:
                first, second = (f"{name}=" if name else "no name" for name in (other, source))
                raise ConfigError(f"is given twice, with {first} and {second}; expected one source", path=path)
            source_of[path] = source
    return dict(sorted(source_of.items()))


def refuse_shared(inputs: Mapping[str, Iterable[str]]) -> None:
    """Raise ConfigError for a file that is given as two kinds of input."""
    kinds: dict[str, str] = {}
    for kind, paths in inputs.items():
        for path, real_path in zip(paths, files.real_paths([*paths]), strict=True):
            if (other := kinds.setdefault(real_path, kind)) != kind:
                raise ConfigError(f"is given twice, to --{other} and to --{kind}; expected one of them", path=path)


def order_sources(names: Iterable[str]) -> list[str]:
    """Return the names of sources, each once, in the order that numbers them: kinds first, the others by name.

    Raises ConfigError where there are more than 32,767, or where two differ only in capitals.

    >>> order_sources(["news", "books", "arxiv", "wikipedia", "news"])
    ['wikipedia', 'books', 'arxiv', 'news']
    """
    sources = set(names)
    ordered = [kind for kind in KINDS if kind in sources] + sorted(sources - set(KINDS))
    if len(ordered) > MOST_SOURCES:
        raise ConfigError(
            f"there are {counted(len(ordered), 'source')}; expected {MOST_SOURCES:,} at most: put some under one name"
        )
    lowered: dict[str, str] = {}
    for name in ordered:
        if (other := lowered.setdefault(name.lower(), name)) != name:
            raise ConfigError(f"the sources {other} and {name} differ only in capitals; give them one name, or two")
    return ordered


def units_of(counts: Mapping[str, int]) -> list[str]:
    """Return what a source was counted in, in the order of the kinds.

    >>> units_of({"books": 4, "documents": 4, "pages": 2})
    ['pages', 'books']
    """
    return [unit for unit in KINDS.values() if unit in counts]


def input_count(counts: Mapping[str, int]) -> int:
    """Return how many things of a source could become documents: of a book cut into chapters, these.

    >>> input_count({"pages": 5, "books": 3, "books_in_chapters": 2, "chapters": 40})
    46
    """
    whole = sum(counts[unit] for unit in units_of(counts))
    return whole + counts.get(InputCount.CHAPTERS, 0) - counts.get(InputCount.BOOKS_IN_CHAPTERS, 0)
