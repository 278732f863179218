"""The kernels of pairs against the loops they stand for, in plain Python."""

from __future__ import annotations

from itertools import groupby

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.draws import ascending, below, bits
from bertdata.examples import kernel_pairs
from bertdata.examples.pairs import Chunks, split_chunks
from bertdata.examples.segments import TokenBlock
from tests.examples.blocks import blocks


def test_the_draws_of_chunks_are_those_of_their_counters() -> None:
    keys, documents = np.array([3, 2**64 - 1, 7], np.uint64), np.array([5, 2**63, 0], np.uint64)
    of_chunks, numbers = np.array([0, 0, 1, 2, 2]), np.array([0, 1, 0, 0, 2**40])
    found = np.empty((3, 5), np.uint64)
    with np.errstate(over="ignore"):
        kernel_pairs.draw_chunks(keys, documents, of_chunks, numbers, 9, found)
    for key, row in zip(keys.tolist(), found, strict=True):
        assert row.tolist() == bits(key, documents[of_chunks], 9, numbers).tolist()


@settings(deadline=None, max_examples=60)
@given(block=blocks(at_least=1), data=st.data())
def test_a_chunk_is_cut_at_a_drawn_sentence_or_the_word_border_nearest_its_middle(
    block: TokenBlock, data: st.DataObject
) -> None:
    total = len(block.tokens)
    cuts = sorted({0, total, *data.draw(st.lists(st.integers(0, total), max_size=9))})
    start, end = np.array(cuts[:-1], np.int64), np.array(cuts[1:], np.int64)
    draws = np.array(
        data.draw(st.lists(st.integers(0, 2**64 - 1), min_size=len(start), max_size=len(start))), np.uint64
    )
    expected = []
    for begin, stop, draw in zip(start.tolist(), end.tolist(), draws, strict=True):
        inner = [place for place in block.sentence_ends.tolist() if begin < place < stop]
        words = [place for place in range(begin + 1, stop) if block.word_start[place]]
        if inner:
            expected.append(inner[int(below(draw, len(inner)))])
        else:
            expected.append(min(words, key=lambda place: (abs(2 * place - begin - stop), place), default=begin))
    chunks = Chunks(np.zeros_like(start), np.zeros_like(start), start, end)
    assert split_chunks(block, chunks, draws).tolist() == expected


@settings(deadline=None, max_examples=200)
@given(data=st.data())
def test_bs_go_round_among_equal_lengths_and_what_does_not_fit_swaps_with_the_nearest(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 30))
    numbers = st.lists(st.integers(1, 6), min_size=count, max_size=count)
    a, b, owners = (np.array(data.draw(numbers)) for _ in range(3))
    room = data.draw(st.integers(4, 12))
    members = np.argsort(b, kind="stable")
    givers, conflicts = np.empty((2, count), np.int64)
    found = kernel_pairs.deal(members, a, b, owners.astype(np.uint64), room, givers, conflicts)

    def fits(taker: int, source: int) -> bool:
        return bool(owners[taker] != owners[source] and a[taker] + b[source] <= room)

    expected: list[int] = [0] * count
    runs = [[place for place, _ in run] for _, run in groupby(enumerate(b[members].tolist()), key=lambda one: one[1])]
    for run in [*(run for run in runs if len(run) > 1), [run[0] for run in runs if len(run) == 1]]:
        for place, before in zip(run, [*run[-1:], *run[:-1]], strict=True):
            expected[place] = int(members[before])
    for place in range(count):
        if not fits(members[place], expected[place]):
            near = [
                other
                for other in range(max(0, place - kernel_pairs.NEAR), min(count, place + kernel_pairs.NEAR + 1))
                if fits(members[place], expected[other]) and fits(members[other], expected[place])
            ]
            if near:
                other = min(near, key=lambda one: (abs(one - place), one))
                expected[place], expected[other] = expected[other], expected[place]
    stuck = [place for place in range(count) if not fits(members[place], expected[place])]
    assert givers.tolist() == expected
    assert conflicts[:found].tolist() == stuck


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 3), max_size=40))
def test_draws_are_put_in_order_and_equal_ones_stay_as_they_are(numbers: list[int]) -> None:
    draws = np.array(numbers, np.uint64)
    assert ascending(draws).tolist() == np.argsort(draws, kind="stable").tolist()
