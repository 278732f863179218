"""Which encoding each text file of a build is in: by --encoding, by a guess, or UTF-8; all others are reported.

Files are looked at before any work. Without --encoding and --bad-files local files are read through, of compressed ones
and of those at a URL the first MiB; a byte further on stops the build when it is read.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import shutil
import sys
import tempfile
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from bertdata.engine.parts import Counters
from bertdata.errors import ConfigError, InputError, did_you_mean, printable
from bertdata.io import compression, files
from bertdata.io.console import counted
from bertdata.io.digests import SHOW_AFTER
from bertdata.io.eight_bits import keeps_ascii
from bertdata.io.encodings import (
    GUESS,
    SKIP,
    WITH_CP1252,
    BadByte,
    encoded,
    find_bad_byte,
    find_undecodable,
    fitting,
    iconv_name,
    is_marked,
    is_mostly_utf_8,
    open_text,
)
from bertdata.io.machine import cores
from bertdata.sources import unsupported
from bertdata.sources.names import is_source_name

REFUSE = "refuse"
STDIN = "-"
BAD_FILES = (REFUSE, SKIP)
NOT_TEXT = "not UTF-8"
"""Why a file that is left out was dropped."""
READ_AS = "read as "
"""What the names of counts begin with, before an encoding: files, of books parts of them, that were decoded by it."""
DOUBTFUL = "doubtful encodings"
"""The detail of a part's record: the name, the encoding and the doubt of each book that may be in another encoding."""
ENCODINGS = "encodings"
"""The detail of a part's record: the name and the encoding of each file that was decoded."""
OF_A_VERB = "the encoding of text that is not UTF-8, as cp1252, or guess: for each file the likeliest"
_SHOWN = 20
_BEGINNING = 1 << 20
_START = 4096


def parse_encodings(given: Iterable[str]) -> dict[str, str]:
    """Return the encodings that --encoding names by source, "" being all others.

    Raises ConfigError for one that Python does not know, and for two of one source.

    >>> parse_encodings(["guess", "notes=CP1252"])
    {'': 'guess', 'notes': 'cp1252'}
    """
    encodings: dict[str, str] = {}
    for choice in given:
        source, sign, name = choice.rpartition("=")
        if sign and not is_source_name(source):
            raise ConfigError(
                f"--encoding {choice!r} is not of a source; expected NAME or SOURCE=NAME, as notes=cp1252"
            )
        if source in encodings:
            raise ConfigError(f"--encoding names two for {f'the source {source}' if source else 'all sources'}")
        encodings[source] = name if name == GUESS else _known(name)
    return encodings


def check_sources(given: Iterable[str], names: Collection[str]) -> None:
    """Raise ConfigError where --encoding names a source that there is not."""
    for source in parse_encodings(given):
        if source and source not in names:
            raise ConfigError(
                f"--encoding names the source {source}, but the sources are: {', '.join(names)}"
                f"{did_you_mean(source, names)}"
            )


def _known(name: str) -> str:
    try:
        info = codecs.lookup(name)
        with contextlib.suppress(UnicodeError):
            b"a".decode(name)  # raises LookupError for one of other things than text
    except LookupError as error:
        raise ConfigError(
            f"--encoding {name!r} is not an encoding that Python knows; expected as cp1252, shift_jis or utf-16, or "
            f"{GUESS}"
        ) from error
    return "" if info.name == "utf-8" else info.name


@dataclass(frozen=True)
class _EncodingCheck:
    """The encoding of a file, "" for UTF-8, or the place where it departs from the encoding that was `asked` for.

    first: its first byte that is not UTF-8, None where it is.
    """

    encoding: str = ""
    bad: BadByte | None = None
    asked: str = "UTF-8"
    first: BadByte | None = None


