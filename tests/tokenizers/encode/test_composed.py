"""Encoders of any normalizers, pre-tokenizers, models and added tokens have the ids and words of `tokenizers`."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from bertdata.tokenizers.encode.asked_model import AskedModel
from bertdata.tokenizers.json_tokenizer import JsonTokenizer
from tests.data import ROOT
from tests.oracles.byte_pairs import CL100K
from tests.small_build import texts
from tests.tokenizers.encode.pipelines import COMPOSED, drawn
from tests.tokenizers.small import EDGES, HARD, byte_pair_model, json_tokenizer, split_by

DRAWN, QUICK = range(20), range(100, 106)
LETTERS = (range(0x20, 0x3000), range(0xA000, 0xD7FF), range(0xE000, 0x1FFFF))


def hostile(count: int, seed: int = 0) -> list[str]:
    """Return so many texts that are hard to cut, with letters of all of Unicode between them."""
    draw = random.Random(seed)
    return [
        "".join(
            draw.choice(HARD) if draw.random() < 0.9 else chr(draw.choice(draw.choice(LETTERS)))
            for _ in range(draw.randrange(40))
        )
        for _ in range(count)
    ]


def lines(count: int, seed: int = 0) -> list[str]:
    """Return so many texts of long and short words of small letters, with little else between them."""
    draw = random.Random(seed)
    between = [" "] * 12 + [
        "\t",
        "\n",
        "  ",
        ", ",
        "'s ",
        "S",
        "\x01",
        "7",
        "\u2581",
        "\xe9",
        "\u0301",
        "\u4e2d",
        "\xa0",
    ]
    letters = "abcdefghijklmnopqrstuvwxyz"
    return [
        "".join(
            "".join(draw.choices(letters, k=draw.choice([1, 2, 3, 5, 8, 16, 17, 63, 64, 65]))) + draw.choice(between)
            for _ in range(draw.randrange(1, 30))
        )
        for _ in range(count)
    ]


def assert_as_tokenizers(tokenizer: JsonTokenizer, some: list[str]) -> None:
    """Assert that ids and places of words are those of `tokenizers`, in batches and one by one."""
    rows = tokenizer._rows(some)
    batch = tokenizer.encode_batch_with_words(some)
    ids = [row.ids for row in rows]
    for text, ids_of_text, wanted in zip(some, batch["input_ids"].to_pylist(), ids, strict=True):
        assert ids_of_text == wanted, text
    assert tokenizer.encode_batch(some).to_pylist() == ids
    if tokenizer.continuation is None:
        marked = tokenizer._marked_tokens
        starts = [
            [before != word or token in marked for (before, word), token in zip(words, row.ids, strict=True)]
            for row in rows
            for words in [pairwise([None, *row.word_ids])]
        ]
        assert batch["word_starts"].to_pylist() == starts


def composed(kind: str) -> JsonTokenizer:
    model, pre_tokenizer, normalizer, words = COMPOSED[kind]
    vocab = model["vocab"]
    new = [word for word in words if not isinstance(vocab, dict) or word not in vocab]
    ids = {word: len(vocab) + new.index(word) if word in new else vocab[word] for word in words}
    return json_tokenizer(model, pre_tokenizer, normalizer, ids)


@pytest.mark.costly
@pytest.mark.parametrize("kind", COMPOSED)
def test_stages_give_the_ids_and_words_of_tokenizers(kind: str) -> None:
    tokenizer = composed(kind)
    assert tokenizer.slow_because is None
    assert_as_tokenizers(tokenizer, [*hostile(150), *lines(40), *EDGES])


@pytest.mark.parametrize("kind", ["herbert", "metaspace bpe without unknown ones", "words", "smiles", "gemma 3"])
def test_words_that_are_in_no_token_are_not_asked_of_tokenizers(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer, some = composed(kind), hostile(100, seed=2)
    wanted = [row.ids for row in tokenizer._rows(some)]
    monkeypatch.setattr(AskedModel, "encode_left", None)
    assert tokenizer.encode_batch(some).to_pylist() == wanted


def test_a_space_before_each_word_is_left_to_tokenizers() -> None:
    parts = split_by(CL100K)
    parts["pretokenizers"][-1]["add_prefix_space"] = True
    tokenizer = json_tokenizer(byte_pair_model(), parts)
    assert "its ByteLevel puts a space before each word" in str(tokenizer.slow_because)
    assert_as_tokenizers(tokenizer, ["Hello world, it 1 rained.", "a1b"])


@pytest.mark.slow
@pytest.mark.parametrize("kind", COMPOSED)
def test_stages_give_the_ids_and_words_of_tokenizers_on_many_texts(kind: str) -> None:
    assert_as_tokenizers(composed(kind), hostile(10_000, seed=1))


@pytest.mark.parametrize("seed", QUICK)
def test_parts_drawn_at_random_give_the_ids_and_words_of_tokenizers(seed: int) -> None:
    tokenizer = JsonTokenizer(drawn(seed, list(texts(20)), vocab_size=400), {})
    assert_as_tokenizers(tokenizer, [*hostile(100, seed), *texts(3)])


@pytest.mark.slow
@pytest.mark.parametrize("seed", DRAWN)
def test_parts_drawn_at_random_and_trained_on_books_give_the_ids_and_words_of_tokenizers(seed: int) -> None:
    books = sorted(ROOT.glob("books/*.txt"))
    if not books:
        pytest.skip("needs the books of the data")
    book = books[seed % len(books)].read_text(encoding="utf-8", errors="replace").splitlines()
    tokenizer = JsonTokenizer(drawn(seed, book[:4000]), {})
    assert tokenizer.slow_because is None
    assert_as_tokenizers(tokenizer, [*hostile(10_000, seed), *book[4000:6000]])
