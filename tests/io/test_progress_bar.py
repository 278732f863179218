"""A bar is a widget in a notebook, moves on a terminal, is lines of text elsewhere, or nothing."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tqdm.auto

from bertdata.io.progress_bar import NO_WIDGETS, progress_bar

ROOT = Path(__file__).parents[2]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Widget:
    """The bar of a notebook, as far as it is told from others, with what it was made of."""

    __module__ = "tqdm.notebook"

    def __init__(self, rows: Any = None, **options: Any) -> None:
        self.rows, self.options = rows, options


def test_a_notebook_gets_a_widget_with_the_options_that_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tqdm.auto, "tqdm", Widget)
    bar = progress_bar([1, 2], lines=True, desc="clean books", mininterval=0.2)
    assert (bar.rows, bar.options) == ([1, 2], {"desc": "clean books", "mininterval": 0.2})


def test_a_terminal_gets_a_line_that_moves_and_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with progress_bar(total=2, desc="clean books", mininterval=0) as bar:
        bar.update(1)
        bar.update(1)
    assert terminal.getvalue().count("\r") >= 2
    assert terminal.getvalue().endswith("\n")


@pytest.mark.parametrize(("lines", "expected"), [(True, 1), (False, 0)])
def test_elsewhere_there_are_lines_where_they_are_asked_for(
    lines: bool, expected: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with progress_bar(total=2, desc="clean books", lines=lines) as bar:
        bar.update(2)
    shown = capsys.readouterr().err
    assert shown.count("\n") == expected
    assert ("clean books: 100%|##########| 2/2" in shown) == lines


FAKED = """
import sys, types, warnings
warnings.simplefilter("error")
shell = types.SimpleNamespace(config={"IPKernelApp": {}})
sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: shell)
sys.modules["ipykernel.zmqshell"] = types.ModuleType("ipykernel.zmqshell")
for name in ("ipywidgets", "IPython.html", "IPython.html.widgets"):
    sys.modules[name] = None
from bertdata.io.progress_bar import progress_bar
for title in ("clean books", "tokenize"):
    with progress_bar(total=1, desc=title, lines=True) as bar:
        bar.update(1)
"""


def test_a_notebook_without_widgets_is_told_once_and_gets_lines() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FAKED],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told, *lines = done.stderr.splitlines()
    assert told == NO_WIDGETS
    assert [line.partition(":")[0] for line in lines] == ["clean books", "tokenize"]
