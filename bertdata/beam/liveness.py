"""Ties worker processes to the process that started them: if either dies, the other knows at once.

The starting process listens on a socket of this machine; each worker connects and holds the line open. The kernel
closes it when a process dies, however it dies, so no worker outlives its parent and no parent waits for a dead
worker.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import threading
from types import TracebackType

_ENVIRONMENT = "BERTDATA_PARENT"
_BYE = b"bye"


class Parent:
    """The starting process's side, as a context manager; leaving it ends every worker that is still there.

    `lost` holds the process id of a worker that went without a word (killed, or out of memory), else None.
    """

    def __init__(self) -> None:
        self.lost: int | None = None
        self._lines: list[socket.socket] = []
        self._token = secrets.token_hex(16)

    def __enter__(self) -> Parent:
        self._server = socket.create_server(("127.0.0.1", 0), backlog=256)
        os.environ[_ENVIRONMENT] = f"{self._server.getsockname()[1]}:{self._token}"
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.environ.pop(_ENVIRONMENT, None)
        for line in [self._server, *self._lines]:
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
            line.close()

    def _accept(self) -> None:
        while True:
            try:
                line, _ = self._server.accept()
            except OSError:
                return
            self._lines.append(line)
            threading.Thread(target=self._watch, args=(line,), daemon=True).start()

    def _watch(self, line: socket.socket) -> None:
        said = b""
        with contextlib.suppress(OSError):
            while data := line.recv(256):
                said += data
            token, _, rest = said.partition(b" ")
            if token == self._token.encode() and not rest.endswith(_BYE):
                self.lost = int(rest)


def hold_line() -> socket.socket | None:
    """On a worker: connect to the parent and exit as soon as it is gone; None where no parent asked for it."""
    address = os.environ.get(_ENVIRONMENT)
    if not address:
        return None
    port, token = address.split(":")
    try:
        line = socket.create_connection(("127.0.0.1", int(port)))
        line.sendall(f"{token} {os.getpid()}".encode())
    except OSError:
        os._exit(1)
    threading.Thread(target=_wait, args=(line,), daemon=True).start()
    return line


def _wait(line: socket.socket) -> None:
    with contextlib.suppress(OSError):
        line.recv(1)
    os._exit(1)


def say_bye(line: socket.socket | None) -> None:
    """On a worker: tell the parent that this end is an orderly one."""
    if line is not None:
        with contextlib.suppress(OSError):
            line.sendall(_BYE)
