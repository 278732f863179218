"""Pairs of segments: labels, where they are cut, and where a random B comes from."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bertdata.counter_rng import bits, randint
from bertdata.objectives.blocks import TokenBlock
from bertdata.objectives.nsp import DRAWN, FEW_PAIRS, NSP, SENTENCE_PAIR_NSP, _in_order, _lenders, exchange, fair_labels
from tests.objectives.blocks import block_of, blocks, documents_of, examples_of, plan_of, random_block, tokens_of
from tests.statistics import assert_same_distribution, assert_uniform, bernstein, hoeffding


def test_a_single_word_has_no_pair_and_is_counted() -> None:
    plan = plan_of(block_of([[[3]], [[1, 1]]]), "sop", short_seq_prob=0)
    assert [sorted(spans) for spans in examples_of(plan)] == [[(3, 4), (4, 5)]]
    assert plan.counts["tokens_dropped_single_word"] == 3


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("keys", [[5], [5, 5]])
def test_a_block_with_pairs_of_one_document_gives_nsp_nothing_and_says_how_much(seed: int, keys: list[int]) -> None:
    block = block_of([[[1, 1], [1, 1]]] * len(keys) + [[[1]]], [*keys, 6])
    plan = plan_of(block, "nsp", seed=seed)
    assert len(plan.ids) == 0
    dropped = {"tokens_dropped_single_word": 1, "tokens_dropped_no_partner": 4 * len(keys)}
    assert plan.counts == dropped | {"tokens_borrowed": 0}
    assert len(plan_of(block, "sop", seed=seed).ids) == len(keys)


def test_rule_14_next_is_label_0_and_a_random_next_is_label_1() -> None:
    block = random_block(1, 60, 30)
    plan = plan_of(block, "nsp")
    assert set(plan.labels.tolist()) == {0, 1}
    for ((_, a_end), (b_start, b_end)), label in zip(examples_of(plan), plan.labels.tolist(), strict=True):
        same = documents_of(block, [a_end - 1]) == documents_of(block, [b_start])
        assert (label == 0) == same == (b_start == a_end)
        assert b_end > b_start


def test_labels_have_the_name_that_models_with_a_head_for_next_sentences_take_them_by() -> None:
    assert [objective.label for objective in (NSP, SENTENCE_PAIR_NSP)] == ["next_sentence_label"] * 2


@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_rule_10_a_random_b_is_never_of_the_same_document(data: st.DataObject) -> None:
    sentences = st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=9), min_size=2, max_size=40)
    documents = data.draw(st.lists(sentences, min_size=2, max_size=5))
    keys = data.draw(st.lists(st.integers(0, 3), min_size=len(documents), max_size=len(documents)))
    assume(len(set(keys)) > 1)
    block = block_of(documents, keys)
    plan = plan_of(block, "nsp", data.draw(st.integers(8, 20)), seed=data.draw(st.integers(0, 99)))
    for (a, b), label in zip(examples_of(plan), plan.labels.tolist(), strict=True):
        if label:
            first, second = documents_of(block, [a[0], b[0]])
            assert keys[first] != keys[second]


def test_rule_13_a_random_b_comes_from_the_whole_block_by_chunk_and_not_from_the_neighbours() -> None:
    # 200 documents: a neighbour (or next but one) of A's document holds 2% of the chunks; 16,000 random Bs.
    block = random_block(3, 200, 60)
    near, total, given = 0, 0, Counter[int]()
    for copy in range(16):
        plan = plan_of(block, "nsp", copy=copy)
        b = plan.spans.reshape(-1, 2, 2)[plan.labels == 1]
        owner = np.searchsorted(block.document_ends, b[:, :, 0], side="right")
        near += int((np.abs(owner[:, 0] - owner[:, 1]) <= 2).sum())
        total += len(b)
        given.update(owner[:, 1].tolist())
    assert total > 15_000
    sizes = np.diff(np.concatenate([[0], block.document_ends]))
    share = sizes / sizes.sum()
    chance = float(sum(share[i] * share[j] for i in range(200) for j in range(200) if 0 < abs(i - j) <= 2))
    assert near / total < chance + bernstein(total, chance) + 0.002
    long = np.argsort(sizes)[-20:]
    assert abs(sum(given[int(i)] for i in long) / total - share[long].sum()) < 0.02


def test_no_token_is_lost_or_used_twice_by_random_nexts_of_a_varied_block() -> None:
    # Only the pair whose B is the longest of those of its length class may find no place for it.
    block = random_block(4, 300, 40)
    plan = plan_of(block, "nsp")
    assert len(plan.ids) > 1500
    assert plan.counts["tokens_dropped_no_partner"] < 0.001 * len(block.tokens)
    assert plan.counts["tokens_borrowed"] < 0.001 * len(block.tokens)


def test_rule_11_labels_are_balanced_and_do_not_know_what_the_chunk_holds() -> None:
    # 10,000 and more pairs, one false alarm in 10**9: within 0.033 of one half, for chunks of a single sentence (which
    # Google's code always makes NotNext), for full rows and for document ends alike.
    block = random_block(5, 1500, 40)
    plan = plan_of(block, "nsp")
    a = plan.spans[0::2]
    single = np.isin(a[:, 0], np.concatenate([[0], block.sentence_ends])) & ~np.isin(a[:, 1], block.sentence_ends)
    first = np.isin(a[:, 0], np.concatenate([[0], block.document_ends]))
    for chosen in (np.ones(len(a), np.bool_), single, first, ~first):
        count = int(chosen.sum())
        assert abs(plan.labels[chosen].mean() - 0.5) < hoeffding(count)
    assert len(a) > 10_000
    assert int(single.sum()) > 100


def test_sop_labels_are_balanced() -> None:
    plan = plan_of(random_block(5, 1000, 40), "sop")
    assert abs(plan.labels.mean() - 0.5) < hoeffding(len(plan.labels))


def test_rule_12_real_and_random_bs_have_the_same_lengths() -> None:
    # 2 x 5,000 pairs: a difference of 0.054 between the distribution functions is found, one false alarm in 10**6; a B
    # cut to fit, or drawn to another length, gives 0.2 and more.
    plan = plan_of(random_block(6, 1500, 40), "nsp")
    lengths = (plan.spans[:, 1] - plan.spans[:, 0]).reshape(-1, 2)
    assert len(lengths) > 10_000
    for part in (lengths[:, 0], lengths[:, 1], lengths.sum(1)):
        assert_same_distribution(part[plan.labels == 0], part[plan.labels == 1])


def test_the_length_of_a_row_does_not_tell_a_random_next_in_a_block_of_2000_chunks() -> None:
    # Summed over 12 copies, 2 x 12,000 pairs: a difference of 0.035 in the share of full rows is found.
    block = random_block(7, 200, 60)
    full: tuple[list[bool], list[bool]] = [], []
    for copy in range(12):
        plan = plan_of(block, "nsp", copy=copy)
        lengths = (plan.spans[:, 1] - plan.spans[:, 0]).reshape(-1, 2).sum(1)
        for label in (0, 1):
            full[label].extend((lengths[plan.labels == label] == 125).tolist())
    assert len(full[0]) > 10_000
    assert abs(np.mean(full[0]) - np.mean(full[1])) < hoeffding(len(full[0])) + hoeffding(len(full[1]))
    assert np.mean(full[0]) > 0.5


@settings(deadline=None, max_examples=30)
@given(blocks(), st.integers(8, 40), st.integers(0, 3))
def test_sop_pairs_two_neighbouring_pieces_of_one_document(block: TokenBlock, length: int, copy: int) -> None:
    plan = plan_of(block, "sop", length, copy)
    for (first, second), label in zip(examples_of(plan), plan.labels.tolist(), strict=True):
        before, after = (second, first) if label else (first, second)
        assert before[1] == after[0]
        assert len(set(documents_of(block, [before[0], after[0], after[1] - 1]))) == 1


def test_sop_label_0_is_in_order_and_1_is_swapped() -> None:
    plan = plan_of(random_block(8, 20, 20), "sop")
    starts = plan.spans[:, 0].reshape(-1, 2)
    assert ((starts[:, 0] > starts[:, 1]) == (plan.labels == 1)).all()
    assert plan.types.tolist() == [0, 1] * len(plan.ids)


def test_pairs_are_cut_at_a_sentence_border_drawn_uniformly() -> None:
    # Chunks of exactly 8 sentences of 5 tokens: 7 borders, 6,000 chunks.
    block = block_of([[[1] * 5] * 8] * 6000)
    plan = plan_of(block, "sop", 43, short_seq_prob=0)
    middle = plan.spans.reshape(-1, 2, 2)[:, :, 0].max(1) % 40
    assert len(plan.ids) == 6000
    assert_uniform(np.bincount(middle, minlength=40)[5::5])
    assert set(middle.tolist()) == {5, 10, 15, 20, 25, 30, 35}


def test_a_chunk_of_one_sentence_is_cut_at_the_word_border_nearest_its_middle() -> None:
    plan = plan_of(block_of([[[1, 3, 1, 2, 2]]]), "sop", short_seq_prob=0)
    assert sorted(examples_of(plan)[0]) == [(0, 4), (4, 9)]


@pytest.mark.parametrize("objective", ["nsp", "sop"])
def test_labels_are_drawn_anew_for_every_copy(objective: str) -> None:
    # The first chunks of 3,000 documents have the same label in two copies with one half.
    block = block_of([[[1] * 3, [1] * 3]] * 3000)
    labels = [plan_of(block, objective, copy=copy, short_seq_prob=0).labels for copy in range(2)]
    assert len(labels[0]) == 3000
    assert abs((labels[0] == labels[1]).mean() - 0.5) < hoeffding(3000)


@pytest.mark.parametrize("length", [32, 64, 128])
@pytest.mark.parametrize("documents", [(8, 9, 10), (9, 11, 7, 13), (12, 12), (25, 9, 16), (6,) * 5])
def test_rule_16_a_few_short_documents_give_balanced_pairs_and_no_token_is_lost_or_used_twice(
    documents: tuple[int, ...], length: int
) -> None:
    block = block_of(
        [[[1 + (i * j) % 3 // 2 for i in range(6 + (7 * j + n) % 13)] for j in range(n)] for n in documents]
    )
    total, labels = 0, 0
    for copy in range(40):
        plan = plan_of(block, "nsp", length, copy)
        assert plan.counts["tokens_borrowed"] == plan.counts["tokens_dropped_no_partner"] == 0
        used = tokens_of(plan)
        assert len(set(used)) == len(used) == len(block.tokens) - plan.counts["tokens_dropped_single_word"]
        assert abs(2 * int(plan.labels.sum()) - len(plan.ids)) <= 2
        total, labels = total + len(plan.ids), labels + int(plan.labels.sum())
    assert abs(labels / total - 0.5) < 0.05


@pytest.mark.parametrize("pairs", [0, 1, 2, 7, 100, FEW_PAIRS - 1])
def test_of_few_pairs_half_are_not_next_and_of_an_odd_number_one_more_or_fewer_by_a_coin(pairs: int) -> None:
    numbers_next = [int(fair_labels(bits(number, np.arange(pairs))).sum()) for number in range(400)]
    assert set(numbers_next) == {pairs // 2, (pairs + 1) // 2}
    if pairs % 2:
        assert abs(np.mean(numbers_next) - pairs / 2) < hoeffding(400)


def test_two_pairs_that_can_only_exchange_with_each_other_do_so_in_half_of_the_copies() -> None:
    block = block_of([[[1] * 9, [1] * 7], [[1] * 8, [1] * 6]])
    plans = [plan_of(block, "nsp", copy=copy, short_seq_prob=0) for copy in range(300)]
    assert {tuple(plan.labels.tolist()) for plan in plans} == {(0, 0), (1, 1)}
    assert abs(np.mean([plan.labels[0] for plan in plans]) - 0.5) < hoeffding(300)
    assert all(plan.counts["tokens_borrowed"] == 0 for plan in plans)


def test_every_pair_of_few_is_not_next_as_often_as_any_other() -> None:
    labels = np.array([fair_labels(bits(number, np.arange(7))) for number in range(20_000)])
    assert abs(labels.mean(0) - 0.5).max() < hoeffding(20_000)
    assert_uniform(labels[labels.sum(1) == 3].sum(0), 3 * 7 / (3 * 4))


def test_of_many_pairs_each_label_is_a_coin_of_its_own() -> None:
    draws = bits(3, np.arange(FEW_PAIRS))
    assert fair_labels(draws).tolist() == (draws < np.uint64(2**63)).tolist()


def test_pairs_stand_in_order_of_their_lengths_then_of_their_draws_then_as_they_were() -> None:
    assert _in_order(np.array([4, 4, 1]), np.array([3, 2, 0], np.uint64)).tolist() == [2, 1, 0]
    assert _in_order(np.array([4, 4, 1, 4]), np.array([3, 2, 0, 3], np.uint64)).tolist() == [2, 1, 0, 3]
    generator = np.random.default_rng(0)
    lengths, ties = generator.integers(1, 500, 3000), generator.integers(0, 2**64, 3000, dtype=np.uint64)
    ties[:1000] >>= np.uint64(56)
    assert _in_order(lengths, ties).tolist() == sorted(
        range(3000), key=lambda number: (lengths[number], ties[number], number)
    )


class Counted(np.ndarray[Any, Any]):
    """Numbers of which every operation that looks at each of them is counted."""

    looked_at = 0

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        result = getattr(ufunc, method)(*(np.asarray(column) for column in inputs), **options)
        Counted.looked_at += np.size(result)
        return result


@pytest.mark.parametrize("pairs", [2000, 8000])
def test_looking_for_a_lender_takes_as_long_for_each_pair_however_many_there_are(pairs: int) -> None:
    # One document has all pairs but five: nearly always all pairs that are drawn are of it.
    owners = np.repeat(np.array([1, 5, 9], np.uint64), [2, pairs, 3]).view(Counted)
    lengths, ties = np.arange(pairs + 5) % 50 + 1, bits(1, np.arange(pairs + 5))
    Counted.looked_at = 0
    lenders = _lenders(np.arange(2, pairs + 2), owners, lengths, ties)
    assert Counted.looked_at <= DRAWN * pairs
    assert set(lenders.tolist()) == {0, 1, pairs + 2, pairs + 3, pairs + 4}


def test_a_lender_is_of_another_document_and_of_the_likest_length_of_those_drawn() -> None:
    owners, lengths = np.arange(5000).astype(np.uint64) % np.uint64(7), np.arange(5000) * 37 % 101
    ties, takers = bits(2, np.arange(5000)), np.arange(0, 5000, 11)
    for taker, lender in zip(takers.tolist(), _lenders(takers, owners, lengths, ties).tolist(), strict=True):
        drawn = randint(bits(int(ties[taker]), np.arange(DRAWN)), 5000)
        others = [candidate for candidate in drawn.tolist() if owners[candidate] != owners[taker]]
        assert lender == min(others, key=lambda one: abs(lengths[one] - lengths[taker]))


@pytest.mark.parametrize(("word", "cut"), [(1, 9), (4, 8), (20, 9)])
def test_a_borrowed_b_that_is_too_long_is_cut_at_a_word_border_or_inside_a_longer_word(word: int, cut: int) -> None:
    # One A of 11 tokens is left with room for 9, and finds only a B of 20 tokens behind an A too long for an exchange.
    block = block_of([[[1] * 11, [1] * 9], [[1] * 15, [word] * (20 // word)]])
    exchanged = exchange(
        *(block, np.array([0, 20]), np.array([11, 35]), np.array([20, 55]), np.array([True, False])),
        *(np.array([1, 2], np.uint64), 20, np.zeros(2, np.uint64)),
        words=False,
    )
    assert exchanged.second.tolist() == [[35, 35 + cut], [35, 55]]
    assert exchanged.not_next.tolist() == [True, False]
    assert exchanged.counts == {"tokens_borrowed": cut, "tokens_dropped_no_partner": 9}


def test_where_one_document_holds_nearly_everything_borrowed_bs_are_of_others_and_counted() -> None:
    big: list[list[int]] = [[1] * (5 + i % 13) for i in range(2000)]
    block = block_of([big, *([[[1] * 9, [1] * 7]] * 3)])
    plan = plan_of(block, "nsp", 64)
    assert plan.counts["tokens_borrowed"] > 0
    assert plan.counts["tokens_dropped_no_partner"] > 0
    assert len(tokens_of(plan)) == (
        len(block.tokens) - plan.counts["tokens_dropped_no_partner"] + plan.counts["tokens_borrowed"]
        - plan.counts["tokens_dropped_single_word"]
    )  # fmt: skip
    b = plan.spans.reshape(-1, 2, 2)[plan.labels == 1]
    owner = np.searchsorted(block.document_ends, b[:, :, 0], side="right")
    assert (owner[:, 0] != owner[:, 1]).all()
