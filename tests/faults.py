"""A proxy before an HTTP server of this machine that fails a share of the requests, as object stores do.

Of the faults one half is a 503, the other a connection that is cut without an answer, before or after the request was
carried out, unless other `kinds` are given, as "cut inside" the answer. Which requests fail depends on their order
alone. Answers may also be slow, or other ones.
"""

from __future__ import annotations

import contextlib
import http.client
import math
import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_S3_ERROR = "<?xml version='1.0'?><Error><Code>{code}</Code><Message>this store does not take that</Message></Error>"
_SLICES = 20
"""In how many parts a slow answer comes."""
_HOP_BY_HOP = {"connection", "transfer-encoding", "keep-alive", "content-length", "server", "date"}


@dataclass
class Proxy:
    """A running proxy: its address, the share of requests that fail, and how many of each method passed, or failed."""

    url: str
    share: float
    requests: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    chance: random.Random = field(default_factory=lambda: random.Random(0))
    lock: threading.Lock = field(default_factory=threading.Lock)
    kinds: tuple[str, ...] = ("503", "cut before", "503", "cut after")
    bytes_a_second: float = math.inf
    change: Callable[[str, bytes], bytes] = lambda path, data: data
    """Returns what is answered to a GET, by its path and what the server behind answers."""
    refuse: Callable[[str, str, Mapping[str, str]], tuple[int, str] | None] = lambda method, path, headers: None
    """Returns the status and the code of S3's error for a request that the store does not take, by its method, path
    and headers in small letters; None for others."""

    def fault(self, method: str) -> str:
        """Count a request and return what goes wrong with it, "" for nothing."""
        with self.lock:
            self.requests[method] += 1
            drawn = self.chance.random()
            fault = "" if drawn >= self.share else self.kinds[int(drawn / self.share * len(self.kinds))]
            self.faults.update([fault] if fault else [])
            return fault


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def handle_any(self) -> None:
        body = self._body()
        headers = {name.lower(): value for name, value in self.headers.items()}
        if refusal := self.server.proxy.refuse(self.command, self.path, headers):
            status, code = refusal
            self._answer(status, {"Content-Type": "application/xml"}, _S3_ERROR.format(code=code).encode())
            return
        fault = self.server.proxy.fault(self.command)
        if fault == "503":
            self._answer(503, {}, b"")
            return
        if fault != "cut before":
            status, headers, data = self._pass_on(body)
            if self.command == "GET":
                data = self.server.proxy.change(self.path, data)
            if fault != "cut after":
                self._answer(status, headers, data, cut=fault == "cut inside")
            if not fault:
                return
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def __getattr__(self, name: str) -> Callable[[], None]:
        """Take every method: the base class calls `do_` and its name."""
        if name.startswith("do_"):
            return self.handle_any
        raise AttributeError(name)

    def _body(self) -> bytes:
        if self.headers.get("Expect", "").lower() == "100-continue":
            self.send_response_only(100)
            self.end_headers()
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        pieces = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return b"".join(pieces)

    def _pass_on(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection(*self.server.behind, timeout=60)
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP_BY_HOP}
        with contextlib.closing(connection):
            connection.request(self.command, self.path, body, headers | {"Content-Length": str(len(body))})
            answer = connection.getresponse()
            passed_headers = {name: value for name, value in answer.getheaders() if name.lower() not in _HOP_BY_HOP}
            if self.command == "HEAD":
                passed_headers["Content-Length"] = answer.getheader("Content-Length") or "0"
            return answer.status, passed_headers, answer.read()

    def _answer(self, status: int, headers: dict[str, str], data: bytes, cut: bool = False) -> None:
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(data))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self._write(data[: len(data) // 2] if cut else data)

    def _write(self, data: bytes) -> None:
        pause = len(data) / self.server.proxy.bytes_a_second / _SLICES
        if not pause:
            self.wfile.write(data)
            return
        for number in range(_SLICES):
            self.wfile.write(data[len(data) * number // _SLICES : len(data) * (number + 1) // _SLICES])
            time.sleep(pause)

    def log_message(self, *_: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, behind: tuple[str, int], share: float) -> None:
        super().__init__(("localhost", 0), _Handler)
        self.behind, self.proxy = behind, Proxy(f"http://localhost:{self.server_address[1]}", share)

    def handle_error(self, request: object, client_address: object) -> None:
        pass


@contextlib.contextmanager
def faulty(host: str, port: int, share: float) -> Iterator[Proxy]:
    """Run a proxy before a server."""
    server = _Server((host, port), share)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server.proxy
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
