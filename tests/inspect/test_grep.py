"""`bertdata show --grep`: the rows that hold a text are those in which it stands, whatever masks hide."""

from __future__ import annotations

from pathlib import Path

import pytest

from bertdata.cli.main import dispatch
from bertdata.errors import ConfigError
from bertdata.inspect.grep import forms_of, opened, rows_with
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import Shards, open_shards
from tests.small_build import write_build


def original(shards: Shards, number: int) -> list[int]:
    """Return the ids of a row as they were before static masks."""
    row = shards[number]
    labels = row.get("labels", [-100] * len(row["input_ids"]))
    return [int(i if label == -100 else label) for i, label in zip(row["input_ids"], labels, strict=True)]


def holding(shards: Shards, ids: list[int]) -> list[int]:
    """Return the rows that hold a run of ids, looked for one by one."""
    text = [" " + " ".join(map(str, original(shards, number))) + " " for number in range(len(shards))]
    return [number for number, row in enumerate(text) if f" {' '.join(map(str, ids))} " in row]


@pytest.mark.parametrize(
    "config",
    [
        ExamplesConfig(max_seq_length=32),
        ExamplesConfig("sop", "static", max_seq_length=32, dupe_factor=2),
        ExamplesConfig("doc-sentences", max_seq_length=32, pack=True),
    ],
)
def test_the_rows_with_a_text_are_found(tmp_path: Path, config: ExamplesConfig) -> None:
    write_build(tmp_path, config)
    for shards in opened(str(tmp_path), None):
        for text in ("keeper", "the salt holds", "garden", "Water"):
            expected = holding(shards, shards.tokenizer().encode(text))
            assert rows_with(shards, text).tolist() == expected
            assert len(expected) < len(shards) or text in ("keeper", "garden", "Water")
    assert {shards.split for shards in opened(str(tmp_path), None)} == {"train", "validation"}


def test_the_splits_of_each_phase_are_searched(tmp_path: Path) -> None:
    for name, length in (("first", 32), ("second", 64)):
        write_build(tmp_path / name, ExamplesConfig(max_seq_length=length))
    (tmp_path / "manifest.json").write_text('{"phases": ["first", "second"]}')
    searched = [(shards.info.max_seq_length, shards.split) for shards in opened(str(tmp_path), None)]
    assert sorted(searched) == [(length, split) for length in (32, 64) for split in ("train", "validation")]
    assert [shards.split for shards in opened(str(tmp_path), "train")] == ["train"] * 2


def test_the_command_counts_the_rows_of_each_split_and_shows_the_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_build(tmp_path)
    assert dispatch(["show", str(tmp_path), "--grep", "keeper", "--count", "1"]) == 0
    printed = capsys.readouterr().out
    assert f", train: 'keeper' is in {len(rows_with(open_shards(tmp_path), 'keeper')):,} of " in printed
    assert printed.count("\nexample ") == 2  # one of each split
    assert dispatch(["show", str(tmp_path), "--grep", "salt salt salt"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" is in ")[1].split()[0] for line in lines] == ["0", "0"]


@pytest.mark.parametrize(("text", "message"), [(" ", "has no token"), ("xylophone", r"writes as \[UNK\]")])
def test_a_text_that_cannot_be_looked_for_is_refused(tmp_path: Path, text: str, message: str) -> None:
    write_build(tmp_path, documents=10)
    with pytest.raises(ConfigError, match=message):
        rows_with(open_shards(tmp_path), text)


def test_a_byte_level_tokenizer_is_asked_for_the_text_after_a_space_too() -> None:
    from bertdata.tokenizers.loading import load_tokenizer

    tokenizer = load_tokenizer("bertdata-32k-bpe")
    assert forms_of("walnut", tokenizer) == [tokenizer.encode("walnut"), tokenizer.encode(" walnut")]
    assert tokenizer.encode("walnut") != tokenizer.encode(" walnut")
