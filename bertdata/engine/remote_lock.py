"""A lock on an output at a URL: a file that is renewed while a build writes there, and expires once nobody renews it.

An object store has no lock that is released when a process is killed. So the lock is a lease: a file with a token,
which its holder writes again with another count every `BEAT_SECONDS`. Who finds one watches it: if it changes, a build
is writing there; if it does not for `LEASE_SECONDS`, its holder is gone, and the lease is taken over. Nobody's clock is
compared with another's. The lease of a process of this machine that is gone is taken over at once.

S3 and Google Cloud Storage create the file only if there is none (If-None-Match, ifGenerationMatch; fsspec's mode
"create"). As other stores may not, and as two builds may take over one lease, it is read again before it counts, and
whenever it is renewed. A holder that finds another's token was cut off for longer than the lease lasts: it ends.
"""

from __future__ import annotations

import _thread
import contextlib
import json
import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from bertdata.errors import BertDataError, OutputError, printable
from bertdata.io import files

LOCK = ".bertdata-lock.json"
BEAT_SECONDS = 10.0
LEASE_SECONDS = 60.0
_SETTLE_SECONDS = 0.05
_LOOK_SECONDS = 1.0


@contextlib.contextmanager
def remote_lock(directory: str) -> Iterator[None]:
    """Hold the lease of an output at a URL; raises OutputError where another build holds it, or takes it over.

    The main thread is interrupted when that happens, if it is the one that entered.
    """
    lease, ended = _Lease(directory), threading.Event()
    lease.acquire()
    interrupt = _thread.interrupt_main if threading.current_thread() is threading.main_thread() else lambda: None
    renewer = threading.Thread(target=_renew, args=(lease, ended, interrupt), name="bertdata-lease", daemon=True)
    renewer.start()
    try:
        try:
            yield
        finally:
            ended.set()
            renewer.join()
            lease.release()
    except KeyboardInterrupt as error:
        if lease.lost:
            raise _lost(directory) from error
        raise
    if lease.lost:
        raise _lost(directory)


@dataclass
class _Lease:
    """The file of a lease, and what this process writes into it."""

    directory: str
    token: str = field(default_factory=lambda: uuid.uuid4().hex)
    process: str = field(default_factory=lambda: process_name(os.getpid()))
    renewals: int = 0
    lost: bool = False

    @property
    def path(self) -> str:
        """The file."""
        return files.join(self.directory, LOCK)

    def acquire(self) -> None:
        """Write the lease, if there is none or its holder is gone; raises OutputError where another build renews it."""
        lease = self.read()
        if lease is not None and not _is_gone(lease.get("process", "")):
            lease = self._watch(lease)
        began = time.monotonic()
        try:
            self.write(new=lease is None)
        except (FileExistsError, OutputError) as error:
            there = self.read()
            if there is None:
                raise
            if there.get("token") != self.token:  # ours: the answer was lost, and the client asked again
                raise _taken(self.directory) from error
        time.sleep(_SETTLE_SECONDS + 4 * (time.monotonic() - began))  # until another's write, if it began, has ended
        if (self.read() or {}).get("token") != self.token:
            raise _taken(self.directory)

    def _watch(self, lease: dict[str, Any]) -> dict[str, Any] | None:
        """Return the lease once it has not changed for `LEASE_SECONDS`, or None once it is released.

        Raises OutputError as soon as it changes.
        """
        logging.getLogger("bertdata").warning(
            "%s: another build is running here, or was killed; waiting up to %.0f s to see which",
            printable(self.directory),
            LEASE_SECONDS,
        )
        end = time.monotonic() + LEASE_SECONDS
        while time.monotonic() < end:
            time.sleep(min(_LOOK_SECONDS, LEASE_SECONDS / 10))
            now = self.read()
            if now is None:
                return None
            if now != lease:
                raise _taken(self.directory)
        return lease

    def read(self) -> dict[str, Any] | None:
        """Return what the file says, None where there is none; {} where it is no lease."""
        data = files.read_if_there(self.path)
        try:
            value = None if data is None else json.loads(data)
        except (ValueError, RecursionError):
            value = {}
        return value if value is None or isinstance(value, dict) else {}

    def write(self, *, new: bool = False) -> None:
        """Write the lease with another count; raises FileExistsError if it is `new` and there is one."""
        self.renewals += 1
        value = {"token": self.token, "process": self.process, "renewals": self.renewals}
        data = json.dumps(value).encode()
        if new:
            files.create(self.path, data)
        else:
            files.write_bytes(self.path, data)

    def release(self) -> None:
        """Delete the lease if it is still ours."""
        with contextlib.suppress(BertDataError):
            if not self.lost and (self.read() or {}).get("token") == self.token:
                files.remove_files([self.path])


def _renew(lease: _Lease, ended: threading.Event, interrupt: Callable[[], None]) -> None:
    """Renew a lease until it has ended; where another build holds it, interrupt."""
    while not ended.wait(BEAT_SECONDS):
        with contextlib.suppress(BertDataError):  # the store may be away for a moment
            if (lease.read() or {}).get("token") != lease.token:
                lease.lost = True
                interrupt()
                return
            lease.write()


def process_name(number: int) -> str:
    """Return what names a process among all machines and containers; "" if it is gone or cannot be known."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as boot, open(f"/proc/{number}/stat") as status:
            place = [socket.gethostname(), boot.read().strip(), os.readlink("/proc/self/ns/pid")]
            fields = status.read().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] == "Z" else " ".join([*place, str(number), fields[19]])


def _is_gone(process: str) -> bool:
    """Return whether a process was one of this machine that is gone; False for one of another machine."""
    *place, number, _ = process.split(" ") if process.count(" ") == 4 else ["", "", ""]
    here = process_name(os.getpid()).split(" ")
    return bool(place) and place == here[:3] and number.isdigit() and process_name(int(number)) != process


def _taken(directory: str) -> OutputError:
    return OutputError("another build is writing here; wait for it, or choose another --output", path=directory)


def _lost(directory: str) -> OutputError:
    return OutputError(
        f"another build writes here since this one could not renew its lock for {LEASE_SECONDS:.0f} s; wait for it, "
        "and run the same command again",
        path=directory,
    )
