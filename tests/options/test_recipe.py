"""Which recipe is meant where there is none of a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from bertdata.corpus.recipe_settings import apply_recipe
from bertdata.corpus.settings import GROUPS
from bertdata.errors import ConfigError
from bertdata.options.recipe import read_recipe
from bertdata.options.request import Request, defaults_of


@pytest.mark.parametrize("folder", ["", "here/"])
def test_the_recipes_beside_a_missing_one_are_suggested(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / folder).mkdir(exist_ok=True)
    for name in ("web.toml", "books.toml", "wbe.txt"):
        (tmp_path / folder / name).touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=rf"no recipe in '{folder}wbe.toml': no such file, did you mean 'web.toml'\?"):
        read_recipe(f"{folder}wbe.toml")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("train_tokens = {}", r"line 2: `train_tokens` is {}; expected text or a number"),
        ("masking = [[]]", r"line 2: `masking` is \[\[\]\]; expected text"),
        ("mask_unit = -1", r"line 2: `mask_unit` is -1; expected text"),
        ("mix = [1979-05-27]", r"line 2: `mix` is .*; expected text or a number, or a list of them"),
        ("mix = " + 9999 * "[", "is not TOML"),
        ("vocab_size = " + 9999 * "9", "is not TOML"),
    ],
)
def test_values_of_another_kind_are_named_with_their_line(line: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text(f'title = "t"\n{line}\n')
    request = Request(**defaults_of(GROUPS.values()) | {"recipe": str(tmp_path / "r.toml"), "named": {}})
    with pytest.raises(ConfigError, match=words):
        apply_recipe(request)
