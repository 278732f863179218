"""Words and tags: labels stand where `transformers`' recipe puts them, whatever the tokenizer does to a word."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bertdata.errors import ConfigError
from bertdata.finetune import encode_token_classification
from bertdata.tokenizers import load_tokenizer
from bertdata.tokenizers.wordpiece import WordPieceTokenizer
from tests.data import data_path
from tests.finetune import reference
from tests.tokenizers.wordpiece.reference import SMALL

TOKENIZER = WordPieceTokenizer.from_tokens(SMALL)
VOCABULARIES = Path(__file__).resolve().parents[2] / "vocab"
DELETED = ("\u200b", "\u00ad", "\x00", "\ufffd", " ", "")
WORD = (
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
    | st.sampled_from(["unbelievable", "un-able", "the", "[SEP]", "U.S.", "中国", "x" * 101])
    | st.sampled_from(DELETED)
)


@pytest.fixture(scope="module")
def fast(tmp_path_factory: pytest.TempPathFactory) -> Any:
    pytest.importorskip("transformers")
    return reference.fast_tokenizer(TOKENIZER, tmp_path_factory.mktemp("tokenizer"))


def rows(encoded: Any) -> list[Any]:
    return list(zip(*(encoded.columns[name].to_pylist() for name in ("input_ids", "labels")), strict=True))


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(WORD, min_size=1, max_size=8), min_size=1, max_size=4), st.integers(4, 20))
def test_labels_stand_where_the_recipe_of_transformers_puts_them(
    fast: Any, sentences: list[list[str]], length: int
) -> None:
    labels = [list(range(len(words))) for words in sentences]
    expected = reference.token_classification(fast, sentences, labels, length)
    assert rows(encode_token_classification(TOKENIZER, sentences, labels, max_seq_length=length)) == expected


def test_labels_of_real_sentences_are_those_of_the_recipe(tmp_path_factory: pytest.TempPathFactory) -> None:
    pytest.importorskip("transformers")
    lines = data_path("sentences", "ewt_dev_test.jsonl").read_text().splitlines()[:60]
    sentences = [
        sentence.split(" ") for line in lines for paragraph in json.loads(line)["paragraphs"] for sentence in paragraph
    ]
    labels = [[(len(word) + place) % 9 for place, word in enumerate(words)] for words in sentences]
    tokenizer = WordPieceTokenizer.from_pretrained("bertdata-30k-cased")
    fast = reference.fast_tokenizer(tokenizer, tmp_path_factory.mktemp("published"))
    for length in (24, 128):
        expected = reference.token_classification(fast, sentences, labels, length)
        assert rows(encode_token_classification(tokenizer, sentences, labels, max_seq_length=length)) == expected


@pytest.mark.costly
@pytest.mark.parametrize(
    "name", ["bertdata-32k-bpe", "roberta", "modernbert", "xlm_roberta", "deberta_v3", "xlnet_cased"]
)
def test_words_are_apart_as_the_recipe_sets_them_apart(name: str) -> None:
    folder = VOCABULARIES / name if name.startswith("bertdata") else data_path("tokenizers", name)
    tokenizer = load_tokenizer(str(folder))
    theirs = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    if isinstance(theirs.pre_tokenizer, tokenizers.pre_tokenizers.ByteLevel):
        theirs.pre_tokenizer.add_prefix_space = True  # as run_ner has it
    words = ["Today", "Ann", "Lee", "came", "(", "late", ")", ".", "", "unbelievable", "42", "\u00a0", "\u3000x", " a"]
    encoded = encode_token_classification(tokenizer, [words], [list(range(len(words)))])
    expected = theirs.encode(words, is_pretokenized=True)
    firsts = [word != before for before, word in pairwise([None, *expected.word_ids])]
    targets = [
        -100 if word is None or not first else word for word, first in zip(expected.word_ids, firsts, strict=True)
    ]
    assert rows(encoded) == [(expected.ids, targets)]
    assert " ".join(words[:4]) in tokenizer.decode(expected.ids)


def test_a_word_that_the_tokenizer_deletes_has_no_label_and_is_counted() -> None:
    encoded = encode_token_classification(TOKENIZER, [["the", "\u200b\u00ad", "un"], ["\x00"]], [[1, 2, 3], [4]])
    assert [label for _, label in rows(encoded)] == [[-100, 1, 3, -100], [-100, -100]]
    assert (encoded.counts["words"], encoded.counts["words_without_pieces"]) == (4, 2)


def test_words_whose_first_piece_is_cut_off_are_counted_and_others_keep_their_label() -> None:
    sentence = ["the", "unbelievable", "the", "the"]
    encoded = encode_token_classification(TOKENIZER, [sentence], [[1, 2, 3, 4]], max_seq_length=5)
    [(ids, labels)] = rows(encoded)
    assert TOKENIZER.decode(ids, skip_special_tokens=False) == "[CLS] the unbeliev [SEP]"
    assert labels == [-100, 1, 2, -100, -100]
    counts = encoded.counts
    assert (counts["truncated_examples"], counts["truncated_words"], counts["truncated_tokens"]) == (1, 2, 3)


def test_without_labels_all_are_ignored() -> None:
    encoded = encode_token_classification(TOKENIZER, [["the", "un"]])
    assert rows(encoded)[0][1] == [-100] * 4
    assert encoded.counts["unlabelled_examples"] == 1


def test_a_sentence_without_words_is_a_row_of_special_tokens() -> None:
    encoded = encode_token_classification(TOKENIZER, [["the"], [], ["un"]], [[1], [], [2]])
    assert [len(ids) for ids, _ in rows(encoded)] == [3, 2, 3]
    assert [labels for _, labels in rows(encoded)] == [[-100, 1, -100], [-100, -100], [-100, 2, -100]]


def test_as_many_labels_as_words_are_needed() -> None:
    for labels in ([[1]], [[1, 2], [3]]):
        with pytest.raises(ConfigError, match="not as many labels as words"):
            encode_token_classification(TOKENIZER, [["the", "un"]], labels)


def test_words_and_tokens_are_counted_and_what_is_cut_off() -> None:
    sentences = [["the", "the", ""], ["the", "un", "the", "\u200b"], ["the"]]
    encoded = encode_token_classification(TOKENIZER, sentences, [[0, 1, 2], [0, 1, 2, 3], [4]], max_seq_length=4)
    assert encoded.counts == {
        "examples": 3,
        "words": 8,
        "tokens": 4 + 4 + 3,
        "words_without_pieces": 2,
        "truncated_examples": 1,
        "truncated_tokens": 1,
        "truncated_words": 1,
        "unlabelled_examples": 0,
    }
    assert encoded.counts["tokens"] == len(encoded.columns["input_ids"].flatten())
    assert encode_token_classification(TOKENIZER, sentences).counts["unlabelled_examples"] == 3
