from __future__ import annotations

import gc
import subprocess
import sys
import weakref
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from bertdata.counter_rng import bits, key
from bertdata.errors import ConfigError, InputError
from bertdata.tokenizers.training.merging import corpus, state
from bertdata.tokenizers.training.merging.merge_score import CODES, Criterion
from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer, count_words, train_wordpiece
from bertdata.tokenizers.wordpiece.train.corpus import read_corpus
from tests.data import data_path
from tests.generated import examples
from tests.oracles.wordpiece_training import train_slowly

CRITERIA: tuple[Criterion, ...] = ("likelihood", "frequency", "score")
FABLE = (
    "A fox saw a bunch of ripe grapes hanging from a vine, and jumped for the grapes again and again, but never "
    "reached them. Walking away it said: the grapes are sour, and nobody wants sour grapes! A hanging fox, a jumping "
    "fox; the foxes' walking, jumping and reaching were never the reachings of nobody's hangings."
)


def word_counts() -> st.SearchStrategy[dict[str, int]]:
    alphabet = st.sampled_from(["ab", "abc", "abcdefg", "aé中ß"])
    words = alphabet.flatmap(lambda letters: st.text(letters, min_size=1, max_size=9))
    return st.dictionaries(words, st.integers(0, 9), max_size=20)


@settings(deadline=None)
@given(
    word_counts(),
    st.sampled_from(CRITERIA),
    st.integers(1, 4),
    st.sampled_from([1, 2, 1000]),
    st.sampled_from([28, 34, 300]),
    st.integers(0, 2),
)
def test_the_vocabulary_is_the_one_of_the_slow_twin(
    counts: dict[str, int], criterion: Criterion, least: int, limit: int, size: int, unused: int
) -> None:
    settings: dict[str, Any] = {"min_frequency": least, "limit_alphabet": limit, "unused": unused}
    expected = train_slowly(counts, size, criterion=criterion, **settings)
    assert train_wordpiece(counts, size, criterion=criterion, **settings) == expected


@pytest.mark.parametrize("criterion", CRITERIA)
def test_real_words_give_the_vocabulary_of_the_slow_twin(criterion: Criterion) -> None:
    table = count_words([FABLE])
    counts = dict(zip(*table.to_pydict().values(), strict=True))
    vocabulary = train_wordpiece(table, 130, criterion=criterion)
    assert vocabulary == train_slowly(counts, 130, criterion=criterion)
    assert (
        WordPieceTokenizer.from_tokens(vocabulary)
        .decode(WordPieceTokenizer.from_tokens(vocabulary).encode(FABLE))
        .startswith("a fox saw a bunch of ripe grapes")
    )


