"""Which recipe is meant where there is none of a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from bertdata.errors import ConfigError
from bertdata.options.recipe import read_recipe


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
