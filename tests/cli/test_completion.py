"""The shell completes verbs, their flags, the values of flags, and paths."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bertdata.cli import COMMANDS, completion
from bertdata.cli.main import dispatch
from bertdata.errors import MissingExtraError


def completed(script: Path, *words: str) -> list[str]:
    line = f"source {script}; COMP_WORDS=({' '.join(words)} ''); COMP_CWORD={len(words)}; "
    call = '_shtab_bertdata bertdata "" "${COMP_WORDS[COMP_CWORD-1]}"; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", line + call], capture_output=True, text=True, check=False)
    return done.stdout.split()


def test_bash_completes_verbs_flags_and_values(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("shtab", reason="the script is made by shtab")
    assert dispatch(["completion", "bash"]) == 0
    script = tmp_path / "completion.bash"
    script.write_text(capsys.readouterr().out)
    assert set(completed(script, "bertdata")) >= {*COMMANDS, "help"}
    assert {"near", "exact", "none"} <= set(completed(script, "bertdata", "build", "--dedup"))
    (tmp_path / "corpus").mkdir()
    text = script.read_text()
    assert "--mask-schedule" in text
    assert "_shtab_compgen_files" in text


def test_zsh_gets_a_script_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("shtab", reason="the script is made by shtab")
    assert dispatch(["completion", "zsh"]) == 0
    assert capsys.readouterr().out.startswith("#compdef bertdata")


def test_without_shtab_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    with pytest.raises(MissingExtraError, match=r"\[completion\]"):
        completion.script("bash")
