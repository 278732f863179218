"""The job server of Flink, Spark or Prism: a program of Beam's that is started here, once for all pipelines of a build.

Beam's runners start it from the main thread only, and for each pipeline; what it prints is lost. Here its last lines
are the message when it does not start. The flags that Beam gets name its address.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import Any

from bertdata.errors import ConfigError

START_SECONDS = 90.0
"""How long a job server may take to answer after it was started."""
ENDPOINT_SECONDS = 10.0
"""How long the server that --job_endpoint names may take to answer."""
DOWNLOAD_SECONDS = 30.0
"""How long each answer of the server may take from which a program is downloaded."""
JARS = {"flink": "flink_job_server_jar", "spark": "spark_job_server_jar", "prism": "prism_location"}
"""By the short names of the runners that start a job server, the flag that names its program."""
_LAST_BYTES = 2000
_COMPILE_LITTLE = "-XX:TieredStopAtLevel=1"
_JAVA_OPTIONS = {
    "flink": [_COMPILE_LITTLE],
    "spark": [_COMPILE_LITTLE, f"-Dspark.executor.extraJavaOptions={_COMPILE_LITTLE}"],
}
"""Options of a job server in Java. It and Spark's executors, which start anew for each job, live for minutes and pass
references on: most of their processor time would go into compiling what hardly runs.
"""

_END_WITH_PARENT = """
import ctypes, os, signal, sys
parent, *command = sys.argv[1:]
set_option, death_signal = ctypes.CDLL(None).prctl, 1
set_option(death_signal, signal.SIGTERM)
if os.getppid() != int(parent):
    sys.exit("the process that started this one has ended")
try:
    os.execvp(command[0], command)
except OSError as error:
    sys.exit(f"{command[0]} cannot be run ({error})")
"""


def require_program(name: str, parsed: argparse.Namespace) -> None:
    """Raise ConfigError where the program that flags name is not there, or Java is not that is to run it."""
    flag = JARS[name]
    path = getattr(parsed, flag)
    if path and "://" not in path and not os.path.isfile(path):
        raise ConfigError(f"there is no such file; correct --{flag}", path=path)
    if name != "prism" and shutil.which(parsed.job_server_java_launcher) is None:
        raise ConfigError(
            f"--runner={parsed.runner} starts a job server in Java, and there is no "
            f"{parsed.job_server_java_launcher}; install Java, or name a server that runs with --job_endpoint"
        )


def require_cluster(name: str, parsed: argparse.Namespace) -> None:
    """Raise ConfigError where nothing listens at the address of the cluster that flags name: its server tries for long.

    Spark's masters can be several, of which one leads; `[local]` and `yarn` name no address.
    """
    flag = {"flink": "flink_master", "spark": "spark_master_url"}.get(name, "")
    value = getattr(parsed, flag, None) or ""
    addresses = re.sub(r"^\w+://", "", value).rstrip("/").split(",")
    if not all(re.fullmatch(r"[^\[\]/,]+:\d+", address) for address in addresses):
        return
    if not any(is_listening(address) for address in addresses):
        raise ConfigError(f"no cluster answers at {value}; start it, or correct --{flag}")


def require_answer(endpoint: str) -> None:
    """Raise ConfigError where nothing serves jobs at an address of --job_endpoint."""
    import grpc

    channel = grpc.insecure_channel(endpoint)
    try:
        grpc.channel_ready_future(channel).result(timeout=ENDPOINT_SECONDS)
    except grpc.FutureTimeoutError as error:
        raise ConfigError(
            f"no job server answers at {endpoint} within {ENDPOINT_SECONDS:.0f} s; start it, or correct --job_endpoint"
        ) from error
    finally:
        channel.close()


def is_listening(address: str) -> bool:
    """Return whether anything takes connections at HOST:PORT."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=ENDPOINT_SECONDS).close()
    except (OSError, ValueError, OverflowError):
        return False
    return True


