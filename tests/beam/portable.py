"""Programs that stand in for those of Flink, Spark and Prism, and pools of Beam workers, for tests."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.clock import PATIENCE

_SERVER = """#!{python}
import os, sys
words = sys.argv[1:]
port = next(after for word, after in zip(words, words[1:]) if word in ("--job-port", "--job_port"))
os.execv(sys.executable, [sys.executable, "-m", "apache_beam.runners.portability.local_job_service_main", "-p", port])
"""


def job_server_program(folder: Path) -> Path:
    """Write a program that takes the arguments of `java -jar JAR` or of Prism, and is Beam's job server in Python."""
    program = folder / "job-server"
    program.write_text(_SERVER.format(python=sys.executable))
    program.chmod(0o755)
    return program


def free_port() -> int:
    """Return a port of this machine on which nothing listens."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        return int(free.getsockname()[1])


POOL, POOL_OF_BEAM = "bertdata.cli.worker_pool", "apache_beam.runners.worker.worker_pool_main"


@contextlib.contextmanager
def worker_pool(folder: Path, *, path: str = "", modules: str = "", program: str = POOL_OF_BEAM) -> Iterator[str]:
    """Run a worker pool and yield its address; `path` and `modules` come first in its PATH and PYTHONPATH."""
    port = free_port()
    paths = {"PATH": [path, str(Path(sys.executable).parent), os.environ["PATH"]]}
    paths["PYTHONPATH"] = [modules, *map(os.path.abspath, sys.path)]
    process = subprocess.Popen(
        [sys.executable, "-m", program, f"--service_port={port}"],
        env=os.environ | {name: os.pathsep.join(filter(None, places)) for name, places in paths.items()},
        cwd=folder,
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + PATIENCE
        while process.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("localhost", port)):
                break
            time.sleep(0.05)
        yield f"localhost:{port}"
    finally:
        process.kill()
        process.wait()
