"""What holds for the examples of every objective."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.objectives import OBJECTIVES
from bertdata.objectives.blocks import DROPPED, TokenBlock
from tests.objectives.blocks import (
    block_of,
    blocks,
    documents_of,
    drawn_plan,
    examples_of,
    plan_of,
    random_block,
    tokens_of,
)


@pytest.mark.costly
@pytest.mark.parametrize("objective", OBJECTIVES)
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_rule_16_every_token_is_used_once_in_a_copy_or_counted(objective: str, data: st.DataObject) -> None:
    block, plan, _ = drawn_plan(data, objective)
    used, counts = tokens_of(plan), plan.counts
    dropped = sum(count for name, count in counts.items() if name.startswith(DROPPED))
    assert len(used) == len(block.tokens) - dropped + counts.get("tokens_borrowed", 0)
    if not counts.get("tokens_borrowed"):
        assert len(set(used)) == len(used)
    if objective in ("doc-sentences", "full-sentences"):
        assert used == list(range(len(block.tokens)))


@pytest.mark.costly
@pytest.mark.parametrize("objective", OBJECTIVES)
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_no_row_is_longer_than_asked_for_and_no_span_is_empty(objective: str, data: st.DataObject) -> None:
    _, plan, length = drawn_plan(data, objective, word=30)
    for spans in examples_of(plan):
        assert 1 + sum(end - start + 1 for start, end in spans) <= length
        assert all(start < end for start, end in spans)


@pytest.mark.costly
@pytest.mark.parametrize("objective", OBJECTIVES)
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_rule_17_no_segment_crosses_the_border_of_a_document(objective: str, data: st.DataObject) -> None:
    block, plan, _ = drawn_plan(data, objective)
    for start, end in plan.spans.tolist():
        assert len(set(documents_of(block, [start, end - 1]))) == 1


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_an_empty_block_gives_no_examples(objective: str) -> None:
    plan = plan_of(block_of([]), objective)
    assert (len(plan.ids), len(plan.labels), plan.spans.shape, plan.offsets.tolist()) == (0, 0, (0, 2), [0])
    assert not any(plan.counts.values())


@pytest.mark.parametrize("objective", ["nsp", "sop", "doc-sentences"])
def test_the_order_of_the_documents_does_not_change_their_examples(objective: str) -> None:
    documents = [[[1] * (3 + (i * j) % 11) for j in range(1, 40)] for i in range(1, 60)]
    keys = [1000 + i for i in range(59)]
    orders: list[dict[tuple[int, int], Any]] = []
    for order in (range(59), np.random.default_rng(0).permutation(59).tolist()):
        block = block_of([documents[i] for i in order], [keys[i] for i in order])
        plan = plan_of(block, objective, 64)
        starts = np.concatenate([[0], block.document_ends])
        orders.append(
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
        assert sum(orders[0][example] != orders[1][example] for example in orders[0]) <= 1
        orders = [{example: spans[0] for example, spans in examples.items()} for examples in orders]
    assert orders[0] == orders[1]


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


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_copies_and_seeds_differ_and_a_plan_repeats_itself(objective: str) -> None:
    block = random_block(9, 40, 30)
    plans = [plan_of(block, objective, copy=copy) for copy in range(3)] + [plan_of(block, objective, seed=1)]
    spans = [examples_of(plan) for plan in plans]
    for i in range(4):
        for j in range(i):
            common = sum(a == b for a, b in zip(spans[i], spans[j], strict=False))
            assert common < 0.7 * len(spans[i]) or spans[i] == spans[j]  # rows that are not drawn are all the same
            assert not set(plans[i].ids.tolist()) & set(plans[j].ids.tolist())
    again = plan_of(block, objective)
    for name in ("spans", "types", "offsets", "labels", "ids"):
        assert getattr(again, name).tolist() == getattr(plans[0], name).tolist()
    assert again.counts == plans[0].counts


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_example_ids_are_unique_and_not_negative(objective: str) -> None:
    plan = plan_of(random_block(10, 200, 40), objective, 64)
    assert len(set(plan.ids.tolist())) == len(plan.ids) > 0
    assert int(plan.ids.min()) >= 0


def test_plans_do_not_depend_on_the_width_of_the_ids() -> None:
    block = random_block(11, 30, 20)
    narrow = replace(block, tokens=(block.tokens % 60_000).astype(np.uint16))
    assert plan_of(block, "nsp").spans.tolist() == plan_of(narrow, "nsp").spans.tolist()


@pytest.mark.parametrize("name", ["sentence_ends", "document_ends", "word_start", "document_keys"])
def test_a_block_whose_parts_do_not_go_together_is_refused_before_anything_is_read(name: str) -> None:
    block = random_block(1, 3, 4)
    for wrong in (getattr(block, name)[:-1], np.append(getattr(block, name), getattr(block, name)[-1:])):
        changed: dict[str, Any] = {name: wrong}
        with pytest.raises(ValueError, match="not those of a block"):
            plan_of(replace(block, **changed), "sop")


@pytest.mark.parametrize("name", ["sentence_ends", "document_ends"])
@pytest.mark.parametrize(
    "wrong",
    [[0, 6], [-1, 6], [4, 2, 6], [2, 2, 6], [2, 7], [2, 5], [6, 2], [6, 6], []],
    ids=lambda ends: f"ends {ends}",
)
def test_ends_that_do_not_ascend_from_above_0_to_the_last_token_are_refused(name: str, wrong: list[int]) -> None:
    block = block_of([[[1, 1]], [[1, 1, 1, 1]]])
    parts: dict[str, Any] = {name: np.array(wrong, np.int64)}
    if name == "document_ends":
        parts["document_keys"] = np.arange(len(wrong)).astype(np.uint64)
    with pytest.raises(ValueError, match="are not those of a block of 6 tokens"):
        plan_of(replace(block, **parts), "sop")
