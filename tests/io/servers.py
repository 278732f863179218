"""Servers of SFTP, FTP and WebHDFS on this machine, each with the files of one folder, for a user with a password."""

from __future__ import annotations

import base64
import contextlib
import importlib
import json
import os
import socket
import threading
import warnings
import zlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

USER, PASSWORD = "me", "fox-under-7-lamps"


@contextlib.contextmanager
def sftp(folder: Path) -> Iterator[str]:
    """Serve a folder as the root of an SFTP server (paramiko), and yield its URL."""
    paramiko = pytest.importorskip("paramiko", reason="needs paramiko")

    class Login(paramiko.ServerInterface):  # type: ignore[misc, name-defined]
        def check_auth_password(self, username: str, password: str) -> int:
            known = (username, password) == (USER, PASSWORD)
            return int(paramiko.AUTH_SUCCESSFUL if known else paramiko.AUTH_FAILED)

        def check_channel_request(self, kind: str, chanid: int) -> int:
            return int(paramiko.OPEN_SUCCEEDED)

    class Files(paramiko.SFTPServerInterface):  # type: ignore[misc, name-defined]
        def list_folder(self, path: str) -> Any:
            return self._answer(lambda: [self._attributes(path, name) for name in os.listdir(self._place(path))])

        def stat(self, path: str) -> Any:
            return self._answer(lambda: self._attributes(path))

        lstat = stat

        def open(self, path: str, flags: int, attr: Any) -> Any:
            def opened() -> Any:
                handle = paramiko.SFTPHandle(flags)
                handle.readfile = open(self._place(path), "rb")  # noqa: SIM115 - the handle closes it
                return handle

            return self._answer(opened)

        def _place(self, path: str) -> Path:
            return folder / path.lstrip("/")

        def _attributes(self, path: str, name: str = "") -> Any:
            return paramiko.SFTPAttributes.from_stat(os.stat(self._place(path) / name), name or Path(path).name)

        def _answer(self, function: Any) -> Any:
            try:
                return function()
            except OSError as error:
                return paramiko.SFTPServer.convert_errno(error.errno)

    key, transports = paramiko.RSAKey.generate(2048), list[Any]()

    def serve(listening: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                transport = paramiko.Transport(listening.accept()[0])
                transports.append(transport)
                transport.add_server_key(key)
                transport.set_subsystem_handler("sftp", paramiko.SFTPServer, Files)
                transport.start_server(server=Login(), event=threading.Event())

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, args=(listening,), daemon=True)
        thread.start()
        try:
            yield f"sftp://{USER}:{PASSWORD}@127.0.0.1:{listening.getsockname()[1]}"
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            thread.join(10)
            for transport in transports:
                transport.close()


@contextlib.contextmanager
def ftp(folder: Path) -> Iterator[str]:
    """Serve a folder as the root of an FTP server (pyftpdlib), and yield its URL."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of asyncore, before Python 3.12
        authorizers = pytest.importorskip("pyftpdlib.authorizers", reason="needs pyftpdlib")
        handlers, servers = map(importlib.import_module, ("pyftpdlib.handlers", "pyftpdlib.servers"))

    users = authorizers.DummyAuthorizer()
    users.add_user(USER, PASSWORD, str(folder))
    handler = type("Handler", (handlers.FTPHandler,), {"authorizer": users})
    server = servers.ThreadedFTPServer(("127.0.0.1", 0), handler)
    ended = threading.Event()

    def serve() -> None:
        while not ended.is_set():
            server.serve_forever(timeout=0.1, blocking=False)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"ftp://{USER}:{PASSWORD}@127.0.0.1:{server.address[1]}"
    finally:
        ended.set()
        thread.join(10)
        server.close_all()


class _NameNode(BaseHTTPRequestHandler):
    """Answers as WebHDFS does to what reads; what is opened is sent by another address, as a data node sends it."""

    folder: Path
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        words = {name: values[0] for name, values in parse_qs(parts.query).items()}
        login = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        path = self.folder / parts.path.removeprefix("/data").removeprefix("/webhdfs/v1").lstrip("/")
        if self.headers.get("Authorization") != f"Basic {login}":
            self._refuse(401, "SecurityException", "Authentication required")
        elif not path.exists():
            self._refuse(404, "FileNotFoundException", f"File does not exist: {path.name}")
        elif parts.path.startswith("/data"):
            start = int(words.get("offset", 0))
            content = path.read_bytes()[start:]
            self._send(200, content[: int(words.get("length", len(content)))])
        elif words["op"] == "OPEN":
            self._send(
                307, b"", f"http://{self.headers['Host']}/data{parts.path.removeprefix('/webhdfs/v1')}?{parts.query}"
            )
        else:
            self._send(200, json.dumps(self._answer(words["op"], path)).encode())

    def _answer(self, operation: str, path: Path) -> dict[str, Any]:
        if operation == "LISTSTATUS":
            listed = [path] if path.is_file() else sorted(path.iterdir())
            return {
                "FileStatuses": {
                    "FileStatus": [
                        self._status(entry_path, "" if entry_path == path else entry_path.name) for entry_path in listed
                    ]
                }
            }
        if operation == "GETFILECHECKSUM":
            digest = f"{zlib.crc32(path.read_bytes()):08x}"
            return {"FileChecksum": {"algorithm": "COMPOSITE-CRC32C", "bytes": digest, "length": 4}}
        assert operation == "GETFILESTATUS", operation
        return {"FileStatus": self._status(path, "")}

    def _status(self, path: Path, name: str) -> dict[str, Any]:
        status = path.stat()
        kind, length = ("DIRECTORY", 0) if path.is_dir() else ("FILE", status.st_size)
        changed = int(status.st_mtime * 1000)
        return {"pathSuffix": name, "type": kind, "length": length, "modificationTime": changed, "accessTime": changed}

    def _refuse(self, code: int, kind: str, message: str) -> None:
        self._send(code, json.dumps({"RemoteException": {"exception": kind, "message": message}}).encode())

    def _send(self, code: int, content: bytes, location: str = "") -> None:
        self.send_response(code)
        if location:
            self.send_header("Location", location)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments: Any) -> None:
        """Print nothing."""


@contextlib.contextmanager
def webhdfs(folder: Path) -> Iterator[str]:
    """Answer as HDFS does by its REST protocol for a folder as the root, and yield its URL."""
    pytest.importorskip("requests", reason="needs requests")
    handler = type("NameNode", (_NameNode,), {"folder": folder})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"webhdfs://{USER}:{PASSWORD}@127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join(10)
