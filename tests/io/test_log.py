"""A log of JSON has an event a line, whatever prints; a log of text has the time of day; a terminal has neither."""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
from collections.abc import Iterator
from typing import Any

from tqdm import tqdm

from bertdata.io import log


@contextlib.contextmanager
def json_log() -> Iterator[io.StringIO]:
    """Yield what stderr is, in the place of which a log of JSON is put."""
    with contextlib.redirect_stderr(stream := io.StringIO()):
        log.use("json")
        yield stream


def events(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_every_line_that_anything_prints_is_an_event() -> None:
    with json_log() as stream:
        print("read\ntwo lines", file=sys.stderr)
        print("error: no", "such file", file=sys.stderr)
        tqdm.write("above a bar", file=sys.stderr)
        sys.stderr.write("10%\r20%\r")
        sys.stderr.write("30%\n")
        kinds = [(event["event"], event["text"].splitlines()[0]) for event in events(stream)]
        assert kinds[:4] == [
            ("message", "read"),
            ("message", "two lines"),
            ("error", "no such file"),
            ("message", "above a bar"),
        ]
        assert kinds[-1] == ("message", "30%")


def test_an_event_has_the_time_and_its_values_whatever_characters_they_have() -> None:
    with json_log() as stream:
        log.event("stage", stage="Bücher\u2028\n", done=3)
        [line] = stream.getvalue().splitlines()
        event = json.loads(line)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", event.pop("time"))
        assert event == {"event": "stage", "stage": "Bücher\u2028\n", "done": 3}


def test_text_without_a_line_end_is_an_event_when_it_is_flushed() -> None:
    with json_log() as stream:
        print("waiting", end="", file=sys.stderr, flush=True)
        assert [event["text"] for event in events(stream)] == ["waiting"]


def test_a_log_of_text_comes_back() -> None:
    with json_log() as stream:
        log.use("json")
        log.use("text")
        assert sys.stderr is stream
        log.event("stage")
        log.failure("no such file", 1)
        assert stream.getvalue() == "error: no such file\n"
        assert re.fullmatch(r"\d\d:\d\d:\d\d tokenize", log.timed("tokenize"))
        stream.isatty = lambda: True  # type: ignore[method-assign]
        assert log.timed("tokenize") == "tokenize"
