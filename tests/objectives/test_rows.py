from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.objectives import OBJECTIVES
from bertdata.objectives.blocks import Plan, TokenBlock
from bertdata.objectives.objective import plan_examples
from bertdata.objectives.rows import build_rows, with_word_starts
from bertdata.objectives.settings import ExamplesConfig
from bertdata.tokenizers.pairs import RowTemplate, bert_template
from tests.objectives.blocks import BERT, CLS, SEP, TEMPLATES, block_of, blocks, examples_of, plan_of, random_block


def plain_rows(
    block: TokenBlock, plan: Plan, chosen: list[int], template: RowTemplate
) -> list[tuple[list[int], list[int], list[bool]]]:
    """The rows as a reader would write them: ids, token types, special."""
    result = []
    for number in chosen:
        row = [(token, 0, True) for token in template.prefix]
        places = range(plan.offsets[number], plan.offsets[number + 1])
        for place in places:
            start, end = plan.spans[place].tolist()
            kind = template.second_type if plan.types[place] else 0
            row += [(token, kind, False) for token in block.tokens[start:end].tolist()]
            if place == places[-1]:
                row += [(token, kind, True) for token in template.suffix]
            else:
                pair = plan.types[place] != plan.types[place + 1]
                row += [(token, kind, True) for token in (template.between if pair else template.separator)]
        if template.last_type is not None:
            row[-1] = (row[-1][0], template.last_type, True)
        ids, types, special = zip(*row, strict=True)
        result.append((list(ids), list(types), list(special)))
    return result


@pytest.mark.costly
@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
@pytest.mark.parametrize("objective", OBJECTIVES)
@settings(deadline=None, max_examples=20)
@given(data=st.data())
def test_rows_are_what_the_plain_loop_gathers_in_any_order_and_number(
    objective: str, template: RowTemplate, data: st.DataObject
) -> None:
    alone = OBJECTIVES[objective].min_documents < 2
    block = data.draw(blocks(at_least=1) if alone else st.just(random_block(3, 8, 12)))
    length = data.draw(st.integers(8, 40))
    plan = plan_of(block, objective, length, template=template)
    chosen = data.draw(st.lists(st.integers(0, len(plan.ids) - 1), max_size=20)) if len(plan.ids) else []
    rows = build_rows(block, plan, np.array(chosen, np.int64), template)
    expected = plain_rows(block, plan, chosen, template)
    assert max((len(ids) for ids, _, _ in expected), default=0) <= length
    assert rows.input_ids.tolist() == [token for ids, _, _ in expected for token in ids]
    assert rows.token_type_ids.tolist() == [type_id for _, types, _ in expected for type_id in types]
    assert rows.special.tolist() == [flag for _, _, special in expected for flag in special]
    assert rows.offsets.tolist() == np.cumsum([0, *(len(ids) for ids, _, _ in expected)]).tolist()
    assert rows.labels.tolist() == plan.labels[chosen].tolist()
    assert rows.ids.tolist() == plan.ids[chosen].tolist()
    assert rows.input_ids.dtype == block.tokens.dtype


@pytest.mark.parametrize("template", TEMPLATES.values(), ids=TEMPLATES)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_rows_of_a_plan_fill_the_length_and_are_not_over_it(objective: str, template: RowTemplate) -> None:
    block = random_block(1, 40, 20)
    plan = plan_of(block, objective, 64, template=template)
    rows = build_rows(block, plan, np.arange(len(plan.ids)), template)
    assert int(np.diff(rows.offsets).max()) == 64
    assert int((~rows.special).sum()) == int((plan.spans[:, 1] - plan.spans[:, 0]).sum())


def test_a_pair_is_cls_a_sep_b_sep_with_types_0_and_1() -> None:
    block = block_of([[[1], [2]]])
    plan = plan_examples(block, ExamplesConfig(objective="sop", max_seq_length=8, short_seq_prob=0), 0, BERT)
    rows = build_rows(block, plan, np.array([0]), BERT)
    first, second = examples_of(plan)[0]
    a, b = list(range(*first)), list(range(*second))
    assert rows.input_ids.tolist() == [CLS, *a, SEP, *b, SEP]
    assert rows.token_type_ids.tolist() == [0] * (len(a) + 2) + [1] * (len(b) + 1)


