"""A family of tokenizers from outside the package goes through everything that reads or writes token ids."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from bertdata import WordPieceTokenizer, load_tokenizer
from bertdata.errors import ConfigError, InputError
from bertdata.finetune.settings import TaskConfig
from bertdata.finetune.task_shards import encode_task
from bertdata.shards import open_shards
from bertdata.tokenizers import TOKENIZERS, SpecialTokens
from tests.outside import Outside
from tests.small_build import texts
from tests.tokenizers import letters
from tests.tokenizers.letters import LetterTokenizer

READ = """
import sys
from bertdata.cli.main import dispatch
from bertdata.loader import numpy_batches
from bertdata.shards import open_shards
from tests.outside import Outside

build = sys.argv[1]
for words in (sys.argv[2:], ["verify", build], ["show", build, "--count", "1"], ["stats", build]):
    assert dispatch(words) == 0, words
tokenizer = open_shards(build).tokenizer()
print(repr(tokenizer), len(tokenizer.continuation))
predicted = split = 0
for batch in numpy_batches(f"{build}/train", 8):
    ids, labels = batch["input_ids"], batch["labels"]
    original = ids * (labels == -100) + labels * (labels != -100)
    for row, chosen in zip(original, labels != -100):
        begins = [place for place, one in enumerate(row) if one > 4 and not tokenizer.continuation[one]]
        ends = [*begins[1:], len(row)]
        for begin, end in zip(begins, ends):
            letters = [place for place in range(begin, end) if row[place] > 4]
            predicted += chosen[begin]
            split += len({bool(chosen[place]) for place in letters}) > 1
print("words", predicted, split)
"""


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TOKENIZERS._items, "letters", LetterTokenizer)


@pytest.mark.costly
def test_a_family_of_another_package_is_built_verified_shown_measured_and_loaded(tmp_path: Path) -> None:
    code = Path(letters.__file__).read_text()
    code += '\n\nfrom bertdata.tokenizers import TOKENIZERS\n\nTOKENIZERS.add("letters", LetterTokenizer)\n'
    outside = Outside.write(tmp_path, "letters_family", code)
    LetterTokenizer().save_pretrained(tmp_path / "vocab")
    documents = [{"id": str(number), "text": text} for number, text in enumerate(texts(80))]
    (tmp_path / "documents.jsonl").write_text("".join(json.dumps(document) + "\n" for document in documents))
    flags = ["--documents", "documents.jsonl", "--vocab", "vocab", "--output", "corpus"]
    flags += ["--objective", "doc-sentences", "--max-seq-length", "64", "--mask-unit", "word"]
    shown = outside.python(READ, "corpus", "build", *flags)
    assert (tmp_path / "corpus" / "tokenizer" / "letters.txt").is_file()
    assert "_ in a mark: this letter begins a word" in shown
    assert "LetterTokenizer(vocab_size=61) 61" in shown
    *_, last = shown.splitlines()
    word, predicted, split = last.split()
    assert word == "words"
    assert int(predicted) > 100
    assert int(split) == 0


def test_the_family_of_a_directory_is_found_by_its_files(registered: None, tmp_path: Path) -> None:
    LetterTokenizer("abc").save_pretrained(tmp_path / "letters")
    LetterTokenizer("xyz").save_pretrained(tmp_path / "corpus" / "tokenizer")
    pieces = WordPieceTokenizer.from_tokens([*SpecialTokens().names, "a"])
    pieces.save_pretrained(tmp_path / "pieces")
    assert load_tokenizer(tmp_path / "letters") == LetterTokenizer("abc")
    assert load_tokenizer(tmp_path / "corpus") == LetterTokenizer("xyz")
    assert load_tokenizer(tmp_path / "pieces") == pieces
    assert load_tokenizer(tmp_path / "pieces" / "vocab.txt") == pieces
    assert load_tokenizer("bertdata-30k-cased") == WordPieceTokenizer.from_pretrained("bertdata-30k-cased")


def test_a_directory_of_no_family_is_refused_with_the_files_that_are_expected(registered: None, tmp_path: Path) -> None:
    with pytest.raises(
        InputError,
        match=r"has no letters.txt or o200k_base.tiktoken or .*vocab.txt or tekken.json .*spiece.model .*, nor a ",
    ):
        load_tokenizer(tmp_path)
    with pytest.raises(InputError, match=r"there is no such tokenizer; .* or bertdata-30k-cased or bertdata-30k-un"):
        load_tokenizer(tmp_path / "nothing")
    LetterTokenizer().save_pretrained(tmp_path / "letters")
    with pytest.raises(InputError, match=r"letters: has no tokenizer.json or vocab.txt"):
        WordPieceTokenizer.from_pretrained(tmp_path / "letters")


def test_what_follows_from_the_tokens_needs_no_code_of_the_family() -> None:
    tokenizer = LetterTokenizer("ab")
    assert tokenizer.tokens == ("<pad>", "<unk>", "<s>", "</s>", "<mask>", "_a", "_b", "a", "b")
    assert tokenizer.encode("Ab ac") == [5, 8, 5, 1]
    assert tokenizer.tokenize("ab b") == ["_a", "b", "_b"]
    assert tokenizer.special_ids.tolist() == [0, 1, 2, 3, 4]
    assert tokenizer.replacement_ids.tolist() == [5, 6, 7, 8]
    assert tokenizer.encode_pair("a", "b a", 8, pad_to_multiple_of=8) == {
        "input_ids": [2, 5, 3, 3, 6, 5, 3, 0],
        "attention_mask": [1, 1, 1, 1, 1, 1, 1, 0],
    }
    assert pickle.loads(pickle.dumps(tokenizer)) == tokenizer
    assert len({tokenizer, LetterTokenizer("ab"), LetterTokenizer("ba")}) == 2
    with pytest.raises(ConfigError, match="expected one string, found list; use encode_batch for many"):
        tokenizer.encode(["a"])  # type: ignore[arg-type]


def test_a_special_token_that_is_missing_is_named() -> None:
    with pytest.raises(InputError, match=r"the vocabulary has no <s>, a special token"):
        super(LetterTokenizer, LetterTokenizer("ab")).__init__(["<pad>", "<unk>", "</s>"], letters.SPECIAL)


def test_rows_of_two_texts_have_the_familys_separators(registered: None, tmp_path: Path) -> None:
    LetterTokenizer("ab").save_pretrained(tmp_path / "vocab")
    (tmp_path / "texts.csv").write_text("text,text_pair,label\na,b a,yes\nabab abab,bb,no\n")
    config = TaskConfig(task="classification", max_seq_length=10)
    encode_task(tmp_path / "out", str(tmp_path / "vocab"), {"train": str(tmp_path / "texts.csv")}, config)
    rows = [row["input_ids"].tolist() for row in open_shards(tmp_path / "out")]  # type: ignore[attr-defined]
    assert rows == [[2, 5, 3, 3, 6, 5, 3], [2, 5, 8, 7, 8, 3, 3, 6, 8, 3]]
    assert "token_type_ids" not in open_shards(tmp_path / "out").table.column_names


def test_a_family_without_offsets_says_so_where_they_are_needed() -> None:
    with pytest.raises(ConfigError, match="LetterTokenizer does not give the positions of tokens in a text"):
        LetterTokenizer().encode_batch_with_offsets(["a"])
