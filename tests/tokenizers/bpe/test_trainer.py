"""Byte-level BPE: the tokens and merges of `tokenizers`' trainer, a function of the counts alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from bertdata.errors import ConfigError, InputError
from bertdata.tokenizers.bpe.counting import count_pre_tokens
from bertdata.tokenizers.bpe.trainer import ALPHABET, letters_of, train_bpe
from bertdata.tokenizers.training.merging import state
from bertdata.tokenizers.training.merging.merging import Merged
from tests.data import data_path
from tests.oracles.bpe import train_bpe_slowly

FABLE = "The fox saw the grapes.  The grapes were sour, said the fox.\nSour grapes aren't for a fox; naïve foxes!\n\n"
WORDS = st.dictionaries(st.text("aab é", min_size=1, max_size=8), st.integers(0, 4), min_size=1, max_size=12)


def of_tokenizers(counts: dict[str, int], vocab_size: int, min_frequency: int, first: list[str]) -> Merged:
    """Train with `tokenizers`, the bytes of words given as their letters, which holds no white space."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        special_tokens=first,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    texts = (
        " ".join([letters_of(word)] * min(count - done, 1000))
        for word, count in counts.items()
        for done in range(0, count, 1000)
    )
    tokenizer.train_from_iterator(texts, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    return Merged(sorted(model["vocab"], key=model["vocab"].get), [(a, b) for a, b in model["merges"]])


@settings(deadline=None)
@given(WORDS, st.integers(0, 30), st.integers(1, 3))
def test_tokens_and_merges_are_those_of_tokenizers_whatever_ties(counts: dict[str, int], more: int, least: int) -> None:
    size = 258 + more
    trained = train_bpe(counts, size, min_frequency=least, first=["[PAD]", "[MASK]"])
    assert trained == of_tokenizers(counts, size, least, ["[PAD]", "[MASK]"])


@settings(deadline=None)
@given(WORDS, st.integers(0, 30), st.integers(1, 3))
def test_tokens_and_merges_are_those_of_the_reference(counts: dict[str, int], more: int, least: int) -> None:
    assert train_bpe(counts, 256 + more, min_frequency=least) == train_bpe_slowly(
        counts, 256 + more, min_frequency=least
    )


def test_a_merge_whose_token_is_there_already_gets_no_new_id() -> None:
    counts = {"ab": 9, "abc": 8, "bc": 20, "xbc": 3}
    tokens, merges = train_bpe(counts, 300, min_frequency=1, first=["abc"])
    assert tokens.count("abc") == 1
    assert ("a", "bc") in merges
    assert (tokens, merges) == of_tokenizers(counts, 300, 1, ["abc"])


def test_a_vocabulary_of_real_text_is_that_of_tokenizers() -> None:
    counts = dict(zip(*count_pre_tokens([FABLE * 3]).to_pydict().values(), strict=True))
    assert train_bpe(counts, 400) == of_tokenizers(counts, 400, 2, [])


@pytest.mark.costly
def test_a_vocabulary_of_books_is_that_of_tokenizers_on_their_text() -> None:
    texts = [path.read_text(errors="ignore") for path in sorted(data_path("books").glob("*.txt"))[:3]]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=8000,
        min_frequency=2,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    tokens, merges = train_bpe(count_pre_tokens(texts), 8000)
    assert tokens == sorted(model["vocab"], key=model["vocab"].get)
    assert merges == [(a, b) for a, b in model["merges"]]


def test_the_order_of_the_counts_makes_no_difference() -> None:
    table = count_pre_tokens([FABLE])
    counts = list(zip(*table.to_pydict().values(), strict=True))
    assert train_bpe(table, 330) == train_bpe(dict(counts[::-1]), 330) == train_bpe(counts[5:] + counts[:5], 330)


def test_every_byte_is_a_token() -> None:
    assert train_bpe({}, 300) == Merged(ALPHABET, [])
    assert len(set(ALPHABET)) == 256


def test_small_arrays_grow_without_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = train_bpe(count_pre_tokens([FABLE]), 400, min_frequency=1)
    monkeypatch.setattr(state, "FIRST_PAIRS", 1)
    monkeypatch.setattr(state, "FIRST_CHARS", 1)
    assert train_bpe(count_pre_tokens([FABLE]), 400, min_frequency=1) == whole


@pytest.mark.parametrize(
    ("counts", "more", "error", "message"),
    [
        ({"a": 1}, {"vocab_size": 257, "first": ["x1", "x2"]}, ConfigError, "2 special, unused and added tokens and"),
        ({"a": 1}, {"first": ["[PAD]", "[PAD]"]}, ConfigError, r"'\[PAD\]' is given twice"),
        ({"a": 1}, {"first": ["a"]}, ConfigError, "'a' is given twice, or is the letter of a byte"),
        ({"a": -1}, {}, InputError, "the count of 'a' is -1"),
        ("abc", {}, ConfigError, "the word counts are str"),
    ],
)
def test_what_cannot_be_trained_is_refused(
    counts: Any, more: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        train_bpe(counts, **more)


SCRIPT = """
import sys
from bertdata.tokenizers.bpe.counting import count_pre_tokens
from bertdata.tokenizers.bpe.trainer import train_bpe
from bertdata.tokenizers.training.merging import state
state.FIRST_PAIRS = state.FIRST_CHARS = 1
print(ascii(train_bpe(count_pre_tokens([sys.argv[1]]), 380, min_frequency=1)))
"""


@pytest.mark.slow
@pytest.mark.parametrize("setting", ["NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK"])
def test_the_kernel_stays_inside_its_arrays_and_is_right_uncompiled(setting: str, tmp_path: Path) -> None:
    environment = os.environ | {setting: "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", SCRIPT, FABLE]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ascii(train_bpe(count_pre_tokens([FABLE]), 380, min_frequency=1))
