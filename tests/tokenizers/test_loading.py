from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from bertdata.errors import InputError
from bertdata.tokenizers.loading import load_tokenizer, pretrained_names, pretrained_path, replace_saved
from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer


@pytest.mark.parametrize("name", ["bertdata-30k-cased", "bertdata-30k-uncased"])
def test_a_pretrained_vocabulary_loads_by_its_name(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    tokenizer = WordPieceTokenizer.from_pretrained(name)
    assert tokenizer.vocab_size == 30_000
    assert tokenizer.tokens[:5] == SPECIAL_TOKENS
    assert tokenizer.do_lower_case is name.endswith("uncased")
    text = "The lighthouse keeper's daughter studied astronomy."
    expected = text.lower() if tokenizer.do_lower_case else text
    assert tokenizer.decode(tokenizer.encode(text)).replace(" ", "") == expected.replace(" ", "")


def test_there_are_an_uncased_a_cased_and_a_bpe_one_each_with_its_files_and_card() -> None:
    assert pretrained_names() == ["bertdata-30k-cased", "bertdata-30k-uncased", "bertdata-32k-bpe"]
    for name in pretrained_names():
        folder = Path(pretrained_path(name) or "")
        files = ["README.md", "tokenizer.json", "tokenizer_config.json", *([] if "bpe" in name else ["vocab.txt"])]
        assert sorted(path.name for path in folder.iterdir()) == files
        assert "tokens per word" in (folder / "README.md").read_text(encoding="utf-8")


def test_the_bpe_that_ships_is_the_one_of_its_card() -> None:
    tokenizer = load_tokenizer("bertdata-32k-bpe")
    assert tokenizer.vocab_size == 1 << 15
    assert tokenizer.tokens[:6] == ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused0]")
    assert tokenizer.tokenize("The grapes\n") == ["The", "Ġgrapes", "Ċ"]
    assert not tokenizer.row_template.has_types
    folder = Path(str(pretrained_path("bertdata-32k-bpe")))
    digest = hashlib.sha256((folder / "tokenizer.json").read_bytes()).hexdigest()
    assert digest in (folder / "README.md").read_text()


def test_a_folder_of_that_name_goes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, "a"]).save_pretrained("bertdata-30k-cased")
    assert WordPieceTokenizer.from_pretrained("bertdata-30k-cased").vocab_size == 6


def test_an_unknown_name_is_none() -> None:
    assert pretrained_path("bertdata-40k") is None
    assert pretrained_path("") is None


def test_a_tokenizer_replaces_that_of_another_family(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "spiece.model").write_text("old")
    for name, left in (("bertdata-30k-cased", ["vocab.txt"]), ("bertdata-32k-bpe", []), ("bertdata-30k-cased", None)):
        tokenizer = load_tokenizer(name)
        replace_saved(tokenizer, tmp_path)
        assert load_tokenizer(tmp_path) == tokenizer
        names = {path.name for path in tmp_path.iterdir()} - {"notes.txt", "tokenizer.json", "tokenizer_config.json"}
        assert left is None or names == set(left)


def test_a_file_of_any_name_is_a_vocabulary_only_with_a_line_for_unknown_words(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nsalt\n", encoding="utf-8")
    assert load_tokenizer(tmp_path / "words").encode("salt pepper") == [5, 1]
    (tmp_path / "README.md").write_text("# A model\n\nIts words are [UNK].\n", encoding="utf-8")
    with pytest.raises(InputError, match="expected a tokenizer or a finished build"):
        load_tokenizer(tmp_path / "README.md")
