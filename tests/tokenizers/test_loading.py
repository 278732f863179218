from __future__ import annotations

from pathlib import Path

import pytest

from bertdata.tokenizers.loading import pretrained_names, pretrained_path
from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer


@pytest.mark.parametrize("name", pretrained_names())
def test_a_pretrained_vocabulary_loads_by_its_name(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    tokenizer = WordPieceTokenizer.from_pretrained(name)
    assert tokenizer.vocab_size == 30_000
    assert tokenizer.tokens[:5] == SPECIAL_TOKENS
    assert tokenizer.do_lower_case is name.endswith("uncased")
    text = "The lighthouse keeper's daughter studied astronomy."
    expected = text.lower() if tokenizer.do_lower_case else text
    assert tokenizer.decode(tokenizer.encode(text)).replace(" ", "") == expected.replace(" ", "")


def test_there_is_an_uncased_and_a_cased_one_each_with_its_files_and_card() -> None:
    assert pretrained_names() == ["bertdata-30k-cased", "bertdata-30k-uncased"]
    for name in pretrained_names():
        folder = Path(pretrained_path(name) or "")
        assert sorted(path.name for path in folder.iterdir()) == [
            "README.md",
            "tokenizer.json",
            "tokenizer_config.json",
            "vocab.txt",
        ]
        assert "tokens per word" in (folder / "README.md").read_text(encoding="utf-8")


def test_a_folder_of_that_name_goes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, "a"]).save_pretrained("bertdata-30k-cased")
    assert WordPieceTokenizer.from_pretrained("bertdata-30k-cased").vocab_size == 6


def test_an_unknown_name_is_none() -> None:
    assert pretrained_path("bertdata-40k") is None
    assert pretrained_path("") is None
