"""Writes a page for each recipe that ships, and the list of them in docs/recipes.md: python scripts/recipe_pages.py.

A page says what its .toml file says. `tests/docs/test_recipe_pages.py` fails where a page is not up to date.
"""

from __future__ import annotations

import re
from pathlib import Path

from bertdata.options.recipe import Recipe, read_recipe, recipe_names

DOCS = Path(__file__).resolve().parents[1] / "docs"
BEGIN, END = "<!-- begin: python scripts/recipe_pages.py -->", "<!-- end -->"
ARXIV = re.compile(r"arXiv (\d{4}\.\d{5})")


def page(name: str, recipe: Recipe) -> str:
    """Return the page of a recipe: what it is, its command, what it keeps of its paper and what not, and its file."""
    model, _, what = recipe.title.partition(": ")
    about = recipe.about
    return "\n".join(
        [
            f"# {model}",
            "",
            f"<!-- made by scripts/recipe_pages.py from recipes/{name}.toml -->",
            "",
            f"{what[0].upper()}{what[1:]}.",
            "",
            "```sh",
            f"bertdata build --recipe {name} --wikipedia DUMP --books FOLDER --output corpus",
            "```",
            "",
            "How it is trained: [the family and its commands](../reference/family.md). What recipes are: "
            "[recipes](../recipes.md).",
            "",
            "## From",
            "",
            *(f"- {_linked(source)}" for source in about["cites"]),
            "",
            "## Kept exactly",
            "",
            *(f"- {text}" for text in about["exact"]),
            "",
            "## What differs",
            "",
            *(f"- {text}" for text in about["differs"]),
            "",
            "## The file",
            "",
            f"`bertdata recipes show {name}` prints it; a copy of it is a recipe of your own.",
            "",
            "```toml",
            recipe.text.rstrip("\n"),
            "```",
            "",
        ]
    )


def listed() -> str:
    """Return the list of all recipes: a narrow table of their names and models."""
    rows = [
        f"| [`{name}`](recipes/{name}.md) | {read_recipe(name).title.partition(': ')[0]} |" for name in recipe_names()
    ]
    return "\n".join([BEGIN, "| recipe | model |", "|---|---|", *rows, END])


def pages() -> dict[Path, str]:
    """Return the text of each page by its path: those of the recipes, and docs/recipes.md with the list."""
    index = DOCS / "recipes.md"
    before, _, rest = index.read_text(encoding="utf-8").partition(BEGIN)
    texts = {DOCS / "recipes" / f"{name}.md": page(name, read_recipe(name)) for name in recipe_names()}
    return texts | {index: before + listed() + rest.partition(END)[2]}


def _linked(source: str) -> str:
    return ARXIV.sub(r"[arXiv \1](https://arxiv.org/abs/\1)", source)


def main() -> None:
    """Write all pages, and delete those of recipes that are gone."""
    texts = pages()
    (DOCS / "recipes").mkdir(exist_ok=True)
    for old in (DOCS / "recipes").glob("*.md"):
        if old not in texts:
            old.unlink()
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
