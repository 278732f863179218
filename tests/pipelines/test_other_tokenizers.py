"""Another tokenizer in a finished build: texts are tokenized anew, and nothing before that is done again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bertdata import build, load_tokenizer, open_shards
from bertdata.cli.main import dispatch
from tests.small_build import texts
from tests.tokenizers.small import SMALL


def times(folder: Path) -> dict[str, int]:
    """Return when each file of the stages was written, by its name there."""
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


@pytest.mark.costly
def test_a_build_with_another_tokenizer_tokenizes_anew_and_nothing_else(tmp_path: Path) -> None:
    for name in ("gpt2", "albert"):
        SMALL[name].save_pretrained(tmp_path / name)
    lines = (json.dumps({"id": str(number), "text": text}) + "\n" for number, text in enumerate(texts(60)))
    (tmp_path / "documents.jsonl").write_text("".join(lines))
    output = tmp_path / "corpus"
    settings: dict[str, Any] = {"objective": "doc-sentences", "max_seq_length": 64, "workers": 1}
    documents = str(tmp_path / "documents.jsonl")
    build(str(output), documents=documents, vocab=str(tmp_path / "gpt2"), **settings)
    before = times(output / "stages")
    assert open_shards(output).tokenizer() == SMALL["gpt2"]
    build(str(output), documents=documents, vocab=str(tmp_path / "albert"), **settings)
    after = times(output / "stages")
    same = {name.split("/")[0] for name, when in after.items() if before.get(name) == when}
    made = {name.split("/")[0] for name, when in after.items() if before.get(name) != when}
    assert "tables" in same
    assert "tables" not in made
    assert {"tokens"} <= made
    assert load_tokenizer(output) == open_shards(output).tokenizer() == SMALL["albert"]
    assert dispatch(["verify", str(output)]) == 0


def test_a_build_says_that_a_tokenizer_goes_through_another_library_and_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = dict(SMALL["gpt2"]._data) | {
        "normalizer": {"type": "Replace", "pattern": {"Regex": "(?<=a)b"}, "content": "c"}
    }
    type(SMALL["gpt2"])(data, {}).save_pretrained(tmp_path / "slow")
    for name in ("slow", "gpt2"):
        SMALL["gpt2"].save_pretrained(tmp_path / "gpt2")
        (tmp_path / "documents.jsonl").write_text(json.dumps({"id": "1", "text": "Some text."}) + "\n")
        flags = ["--documents", str(tmp_path / "documents.jsonl"), "--vocab", str(tmp_path / name), "--dry-run"]
        assert dispatch(["build", "--output", str(tmp_path / "corpus"), *flags]) == 0
        said = capsys.readouterr().err
        assert ("as its normalizer replaces '(?<=a)b'" in said) == (name == "slow")
