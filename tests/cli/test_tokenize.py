"""Lines to pieces, ids and JSON."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest

from bertdata.cli.main import dispatch
from bertdata.errors import InputError
from tests.small_build import tokenizer


@pytest.fixture(scope="module")
def vocab(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("vocab")
    tokenizer().save_pretrained(folder)
    return str(folder)


class Input:
    """Standard input that holds bytes."""

    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


TEXT = "The keeper\r\n\nwarms xylophones\u2028and salt."


def test_every_line_of_standard_input_is_a_line_of_pieces(
    vocab: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", Input(TEXT.encode()))
    assert dispatch(["tokenize", "--vocab", vocab]) == 0
    assert capsys.readouterr().out == "the keep ##er\n\nwarms [UNK] and salt .\n"


def test_ids_and_json_say_the_same_as_the_tokenizer(
    vocab: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "text.txt.gz"
    path.write_bytes(gzip.compress(TEXT.encode()))
    expected = [tokenizer().encode(line) for line in TEXT.replace("\r", "").split("\n")]
    assert dispatch(["tokenize", "--vocab", vocab, "--ids", str(path)]) == 0
    lines = capsys.readouterr().out.split("\n")
    assert [[int(token_id) for token_id in line.split()] for line in lines[:-1]] == expected
    assert dispatch(["tokenize", "--vocab", vocab, "--json", str(path), str(path)]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["ids"] for row in rows] == expected * 2
    assert rows[0]["tokens"] == ["the", "keep", "##er"]


def test_text_that_is_not_utf8_is_named_with_the_byte(vocab: str, tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(b"salt\nwat\xe9r\n")
    with pytest.raises(InputError, match=r"text\.txt, byte 8: is not UTF-8 \(byte 0xe9\)"):
        dispatch(["tokenize", "--vocab", vocab, str(path)])


def test_ids_and_json_exclude_each_other(vocab: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        dispatch(["tokenize", "--vocab", vocab, "--ids", "--json"])
    assert stop.value.code == 2
    assert "not allowed with" in capsys.readouterr().err
