"""Several files over HTTP at once: sizes and room before the start, one progress bar, and a stop that loses nothing."""

from __future__ import annotations

import os
import queue
import shutil
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bertdata.errors import OutputError
from bertdata.io.console import byte_size, counted
from bertdata.io.http import Client
from bertdata.io.progress_bar import byte_progress

CONNECTIONS = 3
"""At once from one address; dumps.wikimedia.org allows no more."""
_JOIN_SECONDS = 1.0


@dataclass(frozen=True)
class RemoteFile:
    """A file to fetch: its URL, the local path, and its SHA-1 or SHA-256."""

    url: str
    path: str
    checksum: str


class _StoppedError(Exception):
    """Another file failed, or the user interrupted."""


class _Bar:
    """The bytes of all files in one progress bar, and how many files are complete; threads may share it."""

    def __init__(self, title: str, files: int, done: int, total: int | None, quiet: bool) -> None:
        self.lock, self.stop = threading.Lock(), threading.Event()
        self._title, self._files, self._complete = title, files, 0
        self._bar: Any = None if quiet else byte_progress(self._described(), total, done)

    def _described(self) -> str:
        return f"{self._title}, {self._complete} of {counted(self._files, 'file')}"

    def add(self, count: int) -> None:
        """Show further bytes; raises _StoppedError where the downloads are to end."""
        if self.stop.is_set():
            raise _StoppedError
        with self.lock:
            if self._bar is not None:
                self._bar.update(count)

    def complete(self) -> None:
        """Show that a file is complete."""
        with self.lock:
            self._complete += 1
            if self._bar is not None:
                self._bar.set_description_str(self._described(), refresh=True)

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *error: Any) -> None:
        """Leave the bar as it is; a log says whether all is there."""
        with self.lock:
            if self._bar is not None:
                self._bar.__exit__(*error)


class _FileProgress:
    """The part of one file in a `_Bar`, with what `Client.fetch` uses of a tqdm."""

    def __init__(self, bar: _Bar, n: int) -> None:
        self.bar, self.n, self.total = bar, n, None

    def update(self, count: int) -> None:
        self.n += count
        self.bar.add(count)


def fetch_all(wanted: Sequence[RemoteFile], client: Client, title: str, connections: int = CONNECTIONS) -> list[str]:
    """Fetch files to one folder and return their paths; those that exist are only checked.

    Says first how much is to be fetched and how much room there is. The first failure, or Ctrl-C, ends all downloads;
    what has come of them is resumed by the next call. Raises OutputError where there is not enough room, else as
    `Client.fetch` does.
    """
    done, total = _check_room(wanted, client, title)
    with _Bar(title, len(wanted), done, total, client.quiet) as bar:
        if failures := _fetch_by_threads(wanted, client, bar, connections):
            raise failures[0]
    return [file.path for file in wanted]


def _fetch_by_threads(wanted: Sequence[RemoteFile], client: Client, bar: _Bar, connections: int) -> list[BaseException]:
    """Fetch files, several at once, until all are there or one fails; returns the failures."""
    waiting: queue.SimpleQueue[RemoteFile] = queue.SimpleQueue()
    for file in wanted:
        waiting.put(file)
    failures: list[BaseException] = []

    def work() -> None:
        try:
            while not bar.stop.is_set():
                file = waiting.get_nowait()
                progress = _FileProgress(bar, _size(file.path + ".part"))
                client.fetch(file.url, file.path, checksum=file.checksum, progress=progress)
                bar.complete()
        except (_StoppedError, queue.Empty):
            pass
        except BaseException as error:
            failures.append(error)
            bar.stop.set()

    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(connections, len(wanted)))]
    try:
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads) and not bar.stop.is_set():
            for thread in threads:
                thread.join(0.1)
    finally:
        bar.stop.set()
        for thread in threads:
            thread.join(_JOIN_SECONDS)
    return failures


def _check_room(wanted: Sequence[RemoteFile], client: Client, title: str) -> tuple[int, int | None]:
    """Say what will be fetched; returns the bytes that are there of it and the bytes in all, None if not known."""
    missing = [file for file in wanted if not os.path.exists(file.path)]
    sizes = [client.size(file.url) for file in missing]
    known_sizes = [size for size in sizes if size is not None]
    done = sum(_size(file.path + ".part") for file in missing)
    folder = os.path.dirname(os.path.abspath(wanted[0].path))
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    free, to_fetch = shutil.disk_usage(folder).free, max(0, sum(known_sizes) - done)
    if to_fetch > free:
        raise OutputError(
            f"{byte_size(to_fetch)} are to be fetched, {byte_size(free)} are free; make room, or choose another "
            "--output",
            path=os.path.dirname(wanted[0].path) or ".",
        )
    there = len(wanted) - len(missing)
    unknown = len(sizes) - len(known_sizes)
    size = byte_size(to_fetch) + (f" and {counted(unknown, 'file')} of unknown size" if unknown else "")
    client.say(
        f"{title}: {counted(len(wanted), 'file')}, {size} to fetch, {byte_size(free)} free"
        + (f"; {there} are there already, and are checked" if there else "")
    )
    return done, None if unknown else sum(known_sizes)


def _size(path: str) -> int:
    return os.path.getsize(path) if os.path.exists(path) else 0
