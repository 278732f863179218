"""Similar words in place of [MASK], and the weights of n-grams: MacBERT's masks."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.errors import ConfigError, InputError
from bertdata.masking.masked import Masked
from bertdata.masking.masking import IGNORE_INDEX, Masker
from bertdata.masking.settings import REPLACE_UNITS, MaskingConfig
from bertdata.masking.similar_words import SimilarWords, compile_table, read_table, table_for
from bertdata.masking.units import unit_lengths
from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer
from tests.generated import examples
from tests.masking.masker import (
    CLS,
    MASK,
    REPLACEMENTS,
    SEP,
    Rows,
    SimilarEntries,
    assert_masked_as_by_the_reference,
    mask_rows,
)
from tests.statistics import assert_uniform, bernstein
from tests.tokenizers.made import made

PIECE = 60
CONTINUATION = np.arange(300) >= 250
ENTRIES: SimilarEntries = {
    (5,): [(10,), (11,), (12,)],
    (6, 251): [(20, 260), (21, 22)],
    (6, 251, 252): [(30, 31, 32)],
    (6,): [(13,)],
}
TABLE = SimilarWords.of(ENTRIES)
MACBERT = MaskingConfig(
    mask_unit="ngram", ngram_weights=("40", "30", "20", "10"), similar_words="table.tsv", masked_lm_prob=0.15
)


def mask(rows: Rows, config: MaskingConfig, **known: Any) -> Masked:
    return mask_rows(rows, config=config, continuation=CONTINUATION, similar_words=TABLE, **known)


def configs() -> st.SearchStrategy[MaskingConfig]:
    return st.builds(
        lambda rate, limit, unit, replaced: MaskingConfig(
            rate, 0.5, 0.2, limit, unit, replaced, similar_words="table.tsv"
        ),
        st.floats(0.05, 0.99),
        st.integers(0, 6),
        st.sampled_from(["word", "ngram", "span"]),
        st.sampled_from(REPLACE_UNITS),
    )


TOKENS = st.lists(st.sampled_from([CLS, SEP, 5, 5, 6, 6, 7, 251, 251, 252, 253]), max_size=30)


@settings(deadline=None, max_examples=examples(300))
@given(
    st.lists(st.tuples(TOKENS, st.integers(0, 2**63 - 1)), max_size=6),
    configs(),
    st.integers(0, 2**70),
    st.integers(0, 2**40),
    st.booleans(),
)
def test_a_batch_is_what_the_plain_loop_makes_of_each_row(
    rows: Rows, config: MaskingConfig, seed: int, epoch: int, starts_given: bool
) -> None:
    starts = np.array([token % 3 > 0 for row, _ in rows for token in row], np.bool_)
    known = starts if starts_given else None
    assert_masked_as_by_the_reference(rows, config, seed, epoch, CONTINUATION, known, similar_words=ENTRIES)


def test_a_word_becomes_a_similar_one_a_random_one_or_stays_in_macberts_shares() -> None:
    rows = [([CLS, *[5, 6, 251, 7] * 15, SEP], number) for number in range(6000)]
    masked = mask(rows, MACBERT)
    ids, labels = (ids.reshape(len(rows), -1)[:, 1:-1].reshape(-1, 4) for ids in (masked.input_ids, masked.labels))
    words = (([0], [(10,), (11,), (12,)]), ([1, 2], [(20, 260), (21, 22)]))
    for columns, similar in words:
        chosen = (labels[:, columns] != IGNORE_INDEX).all(1)
        replaced = Counter(map(tuple, ids[chosen][:, columns].tolist()))
        number = sum(replaced.values())
        shares = {
            "similar": sum(replaced[token_id] for token_id in similar),
            "kept": replaced[tuple(labels[chosen][0, columns])],
        }
        assert abs(shares["similar"] / number - 0.8) < bernstein(number, 0.8)
        assert abs(shares["kept"] / number - 0.1) < bernstein(number, 0.1)
        assert_uniform([replaced[token_id] for token_id in similar])
        others = [word for word in replaced if word not in similar and word != tuple(labels[chosen][0, columns])]
        assert {token for word in others for token in word} <= {*REPLACEMENTS.tolist()}
    lonely = ids[labels[:, 3] != IGNORE_INDEX, 3]
    assert abs((lonely == 7).mean() - 0.1) < bernstein(len(lonely), 0.1)
    assert_uniform(np.bincount(lonely[lonely != 7], minlength=200)[100:])
    assert not (masked.input_ids == MASK).any()
    predicted = masked.labels != IGNORE_INDEX
    assert abs(predicted.sum() / (60 * len(rows)) - 0.15) < 0.002


def test_the_same_tokens_are_predicted_as_without_similar_words() -> None:
    rows = [([CLS, *[5, 6, 251, 7] * 9, SEP], number) for number in range(200)]
    plain = replace(MACBERT, similar_words="")
    without = Masker(plain, 0, CLS, SEP, MASK, REPLACEMENTS, CONTINUATION)
    flat, offsets = np.array([token for row, _ in rows for token in row]), np.arange(0, 201 * 38, 38)
    expected = without.mask(flat, offsets, np.arange(200), 3)
    assert mask(rows, MACBERT, epoch=3).labels.tolist() == expected.labels.tolist()


def test_a_mask_does_not_depend_on_the_batch() -> None:
    rows = [([CLS, *[5, 6, 251, 7] * (number % 9 + 1), SEP], number) for number in range(50)]
    together = mask(rows, MACBERT, epoch=1)
    apart = [mask([row], MACBERT, epoch=1).input_ids for row in rows]
    assert together.input_ids.tolist() == np.concatenate(apart).tolist()


def test_a_whole_unit_is_replaced_or_kept_where_one_draw_decides() -> None:
    rows = [([CLS, *[5] * 40, SEP], number) for number in range(2000)]
    config = replace(MACBERT, replace_unit="unit", ngram_weights=("0", "1"), random_token_prob=0.0)
    masked = mask(rows, config)
    ids, labels = (ids.reshape(len(rows), -1)[:, 1:-1].reshape(-1, 2) for ids in (masked.input_ids, masked.labels))
    kept = (ids == 5)[(labels != IGNORE_INDEX).all(1)]
    assert (kept[:, 0] == kept[:, 1]).all()
    assert abs(kept[:, 0].mean() - 0.2) < bernstein(len(kept), 0.2)


def test_a_word_of_which_only_some_tokens_are_predicted_gets_random_tokens() -> None:
    config = replace(MACBERT, mask_unit="word", mask_token_prob=1.0, random_token_prob=0.0, max_predictions_per_seq=1)
    masked = mask([([CLS, 6, 251, SEP], number) for number in range(50)], config)
    ids = masked.input_ids.reshape(50, 4)
    assert (ids[:, 2] == 251).all()
    assert {*ids[:, 1].tolist()} <= {*REPLACEMENTS.tolist()}


def test_n_grams_have_the_lengths_of_their_weights() -> None:
    assert unit_lengths(MACBERT) == [0.4, 0.3, 0.2, 0.1]
    assert unit_lengths(MaskingConfig(mask_unit="ngram", ngram_weights=(1, 3))) == [0.25, 0.75]  # type: ignore[arg-type]


@pytest.mark.parametrize("weights", [("0",), ("1", "-1"), ("nan",), ("inf",), ("many",)])
def test_weights_that_are_no_shares_are_refused(weights: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError, match="`ngram_weights` is"):
        MaskingConfig(ngram_weights=weights)


def test_similar_words_need_a_unit_of_words_and_a_table() -> None:
    with pytest.raises(ConfigError, match="`mask_unit` token is not of whole words"):
        MaskingConfig(similar_words="table.tsv")
    with pytest.raises(ConfigError, match="the Masker has no table"):
        Masker(MACBERT, 0, CLS, SEP, MASK, REPLACEMENTS, CONTINUATION)
    with pytest.raises(ConfigError, match="no random token can be drawn"):
        _ = Masker(
            replace(MACBERT, random_token_prob=0.0), 0, CLS, SEP, MASK, REPLACEMENTS[:0], similar_words=TABLE
        ).choices


WORDPIECE = WordPieceTokenizer.from_tokens(
    [*SPECIAL_TOKENS, "river", "stream", "brook", "keep", "##er", "##s", "ward", "lamp", "-", "in"]
)


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_table_is_read_and_lines_of_one_word_are_joined(tmp_path: Path) -> None:
    path = write(tmp_path / "t.tsv", "river\tstream\n\nkeeper\twards\t\nriver\tbrook\r\n")
    assert read_table(path) == {"river": ["stream", "brook"], "keeper": ["wards"]}


@pytest.mark.parametrize("line", ["river", "river\t", "\tstream"])
def test_a_line_without_a_word_or_similar_words_is_named(line: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"line 2 has .*expected a word and its similar words"):
        read_table(write(tmp_path / "t.tsv", f"lamp\triver\n{line}\n"))


def test_a_table_is_compiled_for_a_tokenizer_and_what_is_left_out_is_counted() -> None:
    words = {
        "River": ["stream", "brook", "stream", "keeper", "xylophone", "river"],
        "keeper": ["wards", "in-river", "lamp"],
        "xylophone": ["lamp"],
    }
    table, counts = compile_table(words, WORDPIECE)
    river, stream, brook, keeper, wards = (
        tuple(WORDPIECE.encode(w)) for w in ["river", "stream", "brook", "keeper", "wards"]
    )
    assert table.sizes.tolist() == [1, 2]
    assert [table.words.tolist(), table.similar.tolist()] == [[*river, *keeper], [*stream, *brook, *wards]]
    assert table.counts.tolist() == [2, 1]
    assert counts == {
        "words": 2,
        "similar_words": 3,
        "dropped_not_one_word": 1,
        "dropped_other_number_of_tokens": 2,
        "dropped_same": 1,
        "dropped_unknown": 2,
    }


def test_words_of_byte_level_bpe_are_those_after_a_space_and_those_at_the_start() -> None:
    tokenizer = made("byte-level")
    words = [word for word in ("the", "and", "was", "his", "with") if len(tokenizer.encode(f" {word}")) == 1]
    table, counts = compile_table({words[0]: words[1:]}, tokenizer)
    after = tokenizer.encode(f" {words[0]}")
    assert table.find(np.array(after), np.array([0]), np.array([len(after)])).tolist() != [-1]
    start = tokenizer.encode(words[0])
    assert start != after
    assert counts["words"] == 1


def test_a_table_of_which_nothing_is_left_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "t.tsv", "river\tkeeper\txylophone\n")
    with pytest.raises(ConfigError, match=r"nothing is left.*other number of tokens: 1.*") as raised:
        table_for(path, WORDPIECE)
    assert str(raised.value).startswith(path)


@given(
    st.dictionaries(
        st.lists(st.integers(0, 3), min_size=1, max_size=4).map(tuple), st.integers(1, 3), min_size=1, max_size=20
    ),
    st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=6).map(tuple), max_size=20),
)
def test_words_are_found_as_in_a_dictionary(counts: dict[tuple[int, ...], int], asked: list[tuple[int, ...]]) -> None:
    table = SimilarWords.of({word: [word] * number for word, number in counts.items()})
    asked = [*asked, *counts]
    flat, sizes = np.array([token for word in asked for token in word]), np.array([len(word) for word in asked])
    known = sorted(counts)
    expected = [known.index(word) if word in counts else -1 for word in asked]
    assert table.find(flat, np.cumsum(sizes) - sizes, sizes).tolist() == expected


def test_a_table_is_the_same_after_it_was_written_and_other_words_have_another_fingerprint() -> None:
    again = SimilarWords.from_arrow(TABLE.to_arrow())
    assert again.fingerprint == TABLE.fingerprint
    assert again.counts.tolist() == TABLE.counts.tolist()
    assert SimilarWords.of(ENTRIES | {(5,): [(10,), (12,), (11,)]}).fingerprint != TABLE.fingerprint
    assert SimilarWords.of(ENTRIES | {(7,): [(8,)]}).fingerprint != TABLE.fingerprint
