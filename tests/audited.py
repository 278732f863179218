"""Runs commands and calls in a process of its own, and reports what they imported, ran, wrote and connected to.

Run as `python -c "from tests.audited import main; main()" SPEC`, with the folder of somebody else's files as the
current one, from which Python then imports. SPEC is a file of JSON: `steps`, each a list of arguments of the command or
a text of Python; `watched`, folders from which nothing may run; `writable`, folders where files may be written;
`named`, modules that may not be imported; `results`, the file that gets what came of each step.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

STARTS_PROCESSES = ("os.exec", "os.posix_spawn", "os.spawn", "os.startfile", "os.system", "subprocess.Popen")
FINDS_LIBRARIES = "/sbin/ldconfig"  # as torch's imports do, by ctypes.util
CONNECTS = ("socket.connect", "socket.getaddrinfo", "socket.sendto")
TWO_PATHS = ("os.link", "os.rename", "os.symlink")
CHANGES = ("os.chmod", "os.mkdir", "os.remove", "os.rmdir", "os.truncate", "os.utime", *TWO_PATHS)
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Audit:
    """What an audit hook of `sys` has seen that is not allowed, one line for each."""

    def __init__(self, watched: list[str], writable: list[str], named: list[str]) -> None:
        self.watched, self.writable, self.named = watched, writable, named
        self.lines: list[str] = []
        self.on = False

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Note an event; called by Python for each, also of those that are usual."""
        if not self.on:
            return
        if event == "exec" and self._is_below(arguments[0].co_filename, self.watched):
            self.lines.append(f"ran {arguments[0].co_filename}")
        elif event == "import" and arguments[1] and self._is_below(arguments[1], self.watched):
            self.lines.append(f"imported {arguments[0]}")
        elif event == "pickle.find_class" and arguments[0] in self.named:  # caches of kernels and Beam's are pickles
            self.lines.append(f"unpickled {arguments[0]}.{arguments[1]}")
        elif event in STARTS_PROCESSES and arguments[0] != FINDS_LIBRARIES:
            self.lines.append(f"started {arguments[:2]}")
        elif event in CONNECTS:
            self.lines.append(f"{event} {arguments[1:]}")
        elif event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITING:
            self._note_change("wrote", arguments[0])
        elif event in CHANGES:
            self._note_change(event, arguments[event in TWO_PATHS], arguments[-1])

    def _note_change(self, what: str, path: Any, folder: Any = -1) -> None:
        if isinstance(path, str) and isinstance(folder, int) and folder >= 0 and not os.path.isabs(path):
            path = os.path.join(os.readlink(f"/proc/self/fd/{folder}"), path)
        if isinstance(path, str | bytes | os.PathLike) and not self._is_below(path, self.writable):
            self.lines.append(f"{what} {os.fsdecode(path)}")

    def _is_below(self, path: str | bytes | os.PathLike[str], folders: list[str]) -> bool:
        place = os.path.realpath(os.fsdecode(path))
        if os.fsdecode(path).startswith("<"):  # code that was generated, as by dataclasses
            return False
        return any(place == folder or place.startswith(folder + os.sep) for folder in folders)


def run(step: list[str] | str) -> tuple[int, str]:
    """Run a step; returns the exit code (1: an error of bertdata, -1: another) and the last line that it said."""
    from bertdata.cli.main import main as command
    from bertdata.errors import BertDataError

    said = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        try:
            if isinstance(step, list):
                code = command(step)
            else:
                exec(step, {})
                code = 0
        except BertDataError as error:
            code = 1
            print(error, file=said)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except Exception as error:
            code = -1
            print(f"{type(error).__name__}: {error}", file=said)
    return code, (said.getvalue().strip().splitlines() or [""])[-1]


def main() -> None:
    """Run the steps that the first argument has."""
    spec = json.loads(Path(sys.argv[1]).read_text())
    folders = [[os.path.realpath(path) for path in spec[name]] for name in ("watched", "writable")]
    audit = Audit(folders[0], [*folders[1], os.path.realpath(os.devnull)], spec["named"])
    sys.addaudithook(audit)
    audit.on = True
    results = []
    for step in spec["steps"]:
        before, audit.lines = set(sys.modules), []
        code, said = run(step)
        new = sorted(name for name in set(sys.modules) - before if name.partition(".")[0] in spec["named"])
        results.append([code, said, [*audit.lines, *(f"imported {name}" for name in new)]])
    audit.on = False
    Path(spec["results"]).write_text(json.dumps(results))