@dataclass(frozen=True)
class _Problem:
    """Why a file cannot be read: what it is, if it is no text, else the encoding that it fits, "" of none."""

    check: _EncodingCheck
    description: str = ""
    fits: str = ""

    @staticmethod
    def of(path: str, check: _EncodingCheck) -> _Problem:
        with compression.open_decompressed(path) as stream:
            description = unsupported.what_it_is(path, stream.read(_START)) or ""
        return _Problem(check, description, fitting(path, check.first) if check.first and not description else "")

    @property
    def offset(self) -> int:
        return self.check.bad.offset if self.check.bad else 0

    @property
    def text(self) -> str:
        if self.description or not self.check.bad:
            return self.description
        fits = f"it fits {self.fits}" if self.fits else "and fits no encoding that is known: it may not be text"
        sign = f"byte 0x{self.check.bad.byte:02x}" if self.check.bad.byte else "many bytes are NUL, as in UTF-16"
        return f"is not {self.check.asked} ({sign}), {fits}"


def encodings_of(
    paths: Mapping[str, str],
    asked: Mapping[str, str],
    bad_files: str,
    *,
    lines: Sequence[str] = (),
    skippable: bool = True,
) -> dict[str, str]:
    """Return the encoding of each text file that is not UTF-8, or `SKIP`.

    paths: each with its source; asked: as `parse_encodings` returns it; lines: the files of which lines that are not
    UTF-8 are dropped one by one, which are looked at only where an encoding is named; skippable: whether there is
    --bad-files. Raises InputError that names all files that cannot be read.
    """
    from bertdata.io.progress_bar import progress_bar

    def of(path: str) -> str:
        return asked.get(paths[path], asked.get("", ""))

    one_by_one = {*lines}
    chosen = [path for path in paths if of(path) or path not in one_by_one]
    if not chosen:
        return {}
    with ThreadPoolExecutor(min(len(chosen), cores()), "bertdata-encodings") as pool:
        whole = bad_files == SKIP
        looked_at = pool.map(lambda path: _look(path, files.identity(path), of(path), whole), chosen)
        progress = progress_bar(
            looked_at, desc="check text", total=len(chosen), unit="file", delay=SHOW_AFTER, leave=False
        )
        checks = dict(zip(chosen, progress, strict=True))
    bad = {path: check for path, check in checks.items() if check.bad}
    if bad and bad_files != SKIP:
        raise _refused(bad, paths, skippable=skippable)
    return {
        path: SKIP if check.bad else check.encoding for path, check in checks.items() if check.bad or check.encoding
    }


def open_checked(path: str, asked: str) -> io.BufferedReader:
    """Open one text file, or standard input by -, as UTF-8, as --encoding of a verb asks.

    Raises InputError, with the place and the encoding that fits, where it is neither UTF-8 nor what was asked for.
    """
    encodings = parse_encodings([asked] if asked else [])
    if path != STDIN:
        with encoded(encodings_of({path: ""}, encodings, REFUSE, skippable=False)):
            return open_text(path)
    if not asked:
        return cast("io.BufferedReader", sys.stdin.buffer)
    with tempfile.NamedTemporaryFile(suffix=".txt") as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
        copy.flush()
        guessed = encodings_of({copy.name: ""}, encodings, REFUSE, skippable=False) if copy.tell() else {}
        return io.BufferedReader(io.BytesIO(_read(copy.name, guessed)))


def _read(path: str, encoding_of: Mapping[str, str]) -> bytes:
    with encoded(encoding_of), open_text(path) as text:
        return text.read()


def readable(paths: Sequence[str], asked: str, bad_files: str) -> tuple[list[str], list[str]]:
    """Return the files that a verb reads, and those that it leaves out; raises InputError that names all bad files."""
    encodings = encodings_of(dict.fromkeys(paths, ""), parse_encodings([asked] if asked else []), bad_files)
    left_out = [path for path in paths if encodings.get(path) == SKIP]
    return [path for path in paths if path not in left_out], left_out


_guessing = threading.Lock()
"""charset-normalizer is asked by one thread at a time."""


