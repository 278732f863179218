"""Errors name what was given: flags on the command line, arguments in Python."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import bertdata
from bertdata.cli.main import dispatch
from bertdata.errors import ConfigError, InputError, arguments_for_flags, naming_flags
from bertdata.finetune.settings import Columns, TaskConfig
from bertdata.finetune.task_shards import encode_task
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig


@pytest.mark.parametrize(
    ("settings", "flags", "named"),
    [
        ({"max_seq_length": 4}, ["--max-seq-length", "4"], "`max_seq_length` is 4"),
        (
            {"mask_unit": "token", "max_ngram": 2},
            ["--mask-unit", "token", "--max-ngram", "2"],
            "`max_ngram` has no effect",
        ),
        (
            {"dedup": "exact", "dedup_threshold": 0.9},
            ["--dedup", "exact", "--dedup-threshold", "0.9"],
            "`dedup_threshold`",
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
    flag = f"--{named.split(maxsplit=1)[0].strip('`').replace('_', '-')}"
    assert str(on_the_line.value).startswith(flag)


TASK = {"train": "train.jsonl"}


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: MaskingConfig(masked_lm_prob=2.0), "`masked_lm_prob` is 2.0"),
        (lambda: ExamplesConfig(bin_size=200), "`bin_size` is 200"),
        (lambda: TaskConfig(score_range=("0", "5")), "`score_range` is for tasks with scores"),
        (lambda: Columns(labels=("a",)), "`labels` names 1"),
        (lambda: encode_task("out", "bertdata-30k-uncased", {"odd": "a.jsonl"}), "`task` classification has no split"),
    ],
)
def test_functions_and_settings_in_python_name_arguments(
    call: Callable[[], object], named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises((ConfigError, InputError)) as error:
        call()
    assert named in str(error.value)
    assert "--" not in str(error.value)


def test_pretraining_names_arguments_in_python_and_flags_on_the_command_line(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from bertdata.torch.training.settings import PretrainSettings

    with pytest.raises(ConfigError, match=r"^`warmup_ratio` 0\.6 and `decay_ratio` 0\.6 are more than all steps"):
        PretrainSettings(lr_scheduler_type="warmup_stable_decay", warmup_ratio=0.6, decay_ratio=0.6)
    flags = ["--lr-scheduler-type", "warmup_stable_decay", "--warmup-ratio", "0.6", "--decay-ratio", "0.6"]
    with pytest.raises(ConfigError, match=r"^--warmup-ratio 0\.6 and --decay-ratio 0\.6"):
        dispatch(["pretrain", "corpus", "--output", str(tmp_path), *flags])


def test_threads_of_a_command_name_flags_too() -> None:
    def refuse() -> str:
        return str(ConfigError("--pack is given"))

    with ThreadPoolExecutor(1) as pool, naming_flags():
        assert pool.submit(refuse).result() == "--pack is given"
    assert refuse() == "`pack` is given"


def test_a_command_that_failed_leaves_later_errors_in_python_as_they_are() -> None:
    with pytest.raises(ConfigError, match="--pack is given"), naming_flags():
        raise ConfigError("--pack is given")
    assert str(ConfigError("--pack is given")) == "`pack` is given"


def test_commands_in_quotes_and_other_hyphens_stay() -> None:
    text = "use `bertdata build --recipe x` -- or a--b, not --a-b=3 or --c-d; --no-pack"
    assert arguments_for_flags(text) == "use `bertdata build --recipe x` -- or a--b, not --a-b=3 or `c_d`; `pack=False`"


def test_the_place_of_an_error_is_kept_as_it_is() -> None:
    assert str(InputError("give --documents", path="a --b.txt")) == "a --b.txt: give `documents`"
