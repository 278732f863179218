"""Asks the workers of a cluster, before any work, for the versions of what decides bytes, stores, and what they see.

The question is a function that is sent by value, since a worker may have no bertdata, or another version.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from bertdata.engine.versions import UNICODE, differences, versions
from bertdata.errors import ConfigError, install_hint
from bertdata.io import files
from bertdata.io.remote import EXTRAS
from bertdata.io.store_errors import base_url
from bertdata.io.time_limit import finished_within

SILENCE_SECONDS = 60.0
"""After how long without an answer of a worker it is said what may be the reason."""
CANCEL_SECONDS = 10.0
"""How long an engine may take to answer that a job is cancelled."""
_COUNTERS, _ALL_THERE = "bertdata.worker", "all there"
"""The namespace of the counters by which a worker answers, and the name of the one that tells that nothing is other."""
_TOLD = re.compile(r"bertdata worker: ([A-Za-z0-9+/=]{8,})")
_MOST_PATHS = 5
"""The paths that a worker tells of that it does not see as this process does: the first of them is the message."""

TOKEN = f"{files.TEMPORARY}seen-by-workers-"
"""How the name of the file begins that workers must see in the output."""


@dataclass(frozen=True)
class Needs:
    """What each worker must have: versions, the packages of stores, and what this process reads at local paths.

    versions: by what has them. seen: what `_state_function` makes of each path, as it is given: a relative one is read
    from the working directory of a worker there.
    """

    versions: dict[str, str]
    stores: tuple[str, ...]
    seen: dict[str, str]

    @staticmethod
    @contextlib.contextmanager
    def of(output: str, inputs: Sequence[str]) -> Iterator[Needs]:
        """Yield what workers need that write an output and read inputs.

        In a local output lies a file with a random token until the context is left: nothing else tells one folder from
        another of its path. Raises OutputError where it cannot be written.
        """
        schemes = {
            part.partition("://")[0] for path in [output, *inputs] if files.is_remote(path) for part in path.split("::")
        }
        stores = tuple(sorted(scheme for scheme in schemes if re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", scheme)))
        bases = [base_url(path) for path in inputs]
        local = [path for path in bases if not files.is_remote(path)]
        with _token(output) as tokens:
            state = _state_function()
            yield Needs(versions(), stores, {path: state(path) for path in [*tokens, *local]})

    def question(self) -> Callable[[], dict[str, Any]]:
        """Return a function that tells what a worker has, and uses nothing of bertdata but its version."""
        stores, paths, names, state = self.stores, list(self.seen), list(self.versions), _state_function()
        tables = UNICODE

        def look() -> dict[str, Any]:
            import importlib.metadata
            import unicodedata

            has = {}
            for name in names:
                try:
                    if name == "bertdata":
                        from bertdata import __version__

                        has[name] = __version__
                    elif name == tables:
                        has[name] = unicodedata.unidata_version
                    else:
                        has[name] = importlib.metadata.version(name)
                except ImportError:  # of the package, or of what is known of it
                    has[name] = ""
            missing = []
            for store in stores:
                try:
                    import fsspec

                    fsspec.get_filesystem_class(store)
                except (ImportError, ValueError):
                    missing.append(store)
            return {"versions": has, "missing": missing, "seen": {path: state(path) for path in paths}}

        return look

    def answer(self, encoded: str) -> dict[str, Any]:
        """Return the answer of a worker, which in base64 has all but the paths that it sees as this process does."""
        answer: dict[str, Any] = json.loads(base64.b64decode(encoded))
        return answer | {"seen": self.seen | answer["seen"]}

    def require(self, answer: Any, worker: str) -> None:
        """Raise ConfigError where a worker lacks something; `worker` names it in the message.

        answer: what `question` returned there, or the error that it raised.
        """
        if isinstance(answer, BaseException):
            raise ConfigError(
                f"{worker} cannot run what this process sends ({type(answer).__name__}: {answer}); give it the same "
                "Python and packages"
            )
        if not answer["versions"]["bertdata"]:
            here = self.versions["bertdata"]
            raise ConfigError(f"{worker} has no bertdata, and this process {here}; install the same version there")
        if other := differences(answer["versions"], self.versions):
            raise ConfigError(
                f"{worker} has other versions than this process, which may give other bytes: {', '.join(other)}; "
                "install the same there"
            )
        for store in answer["missing"]:
            extra = EXTRAS.get(store)
            hint = f"; {install_hint(extra)}" if extra else "; install it there"
            raise ConfigError(f"{worker} lacks the package for {store}:// paths{hint}")
        for path, state in self.seen.items():
            if answer["seen"].get(path) != state:
                is_token = files.name(path).startswith(TOKEN)
                there = answer["seen"].get(path) or "nothing"
                what = "a file that this process wrote is not there" if is_token else f"{there} in the place of {state}"
                remedy = "give a URL such as s3://bucket/folder, or a folder that all workers share"
                if not os.path.isabs(path):
                    remedy = (
                        "a relative path is read from the working directory of the worker there: give all paths from /"
                    )
                raise ConfigError(
                    f"{worker} does not see this path as this process does ({what}); {remedy}",
                    path=os.path.dirname(path) if is_token else path,
                )


def _state_function() -> Callable[[str], str]:
    """Return a function that is sent to workers by value, since none of a module is."""

    def state(path: str) -> str:
        """Return what tells a file or folder from another of its path: its size and first bytes, or its names."""
        import hashlib
        import os

        try:
            if os.path.isdir(path):
                names = sorted(os.listdir(path))
                return f"a folder of {len(names)} names, {hashlib.sha256(repr(names).encode()).hexdigest()[:12]}"
            with open(path, "rb") as file:
                start = file.read(4096)
            return f"{os.path.getsize(path)} bytes, {hashlib.sha256(start).hexdigest()[:12]}"
        except OSError:
            return "nothing"

    return state


@contextlib.contextmanager
def _token(output: str) -> Iterator[list[str]]:
    """Write a file with a random token into a local output, and yield its path; delete it, and folders made for it."""
    if files.is_remote(output):
        yield []
        return
    folder = os.path.abspath(output)
    made = []
    while not os.path.isdir(folder):
        made.append(folder)
        folder = os.path.dirname(folder)
    token = secrets.token_hex(16)
    path = os.path.join(output, TOKEN + token)
    try:
        files.write_bytes(path, token.encode())
        yield [path]
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)
        with contextlib.suppress(OSError):
            for folder in made:
                os.rmdir(folder)


class Asking(Protocol):
    """A job that asks a worker: `bertdata.beam.internals.Job`."""

    def run(self) -> None:
        """Run it to its end."""

    def cancel(self) -> None:
        """Cancel it at the engine."""

    def counters(self, namespace: str) -> list[str]:
        """Return the names of the counters of a namespace."""


def ask(
    needs: Needs,
    job_of: Callable[[Callable[[Any], None]], Asking],
    seconds: float,
    silence: Callable[[], str],
    say: Callable[[str], None],
) -> None:
    """Ask a worker by the one element of a pipeline; raises ConfigError where it lacks something.

    job_of: returns the job of a pipeline that calls a function with one element. An answer is awaited for `seconds`,
    after which the job is cancelled; `silence` tells what to do then, and is said before, after `SILENCE_SECONDS`: the
    worker of a busy machine may take minutes to begin. Other errors of the pipeline pass. What a worker lacks it says
    by the name of a counter, and by failing where the runner shows none: an engine with a restart strategy repeats what
    fails, for minutes.
    """

    def tell_waiting() -> None:
        say(
            f"no worker has begun to work within {SILENCE_SECONDS:.0f} s, and this waits for up to {seconds:.0f} s: "
            f"{silence()}"
        )

    for by_failing in (False, True):
        job = job_of(_telling(needs, by_failing))
        try:
            answered = finished_within(seconds, job.run, "bertdata-worker-check", [(SILENCE_SECONDS, tell_waiting)])
        except BaseException as error:
            if match := _TOLD.search(str(error)):
                needs.require(needs.answer(match[1]), "a worker")
            raise
        if not answered:
            said = silence()
            finished_within(CANCEL_SECONDS, job.cancel, "bertdata-cancel")
            raise ConfigError(f"no worker has begun to work within {seconds:.0f} s; {said}")
        if names := job.counters(_COUNTERS):
            for name in names:
                if name != _ALL_THERE:
                    needs.require(needs.answer(name), "a worker")
            return


def _telling(needs: Needs, by_failing: bool) -> Callable[[Any], None]:
    """Return a function of an element that counts what is other on the worker, or fails with it."""
    look, expected = needs.question(), {"versions": needs.versions, "missing": [], "seen": needs.seen}
    namespace, all_there, most = _COUNTERS, _ALL_THERE, _MOST_PATHS

    def tell(element: Any) -> None:
        import base64
        import json

        from apache_beam.metrics import Metrics

        answer = look()
        name = all_there
        if answer != expected:
            seen: Any = expected["seen"]
            answer["seen"] = dict([item for item in answer["seen"].items() if item[1] != seen[item[0]]][:most])
            name = base64.b64encode(json.dumps(answer).encode()).decode()
            if by_failing:
                raise RuntimeError(f"bertdata worker: {name}")
        Metrics.counter(namespace, name).inc()

    return tell
