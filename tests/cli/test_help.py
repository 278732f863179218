"""The help of each verb fits a screen, its examples are calls that the verb takes, and the rest is a flag away."""

from __future__ import annotations

import argparse
import shlex

import pytest

from bertdata.cli import COMMANDS
from bertdata.cli.main import dispatch, parser_of
from bertdata.cli.verb_help import SCREEN, VERB_HELP

VERBS = [name for name in COMMANDS if name not in ("pretrain", "finetune", "score")]


def helped(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as stop:
        dispatch(arguments)
    assert stop.value.code == 0
    return capsys.readouterr().out


def with_torch(name: str) -> str:
    if name in ("pretrain", "finetune", "score"):
        pytest.importorskip("torch")
    return name


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_verb_fits_a_screen_of_80_columns_and_ends_with_examples(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = helped(capsys, with_torch(name), "--help").splitlines()
    assert len(lines) <= SCREEN + 5
    everything = helped(capsys, name, "--help-all").splitlines()
    assert [line for line in [*lines, *everything] if len(line) > 80] == []
    examples = lines[lines.index("examples:") + 1 :]
    assert examples
    assert all("bertdata " in line for line in examples)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_all_has_every_flag_and_help_the_common_ones(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    parser = parser_of(with_torch(name))
    flags = {flag for action in parser._actions for flag in action.option_strings}
    everything = helped(capsys, name, "--help-all")
    assert all(flag in everything for flag in flags)
    assert set(VERB_HELP[name].common) <= flags
    short = helped(capsys, name, "--help")
    assert all(flag in short for flag in VERB_HELP[name].common)
    required = [action.option_strings[0] for action in parser._actions if action.required and action.option_strings]
    assert all(flag in short for flag in required)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_examples_of_a_verb_are_calls_that_it_takes(name: str) -> None:
    parser = parser_of(with_torch(name))
    for example in VERB_HELP[name].examples:
        command = next(part for part in example.partition(">")[0].split("|") if "bertdata " in part)
        words = shlex.split(command.partition("#")[0].rpartition("bertdata ")[2])
        assert words[0] == name
        if isinstance(parser, argparse.ArgumentParser) and name != "download":
            parser.parse_args(words[1:])


@pytest.mark.parametrize("name", COMMANDS)
def test_the_short_help_has_no_empty_list_no_doubled_subject_and_no_doubled_stop(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = helped(capsys, with_torch(name), "--help")
    assert "flags:\n\n" not in shown
    description = " ".join(shown.split("\n\n")[1].split())
    assert description.endswith(".")
    assert not description.endswith("..")
    explained = " ".join(shown.partition("explains ")[2].partition("Flags after")[0].split("examples:")[0].split())
    subjects = [subject.strip() for subject in explained.partition(": ")[2].split(";")]
    assert len(subjects) == len({*subjects})


def test_help_with_a_verb_is_the_help_of_the_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert helped(capsys, "help", "stats") == helped(capsys, "stats", "--help")
    assert helped(capsys, "help", "build", "--help-all") == helped(capsys, "build", "--help-all")
    assert dispatch(["help"]) == 0
    shown = capsys.readouterr().out
    assert "\n  build " in shown
    assert [line for line in shown.splitlines() if len(line) > 80] == []


def test_the_short_help_says_how_many_flags_it_leaves_out(capsys: pytest.CaptureFixture[str]) -> None:
    shown = helped(capsys, "build", "--help")
    flags = [
        action for action in parser_of("build")._actions if action.option_strings and not action.dest.startswith("help")
    ]
    assert f"bertdata build --help-all explains {len(flags) - len(VERB_HELP['build'].common)} more" in shown
    assert "--mask-schedule" not in shown