@lru_cache(maxsize=1 << 16)
def _look(path: str, identity: str, asked: str, whole: bool) -> _EncodingCheck:
    """Check the encoding of a file, once for each identity."""
    if asked not in ("", GUESS) and not keeps_ascii(asked):
        undecodable = find_undecodable(path, asked)
        if undecodable is None:
            return _EncodingCheck(asked)
        first = find_bad_byte(path)
        return _EncodingCheck("", undecodable, asked, first) if first else _EncodingCheck()
    far = compression.compression(path) is not None or files.is_remote(path)
    first = find_bad_byte(path, None if asked or whole or not far else _BEGINNING)
    if first is None:
        return _EncodingCheck()
    if asked == GUESS:
        with _guessing:
            fits = fitting(path, first)
        return _EncodingCheck(fits) if fits else _EncodingCheck("", first, "UTF-8", first)
    if asked and (first.byte == 0 or is_marked(path)):
        return _EncodingCheck("", first, asked, first)
    if asked == "cp1252" and is_mostly_utf_8(path, first):
        return _EncodingCheck(WITH_CP1252)
    undecodable = find_undecodable(path, asked) if asked else first
    return _EncodingCheck("", undecodable, asked or "UTF-8", first) if undecodable else _EncodingCheck(asked)


def count_encodings(counters: Counters, encoding_of: Mapping[str, str]) -> None:
    """Count the files that were not UTF-8 by how they were read, and name them in the details of a record."""
    for path, encoding in encoding_of.items():
        if encoding == SKIP:
            broken = {"path": path, "place": files.name(path), "reason": NOT_TEXT}
            counters.details["broken"] = [*counters.details.get("broken", []), broken]
        elif encoding:
            counters.add(f"{READ_AS}{encoding}")
            counters.details[ENCODINGS] = [*counters.details.get(ENCODINGS, []), [files.name(path), encoding]]


def _refused(bad: Mapping[str, _EncodingCheck], paths: Mapping[str, str], *, skippable: bool) -> InputError:
    """Return the error that names files which are not of their encoding, with the encodings that fit.

    skippable: whether there is --bad-files.
    """
    problems = {path: _Problem.of(path, bad[path]) for path in list(bad)[:_SHOWN]}
    fits = [problem.fits for problem in problems.values() if problem.fits and problem.fits != WITH_CP1252]
    name = max(fits, key=fits.count) if fits else ""
    those = "it" if len(bad) == 1 else "them"
    those += ", and the others as UTF-8" if len(paths) > len(bad) else ""
    by_source = {(paths[path], problem.fits) for path, problem in problems.items() if problem.fits in fits}
    sources = {source for source, _ in by_source}
    remedies: list[str] = []
    if len({*fits}) == 1:
        example_source = next(paths[path] for path, problem in problems.items() if problem.fits == name)
        of_source = f", or of one source --encoding {example_source}={name}" if len({*paths.values()}) > 1 else ""
        remedies.append(f"--encoding {name} reads {those}{of_source}")
    elif len(sources) == len(by_source) > 0:
        named = " ".join(f"{source}={encoding}" for source, encoding in sorted(by_source))
        remedies.append(f"--encoding {named} reads {those}")
    if any(problem.fits for problem in problems.values()):
        remedies.append("--encoding guess takes the likeliest for each")
    remedies += ["--bad-files skip leaves them out"] if skippable else []
    convert = iconv_name(name) if len({*fits}) == 1 else "ENCODING"
    remedies += [f"to convert them: iconv -f {convert} -t utf-8 FILE > NEW"] if name else []
    remedy = "; ".join(remedies)
    if len(bad) == 1:
        [(path, problem)] = problems.items()
        if problem.description:
            return InputError(problem.description, path=path)
        return InputError("; ".join(filter(None, [problem.text, remedy])), path=path, offset=problem.offset)
    problem_lines = [
        f"  {printable(path)}, byte {problem.offset}: {problem.text}" for path, problem in problems.items()
    ]
    more = [f"  and {len(bad) - _SHOWN:,} more"] if len(bad) > _SHOWN else []
    lines = [f"{len(bad):,} of {counted(len(paths), 'file')} are not text in UTF-8:", *problem_lines, *more, remedy]
    return InputError("\n".join(filter(None, lines)))
