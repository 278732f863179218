"""Rows of whole sentences: the kernel against the rule written as a loop."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.counter_rng import bernoulli, bits, randint
from bertdata.objectives.blocks import Plan, TokenBlock
from bertdata.objectives.full_sentences import FULL_SENTENCES, sentence_pieces
from bertdata.objectives.settings import ExamplesConfig
from tests.objectives.blocks import TEMPLATES, block_of, blocks, random_block


def rows_by_a_loop(
    block: TokenBlock, config: ExamplesConfig, copy: int, template: str
) -> list[tuple[int, list[list[int]]]]:
    """Return the id and the spans of each row."""
    room = TEMPLATES[template].room(config.max_seq_length, pair=False)
    separator = len(TEMPLATES[template].separator)
    pieces = sentence_pieces(block, room)
    rows: list[tuple[int, list[list[int]]]] = []
    used, target, last = room, 0, -1
    for document, number, start, end in zip(pieces.document, pieces.number, pieces.start, pieces.end, strict=True):
        cost = end - start + (separator if document != last else 0)
        if used >= target or used + cost > room:
            short, length, name = (
                bits(FULL_SENTENCES.key(config, purpose), int(block.document_keys[document]), copy, int(number))
                for purpose in ("short", "length", "id")
            )
            target = 2 + int(randint(length, room - 1)) if bernoulli(short, config.short_seq_prob) else room
            rows.append((int(name) >> 1, []))
            used, cost, last = -separator, end - start + separator, -1
        spans = rows[-1][1]
        if document == last:
            spans[-1][1] = int(end)
        else:
            spans.append([int(start), int(end)])
        used, last = used + cost, document
    return rows


def rows_of(plan: Plan) -> list[tuple[int, list[list[int]]]]:
    ends = plan.offsets.tolist()
    parts = [plan.spans[begin:end].tolist() for begin, end in pairwise(ends)]
    return list(zip(plan.ids.tolist(), parts, strict=True))


@settings(deadline=None, max_examples=60)
@given(
    block=blocks(word=7),
    length=st.integers(8, 40),
    short=st.sampled_from([0.0, 0.3, 1.0]),
    copy=st.integers(0, 2),
    template=st.sampled_from(sorted(TEMPLATES)),
)
def test_rows_are_those_of_the_rule(block: TokenBlock, length: int, short: float, copy: int, template: str) -> None:
    config = ExamplesConfig("full-sentences", "dynamic", length, short_seq_prob=short)
    plan = FULL_SENTENCES.plan(block, config, copy, TEMPLATES[template])
    assert rows_of(plan) == rows_by_a_loop(block, config, copy, template)
    assert len(plan.types) == len(plan.spans)
    assert not plan.types.any()
    assert plan.labels.tolist() == [0] * len(plan.ids)


@pytest.mark.parametrize("seed", range(3))
def test_rows_of_many_documents_are_those_of_the_rule(seed: int) -> None:
    block = random_block(seed, 300, 12.0)
    config = ExamplesConfig("full-sentences", "dynamic", 128, short_seq_prob=0.1, seed=seed)
    plan = FULL_SENTENCES.plan(block, config, 0, TEMPLATES["BERT"])
    assert rows_of(plan) == rows_by_a_loop(block, config, 0, "BERT")


@pytest.mark.parametrize("length", [8, 12, 1000])
def test_pieces_are_the_sentences_of_each_document_cut_where_they_are_longer_than_a_row(length: int) -> None:
    block = random_block(7, 40, 5.0)
    pieces = sentence_pieces(block, length)
    assert (pieces.end > pieces.start).all()
    assert pieces.start.tolist()[1:] == pieces.end.tolist()[:-1]
    assert {*block.sentence_ends.tolist()} <= {*pieces.end.tolist()}
    expected = np.searchsorted(block.document_ends, pieces.start, side="right")
    assert pieces.document.tolist() == expected.tolist()
    numbers = [number for document in range(40) for number in range(int((expected == document).sum()))]
    assert pieces.number.tolist() == numbers


def test_a_block_whose_keys_do_not_match_its_documents_is_refused() -> None:
    block = block_of([[[2, 3]], [[1]]])
    broken = TokenBlock(
        block.tokens, block.word_start, block.sentence_ends, block.document_ends, block.document_keys[:1]
    )
    with pytest.raises(ValueError, match="are not those of a block of 6 tokens"):
        FULL_SENTENCES.plan(broken, ExamplesConfig("full-sentences", "dynamic", 24), 0, TEMPLATES["BERT"])


def test_a_block_without_documents_has_no_rows() -> None:
    plan = FULL_SENTENCES.plan(block_of([]), ExamplesConfig("full-sentences", "dynamic", 24), 0, TEMPLATES["BERT"])
    assert (len(plan.ids), plan.offsets.tolist(), plan.spans.shape) == (0, [0], (0, 2))
