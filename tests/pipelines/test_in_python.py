"""Each flag of the command has its keyword in Python, which means the same."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import pytest

import bertdata
from bertdata.cli import command_line
from bertdata.cli.main import parser_of
from bertdata.corpus.requests import request_of
from bertdata.errors import ConfigError, InputError

OF_THE_LINE = ("dry_run", "save_recipe", "json", "log_format")
"""What only a command line can mean."""
NOT_SETTINGS = ("help", "help_all", "plugin", "json", "log_format")
"""What `bertdata.build` has no keyword for, or, as `plugins`, a parameter of its own."""
ACTIONS = [action for action in parser_of("build")._actions if action.dest not in NOT_SETTINGS]


def examples_of(action: argparse.Action) -> list[tuple[list[str], Any]]:
    """Return what follows on a command line, and the keyword arguments that mean it."""
    flag = action.option_strings[0]
    if action.nargs == 0:
        named = {flag: not flag.startswith("--no-") for flag in action.option_strings}
        return [([flag], value) for flag, value in named.items()]
    kind: Any = action.type or str
    numbers: dict[Any, list[Any]] = {int: [3, 4], float: [0.25, 0.5]}
    values: list[Any] = list(action.choices or numbers.get(kind, ["a=1", "b=2"]))[:2]
    texts = [str(value) for value in values]
    if action.nargs != "+":
        return [([flag, texts[0]], values[0])]
    if kind is int:
        return [([flag, *texts], tuple(values)), ([flag, *texts], values)]
    return [([flag, *texts], values), ([flag, texts[0]], values[0]), ([flag, *texts], {"a": 1, "b": 2})][:3]


def test_where_nothing_is_said_a_keyword_is_what_its_flag_is() -> None:
    from_line = vars(command_line.parse(parser_of("build"), []))
    assert vars(request_of({})) == {name: value for name, value in from_line.items() if name not in NOT_SETTINGS}


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: str(action.dest))
def test_a_keyword_means_what_its_flag_means(action: argparse.Action) -> None:
    for tokens, value in examples_of(action):
        from_line = command_line.parse(parser_of("build"), tokens)
        from_keyword = request_of({action.dest: value})
        given, expected = (getattr(settings, action.dest) for settings in (from_keyword, from_line))
        assert given == expected, tokens
        assert {*from_keyword.named} == {*from_line.named} == {action.dest}


def test_what_only_a_command_line_can_mean_is_refused_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert {*OF_THE_LINE} < {action.dest for action in parser_of("build")._actions}
    for name in OF_THE_LINE:
        settings: dict[str, Any] = {name: True}
        with pytest.raises(ConfigError, match=f"`{name}` is for the command line; leave it out: `build` builds"):
            bertdata.build("out", **settings)


@pytest.mark.parametrize(
    ("wrong", "near"),
    [("mask_units", "mask_unit"), ("cleaning", "clean"), ("num_workers", "workers"), ("train_token", "train_tokens")],
)
def test_an_unknown_keyword_is_told_the_nearest(wrong: str, near: str, tmp_path: Path) -> None:
    settings: dict[str, Any] = {wrong: 1}
    with pytest.raises(ConfigError, match=rf"there is no setting '{wrong}', did you mean '{near}'\?"):
        bertdata.build(tmp_path / "out", **settings)


@pytest.mark.parametrize("source", ["wikipedia", "books"])
def test_a_source_without_a_path_is_not_the_sample(source: str, tmp_path: Path) -> None:
    without_a_path: list[Any] = [[], (), {}, (tmp_path / "none").glob("*")]
    for given in without_a_path:
        settings: dict[str, Any] = {source: given}
        with pytest.raises(InputError, match=f"`{source}` has no path in it"):
            bertdata.build(tmp_path / "out", **settings)
    assert not (tmp_path / "out").exists()
