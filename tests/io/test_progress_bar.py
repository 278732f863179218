"""A bar is a widget in a notebook, moves on a terminal, is elsewhere there is a line in the end."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tqdm.auto

from bertdata.io.progress_bar import NO_WIDGETS, byte_progress, progress_bar

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
    bar = progress_bar([1, 2], desc="clean books", mininterval=0.2)
    assert (bar.rows, bar.options) == ([1, 2], {"desc": "clean books", "mininterval": 0.2})


def test_a_terminal_gets_a_line_that_moves_and_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with progress_bar(total=2, desc="clean books", mininterval=0) as bar:
        bar.update(1)
        bar.update(1)
    assert terminal.getvalue().count("\r") >= 2
    assert terminal.getvalue().endswith("\n")


def test_a_log_has_no_bar(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar(total=2, desc="clean books") as bar:
        bar.update(2)
    assert capsys.readouterr().err == ""


def test_the_bytes_of_a_file_are_one_line_of_a_log_with_what_was_there_before(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with byte_progress("a.bin", initial=1000) as bar:
        bar.total = 5000
        for _ in range(4):
            bar.update(1000)
    assert re.fullmatch(
        r"\d\d:\d\d:\d\d a\.bin +5\.0 kB in \S+ s( \(.*/s\))?, 1\.0 kB of it before\n", capsys.readouterr().err
    )


@pytest.mark.parametrize("total", [None, 2000])
def test_a_download_that_failed_is_not_done(total: int | None, capsys: pytest.CaptureFixture[str]) -> None:
    def download() -> None:
        with byte_progress("a.bin") as bar:
            bar.total = total
            bar.update(2000)
            raise OSError("no route")

    with pytest.raises(OSError, match="no route"):
        download()
    amount = "2.0 kB of 2.0 kB" if total else "2.0 kB"
    assert re.fullmatch(rf"\d\d:\d\d:\d\d a\.bin +stopped after {amount}\n", capsys.readouterr().err)


FAKED = """
import sys, types, warnings
warnings.simplefilter("error")
shell = types.SimpleNamespace(config={"IPKernelApp": {}})
sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: shell)
sys.modules["ipykernel.zmqshell"] = types.ModuleType("ipykernel.zmqshell")
for name in ("ipywidgets", "IPython.html", "IPython.html.widgets"):
    sys.modules[name] = None
from bertdata.io.progress_bar import byte_progress
for title in ("clean books", "tokenize"):
    with byte_progress(title, total=1) as bar:
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
    hint, *lines = done.stderr.splitlines()
    assert hint == NO_WIDGETS
    assert [line[9:].partition("  ")[0] for line in lines] == ["clean books", "tokenize"]