class JobServer:
    """A job server that was started here, as a context manager; leaving it ends the server."""

    def __init__(self, name: str, runner: str, options: Any) -> None:
        """Start the server of a runner; raises ConfigError where it cannot be fetched, or does not start."""
        self._folder = tempfile.mkdtemp(prefix="bertdata-job-server-")
        self._process: subprocess.Popen[bytes] | None = None
        try:
            with _explained(name, runner):
                command, self.endpoint = _command(name, options, self._folder)
            with open(os.path.join(self._folder, "log"), "wb") as log:
                self._process = subprocess.Popen(
                    _ending_with_this_process(command),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env=os.environ | _java_options(name),
                )
            self._wait(runner, command)
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                raise ConfigError(f"the job server of {runner} cannot be started ({error})") from error
            raise

    def __enter__(self) -> JobServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def flags(self, flags: Sequence[str]) -> list[str]:
        """Return Beam's flags with the address of the server."""
        return [*flags, f"--job_endpoint={self.endpoint}"]

    def close(self) -> None:
        """End the server and delete its files."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
        shutil.rmtree(self._folder, ignore_errors=True)

    def _wait(self, runner: str, command: Sequence[str]) -> None:
        import grpc

        assert self._process is not None
        deadline = time.monotonic() + START_SECONDS
        with contextlib.closing(grpc.insecure_channel(self.endpoint)) as channel:
            ready = grpc.channel_ready_future(channel)
            while time.monotonic() < deadline:
                with contextlib.suppress(grpc.FutureTimeoutError):
                    ready.result(timeout=0.2)
                    return
                if self._process.poll() is not None:
                    break
            ready.cancel()
        code = self._process.poll()
        what = f"does not answer within {START_SECONDS:.0f} s" if code is None else f"ended with code {code}"
        raise ConfigError(f"the job server of {runner} {what}; `{' '.join(command)}` said: {self._last_lines()}")

    def _last_lines(self) -> str:
        with open(os.path.join(self._folder, "log"), "rb") as log:
            log.seek(max(0, os.fstat(log.fileno()).st_size - _LAST_BYTES))
            return log.read().decode(errors="replace").strip() or "nothing"


def _java_options(name: str) -> dict[str, str]:
    """Return the variable with options of Java over which those of users take precedence, here or in Beam's flags."""
    options = [*_JAVA_OPTIONS.get(name, ()), os.environ.get("JAVA_TOOL_OPTIONS", "")]
    return {"JAVA_TOOL_OPTIONS": " ".join(filter(None, options))}


def _ending_with_this_process(command: Sequence[str]) -> list[str]:
    """Return a command that is ended with this process, also where this one is killed; as it is but on Linux.

    What a server of Spark's runs is ended with it, and leaves its workers to the next build. It is a program that
    becomes the command, and no `preexec_fn`: that forks, and the threads of gRPC, which go on in a fork, abort it.
    """
    if sys.platform != "linux":
        return list(command)
    return [sys.executable, "-I", "-S", "-c", _END_WITH_PARENT, str(os.getpid()), *command]


def _command(name: str, options: Any, folder: str) -> tuple[list[str], str]:
    """Return the command of a job server, whose program is downloaded where no flag names it, and its address."""
    from bertdata.beam import internals

    server = internals.job_server(name, options, folder)
    command, endpoint = server.subprocess_cmd_and_endpoint()
    return [str(word) for word in command], endpoint


@contextlib.contextmanager
def _explained(name: str, runner: str) -> Iterator[None]:
    """Limit the time that a download may stand still, and raise its errors as ConfigError."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(DOWNLOAD_SECONDS)
    try:
        yield
    except (RuntimeError, ValueError, OSError) as error:
        raise ConfigError(
            f"the job server of {runner} cannot be fetched ({str(error).partition('. Also')[0]}); download it where "
            f"there is a network, and name the file with --{JARS[name]}, or a server that runs with --job_endpoint"
        ) from error
    finally:
        socket.setdefaulttimeout(before)
