"""The tutorial and the how-to pages: where what they name is installed their commands run, and print what they show."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.docs import environments, pages

DOCS = pages.ROOT / "docs"
HOWTO = sorted((DOCS / "howto").glob("*.md"))
PAGES = [DOCS / "tutorial.md", *HOWTO, *sorted((DOCS / "explain").glob("*.md"))]


def parameters() -> list[object]:
    """Return a parameter for each page with commands, the slow ones marked."""
    cases: list[object] = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if any(not block.not_run for block in pages.blocks(text) if block.language in ("sh", "python")):
            marks = [pytest.mark.slow] if "<!-- slow -->" in text else []
            cases.append(pytest.param(page, marks=marks, id=page.stem))
    return cases


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """A function that returns the Python of an environment with some packages, each made once."""

    @cache
    def made(requirements: tuple[str, ...], unused: tuple[str, ...] = ()) -> Path:
        try:
            return environments.make(requirements, tmp_path_factory.mktemp("environment"), unused)
        except environments.NotInstalledError as error:
            pytest.skip(f"{error} is not installed")

    return made


@pytest.mark.parametrize("page", parameters())
def test_the_commands_of_a_page_run_and_print_what_it_shows(
    page: Path, tmp_path: Path, environment: Callable[..., Path]
) -> None:
    text = page.read_text(encoding="utf-8")
    named = environments.requirements_of(text)
    used = environments.requirements_of(pages.text_that_is_run(text))
    python = environment(named, tuple(word for word in named if word not in used))
    for block in pages.blocks(text):
        if block.not_run or not (block.title or block.language in ("sh", "python")):
            continue
        printed = pages.run(block, tmp_path, python)
        line = pages.missing(block.shown, printed)
        assert line is None, f"{page.name} shows {line!r} after\n{block.body}\nwhich printed\n{printed}"


def test_what_the_commands_of_a_page_need_is_in_the_extras_so_that_no_page_is_skipped_for_a_word_misread() -> None:
    in_extras = {Requirement(line).name for line in distribution(environments.PROJECT).requires or ()}
    for page in PAGES:
        text = pages.text_that_is_run(page.read_text(encoding="utf-8"))
        needed = {Requirement(word).name for word in environments.requirements_of(text)}
        assert needed <= in_extras | {environments.PROJECT}, page.name


def test_each_block_that_is_not_run_says_why() -> None:
    for page in PAGES:
        for reason in re.findall(r"<!-- not run:?(.*?)-->", page.read_text(encoding="utf-8")):
            assert len(reason.split()) > 1, page


def test_each_how_to_page_is_in_the_list_of_questions() -> None:
    index = (DOCS / "howto" / "index.md").read_text(encoding="utf-8")
    for page in HOWTO:
        assert page.name == "index.md" or f"({page.name})" in index, page.name


def test_an_environment_holds_what_is_named_with_what_that_needs_and_nothing_else(
    tmp_path: Path, environment: Callable[..., Path]
) -> None:
    code = """
        python -c 'from importlib.util import find_spec as f; print(bool(f("numpy")), bool(f("pytest")))'
        bertdata --version
        command -v bertdata
    """
    python = environment((environments.PROJECT,))
    said = pages.run(pages.Block("sh", "", code, ""), tmp_path, python).splitlines()
    assert (said[0], said[2]) == ("True False", str(python.with_name("bertdata")))
    assert said[1].startswith("bertdata ")
    with pytest.raises(environments.NotInstalledError, match="no-such-package"):
        environments.make(("no-such-package",), tmp_path)
    assert environments.closure((environments.PROJECT, "no-such-package"), ("no-such-package",))
