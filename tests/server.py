"""An HTTP server on this machine that serves bytes, honours ranges and misbehaves on request."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class File:
    """What a path serves. `faults` are used up one a request, before the path behaves.

    A fault is a number of body bytes after which the connection is cut, or (status, headers) to answer instead. `pause`
    is how many seconds it waits before the second half of a body.
    """

    data: bytes
    faults: list[int | tuple[int, dict[str, str]]] = field(default_factory=list)
    ranges: bool = True
    range_shift: int = 0
    chunked: bool = False
    content_type: str = "application/octet-stream"
    etag: str = '"one"'
    pause: float = 0.0
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Server:
    """A running server: its address, its files by path, and the requests it got as (path, headers), without HEAD.

    most_at_once: the highest number of requests that it answered at once. refuses_head: it answers HEAD with 501.
    """

    url: str
    files: dict[str, File] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    most_at_once: int = 0
    refuses_head: bool = False
    at_once: int = 0
    lock: Any = field(default_factory=threading.Lock)

    def paths(self) -> list[str]:
        """The paths asked for, in order."""
        return [path for path, _ in self.requests]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http

    def do_HEAD(self) -> None:
        self.close_connection = True
        file = self.server.known.files.get(self.path)
        self.send_response(501 if self.server.known.refuses_head else 200 if file else 404)
        if file:
            self.send_header("Content-Length", str(len(file.data)))
        self.end_headers()

    def do_GET(self) -> None:
        known = self.server.known
        with known.lock:
            known.at_once += 1
            known.most_at_once = max(known.most_at_once, known.at_once)
        try:
            self._get(known)
        finally:
            with known.lock:
                known.at_once -= 1

    def _get(self, known: Server) -> None:
        known.requests.append((self.path, dict(self.headers)))
        self.close_connection = True
        file = known.files.get(self.path)
        if file is None:
            self._answer(404, {}, b"")
            return
        fault = file.faults.pop(0) if file.faults else None
        if isinstance(fault, tuple):
            self._answer(*fault, b"")
            return
        start, end = self._range(file)
        if start >= len(file.data) and start:
            self._answer(416, {"Content-Range": f"bytes */{len(file.data)}"}, b"")
            return
        body = file.data[start:end]
        headers = {"ETag": file.etag, "Content-Type": file.content_type, **file.headers}
        is_part = bool(start) or len(body) < len(file.data)
        if is_part:
            first = start + file.range_shift
            headers["Content-Range"] = f"bytes {first}-{end - 1}/{len(file.data)}"
        self._answer(206 if is_part else 200, headers, body, cut=fault, chunked=file.chunked, pause=file.pause)

    def _range(self, file: File) -> tuple[int, int]:
        """Return where the bytes asked for begin and end."""
        asked = self.headers.get("Range", "")
        condition = self.headers.get("If-Range")
        if not asked or not file.ranges or (condition and condition != file.etag):
            return 0, len(file.data)
        start, _, last = asked.removeprefix("bytes=").partition("-")
        return int(start), min(int(last) + 1, len(file.data)) if last else len(file.data)

    def _answer(
        self,
        status: int,
        headers: dict[str, str],
        body: bytes,
        *,
        cut: int | None = None,
        chunked: bool = False,
        pause: float = 0.0,
    ) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header(*(("Transfer-Encoding", "chunked") if chunked else ("Content-Length", str(len(body)))))
        self.end_headers()
        sent = body if cut is None else body[:cut]
        if chunked:
            sent = f"{len(body):x}\r\n".encode() + sent + (b"\r\n0\r\n\r\n" if cut is None else b"")
        with contextlib.suppress(ConnectionError):  # whoever asked may have seen enough
            self.wfile.write(sent[: len(sent) // 2])
            time.sleep(pause)
            self.wfile.write(sent[len(sent) // 2 :])

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


class _Http(ThreadingHTTPServer):
    known: Server


@contextlib.contextmanager
def serve() -> Iterator[Server]:
    """Run a server on a free port of 127.0.0.1 while the block runs."""
    with _Http(("127.0.0.1", 0), _Handler) as http:
        http.known = Server(f"http://127.0.0.1:{http.server_address[1]}")
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield http.known
        finally:
            http.shutdown()
            thread.join()
