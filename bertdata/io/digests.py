"""SHA-256 of many files at once, one thread for each core: `hashlib` releases the GIL while it works."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from bertdata.errors import InputError
from bertdata.io import files
from bertdata.io.machine import cores

SHOW_AFTER = 2.0
"""Seconds of reading after which a terminal is shown how far it is."""


def damaged(expected: Sequence[tuple[str, str]], title: str) -> Iterator[tuple[str, str]]:
    """Yield the files whose SHA-256 is not the expected one, in their order, each with the problem.

    expected: pairs of a path and its SHA-256; title: that of the progress line, which is shown after two seconds.
    """
    from bertdata.io.progress_bar import progress_bar

    if not expected:
        return
    with ThreadPoolExecutor(min(len(expected), cores()), "bertdata-digest") as pool:
        problems = pool.map(_problem, *zip(*expected, strict=True))
        progress = progress_bar(problems, desc=title, total=len(expected), unit="file", delay=SHOW_AFTER, leave=False)
        for (path, _), problem in zip(expected, progress, strict=True):
            if problem:
                yield path, problem


def _problem(path: str, digest: str) -> str:
    try:
        sha256 = files.sha256(path)
    except InputError as error:
        return str(error).removeprefix(f"{path}: ")
    return "" if sha256 == digest else f"its SHA-256 is {sha256[:12]}, expected {digest[:12]}"
