"""The Flex template of a build: its parameters are the settings, and its launch builds what the command builds."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import bertdata
from bertdata import ConfigError, InputError
from bertdata.beam import flex_job, internals
from bertdata.beam.quiet_import import import_beam
from bertdata.cli import flex_template
from bertdata.cli.main import parser_of
from bertdata.corpus.settings import GROUPS
from bertdata.options.option import flag_of
from bertdata.sample import SAMPLE_BOOKS, SAMPLE_DUMP

ROOT = Path(__file__).resolve().parents[2]
ACTIONS = {action.dest: action for action in parser_of("build")._actions if action.option_strings}


@pytest.fixture(scope="module")
def described() -> dict[str, dict[str, Any]]:
    """Return what the template says of each parameter, by its name."""
    return {parameter["name"]: parameter for parameter in flex_template.parameters()}


def test_each_flag_of_a_build_is_a_parameter_or_is_left_out_for_a_reason(described: dict[str, Any]) -> None:
    settings = {name for kind in GROUPS.values() for name in kind.__dataclass_fields__}
    assert settings <= described.keys()
    assert ACTIONS.keys() - described.keys() == flex_template.WITHOUT.keys()
    assert not described.keys() & flex_template.WITHOUT.keys()


def test_a_parameter_has_the_help_of_its_flag(described: dict[str, Any]) -> None:
    for name in described.keys() & ACTIONS.keys():
        assert described[name]["label"] == flag_of(name)
        assert described[name]["helpText"].startswith((ACTIONS[name].help or "").replace("%%", "%")), name


def test_an_output_and_the_image_must_be_given_and_nothing_else(described: dict[str, Any]) -> None:
    assert {name for name, parameter in described.items() if not parameter["isOptional"]} == {
        "output",
        "sdk_container_image",
    }


def test_defaults_match_the_regular_expressions_and_so_does_nothing(described: dict[str, Any]) -> None:
    checked = 0
    for name, parameter in described.items():
        for regex in parameter.get("regexes", []):
            default = ACTIONS[name].default if name in ACTIONS else None
            text = str(default).lower() if isinstance(default, bool) else str(default)
            if name in ACTIONS and name != "output":
                assert re.fullmatch(regex, text), (name, regex)
                assert re.fullmatch(regex, ""), name
                checked += 1
    assert checked > 40


def test_no_setting_has_the_name_of_an_option_of_beams(described: dict[str, Any]) -> None:
    import_beam()
    assert not {f"--{name}" for name in described.keys() & ACTIONS.keys()} & internals.flag_names([])


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("output", "gs://bucket/corpus", "corpus"),
        ("pack", "true", "yes"),
        ("force", "false", "1"),
        ("dedup", "near", "nearly"),
        ("seed", "7", "x"),
        ("max_seq_length", "128 512", "128,512"),
        ("masked_lm_prob", "1.5e-1", "a lot"),
        ("number_of_worker_harness_threads", "2", "two"),
    ],
)
def test_values_that_are_not_of_the_kind_of_a_parameter_are_refused(
    described: dict[str, Any], name: str, right: str, wrong: str
) -> None:
    [regex] = described[name]["regexes"]
    assert re.fullmatch(regex, right)
    assert not re.fullmatch(regex, wrong)


def test_the_file_of_a_template_names_the_image_and_without_one_it_is_the_metadata() -> None:
    whole = flex_template.template("an-image")
    assert (whole["image"], whole["sdkInfo"]) == ("an-image", {"language": "PYTHON"})
    assert whole["metadata"] == flex_template.template()


def test_dataflow_reads_the_file_of_a_template() -> None:
    pytest.importorskip("google.cloud.dataflow_v1beta3", reason="the client for templates is not installed")
    from google.cloud.dataflow_v1beta3 import ContainerSpec

    read = ContainerSpec.from_json(json.dumps(flex_template.template("an-image")), ignore_unknown_fields=False)
    assert [parameter.name for parameter in read.metadata.parameters] == [
        one["name"] for one in flex_template.parameters()
    ]


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ("--wikipedia='gs://b/a dump' en=gs://b/c", ["--wikipedia", "gs://b/a dump", "en=gs://b/c"]),
        ("--do_lower_case=false", ["--no-do-lower-case"]),
        ("--do_lower_case=True", ["--do-lower-case"]),
        ("--force=false", []),
        ("--force=true", ["--force"]),
        ("--where=words > 100", ["--where=words > 100"]),
        ("--max_seq_length=128 512", ["--max-seq-length", "128", "512"]),
        ("--books= ", []),
    ],
)
def test_a_parameter_stands_for_its_flag(argument: str, words: list[str]) -> None:
    assert flex_template.words_of([argument]) == (words, [], flex_job.MACHINE)


def test_other_parameters_are_beams_but_the_machine_of_the_driver() -> None:
    words = flex_template.words_of(["--region=r", "--driver_machine_type=m", "--project", "p"])
    assert words == ([], ["--region=r", "--project", "p"], "m")


@pytest.mark.parametrize(
    ("argument", "message"),
    [("--pack=yes", "pack is 'yes'; expected true or false"), ("--books='a b", "a quote that does not end")],
)
def test_parameters_that_cannot_be_read_are_told(argument: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        flex_template.words_of([argument])


def test_settings_and_sources_that_do_not_fit_are_refused_before_a_job_is_made(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="`masked_lm_prob`"):
        flex_template.main([f"--output={tmp_path / 'out'}", "--masked_lm_prob=2"])
    with pytest.raises(InputError, match="matches nothing"):
        flex_template.main([f"--output={tmp_path / 'out'}", f"--books={tmp_path / 'none'}"])


@pytest.mark.slow
def test_a_launch_builds_what_the_command_builds(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"vocab_size": 2000, "max_seq_length": [64, 128], "dedup": "exact", "pack": True}
    bertdata.build(tmp_path / "expected", wikipedia=SAMPLE_DUMP, books=SAMPLE_BOOKS, **settings)
    sources = [f"--wikipedia={SAMPLE_DUMP}", f"--books={SAMPLE_BOOKS}"]
    arguments = [*sources, "--vocab_size=2000", "--max_seq_length=64 128", "--dedup=exact", "--pack=true"]
    launcher = [sys.executable, str(ROOT / "scripts" / "flex_launcher.py")]
    subprocess.run([*launcher, *arguments, f"--output={tmp_path / 'launched'}"], check=True, cwd=tmp_path)
    built, launched = (
        {p.relative_to(d): p.read_bytes() for p in d.glob("*/*/*.arrow")}
        for d in (tmp_path / "expected", tmp_path / "launched")
    )
    assert built
    assert built == launched
