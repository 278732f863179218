"""The readable versions agree with `tokenizers` and with the kernels."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given, settings

from bertdata.tokenizers.encode.splitters import GPT2
from bertdata.tokenizers.json_format import METASPACE, byte_letters
from tests.oracles.byte_pairs import CL100K, best_path, merge, words_of
from tests.tokenizers.small import SMALL, TEXTS, byte_pair_model, unigram_model


def words(name: str, text: str) -> list[str]:
    """Return the words of a text by the places that the tokenizer gives."""
    tokenizer = SMALL[name]
    batch = tokenizer.encode_batch_with_words([text])
    places = {letter: byte for byte, letter in byte_letters().items()}
    words_read: list[bytes] = []
    for token_id, begins in zip(batch["input_ids"][0].as_py(), batch["word_starts"][0].as_py(), strict=True):
        data = bytes(places[letter] for letter in tokenizer.tokens[token_id])
        words_read = [*words_read, data] if begins else [*words_read[:-1], words_read[-1] + data]
    return [word.decode() for word in words_read]


@pytest.mark.parametrize(
    ("name", "pattern"), [("gpt2", GPT2), ("cl100k", CL100K), ("qwen", CL100K.replace("{1,3}", ""))]
)
@settings(max_examples=100)
@given(text=TEXTS.filter(lambda text: "Cn" not in map(unicodedata.category, text)))
def test_scanners_cut_as_their_patterns_do(name: str, pattern: str, text: str) -> None:
    assert words(name, text) == words_of(pattern, text)


def byte_pairs() -> tuple[dict[bytes, int], dict[tuple[bytes, bytes], int]]:
    model: dict[str, Any] = byte_pair_model()
    places = {letter: byte for byte, letter in byte_letters().items()}

    def data(token: str) -> bytes:
        return bytes(map(places.__getitem__, token))

    vocabulary = {data(token): token_id for token, token_id in model["vocab"].items() if places.keys() >= set(token)}
    merges = [pair.split(" ") for pair in model["merges"]]
    return vocabulary, {(data(left), data(right)): rank for rank, (left, right) in enumerate(merges)}


@given(TEXTS)
def test_byte_pairs_are_merged_as_in_the_readable_version(text: str) -> None:
    vocabulary, ranks = byte_pairs()
    ids = [token_id for word in words_of(GPT2, text) for token_id in merge(word.encode(), vocabulary, ranks)]
    if "Cn" not in map(unicodedata.category, text):  # tables of Unicode differ in what is newer
        assert SMALL["gpt2"].encode(text) == ids


@given(TEXTS.map(str.split))
def test_the_best_path_is_that_of_the_readable_version(parts: list[str]) -> None:
    pieces = [("" if number < 5 else piece, score) for number, (piece, score) in enumerate(unigram_model()["vocab"])]
    kept = ["".join(letter for letter in part if letter.isascii() and letter.isprintable()) for part in parts]
    kept = [part for part in kept if part]
    ids = [token_id for word in kept for token_id in best_path(METASPACE + word, pieces, unknown=1)]
    assert SMALL["xlm"].encode(" ".join(kept)) == ids
