"""A finished build in the default output is changed by a command that names it, with --force, or after a question."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from bertdata.cli import command_line
from bertdata.cli.main import parser_of, run_verb
from bertdata.corpus.build import Build
from bertdata.corpus.consent import require_consent, unagreed
from bertdata.corpus.requests import DEFAULT_OUTPUT, SAMPLE, Named, settings_of_request
from bertdata.engine.output_lock import output_lock
from bertdata.errors import OutputError

FLAGS = ["--vocab", "bertdata-30k-uncased", "--quiet"]
CHANGED = [*FLAGS, "--max-seq-length", "64"]
REASON = "is a finished build with other settings (--max-seq-length 128 -> 64)"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def build_of(flags: list[str]) -> tuple[Build, Named]:
    parsed = command_line.parse(parser_of("build"), flags)
    sources, settings = settings_of_request(parsed)
    return Build(sources, parsed.output, settings), Named.by(parsed)


@pytest.fixture(autouse=True)
def finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Finish a build in the default output, of the sample corpus, as far as its origin says."""
    monkeypatch.chdir(tmp_path)
    build, _ = build_of(FLAGS)
    with output_lock(DEFAULT_OUTPUT, "build", build.origin):
        pass
    return tmp_path / DEFAULT_OUTPUT


def consent(flags: list[str], *, force: bool = False) -> None:
    build, named = build_of(flags)
    require_consent(build.output, build.origin, named, force=force)


def test_without_a_terminal_it_is_an_error_that_names_output_and_force(finished: Path) -> None:
    before = {path: path.read_bytes() for path in finished.iterdir()}
    with pytest.raises(OutputError) as error:
        run_verb("build", CHANGED)
    assert REASON in str(error.value)
    assert str(error.value).endswith(
        "this command names no --output; add --output corpus or --force to change it, or choose another --output to "
        "keep it"
    )
    assert {path: path.read_bytes() for path in finished.iterdir()} == before


@pytest.mark.parametrize(
    "flags",
    [FLAGS, [*CHANGED, "--output", DEFAULT_OUTPUT], [*CHANGED, "--output", "another"]],
    ids=["same settings", "named", "another"],
)
def test_the_same_settings_or_a_named_output_need_no_consent(flags: list[str]) -> None:
    consent(flags)


def test_with_force_it_needs_none() -> None:
    consent(CHANGED, force=True)


@pytest.mark.parametrize(
    ("answer", "agrees"), [("y\n", True), ("Yes\n", True), ("\n", False), ("n\n", False), ("", False)]
)
def test_on_a_terminal_there_is_a_question(answer: str, agrees: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Terminal()
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    monkeypatch.setattr(sys, "stderr", shown)
    if agrees:
        consent(CHANGED)
    else:
        with pytest.raises(OutputError):
            consent(CHANGED)
    assert shown.getvalue() == f"corpus {REASON}.\nChange it? [y/N] "


def test_a_dry_run_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_verb("build", [*CHANGED, "--dry-run"]) == 0
    assert f"asks first                corpus {REASON}; add --output corpus or --force" in capsys.readouterr().out


def test_what_is_refused_for_another_reason_is_not_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "Salt is white."}\n')
    named = ["--documents", "a.jsonl", "--output", DEFAULT_OUTPUT, *FLAGS, "--max-seq-length", "64"]
    build, _ = build_of(named)
    with output_lock(DEFAULT_OUTPUT, "build", build.origin):
        pass
    again, names = build_of(FLAGS)
    assert again.inputs.paths() != SAMPLE.inputs().paths()
    assert unagreed(again.output, again.origin, names, force=False) == ""
