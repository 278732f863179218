from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bertdata.config import OBJECTIVES, ExamplesConfig
from bertdata.draws import below, bits, happens, key
from bertdata.examples.segments import Plan, TokenBlock, plan_examples
from tests.examples.blocks import block_of, blocks, documents_of, examples_of, random_block
from tests.statistics import assert_same_distribution, assert_uniform, bernstein, hoeffding

SPECIALS = {"nsp": 3, "sop": 3, "doc-sentences": 2}


def plan_of(block: TokenBlock, objective: str, length: int = 128, copy: int = 0, **options: Any) -> Plan:
    return plan_examples(block, ExamplesConfig(objective=objective, max_seq_length=length, **options), copy)


def drawn_plan(data: st.DataObject, objective: str, **shape: int) -> tuple[TokenBlock, Plan, int]:
    """A small block, its plan, and the length of its rows; for nsp a block in which two documents have pairs."""
    block = data.draw(blocks(at_least=2 if objective == "nsp" else 0, **shape))
    length = data.draw(st.integers(8, 40))
    options = {"short_seq_prob": data.draw(st.sampled_from([0.0, 0.1, 1.0])), "seed": data.draw(st.integers(0, 99))}
    return block, plan_of(block, objective, length, data.draw(st.integers(0, 3)), **options), length


def tokens_of(plan: Plan) -> list[int]:
    return [position for start, end in plan.spans.tolist() for position in range(start, end)]


@pytest.mark.parametrize("objective", OBJECTIVES)
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_every_token_is_used_once_in_a_copy_or_counted(objective: str, data: st.DataObject) -> None:
    block, plan, _ = drawn_plan(data, objective)
    used, counts = tokens_of(plan), plan.counts
    dropped = counts.get("tokens_dropped_single_word", 0) + counts.get("tokens_dropped_no_partner", 0)
    assert len(used) == len(block.tokens) - dropped + counts.get("tokens_borrowed", 0)
    if not counts.get("tokens_borrowed"):
        assert len(set(used)) == len(used)
    if objective in ("doc-sentences", "full-sentences"):
        assert used == list(range(len(block.tokens)))


@pytest.mark.parametrize("objective", OBJECTIVES)
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_no_row_is_longer_than_asked_for_and_no_span_is_empty(objective: str, data: st.DataObject) -> None:
    _, plan, length = drawn_plan(data, objective, word=30)
    for spans in examples_of(plan):
        assert 1 + sum(end - start + 1 for start, end in spans) <= length
        assert all(start < end for start, end in spans)


