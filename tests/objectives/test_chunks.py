"""Where documents are cut: at sentences, else at words; short rows; the last chunk."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.counter_rng import bernoulli, bits, key, randint
from bertdata.objectives.blocks import Plan, TokenBlock
from tests.objectives.blocks import (
    SPECIALS,
    block_of,
    blocks,
    documents_of,
    drawn_plan,
    examples_of,
    plan_of,
    tokens_of,
)
from tests.statistics import assert_uniform, bernstein


@pytest.mark.parametrize("fill", [True, False])
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_documents_are_cut_as_the_plain_loop_cuts_them(fill: bool, data: st.DataObject) -> None:
    objective = "sop" if fill else "doc-sentences"
    block, copy, seed = data.draw(blocks(word=9)), data.draw(st.integers(0, 3)), data.draw(st.integers(0, 99))
    length = data.draw(st.integers(8, 40))
    plan = plan_of(block, objective, length, copy, short_seq_prob=0.4, seed=seed)
    draws = [key(seed, f"{objective} {name}") for name in ("short", "length")]
    expected, begin = [], 0
    for document, limit in zip(block.document_keys.tolist(), block.document_ends.tolist(), strict=True):
        number = 0
        while begin < limit:
            end = _plain_cut(block, begin, limit, length - SPECIALS[objective], draws, (document, copy, number), fill)
            expected.append((begin, end))
            begin, number = end, number + 1
    if not fill:
        assert [spans[0] for spans in examples_of(plan)] == expected
    else:
        pairs = {(min(a, c), max(b, d)) for (a, b), (c, d) in examples_of(plan)}
        assert pairs <= set(expected)
        assert {chunk for chunk in expected if block.word_start[chunk[0] + 1 : chunk[1]].any()} == pairs


def _plain_cut(
    block: TokenBlock, begin: int, limit: int, room: int, draws: list[int], counters: tuple[int, int, int], fill: bool
) -> int:
    target = room
    if bernoulli(bits(draws[0], *counters), 0.4):
        target = 2 + int(randint(bits(draws[1], *counters), room - 1))
    ends = [end for end in block.sentence_ends.tolist() if begin < end <= limit]
    end: int = next((end for end in ends if end - begin >= target), limit)
    if end - begin <= room:
        return end
    whole: list[int] = [end for end in ends if end - begin <= room]
    if whole and not fill:
        return whole[-1]
    border: int = next((place for place in range(begin + room, begin, -1) if block.word_start[place]), begin + room)
    return border


@pytest.mark.parametrize("objective", ["sop", "doc-sentences", "full-sentences"])
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_rule_18_a_sentence_is_cut_at_a_word_border_or_inside_a_word_longer_than_a_row(
    objective: str, data: st.DataObject
) -> None:
    block, plan, length = drawn_plan(data, objective, word=30)
    room = length - SPECIALS.get(objective, 2)
    words = np.flatnonzero(np.append(block.word_start, True))
    for place in plan.spans.ravel().tolist():
        if place < len(block.tokens) and not block.word_start[place]:
            number = int(np.searchsorted(words, place))
            assert words[number] - words[number - 1] > room


@settings(deadline=None, max_examples=30)
@given(blocks(), st.integers(8, 40))
def test_doc_sentences_cuts_only_sentences_longer_than_a_row(block: TokenBlock, length: int) -> None:
    _assert_only_long_sentences_are_cut(block, plan_of(block, "doc-sentences", length), length - 2)


@settings(deadline=None, max_examples=30)
@given(blocks(), st.integers(8, 40))
def test_full_sentences_cuts_only_sentences_longer_than_a_row(block: TokenBlock, length: int) -> None:
    _assert_only_long_sentences_are_cut(block, plan_of(block, "full-sentences", length), length - 2)


def _assert_only_long_sentences_are_cut(block: TokenBlock, plan: Plan, room: int) -> None:
    ends = [0, *block.sentence_ends.tolist()]
    for place in set(plan.spans.ravel().tolist()) - set(ends):
        number = int(np.searchsorted(ends, place))
        assert ends[number] - ends[number - 1] > room


def test_a_long_sentence_goes_on_in_the_next_row_and_its_document_stays() -> None:
    block = block_of([[[1] * 100], [[1, 1]]])
    rows = examples_of(plan_of(block, "doc-sentences", 42, short_seq_prob=0))
    assert rows == [[(0, 40)], [(40, 80)], [(80, 100)], [(100, 102)]]


def test_a_word_longer_than_a_row_is_cut_and_the_next_word_begins_whole() -> None:
    block = block_of([[[15, 3, 3]]])
    rows = examples_of(plan_of(block, "doc-sentences", 12, short_seq_prob=0))
    assert rows == [[(0, 10)], [(10, 18)], [(18, 21)]]


def test_the_last_chunk_of_a_document_is_emitted() -> None:
    block = block_of([[[1] * 9] * 11, [[1, 1]]])
    for objective in ("sop", "doc-sentences", "full-sentences"):
        assert set(tokens_of(plan_of(block, objective, 48))) == set(range(101))


def test_short_rows_are_as_many_as_asked_for_and_of_any_length() -> None:
    # Sentences of one token end a chunk just where its target lies: 12,000 rows, "short" for 30% of them, lengths
    # 2 to 30 alike. Uniform given short, so the two draws are independent.
    block = block_of([[[1]] * 1500] * 200)
    plan = plan_of(block, "doc-sentences", 32, short_seq_prob=0.3)
    ends = set(block.document_ends.tolist())
    lengths = np.array([end - start for start, end in plan.spans.tolist() if end not in ends])
    assert len(lengths) > 11_000
    chance = 0.3 * 28 / 29
    assert abs((lengths < 30).mean() - chance) < bernstein(len(lengths), chance)
    assert_uniform(np.bincount(lengths[lengths < 30], minlength=30)[2:])


def test_rule_15_short_is_drawn_for_each_chunk_and_copy_by_itself() -> None:
    # Of 10,000 neighbouring chunks, and of the first chunks of two copies, both are short with 0.25.
    block = block_of([[[1]] * 2000] * 150)
    short = []
    for copy in range(2):
        plan = plan_of(block, "doc-sentences", 32, copy, short_seq_prob=0.5)
        owner = np.searchsorted(block.document_ends, plan.spans[:, 0], side="right")
        short.append([(plan.spans[owner == i, 1] - plan.spans[owner == i, 0] < 30)[:60] for i in range(150)])
    flags = np.array(short)
    chance = (0.5 * 28 / 29) ** 2
    assert abs((flags[0, :, 1:] & flags[0, :, :-1]).mean() - chance) < bernstein(150 * 59, chance)
    assert abs((flags[0] & flags[1])[:, :30].mean() - chance) < bernstein(150 * 30, chance)


@pytest.mark.parametrize("objective", ["doc-sentences", "full-sentences"])
def test_whether_the_first_row_is_short_is_drawn_anew_for_every_copy(objective: str) -> None:
    # Of 60 copies about 29 are short; fewer than 8 or more than 52 once in 10**8.
    block = block_of([[[1]] * 100])
    rows = [examples_of(plan_of(block, objective, 32, copy, short_seq_prob=0.5))[0] for copy in range(60)]
    assert 8 <= sum(end - start < 30 for [(start, end)] in rows) <= 52


@pytest.mark.parametrize("objective", ["sop", "doc-sentences", "full-sentences"])
def test_without_short_rows_only_the_ends_of_documents_are_short(objective: str) -> None:
    block = block_of([[[1]] * 500] * 4)
    plan = plan_of(block, objective, 32, short_seq_prob=0)
    totals = [sum(end - start for start, end in spans) for spans in examples_of(plan)]
    assert sum(total < 32 - SPECIALS.get(objective, 2) - 1 for total in totals) <= 4


@settings(deadline=None, max_examples=30)
@given(blocks(), st.integers(8, 40))
def test_full_sentences_parts_documents_in_a_row_by_a_span_border_and_nothing_else(
    block: TokenBlock, length: int
) -> None:
    plan = plan_of(block, "full-sentences", length)
    for spans in examples_of(plan):
        numbers = [documents_of(block, [start, end - 1]) for start, end in spans]
        assert all(first == last for first, last in numbers)
        assert all(one[0] < other[0] for one, other in pairwise(numbers))
    assert plan.types.tolist() == [0] * len(plan.spans)
    assert plan.labels.tolist() == [0] * len(plan.ids)


def test_full_sentences_fills_a_row_until_the_next_sentence_does_not_fit() -> None:
    block = block_of([[[1] * 4, [1] * 4], [[1] * 4], [[1] * 4]])
    rows = examples_of(plan_of(block, "full-sentences", 16, short_seq_prob=0))
    assert rows == [[(0, 8), (8, 12)], [(12, 16)]]
    rows = examples_of(plan_of(block, "full-sentences", 20, short_seq_prob=0))
    assert rows == [[(0, 8), (8, 12), (12, 16)]]
