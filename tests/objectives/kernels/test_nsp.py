"""The kernels of pairs against the loops they stand for, in plain Python."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bertdata.counter_rng import randint
from bertdata.objectives.blocks import TokenBlock
from bertdata.objectives.chunks import Chunks, split_chunks
from bertdata.objectives.kernels import nsp as nsp_kernel
from tests.generated import examples
from tests.objectives.blocks import blocks


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
            expected.append(inner[int(randint(draw, len(inner)))])
        else:
            expected.append(min(words, key=lambda place: (abs(2 * place - begin - stop), place), default=begin))
    chunks = Chunks(np.zeros_like(start), np.zeros_like(start), start, end)
    assert split_chunks(block, chunks, draws).tolist() == expected


@settings(deadline=None, max_examples=examples(200))
@given(data=st.data())
def test_bs_go_round_among_equal_lengths_and_what_does_not_fit_swaps_with_the_nearest(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 30))
    numbers = st.lists(st.integers(1, 6), min_size=count, max_size=count)
    a, b, owners = (np.array(data.draw(numbers)) for _ in range(3))
    room = data.draw(st.integers(4, 12))
    members = np.argsort(b, kind="stable")
    givers, conflicts = np.empty((2, count), np.int64)
    moved = nsp_kernel.assign_givers(members, a, b, owners.astype(np.uint64), room, givers, conflicts)

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
                for other in range(max(0, place - nsp_kernel.NEAR), min(count, place + nsp_kernel.NEAR + 1))
                if fits(members[place], expected[other]) and fits(members[other], expected[place])
            ]
            if near:
                other = min(near, key=lambda one: (abs(one - place), one))
                expected[place], expected[other] = expected[other], expected[place]
    stuck = [place for place in range(count) if not fits(members[place], expected[place])]
    assert givers.tolist() == expected
    assert conflicts[:moved].tolist() == stuck


@settings(deadline=None, max_examples=examples(300))
@given(data=st.data())
def test_stuck_pairs_leave_their_circles_and_the_others_still_fit(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 12))
    numbers = st.lists(st.integers(1, 5), min_size=count, max_size=count)
    a, b, owners = (np.array(data.draw(numbers)) for _ in range(3))
    room, members = data.draw(st.integers(4, 9)), np.argsort(b, kind="stable")
    sources, places = np.empty((2, count), np.int64)
    moved = nsp_kernel.assign_givers(members, a, b, owners.astype(np.uint64), room, sources, places)
    of_pairs = np.empty(count, np.int64)
    of_pairs[members] = sources
    stuck, free = members[places[:moved]], np.empty(count, np.int64)

    def fits(taker: int, source: int) -> bool:
        return bool(owners[taker] != owners[source] and a[taker] + b[source] <= room)

    expected, out = of_pairs.tolist(), list[int]()
    for pair in stuck.tolist():
        if pair in out or fits(pair, expected[pair]):
            continue
        source, taker = expected[pair], expected.index(pair)
        circle = [pair]
        if fits(taker, pair) and not fits(taker, source):
            while expected[circle[-1]] != pair:
                circle.append(expected[circle[-1]])
        else:
            expected[taker] = source
        for member in circle:
            expected[member] = member
        out += circle
    number = nsp_kernel.release(stuck, a, b, owners.astype(np.uint64), room, of_pairs, np.argsort(of_pairs), free)
    assert of_pairs.tolist() == expected
    assert free[:number].tolist() == out
    assert sorted(expected) == list(range(count))
    assert all(fits(pair, expected[pair]) for pair in range(count) if pair not in out)


def test_a_pair_in_a_circle_too_long_to_be_taken_apart_keeps_what_does_not_fit_it() -> None:
    # Lengths 1, 2, ... go round once; only the first, which takes the last, does not fit, and nobody fits the last's B.
    for count in (nsp_kernel.NEAR, nsp_kernel.NEAR + 1):
        a, b = np.full(count, 4), np.arange(1, count + 1)
        sources, free = np.roll(np.arange(count), 1), np.empty(count, np.int64)
        room, owners, takers = 3 + count, np.arange(count).astype(np.uint64), np.argsort(sources)
        number = nsp_kernel.release(np.array([0]), a, b, owners, room, sources, takers, free)
        assert number == (count if count == nsp_kernel.NEAR else 0)
        assert sources.tolist() == (list(range(count)) if number else [count - 1, *range(count - 1)])


@pytest.mark.costly
@settings(deadline=None, max_examples=examples(300))
@given(block=blocks(documents=5, at_least=2), data=st.data())
def test_free_pairs_exchange_with_pairs_of_other_documents_where_a_cut_fits(
    block: TokenBlock, data: st.DataObject
) -> None:
    room, words = data.draw(st.integers(2, 30)), data.draw(st.booleans())
    tokens, sentence_ends = len(block.tokens), block.sentence_ends.tolist()
    start, end = list[int](), list[int]()
    begin = 0
    for limit in block.document_ends.tolist():
        while begin < limit:
            start.append(begin)
            begin = min(limit, begin + data.draw(st.integers(2, room)))
            end.append(begin)
    chosen = [(first_place, other) for first_place, other in zip(start, end, strict=True) if other - first_place > 1]
    assume(chosen)
    start, end = [first_place for first_place, _ in chosen], [other for _, other in chosen]
    count = len(start)
    ends_in = [[place for place in sentence_ends if first_place < place < other] for first_place, other in chosen]
    middle = [
        data.draw(st.sampled_from(inner or range(first_place + 1, other)))
        for (first_place, other), inner in zip(chosen, ends_in, strict=True)
    ]
    owners = np.searchsorted(block.document_ends, start, side="right")
    flags = st.lists(st.booleans(), min_size=count, max_size=count)
    not_next = data.draw(flags)
    free = [pair for pair, flag in enumerate(data.draw(flags)) if flag and not_next[pair]]
    draws = data.draw(st.lists(st.integers(0, 2**64 - 1), min_size=count, max_size=count))

    by_owner = np.argsort(owners, kind="stable")
    begins, stops = (np.searchsorted(owners[by_owner], owners[free], side) for side in ("left", "right"))
    found_middle, found_sources = np.array(middle), np.arange(count)
    found_not_next, found_waiting = np.array(not_next), np.empty(len(free), np.int64)
    still_open = [not label or pair in free for pair, label in enumerate(not_next)]
    surplus = data.draw(st.integers(0, 1))
    found_open = np.array(still_open)
    with np.errstate(over="ignore"):
        number = nsp_kernel.pair_again(
            np.array(free, np.int64),
            block.sentence_ends,
            block.word_start,
            np.array(start),
            found_middle,
            np.array(end),
            by_owner,
            begins,
            stops,
            np.array(draws, np.uint64),
            room,
            words,
            surplus,
            found_sources,
            found_not_next,
            found_open,
            found_waiting,
        )

    def cuts(first_place: int, other: int, inside: bool) -> tuple[int, int] | None:
        def turned(pair: int) -> list[int]:
            inner = ends_in[pair] or [middle[pair]]
            at = inner.index(middle[pair])
            return inner[at:] + inner[:at]

        anywhere = [place for place in range(start[other] + 1, end[other]) if block.word_start[place]]
        for here in turned(first_place):
            for there in anywhere if inside else turned(other):
                if (
                    max(here - start[first_place] + end[other] - there, there - start[other] + end[first_place] - here)
                    <= room
                ):
                    return here, there
        return None

    sources, waiting = list(range(count)), list[int]()
    for pair in free:
        if not still_open[pair]:
            continue
        if surplus:
            not_next[pair], surplus = False, surplus - 1
            continue
        others = [int(candidate) for candidate in by_owner if owners[candidate] != owners[pair]]
        first = (draws[pair] >> 32) * len(others) >> 32
        others = [candidate for candidate in others[first:] + others[:first] if still_open[candidate]]
        fitting = [
            (candidate, fit)
            for way in (False, True)[: 1 + words]
            for candidate in others
            if (fit := cuts(pair, candidate, way))
        ]
        if not fitting:
            waiting.append(pair)
            continue
        partner, (middle[pair], middle[partner]) = fitting[0]
        surplus += not not_next[partner]
        not_next[partner], still_open[pair], still_open[partner] = True, False, False
        sources[pair], sources[partner] = partner, pair
        while surplus and waiting:
            last = waiting.pop()
            if still_open[last]:
                not_next[last], surplus = False, surplus - 1
    assert (found_middle.tolist(), found_sources.tolist()) == (middle, sources)
    assert found_not_next.tolist() == not_next
    assert (found_waiting[:number].tolist(), found_open.tolist()) == (waiting, still_open)
    assert tokens >= sum(found_middle - start)