def pinned(
    counts: dict[str, int], vocab_size: int, min_frequency: int, single: Sequence[str], limit_alphabet: int
) -> tuple[str, ...]:
    """Train with `tokenizers`, the ids of single characters pinned by passing them as special tokens."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    special = [*SPECIAL_TOKENS, *single]
    tokenizer.train_from_iterator(
        [f"{word} " * count for word, count in counts.items()],
        trainers.WordPieceTrainer(
            vocab_size=vocab_size,
            min_frequency=min_frequency,
            special_tokens=special,
            limit_alphabet=limit_alphabet,
            show_progress=False,
        ),
    )
    vocabulary = tokenizer.get_vocab()
    return tuple(sorted(vocabulary, key=vocabulary.__getitem__))


def assert_equals_tokenizers(counts: dict[str, int], vocab_size: int, min_frequency: int, limit: int = 1000) -> None:
    settings: dict[str, int] = {"min_frequency": min_frequency, "limit_alphabet": limit}
    vocabulary = train_wordpiece(counts, vocab_size, criterion="frequency", **settings)  # type: ignore[arg-type]
    single = [token for token in vocabulary if len(token.removeprefix("##")) == 1]
    assert vocabulary == pinned(counts, vocab_size, min_frequency, single, limit)


@settings(deadline=None)
@given(word_counts(), st.integers(1, 3), st.sampled_from([28, 34, 300]))
def test_frequency_gives_the_vocabulary_of_tokenizers(counts: dict[str, int], least: int, size: int) -> None:
    assert_equals_tokenizers({word: count for word, count in counts.items() if count}, size, least)


@settings(deadline=None)
@given(word_counts(), st.integers(1, 6), st.sampled_from([28, 34, 300]))
def test_a_limited_alphabet_is_the_one_of_tokenizers(counts: dict[str, int], limit: int, size: int) -> None:
    said = {word: count for word, count in counts.items() if count}
    characters: Counter[str] = Counter()
    for word, count in said.items():
        characters.update({character: count * word.count(character) for character in set(word)})
    ranked = sorted(characters.values(), reverse=True)
    assume(
        len(ranked) <= limit or ranked[limit - 1] > ranked[limit]
    )  # tokenizers leaves ties to the order of a hash map
    assert_equals_tokenizers(said, size, 1, limit)


def test_frequency_gives_the_vocabulary_of_tokenizers_on_a_book() -> None:
    text = sorted(data_path("books").iterdir())[0].read_text(encoding="utf-8", errors="replace")
    table = count_words([text])
    assert_equals_tokenizers(dict(zip(*table.to_pydict().values(), strict=True)), 5000, 2)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_order_and_the_form_of_the_counts_make_no_difference(criterion: Criterion) -> None:
    table = count_words([FABLE])
    expected = train_wordpiece(table, 150, criterion=criterion)
    pairs = list(zip(*table.to_pydict().values(), strict=True))
    assert train_wordpiece(dict(pairs[::-1]), 150, criterion=criterion) == expected
    halves = [(word, count // 2) for word, count in pairs] + [(word, count - count // 2) for word, count in pairs]
    assert train_wordpiece(iter(halves), 150, criterion=criterion) == expected
    turned = pa.concat_tables([table.slice(20), table.slice(0, 20)])
    assert train_wordpiece(turned, 150, criterion=criterion) == expected


@pytest.mark.parametrize("criterion", CRITERIA)
def test_counts_of_billions_of_words_are_exact(criterion: Criterion) -> None:
    counts = dict(zip(*count_words([FABLE]).to_pydict().values(), strict=True))
    large = {word: count << 38 for word, count in counts.items()}
    trained = train_wordpiece(large, 150, criterion=criterion, min_frequency=2 << 38)
    assert trained == train_slowly(large, 150, criterion=criterion, min_frequency=2 << 38)
    assert len(trained) == len(train_slowly(counts, 150, criterion=criterion, min_frequency=2))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_small_arrays_grow_without_a_change(criterion: Criterion, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = train_wordpiece(count_words([FABLE]), 200, criterion=criterion)
    monkeypatch.setattr(state, "FIRST_PAIRS", 1)
    monkeypatch.setattr(state, "FIRST_CHARS", 0)
    assert train_wordpiece(count_words([FABLE]), 200, criterion=criterion) == expected


@pytest.mark.parametrize("limit", [6, 1000])
def test_words_read_a_few_at_a_time_give_the_same_vocabulary(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    words = count_words([FABLE, "aé中ß é é 中", "ß"])
    whole = read_corpus(words, limit)
    expected = train_wordpiece(words, 150, limit_alphabet=limit)
    monkeypatch.setattr(corpus, "CHUNK_WORDS", 3)
    parts = read_corpus(words, limit)
    for name in ("points", "inside", "lengths", "counts", "characters", "continuing"):
        assert list(getattr(parts, name)) == list(getattr(whole, name)), name
    assert train_wordpiece(words, 150, limit_alphabet=limit) == expected
    with pytest.raises(InputError, match="the word 'a##b' holds ##"):
        read_corpus({**{"a" * n: 1 for n in range(1, 8)}, "a##b": 1}, limit)


def test_arrays_that_grow_are_taken_from_the_state_before() -> None:
    arrays = state.state_of(read_corpus({"ab": 2}, 10), ["a", "b", "##b"], 10, "##")._asdict()
    arrays["counters"].more_pairs = state.FIRST_PAIRS + 1
    old = {name: weakref.ref(arrays[name]) for name in ("pairs", "lists", "heap", "links", "table")}
    grown = state.grow(arrays)
    gc.collect()
    assert len(grown.pairs) >= 2 * state.FIRST_PAIRS
    assert not [name for name, reference in old.items() if reference() is not None]


def test_a_long_run_of_one_letter_is_halved_again_and_again() -> None:
    vocabulary = train_wordpiece({"a" * 100_000: 1}, 40, criterion="frequency", min_frequency=1)
    assert len(vocabulary) < 40
    assert "a" * 100_000 in vocabulary


def test_ids_come_in_the_documented_order() -> None:
    special = ["[MASK]", "[PAD]", "[SEP]", "[CLS]", "[UNK]", "[ENT]"]
    vocabulary = train_wordpiece({"ba": 3, "ca": 1}, 14, special_tokens=special, unused=2, criterion="frequency")
    assert vocabulary == (*special, "[unused0]", "[unused1]", "a", "b", "c", "##a", "ba")


def test_the_rarest_letters_are_left_out_and_on_ties_the_later_ones() -> None:
    vocabulary = train_wordpiece({"zz": 3, "ab": 2, "c": 2, "d": 2}, 12, limit_alphabet=3, min_frequency=9)
    assert vocabulary == (*SPECIAL_TOKENS, "a", "b", "z", "##b", "##z")


def test_pairs_below_the_least_frequency_are_not_merged() -> None:
    assert "ab" not in train_wordpiece({"ab": 2}, 20, min_frequency=3)
    assert "ab" in train_wordpiece({"ab": 3}, 20, min_frequency=3)


def test_a_merge_that_would_lower_the_likelihood_is_not_made() -> None:
    counts = {"abbb": 2, "a": 1}  # f(ab) = 2, f(a) = 3, f(##b) = 6, N = 9, and log(2 * 9 / (3 * 6)) = 0
    letters = (*SPECIAL_TOKENS, "a", "b", "##b")
    assert train_wordpiece(counts, 30, criterion="likelihood") == letters
    assert train_wordpiece(counts, 30, criterion="frequency") == (*letters, "##bb", "abb", "abbb")


def test_the_criteria_prefer_different_pairs() -> None:
    counts = {"th": 50, "to": 45, "ah": 45, "ao": 60, "qu": 40, "xy": 2}
    first = {criterion: train_wordpiece(counts, 18, criterion=criterion)[-1] for criterion in CRITERIA}
    assert first == {"likelihood": "qu", "frequency": "ao", "score": "xy"}


@pytest.mark.parametrize("counts", [{}, {"a": 0}, {"": 5}, []])
def test_no_words_give_the_special_tokens_alone(counts: dict[str, int]) -> None:
    assert train_wordpiece(counts, 10) == SPECIAL_TOKENS


def test_a_vocabulary_too_small_for_its_letters_is_refused_with_the_numbers() -> None:
    with pytest.raises(ConfigError) as caught:
        train_wordpiece({"abc": 1}, 11, unused=2)
    assert str(caught.value) == (
        "vocab_size is 11, but 5 special tokens, 2 unused slots and the characters, 3 at the start of words and 2 "
        "after it, make 12; raise vocab_size or lower limit_alphabet"
    )
    assert len(train_wordpiece({"abc": 1}, 12, unused=2)) == 12


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"criterion": "best"}, "criterion is 'best'; expected one of likelihood, frequency, score"),
        ({"min_frequency": 0}, "min_frequency is 0"),
        ({"vocab_size": 0}, "vocab_size is 0"),
        ({"limit_alphabet": 0}, "limit_alphabet is 0"),
        ({"vocab_size": 30.0}, "vocab_size is 30.0; expected a whole number from 1"),
        ({"vocab_size": "30"}, "vocab_size is '30'; expected a whole number from 1"),
        ({"criterion": ["score"]}, "criterion is ['score']; expected one of"),
        ({"special_tokens": "[PAD]"}, "special_tokens is the string '[PAD]'; expected a list"),
        ({"special_tokens": ["[PAD]", 1]}, "1 is not a valid special token"),
        ({"special_tokens": ["[PAD]", " "]}, "' ' is not a valid special token"),
        ({"special_tokens": ["a\nb"]}, "'a\\nb' is not a valid special token"),
        ({"special_tokens": ["\ud800"]}, "'\\ud800' is not a valid special token"),
        ({"special_tokens": ["[PAD]", "[PAD]"]}, "'[PAD]' is given twice"),
        ({"special_tokens": ["[unused0]"], "unused": 1}, "'[unused0]' is given twice"),
        ({"unused": -1}, "unused is -1; expected a whole number from 0"),
    ],
)
def test_a_setting_out_of_range_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        train_wordpiece({"a": 1}, **settings)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ({"a": -1}, "the count of 'a' is -1"),
        ({"a": 1.5}, "the count of 'a' is 1.5"),
        ({"a": True}, "the count of 'a' is True"),
        ({None: 1}, "a word is None"),
        ({"a b": 1}, "white space (U+0020)"),
        ({"a\u2028": 1}, "white space (U+2028)"),
        ({"x": 1, "c##": 1}, "'c##' holds ##"),
        ({"x": 1, "y\ud800": 1}, "holds a lone surrogate"),
        ({"ab": 1 << 53}, "over 2**53"),
    ],
)
def test_counts_that_make_no_sense_are_refused(counts: dict[str, int], message: str) -> None:
    with pytest.raises(InputError) as caught:
        train_wordpiece(counts)
    assert message in str(caught.value)


@pytest.mark.parametrize("counts", [["low", "lo"], ["low"], "low", b"low", None, 5, [("low", 1, 2)], iter([1])])
def test_what_is_no_word_counts_is_refused_with_what_is(counts: Any) -> None:
    with pytest.raises(ConfigError, match=r"expected a mapping from word to count, pairs .* as count_words\(texts\)"):
        train_wordpiece(counts)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pa.table({"word": ["a"]}), "expected word and count"),
        (pa.table([["a"], ["b"], [1]], ["word", "word", "count"]), "expected word and count"),
        (pa.table({"word": [1], "count": [1]}), "expected Arrow strings"),
        (pa.table({"word": ["a"], "count": [1.5]}), "the counts are double"),
        (pa.table({"word": ["a", None], "count": [1, 1]}), "row 1 is null"),
        (pa.table({"word": ["a", "b"], "count": [1, None]}), "the count of 'b' is null"),
        (pa.table({"word": ["a", "b"], "count": [1, -2]}), "the count of 'b' is -2"),
        (pa.table({"word": ["a"], "count": pa.array([1 << 63], pa.uint64())}), "over 2**53"),
    ],
)
def test_a_table_that_is_none_of_word_counts_is_refused(table: pa.Table, message: str) -> None:
    with pytest.raises(ConfigError if "expected" in message or "double" in message else InputError) as caught:
        train_wordpiece(table)
    assert message in str(caught.value)


def test_words_that_are_not_utf8_are_refused() -> None:
    offsets = pa.py_buffer(np.array([0, 1], np.int32))
    words = pa.Array.from_buffers(pa.string(), 1, [None, offsets, pa.py_buffer(b"\xff")])
    with pytest.raises(InputError, match="the words are not UTF-8"):
        train_wordpiece(pa.table({"word": words, "count": [1]}))


@pytest.mark.costly
@settings(deadline=None, max_examples=examples(20))
@given(st.integers(0, 2**32), st.sampled_from(CRITERIA))
def test_many_words_of_few_letters_give_the_vocabulary_of_the_slow_twin(seed: int, criterion: Criterion) -> None:
    draws = bits(key(seed, "words"), np.arange(400)).tolist()
    counts = {"".join("abcd"[n >> 2 * i & 3] for i in range(n >> 40 & 7)): 1 + (n >> 50 & 63) for n in draws}
    expected = train_slowly(counts, 150, criterion=criterion)
    assert train_wordpiece(counts, 150, criterion=criterion) == expected


@pytest.mark.costly
def test_the_kernel_uncompiled_gives_the_same_vocabulary() -> None:
    script = """
