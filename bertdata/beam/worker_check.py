"""Asks the workers of a cluster, before any work, for their version of bertdata, their stores and the paths they see.

The question is a function that is sent by value, since a worker may have no bertdata, or another version.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bertdata import __version__
from bertdata.errors import ConfigError, install_hint
from bertdata.io import files
from bertdata.io.remote import EXTRAS
from bertdata.io.time_limit import finished_within

_TOLD = re.compile(r"bertdata worker: ([A-Za-z0-9+/=]{8,})")


@dataclass(frozen=True)
class Needs:
    """What each worker must have: a version, the packages of stores, and the same file or folder at local paths."""

    version: str
    stores: tuple[str, ...]
    paths: dict[str, int | None]

    @staticmethod
    def of(paths: Sequence[str]) -> Needs:
        """Return what workers need that read and write these paths; a local path need not exist yet."""
        stores = sorted({path.partition("://")[0] for path in paths if files.is_remote(path)})
        local = {path: _identity(path) for path in map(_existing, paths) if not files.is_remote(path)}
        return Needs(__version__, tuple(stores), local)

    def question(self) -> Callable[[], dict[str, Any]]:
        """Return a function that tells what a worker has, and uses nothing of bertdata but its version."""
        stores, paths = self.stores, list(self.paths)

        def look() -> dict[str, Any]:
            import os

            try:
                from bertdata import __version__ as version
            except ImportError:
                version = ""
            missing = []
            for store in stores:
                try:
                    import fsspec

                    fsspec.get_filesystem_class(store)
                except (ImportError, ValueError):
                    missing.append(store)
            seen: dict[str, int | None] = {}
            for path in paths:
                try:
                    seen[path] = os.stat(path).st_ino
                except OSError:
                    seen[path] = None
            return {"version": version, "missing": missing, "seen": seen}

        return look

    def require(self, answer: Any, worker: str) -> None:
        """Raise ConfigError where a worker lacks something; `worker` names it in the message.

        answer: what `question` returned there, or the error that it raised.
        """
        if isinstance(answer, BaseException):
            raise ConfigError(
                f"{worker} cannot run what this process sends ({type(answer).__name__}: {answer}); give it the same "
                "Python and packages"
            )
        if answer["version"] != self.version:
            has = f"bertdata {answer['version']}" if answer["version"] else "no bertdata"
            raise ConfigError(f"{worker} has {has}, and this process {self.version}; install the same version there")
        for store in answer["missing"]:
            extra = EXTRAS.get(store)
            hint = f"; {install_hint(extra)}" if extra else "; install it there"
            raise ConfigError(f"{worker} lacks the package for {store}:// paths{hint}")
        for path, identity in self.paths.items():
            if answer["seen"].get(path) != identity:
                raise ConfigError(
                    f"{worker} does not see this path; give a URL such as s3://bucket/folder, or a folder that all "
                    "workers share",
                    path=path,
                )


def ask(needs: Needs, run: Callable[[Any], None], pipeline: Any, seconds: float, silence: str) -> None:
    """Ask a worker by the one element of an empty pipeline; raises ConfigError where it lacks something.

    run: runs a pipeline to its end. An answer is awaited for `seconds`; `silence` is the
    message when none has come. Other errors of the pipeline pass.
    """
    import apache_beam

    _ = pipeline | apache_beam.Create([0], reshuffle=False) | "Ask" >> apache_beam.Map(_telling(needs))
    try:
        answered = finished_within(seconds, lambda: run(pipeline), "bertdata-worker-check")
    except BaseException as error:
        if told := _TOLD.search(str(error)):
            needs.require(json.loads(base64.b64decode(told[1])), "a worker")
        raise
    if not answered:
        raise ConfigError(f"no worker has begun to work within {seconds:.0f} s; {silence}")


def _telling(needs: Needs) -> Callable[[Any], None]:
    """Return a function of an element that raises what the worker has, unless that is all that is needed."""
    look, expected = needs.question(), {"version": needs.version, "missing": [], "seen": needs.paths}

    def tell(element: Any) -> None:
        import base64
        import json

        answer = look()
        if answer != expected:
            raise RuntimeError(f"bertdata worker: {base64.b64encode(json.dumps(answer).encode()).decode()}")

    return tell


def _existing(path: str) -> str:
    """Return a path, or where there is nothing the nearest folder above it that exists."""
    while not files.is_remote(path) and not os.path.exists(path):
        path = os.path.dirname(os.path.abspath(path))
    return path if files.is_remote(path) else os.path.abspath(path)


def _identity(path: str) -> int | None:
    return os.stat(path).st_ino
