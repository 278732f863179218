"""Rows cut by tokens, without sentences: of one document, and of documents joined."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.counter_rng import bits, key, randint
from bertdata.objectives.blocks import TokenBlock
from bertdata.objectives.packing import pack
from bertdata.objectives.rows import build_rows, row_offsets
from bertdata.tokenizers.pairs import RowTemplate
from tests.generated import examples
from tests.objectives.blocks import (
    BERT,
    TEMPLATES,
    block_of,
    blocks,
    documents_of,
    examples_of,
    plan_of,
    random_block,
    tokens_of,
)
from tests.statistics import assert_uniform

BOTH = ["doc-chunks", "joined-chunks"]


def drawn(data: st.DataObject) -> tuple[TokenBlock, int, dict[str, Any]]:
    """Draw a block, the length of its rows, and the other settings of these objectives."""
    length = data.draw(st.integers(8, 40))
    least = data.draw(st.just(0) | st.integers(8, length))
    options = {"copy": data.draw(st.integers(0, 3)), "seed": data.draw(st.integers(0, 99)), "min_seq_length": least}
    return data.draw(blocks(word=20)), length, options


@pytest.mark.costly
@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
@pytest.mark.parametrize("objective", BOTH)
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_every_token_is_in_one_row_in_order_and_no_row_is_over_the_limit(
    objective: str, template: RowTemplate, data: st.DataObject
) -> None:
    block, length, options = drawn(data)
    plan = plan_of(block, objective, length, template=template, **options)
    assert tokens_of(plan) == list(range(len(block.tokens)))
    assert not plan.counts
    rows = build_rows(block, plan, np.arange(len(plan.ids)), template)
    assert int(np.diff(rows.offsets).max(initial=0)) <= length
    assert rows.input_ids[~rows.special].tolist() == block.tokens.tolist()


def _room(objective: str, length: int, options: dict[str, Any], owner: int, number: int) -> int:
    """Draw how many tokens of text a row with two special tokens has room for."""
    least = options["min_seq_length"] or length
    draw = bits(key(options["seed"], f"{objective} room"), owner, options["copy"], number)
    return least + int(randint(draw, length - least + 1)) - 2


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_a_chunk_of_a_document_ends_at_the_last_word_start_that_fits(data: st.DataObject) -> None:
    block, length, options = drawn(data)
    expected, begin = [], 0
    for owner, limit in zip(block.document_keys.tolist(), block.document_ends.tolist(), strict=True):
        number = 0
        while begin < limit:
            end = begin + _room("doc-chunks", length, options, owner, number)
            if end < limit:
                end = next((at for at in range(end, begin, -1) if block.word_start[at]), end)
            expected.append([(begin, min(end, limit))])
            begin, number = min(end, limit), number + 1
    assert examples_of(plan_of(block, "doc-chunks", length, **options)) == expected


@settings(deadline=None, max_examples=examples(60))
@given(data=st.data())
def test_rows_of_joined_documents_are_filled_a_token_at_a_time(data: st.DataObject) -> None:
    block, length, options = drawn(data)
    starts = [0, *block.document_ends.tolist()]
    rows: list[list[tuple[int, int]]] = []
    left = 0
    for place in range(len(block.tokens)):
        [document] = documents_of(block, [place])
        border = place == starts[document]
        if left < 1 + border:
            owner = int(block.document_keys[document])
            left = _room("joined-chunks", length, options, owner, place - starts[document])
            rows.append([])
            border = False
        if border or not rows[-1]:
            rows[-1].append((place, place))
        rows[-1][-1] = rows[-1][-1][0], place + 1
        left -= 1 + border
    assert examples_of(plan_of(block, "joined-chunks", length, **options)) == rows


def test_joined_rows_are_full_but_for_the_last_and_none_ends_with_a_separator() -> None:
    block = block_of([[[9]], [[5]], [[6]], [[3]]])
    rows = examples_of(plan_of(block, "joined-chunks", 12))
    # 10 places each: 9 and no room for a separator and a token; 5, a separator and 4; the rest.
    assert rows == [[(0, 9)], [(9, 14), (14, 18)], [(18, 20), (20, 23)]]
    plan = plan_of(random_block(1, 300, 30), "joined-chunks", 128)
    lengths = np.diff(row_offsets(random_block(1, 300, 30), plan, np.arange(len(plan.ids)), BERT))
    assert int(lengths[:-1].min()) >= 127
    assert (lengths[:-1] == 128).mean() > 0.98


@pytest.mark.parametrize("objective", BOTH)
def test_drawn_lengths_are_equally_likely_and_others_in_every_copy(objective: str) -> None:
    block = block_of([[[1] * 50_000]] * 12)
    drawn_lengths = []
    for copy in range(2):
        plan = plan_of(block, objective, 40, copy, min_seq_length=12)
        lengths = np.diff(row_offsets(block, plan, np.arange(len(plan.ids)), BERT))
        inner = np.diff(plan.offsets) == 1
        inner &= ~np.isin(plan.spans[plan.offsets[1:] - 1, 1], block.document_ends)
        assert inner.sum() > 20_000
        assert (lengths[inner].min(), lengths[inner].max()) == (12, 40)
        assert_uniform(np.bincount(lengths[inner], minlength=41)[12:])
        drawn_lengths.append(lengths[:1000].tolist())
    assert drawn_lengths[0] != drawn_lengths[1]


@pytest.mark.parametrize("objective", BOTH)
def test_sentences_and_short_rows_make_no_difference(objective: str) -> None:
    block = random_block(4, 60, 20)
    plain = plan_of(block, objective, 48)
    for other in (
        plan_of(block, objective, 48, short_seq_prob=1),
        plan_of(replace(block, sentence_ends=block.document_ends), objective, 48),
    ):
        assert examples_of(other) == examples_of(plain)
        assert other.ids.tolist() == plain.ids.tolist()


@settings(deadline=None, max_examples=30)
@given(block=blocks(at_least=1), length=st.integers(8, 40), shortest=st.sampled_from([0, 8]))
def test_the_rows_of_a_document_are_the_same_whatever_others_there_are(
    block: TokenBlock, length: int, shortest: int
) -> None:
    plan = plan_of(block, "doc-chunks", length, min_seq_length=shortest)
    begin = int(block.document_ends[-2]) if len(block.document_ends) > 1 else 0
    alone = TokenBlock(
        block.tokens[begin:],
        block.word_start[begin:],
        block.sentence_ends[block.sentence_ends > begin] - begin,
        block.document_ends[-1:] - begin,
        block.document_keys[-1:],
    )
    own = plan_of(alone, "doc-chunks", length, min_seq_length=shortest)
    assert (own.spans + begin).tolist() == plan.spans[-len(own.spans) :].tolist()
    assert own.ids.tolist() == plan.ids[-len(own.ids) :].tolist()


@pytest.mark.parametrize("objective", BOTH)
@pytest.mark.parametrize("shortest", [0, 12])
def test_example_ids_are_unique_in_a_copy_and_over_copies(objective: str, shortest: int) -> None:
    block = random_block(5, 300, 30)
    ids = [plan_of(block, objective, 32, copy, min_seq_length=shortest).ids for copy in range(2)]
    assert len(np.unique(np.concatenate(ids))) == sum(map(len, ids)) > 5000


@pytest.mark.parametrize("objective", BOTH)
@pytest.mark.parametrize("name", ["document_ends", "word_start", "document_keys"])
def test_a_block_whose_parts_do_not_go_together_is_refused(objective: str, name: str) -> None:
    block = random_block(1, 3, 4)
    with pytest.raises(ValueError, match="not those of a block"):
        plan_of(replace(block, **{name: getattr(block, name)[:-1]}), objective)


@pytest.mark.parametrize(("objective", "shortest"), [("doc-chunks", 0), ("doc-chunks", 12), ("joined-chunks", 12)])
def test_packed_rows_of_8192_have_under_two_percent_of_padding(objective: str, shortest: int) -> None:
    # 4,000 documents, half of them under 600 tokens, one in sixty over a row: as articles and pages of the web.
    ends = np.cumsum(np.random.default_rng(3).lognormal(np.log(600), 1.2, 4000).astype(np.int64) + 1)
    total = int(ends[-1])
    keys = np.arange(4000, dtype=np.uint64)
    block = TokenBlock(np.zeros(total, np.uint16), np.arange(total) % 4 != 3, ends, ends, keys)
    block.word_start[np.concatenate([[0], ends[:-1]])] = True
    plan = plan_of(block, objective, 8192, min_seq_length=shortest)
    lengths = np.diff(row_offsets(block, plan, np.arange(len(plan.ids)), BERT))
    assert lengths.max() > 8000
    _, offsets = pack(lengths, 8192)
    assert 1 - lengths.sum() / ((len(offsets) - 1) * 8192) < 0.02