import os, sys
os.environ["NUMBA_DISABLE_JIT"] = "1"
from bertdata.tokenizers.wordpiece import count_words, train_wordpiece
from bertdata.tokenizers.training.merging.kernels import merges as kernel_merges
assert not hasattr(kernel_merges.merge_pairs, "py_func")
for criterion in ("likelihood", "frequency", "score"):
    print(*train_wordpiece(count_words([sys.argv[1]]), 120, criterion=criterion))
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, FABLE], capture_output=True, text=True, check=True
    )
    expected = [" ".join(train_wordpiece(count_words([FABLE]), 120, criterion=criterion)) for criterion in CRITERIA]
    assert done.stdout.splitlines() == expected


@pytest.mark.slow
def test_the_kernel_stays_inside_its_arrays(tmp_path: Any) -> None:
    script = """
import os, sys
os.environ["NUMBA_BOUNDSCHECK"] = "1"
os.environ["NUMBA_CACHE_DIR"] = sys.argv[2]
from bertdata.tokenizers.wordpiece import count_words, train_wordpiece
from bertdata.tokenizers.training.merging import corpus, state
state.FIRST_PAIRS, state.FIRST_CHARS = 1, 0
for criterion in ("likelihood", "frequency", "score"):
    print(*train_wordpiece(count_words([sys.argv[1]]), 300, criterion=criterion))
    train_wordpiece({"a" * n: n for n in range(1, 60)}, 300, criterion=criterion, min_frequency=1)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, FABLE, str(tmp_path)], capture_output=True, text=True, check=True
    )
    expected = [" ".join(train_wordpiece(count_words([FABLE]), 300, criterion=criterion)) for criterion in CRITERIA]
    assert done.stdout.splitlines() == expected


def test_codes_are_those_of_the_criteria() -> None:
    assert tuple(CODES) == CRITERIA
    assert sorted(CODES.values()) == np.arange(3).tolist()