@pytest.mark.parametrize("objective", OBJECTIVES)
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_no_segment_crosses_the_border_of_a_document(objective: str, data: st.DataObject) -> None:
    block, plan, _ = drawn_plan(data, objective)
    for start, end in plan.spans.tolist():
        assert len(set(documents_of(block, [start, end - 1]))) == 1


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
    if happens(bits(draws[0], *counters), 0.4):
        target = 2 + int(below(bits(draws[1], *counters), room - 1))
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
def test_a_sentence_is_cut_at_a_word_border_or_inside_a_word_longer_than_a_row(
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


def test_a_single_word_has_no_pair_and_is_counted() -> None:
    plan = plan_of(block_of([[[3]], [[1, 1]]]), "sop", short_seq_prob=0)
    assert [sorted(spans) for spans in examples_of(plan)] == [[(3, 4), (4, 5)]]
    assert plan.counts["tokens_dropped_single_word"] == 3


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_an_empty_block_gives_no_examples(objective: str) -> None:
    plan = plan_of(block_of([]), objective)
    assert (len(plan.ids), len(plan.labels), plan.spans.shape, plan.offsets.tolist()) == (0, 0, (0, 2), [0])
    assert not any(plan.counts.values())


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("keys", [[5], [5, 5]])
def test_a_block_with_pairs_of_one_document_gives_nsp_nothing_and_says_how_much(seed: int, keys: list[int]) -> None:
    block = block_of([[[1, 1], [1, 1]]] * len(keys) + [[[1]]], [*keys, 6])
    plan = plan_of(block, "nsp", seed=seed)
    assert len(plan.ids) == 0
    dropped = {"tokens_dropped_single_word": 1, "tokens_dropped_no_partner": 4 * len(keys)}
    assert plan.counts == dropped | {"tokens_borrowed": 0}
    assert len(plan_of(block, "sop", seed=seed).ids) == len(keys)


def test_next_is_label_0_and_a_random_next_is_label_1() -> None:
    block = random_block(1, 60, 30)
    plan = plan_of(block, "nsp")
    assert set(plan.labels.tolist()) == {0, 1}
    for ((_, a_end), (b_start, b_end)), label in zip(examples_of(plan), plan.labels.tolist(), strict=True):
        same = documents_of(block, [a_end - 1]) == documents_of(block, [b_start])
        assert (label == 0) == same == (b_start == a_end)
        assert b_end > b_start


@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_a_random_b_is_never_of_the_same_document(data: st.DataObject) -> None:
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


def test_a_random_b_comes_from_the_whole_block_by_chunk_and_not_from_the_neighbours() -> None:
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


def test_labels_are_balanced_and_do_not_know_what_the_chunk_holds() -> None:
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


def test_real_and_random_bs_have_the_same_lengths() -> None:
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


def test_short_is_drawn_for_each_chunk_and_copy_by_itself() -> None:
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


@pytest.mark.parametrize("objective", ["nsp", "sop"])
def test_labels_are_drawn_anew_for_every_copy(objective: str) -> None:
    # The first chunks of 3,000 documents have the same label in two copies with one half.
    block = block_of([[[1] * 3, [1] * 3]] * 3000)
    labels = [plan_of(block, objective, copy=copy, short_seq_prob=0).labels for copy in range(2)]
    assert len(labels[0]) == 3000
    assert abs((labels[0] == labels[1]).mean() - 0.5) < hoeffding(3000)


@pytest.mark.parametrize("objective", ["sop", "doc-sentences", "full-sentences"])
def test_without_short_rows_only_the_ends_of_documents_are_short(objective: str) -> None:
    block = block_of([[[1]] * 500] * 4)
    plan = plan_of(block, objective, 32, short_seq_prob=0)
    totals = [sum(end - start for start, end in spans) for spans in examples_of(plan)]
    assert sum(total < 32 - SPECIALS.get(objective, 2) - 1 for total in totals) <= 4


@pytest.mark.parametrize("objective", ["nsp", "sop", "doc-sentences"])
def test_the_order_of_the_documents_does_not_change_their_examples(objective: str) -> None:
    documents = [[[1] * (3 + (i * j) % 11) for j in range(1, 40)] for i in range(1, 60)]
    keys = [1000 + i for i in range(59)]
    found: list[dict[tuple[int, int], Any]] = []
    for order in (range(59), np.random.default_rng(0).permutation(59).tolist()):
        block = block_of([documents[i] for i in order], [keys[i] for i in order])
        plan = plan_of(block, objective, 64)
        starts = np.concatenate([[0], block.document_ends])
        found.append(
            {
                (example, label): [
                    (keys[order[d]], start - starts[d], end - starts[d])
                    for start, end in spans
                    for d in documents_of(block, [start])
                ]
                for example, label, spans in zip(
                    plan.ids.tolist(), plan.labels.tolist(), examples_of(plan), strict=True
                )
            }
        )
    if objective == "nsp":
        # The one pair that borrows its B takes it from a document drawn by its place in the block.
        assert sum(found[0][one] != found[1][one] for one in found[0]) <= 1
        found = [{one: spans[0] for one, spans in examples.items()} for examples in found]
    assert found[0] == found[1]


@pytest.mark.parametrize("objective", ["sop", "doc-sentences"])
@settings(deadline=None, max_examples=30)
@given(block=blocks(at_least=1), length=st.integers(8, 40))
def test_a_document_has_the_same_examples_alone_and_among_others(
    objective: str, block: TokenBlock, length: int
) -> None:
    plan = plan_of(block, objective, length)
    first = int(block.document_ends[0])
    sentences = int(np.searchsorted(block.sentence_ends, first)) + 1
    alone = TokenBlock(
        block.tokens[:first],
        block.word_start[:first],
        block.sentence_ends[:sentences],
        block.document_ends[:1],
        block.document_keys[:1],
    )
    own = plan_of(alone, objective, length)
    count = len(own.ids)
    assert own.spans.tolist() == plan.spans[: len(own.spans)].tolist()
    assert own.ids.tolist() == plan.ids[:count].tolist()
    assert own.labels.tolist() == plan.labels[:count].tolist()


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


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_copies_and_seeds_differ_and_a_plan_repeats_itself(objective: str) -> None:
    block = random_block(9, 40, 30)
    plans = [plan_of(block, objective, copy=copy) for copy in range(3)] + [plan_of(block, objective, seed=1)]
    spans = [examples_of(plan) for plan in plans]
    for i in range(4):
        for j in range(i):
            common = sum(a == b for a, b in zip(spans[i], spans[j], strict=False))
            assert common < 0.7 * len(spans[i])
            assert not set(plans[i].ids.tolist()) & set(plans[j].ids.tolist())
    again = plan_of(block, objective)
    for name in ("spans", "types", "offsets", "labels", "ids"):
        assert getattr(again, name).tolist() == getattr(plans[0], name).tolist()
    assert again.counts == plans[0].counts


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_example_ids_are_unique_and_not_negative(objective: str) -> None:
    plan = plan_of(random_block(10, 200, 40), objective, 64)
    assert len(set(plan.ids.tolist())) == len(plan.ids) > 1000
    assert int(plan.ids.min()) >= 0


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


def test_plans_do_not_depend_on_the_width_of_the_ids() -> None:
    block = random_block(11, 30, 20)
    narrow = replace(block, tokens=(block.tokens % 60_000).astype(np.uint16))
    assert plan_of(block, "nsp").spans.tolist() == plan_of(narrow, "nsp").spans.tolist()


@pytest.mark.parametrize("name", ["sentence_ends", "document_ends", "word_start", "document_keys"])
def test_a_block_whose_parts_do_not_go_together_is_refused_before_anything_is_read(name: str) -> None:
    block = random_block(1, 3, 4)
    for wrong in (getattr(block, name)[:-1], np.append(getattr(block, name), getattr(block, name)[-1:])):
        with pytest.raises(ValueError, match="not those of a block"):
            plan_of(replace(block, **{name: wrong}), "sop")
