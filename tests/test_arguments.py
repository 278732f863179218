"""Errors name what was given: flags on the command line, arguments in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bertdata
from bertdata.cli.main import dispatch
from bertdata.errors import ConfigError, InputError, arguments_for_flags, naming_arguments


@pytest.mark.parametrize(
    ("settings", "flags", "named"),
    [
        ({"max_seq_length": 4}, ["--max-seq-length", "4"], "max_seq_length is 4"),
        (
            {"mask_unit": "token", "max_ngram": 2},
            ["--mask-unit", "token", "--max-ngram", "2"],
            "max_ngram has no effect",
        ),
        (
            {"dedup": "exact", "dedup_threshold": 0.9},
            ["--dedup", "exact", "--dedup-threshold", "0.9"],
            "dedup_threshold",
        ),
    ],
)
def test_a_wrong_setting_is_named_as_it_was_given(
    settings: dict[str, Any], flags: list[str], named: str, tmp_path: Path
) -> None:
    output = str(tmp_path / "out")
    with pytest.raises(ConfigError) as in_python:
        bertdata.build(output, **settings)
    with pytest.raises(ConfigError) as on_the_line:
        dispatch(["build", "--output", output, *flags])
    assert str(in_python.value).startswith(named)
    assert "--" not in str(in_python.value)
    flag = f"--{named.split(maxsplit=1)[0].replace('_', '-')}"
    assert str(on_the_line.value).startswith(flag)


def test_commands_in_quotes_and_other_hyphens_stay() -> None:
    text = "use `bertdata build --recipe x` -- or a--b, not --a-b=3 or --c-d; --no-pack"
    assert arguments_for_flags(text) == "use `bertdata build --recipe x` -- or a--b, not --a-b=3 or c_d; pack=False"


def test_the_class_and_the_place_of_an_error_are_kept() -> None:
    with pytest.raises(InputError, match=r"^corpus: give documents"), naming_arguments():
        raise InputError("give --documents", path="corpus")
