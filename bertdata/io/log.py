"""What a command says on stderr: text, with the time of day where it is a log, or a line of JSON for each event.

`use("json")` puts a stream in the place of stderr that makes an event of every other line, too: what a library prints
does not break the log.
"""

from __future__ import annotations

import io
import json
import sys
import time
from datetime import UTC, datetime
from typing import Any, TextIO

FORMATS = ("text", "json")
TEXT, JSON = FORMATS
_PREFIXES = {"error: ": "error", "warning: ": "warning"}


class EventStream(io.TextIOBase):
    """A text stream that writes to another a line of JSON for each line, as an event `message`, `warning` or `error`.

    Of a line that a carriage return rewrites the last state counts.

    >>> stream = EventStream(sys.stdout, clock=lambda: "12:00")
    >>> print("error: no such file", file=stream)
    {"time": "12:00", "event": "error", "text": "no such file"}

    What writes by itself, as a child process, is not seen.
    """

    def __init__(self, stream: TextIO, clock: Any = None) -> None:
        self.stream = stream
        self._clock = clock or _now
        self._rest = ""
        self.warnings = 0

    def write(self, text: str) -> int:
        """Write the lines that the text ends."""
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            state = line.rstrip("\r").rpartition("\r")[2]
            if state.strip():
                kind = next((kind for start, kind in _PREFIXES.items() if state.startswith(start)), "message")
                self.event(kind, text=state.removeprefix(f"{kind}: "))
        return len(text)

    def event(self, kind: str, **values: Any) -> None:
        """Write an event."""
        self.warnings += kind == "warning"
        line = json.dumps({"time": self._clock(), "event": kind, **values}, ensure_ascii=True)
        self.stream.write(f"{line}\n")
        self.stream.flush()

    def flush(self) -> None:
        """Write what has no line end yet."""
        if self._rest.strip():
            self.write("\n")

    def isatty(self) -> bool:
        """Return False: a program reads it."""
        return False

    def writable(self) -> bool:
        """Return True."""
        return True

    def fileno(self) -> int:
        """Return the descriptor of the stream that it writes to."""
        return self.stream.fileno()


class TimedStream(io.TextIOBase):
    """A text stream that writes whole lines to another, each with the time of day before it."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write text, the time of day before what is not a line end alone."""
        return self.stream.write(text if text == "\n" else f"{_time_of_day()} {text}")

    def flush(self) -> None:
        """Flush the other stream."""
        self.stream.flush()


def use(kind: str) -> None:
    """Log as text or as JSON from now on."""
    if kind == JSON and not is_json():
        sys.stderr = EventStream(sys.stderr)
    elif kind == TEXT and isinstance(sys.stderr, EventStream):
        sys.stderr = sys.stderr.stream


def is_json() -> bool:
    """Tell whether the log is JSON."""
    return isinstance(sys.stderr, EventStream)


def event(kind: str, **values: Any) -> None:
    """Log an event, where the log is JSON."""
    if isinstance(sys.stderr, EventStream):
        sys.stderr.event(kind, **values)


def end(code: int) -> None:
    """Log the end of a command, and how many warnings there were."""
    if isinstance(sys.stderr, EventStream):
        sys.stderr.event("end", code=code, warnings=sys.stderr.warnings)


def failure(text: str, code: int, prefix: str = "error: ") -> None:
    """Log why a command ends, and the exit code that it will have."""
    if is_json():
        event("error", text=text, code=code)
    else:
        print(f"{prefix}{text}", file=sys.stderr)


def timed(text: str) -> str:
    """Return a text with the time of day before it, where stderr is a log of text, not a terminal.

    >>> stream, sys.stderr = sys.stderr, io.StringIO()
    >>> line, sys.stderr = timed("clean books"), stream
    >>> len(line.split(":")), line[8:]
    (3, ' clean books')
    """
    return text if is_json() or sys.stderr.isatty() else f"{_time_of_day()} {text}"


def _time_of_day() -> str:
    return time.strftime("%H:%M:%S")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
