"""Runs the commands of a page of docs/ in order in one folder, and compares what they print with what it shows.

In a page
- a block of `sh` is run by bash, of `python` by Python; one with a title (`python title="own.py"`) becomes that file;
- a block of `text` right after one is what that printed, in this order; a line of `...` stands for any lines;
- `<!-- not run: reason -->` before a block leaves it out; `<!-- slow -->` makes the page one of the slow tests.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.docs.environments import path_variable

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"(?P<before><!--[^>]*-->\n)?^```(?P<info>[^\n]*)\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
CHANGING = re.compile(
    r"second|loss|/s\b|grad|ETA|accuracy|\d s\b|model_flops|tflops|rss gib|wait share"
    r"|^  (clean|count|tokenize|start and checks)"
)
"""Lines whose numbers differ from machine to machine."""
LEFT = re.compile(r"^\d\d:\d\d:\d\d |, \d+:\d\d:\d\d left|; [\d.]+ \w+ or more")
"""The time of day of a line of a log, what is left, and what a run takes at least."""


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its file if it is one, its text, why it is not run, what it is to print."""

    language: str
    title: str
    body: str
    not_run: str
    shown: str = ""


def blocks(markdown: str) -> list[Block]:
    """Return the blocks of a page in order, each `text` block as what the block before it shows."""
    page_blocks: list[Block] = []
    for match in FENCE.finditer(markdown):
        language, _, rest = match["info"].partition(" ")
        if language == "text" and page_blocks:
            last = page_blocks.pop()
            page_blocks.append(Block(last.language, last.title, last.body, last.not_run, match["body"]))
            continue
        title = re.search(r'title="([^"]+)"', rest)
        reason = re.search(r"<!-- not run: (.+?) -->", match["before"] or "")
        page_blocks.append(Block(language, title[1] if title else "", match["body"], reason[1] if reason else ""))
    return page_blocks


def text_that_is_run(markdown: str) -> str:
    """Return a page without its blocks that are not run."""
    return FENCE.sub(lambda match: "" if "not run" in (match["before"] or "") else match[0], markdown)


def run(block: Block, folder: Path, python: Path) -> str:
    """Run a block in a folder, or write its file; return what it printed. Raises AssertionError where it fails.

    python: that of the environment to run it in.
    """
    if block.title:
        (folder / block.title).write_text(block.body, encoding="utf-8")
        return ""
    programs = {"sh": ["bash", "-euo", "pipefail", "-c"], "python": [str(python), "-c"]}
    environment = {"PATH": path_variable(python), "VIRTUAL_ENV": str(python.parents[1])}
    environment |= {"PYTHONPATH": f"{ROOT}{os.pathsep}.", "CUDA_VISIBLE_DEVICES": "", "NO_COLOR": "1"}
    done = subprocess.run(
        [*programs[block.language], block.body],
        cwd=folder,
        env=os.environ | environment | {"COLUMNS": "100", "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{block.body}\n{done.stdout}"
    return done.stdout


def agree(shown: str, printed: str) -> bool:
    """Return whether a line is the one shown: the same words, and numbers within 2%, in a line of times or losses any.

    >>> agree("train: examples   615 from 70 documents", "train: examples  614 from 70 documents")
    True
    >>> agree("train: examples   615 from 70 documents", "train: examples  515 from 70 documents")
    False
    >>> agree("seconds   46.1", "seconds   5.0")
    True
    """
    shown, printed = LEFT.sub("", shown), LEFT.sub("", printed)
    if NUMBER.sub("#", " ".join(shown.split())) != NUMBER.sub("#", " ".join(printed.split())):
        return False
    if CHANGING.search(shown):
        return True
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True)
    numbers = [(float(a.replace(",", "")), float(b.replace(",", ""))) for a, b in pairs]
    return all(abs(a - b) <= 0.02 * max(a, b) for a, b in numbers)


def missing(shown: str, printed: str) -> str | None:
    """Return the first line that is shown and not printed in this order, or None.

    >>> missing("a\\n...\\nc 1\\n", "a\\nb\\nc 1\\n"), missing("a\\nc\\n", "c\\na\\n")
    (None, 'c')
    """
    lines = iter(printed.splitlines())
    for line in shown.splitlines():
        if line.strip() in ("...", ""):
            continue
        if not any(agree(line, other) for other in lines):
            return line
    return None