def test_special_tokens_are_told_by_position_so_text_with_their_ids_stays_text() -> None:
    block = TokenBlock(
        np.array([2, 3, 3], np.uint16), np.ones(3, np.bool_), np.array([3]), np.array([3]), np.array([1], np.uint64)
    )
    plan = plan_examples(block, ExamplesConfig(objective="doc-sentences", max_seq_length=8), 0, BERT)
    rows = build_rows(block, plan, np.array([0]), bert_template(2, 3))
    assert rows.input_ids.tolist() == [2, 2, 3, 3, 3]
    assert rows.special.tolist() == [True, False, False, False, True]


def test_label_and_tokens_come_from_the_same_example_whatever_the_order() -> None:
    block = random_block(2, 30, 20)
    plan = plan_examples(block, ExamplesConfig(max_seq_length=64), 0, BERT)
    mixed = np.random.default_rng(0).permutation(len(plan.ids))
    rows = build_rows(block, plan, mixed, BERT)
    for row, label in enumerate(rows.labels.tolist()):
        ids = rows.input_ids[rows.offsets[row] : rows.offsets[row + 1]]
        types = rows.token_type_ids[rows.offsets[row] : rows.offsets[row + 1]]
        a, b = ids[(types == 0) & (ids < CLS)], ids[(types == 1) & (ids < CLS)]
        assert (int(a[-1]) + 1 == int(b[0])) == (label == 0)


def test_no_rows_of_a_plan_are_an_empty_batch() -> None:
    block = block_of([[[1, 1, 1, 1]]])
    plan = plan_examples(block, ExamplesConfig(objective="sop"), 0, BERT)
    rows = build_rows(block, plan, np.zeros(0, np.int64), BERT)
    assert (rows.input_ids.tolist(), rows.offsets.tolist(), rows.labels.tolist()) == ([], [0], [])


def test_ids_past_65535_do_not_wrap() -> None:
    block = TokenBlock(
        np.array([65_536, 119_546], np.uint32),
        np.ones(2, np.bool_),
        np.array([2]),
        np.array([2]),
        np.array([1], np.uint64),
    )
    plan = plan_examples(block, ExamplesConfig(objective="doc-sentences"), 0, BERT)
    rows = build_rows(block, plan, np.array([0]), bert_template(100_101, 100_102))
    assert rows.input_ids.tolist() == [100_101, 65_536, 119_546, 100_102]


@pytest.mark.parametrize("chosen", [[-1], [0, 99]])
def test_an_example_that_is_not_in_the_plan_is_refused(chosen: list[int]) -> None:
    block = block_of([[[1] * 30]])
    plan = plan_examples(block, ExamplesConfig(objective="sop", max_seq_length=16), 0, BERT)
    with pytest.raises(ValueError, match="an example was chosen that is not among the plan's"):
        build_rows(block, plan, np.array(chosen), BERT)


@pytest.mark.parametrize("span", [[-1, 2], [5, 31], [9, 3]])
def test_a_plan_that_names_tokens_that_are_not_there_is_refused(span: list[int]) -> None:
    block = block_of([[[1] * 30]])
    plan = plan_examples(block, ExamplesConfig(objective="sop", max_seq_length=16), 0, BERT)
    for wrong in (
        replace(plan, spans=np.concatenate([plan.spans[:-1], [span]])),
        replace(plan, types=plan.types[:-1]),
        replace(plan, offsets=plan.offsets + 1),
    ):
        with pytest.raises(ValueError, match="the plan is not one of this block of 30 tokens"):
            build_rows(block, wrong, np.arange(len(plan.ids)), BERT)


@pytest.mark.costly
@pytest.mark.parametrize("objective", OBJECTIVES)
@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_a_row_says_where_the_words_of_its_tokens_begin_and_that_special_tokens_do(
    objective: str, data: st.DataObject
) -> None:
    alone = OBJECTIVES[objective].min_documents < 2
    block = data.draw(blocks(at_least=1) if alone else st.just(random_block(3, 8, 12)))
    config = ExamplesConfig(objective=objective, max_seq_length=data.draw(st.integers(8, 40)))
    plan = plan_examples(block, config, 0, BERT)
    numbers = st.lists(st.integers(0, len(plan.ids) - 1), max_size=20) if len(plan.ids) else st.just([])
    chosen = np.array(data.draw(numbers), np.int64)
    rows = build_rows(block, plan, chosen, BERT)
    assert rows.word_starts is None
    flagged = with_word_starts(rows, block, plan, chosen)
    assert flagged.word_starts is not None
    begins = block.word_start.tolist()  # the ids of a block's tokens are their places
    expected = [token_id in (CLS, SEP) or begins[token_id] for token_id in rows.input_ids.tolist()]
    assert flagged.word_starts.tolist() == expected
