"""A store on this machine that answers late and sends no faster than it may: objects of a folder, by HTTP and as S3.

Run: python benchmarks/_paced_store.py FOLDER PAUSE BYTES_A_SECOND; it prints its URL, and ends when its input does.
Each request waits, and each answer has its own speed. It knows what readers ask for: HEAD, GET with a range, and the
list of a bucket; a bucket is a folder. GET /counts says how many bytes of each object were asked for since the last.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
import urllib.parse
import urllib.request
from collections import Counter
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

_SLICE = 1 << 19


class PacedStore:
    """A store in a process of its own, until `close`; url: where it is."""

    def __init__(self, folder: Path, pause: float, bytes_a_second: float) -> None:
        command = [sys.executable, __file__, str(folder), str(pause), str(bytes_a_second)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout
        self.url = self._process.stdout.readline().strip()

    def counts(self) -> Counter[str]:
        """Return the bytes of each object that were sent since this was asked last, and forget them."""
        with urllib.request.urlopen(f"{self.url}/counts") as answer:
            return Counter(json.load(answer))

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        url = urllib.parse.urlparse(self.path)
        if url.path == "/counts":
            with self.server.lock:
                counts, self.server.counts = self.server.counts, Counter()
            self._whole(json.dumps(counts).encode(), "application/json")
            return
        time.sleep(self.server.pause)
        path = self.server.folder / urllib.parse.unquote(url.path).strip("/")
        if not path.is_file():
            asked = urllib.parse.parse_qs(url.query)
            if path.is_dir() and "list-type" in asked:
                self._whole(self._listed(path, asked.get("prefix", [""])[0]), "application/xml")
            else:
                self._whole(b"<Error><Code>NoSuchKey</Code></Error>", "application/xml", 404)
            return
        self._object(path)

    def _object(self, path: Path) -> None:
        status = path.stat()
        begin, end = 0, status.st_size
        if asked := self.headers.get("Range"):
            first, _, last = asked.removeprefix("bytes=").partition("-")
            begin, end = int(first), min(end, int(last) + 1 if last else end)
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{status.st_size}")
        self.send_header("Content-Length", str(end - begin))
        self.send_header("Last-Modified", formatdate(status.st_mtime, usegmt=True))
        self.send_header("ETag", f'"{status.st_mtime_ns:x}-{status.st_size:x}"')
        self.send_header("Accept-Ranges", "bytes")
        self.end_headers()
        if self.command == "HEAD":
            return
        with self.server.lock:
            self.server.counts[str(path.relative_to(self.server.folder))] += end - begin
        began = time.monotonic()
        self.wfile.flush()
        with path.open("rb") as file, contextlib.suppress(ConnectionError):
            for place in range(begin, end, _SLICE):
                self.connection.sendall(os.pread(file.fileno(), min(_SLICE, end - place), place))
                early = (place - begin) / self.server.bytes_a_second - (time.monotonic() - began)
                if early > 0:
                    time.sleep(early)

    def _listed(self, bucket: Path, prefix: str) -> bytes:
        keys = sorted(str(path.relative_to(bucket)) for path in bucket.rglob("*") if path.is_file())
        contents = "".join(
            f"<Contents><Key>{key}</Key><Size>{(bucket / key).stat().st_size}</Size>"
            f"<LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>x</ETag></Contents>"
            for key in keys
            if key.startswith(prefix)
        )
        return f"<ListBucketResult><IsTruncated>false</IsTruncated>{contents}</ListBucketResult>".encode()

    def _whole(self, body: bytes, kind: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, folder: Path, pause: float, bytes_a_second: float) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder, self.pause, self.bytes_a_second = folder, pause, bytes_a_second
        self.counts: Counter[str] = Counter()
        self.lock = threading.Lock()


if __name__ == "__main__":
    server = _Server(Path(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3]))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    sys.stdin.read()
