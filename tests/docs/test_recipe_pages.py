"""The pages of recipes are those that scripts/recipe_pages.py makes of the files."""

from __future__ import annotations

import runpy

import pytest

from bertdata.options.recipe import read_recipe, recipe_names
from tests.docs.pages import ROOT

SCRIPT = runpy.run_path(str(ROOT / "scripts" / "recipe_pages.py"))


def test_each_recipe_has_a_page_that_is_up_to_date_and_no_other_is_there() -> None:
    for path, text in SCRIPT["pages"]().items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run python scripts/recipe_pages.py"
    there = {path.stem for path in (ROOT / "docs" / "recipes").glob("*.md")}
    assert there == set(recipe_names())


@pytest.mark.parametrize("name", recipe_names())
def test_a_page_says_what_its_file_says(name: str) -> None:
    recipe = read_recipe(name)
    page = (ROOT / "docs" / "recipes" / f"{name}.md").read_text(encoding="utf-8")
    assert recipe.text in page
    plain = page.replace("`", "")
    for text in [*recipe.about["exact"], *recipe.about["differs"]]:
        assert f"\n- {text.replace('`', '')}\n" in plain


def test_the_list_is_narrow_and_names_each_recipe() -> None:
    lines = SCRIPT["listed"]().splitlines()
    assert len(lines) == len(recipe_names()) + 4
    assert max(map(len, lines)) < 100
