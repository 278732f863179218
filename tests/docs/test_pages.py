"""The tutorial and the how-to pages: their commands run, and print what the pages show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs import pages

DOCS = pages.ROOT / "docs"
HOWTO = sorted((DOCS / "howto").glob("*.md"))
PAGES = [DOCS / "tutorial.md", *HOWTO, *sorted((DOCS / "explain").glob("*.md"))]


def parameters() -> list[object]:
    """Return a parameter for each page with commands, the slow ones marked."""
    found: list[object] = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if any(not block.not_run for block in pages.blocks(text) if block.language in ("sh", "python")):
            marks = [pytest.mark.slow] if "<!-- slow -->" in text else []
            found.append(pytest.param(page, marks=marks, id=page.stem))
    return found


@pytest.mark.parametrize("page", parameters())
def test_the_commands_of_a_page_run_and_print_what_it_shows(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    if "pretrain" in text or "bertdata.torch" in text:
        pytest.importorskip("torch", reason="the page trains a model")
    if "from transformers" in text:
        pytest.importorskip("transformers")
    for block in pages.blocks(text):
        if block.not_run or not (block.title or block.language in ("sh", "python")):
            continue
        printed = pages.run(block, tmp_path)
        line = pages.missing(block.shown, printed)
        assert line is None, f"{page.name} shows {line!r} after\n{block.body}\nwhich printed\n{printed}"


def test_each_block_that_is_not_run_says_why() -> None:
    for page in PAGES:
        for reason in re.findall(r"<!-- not run:?(.*?)-->", page.read_text(encoding="utf-8")):
            assert len(reason.split()) > 1, page


def test_each_how_to_page_is_in_the_list_of_questions() -> None:
    index = (DOCS / "howto" / "index.md").read_text(encoding="utf-8")
    for page in HOWTO:
        assert page.name == "index.md" or f"({page.name})" in index, page.name
