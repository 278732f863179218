"""SHA-256 of many files at once, on a few threads: what parts, shards and checkpoints on disk are checked with.

`hashlib` releases the interpreter's lock while it works, so threads read and hash side by side.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from bertdata.errors import InputError
from bertdata.io import files

SHOW_AFTER = 2.0
"""Seconds of reading after which a terminal is shown how far it is."""


def damaged(expected: Sequence[tuple[str, str]], title: str) -> Iterator[tuple[str, str]]:
    """Yield the files whose SHA-256 is not the expected one, in their order, each with what was found instead.

    expected: pairs of a path and its SHA-256; title: what a terminal is shown where it takes long.
    """
    from tqdm import tqdm

    workers = min(len(expected), len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 4)
    if not workers:
        return
    with ThreadPoolExecutor(workers, "bertdata-digest") as pool:
        found = pool.map(_found, (path for path, _ in expected))
        shown = tqdm(found, title, len(expected), unit="file", delay=SHOW_AFTER, leave=False, disable=None)
        for (path, digest), (sha256, problem) in zip(expected, shown, strict=True):
            if sha256 != digest:
                yield path, problem or f"its SHA-256 is {sha256[:12]}, expected {digest[:12]}"


def _found(path: str) -> tuple[str, str]:
    """Return the SHA-256 of a file, or what keeps it from being read."""
    try:
        return files.sha256(path), ""
    except InputError as error:
        return "", str(error).removeprefix(f"{path}: ")
