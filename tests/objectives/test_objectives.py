"""The objectives beside NSP, SOP and RoBERTa's rows: pairs of sentences, and ELECTRA's rows."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.counter_rng import bernoulli, bits, key, randint
from bertdata.errors import ConfigError
from bertdata.objectives import OBJECTIVES
from bertdata.objectives.blocks import Plan, TokenBlock
from bertdata.objectives.objective import Objective, find_objective, plan_examples
from bertdata.objectives.settings import ExamplesConfig
from bertdata.tokenizers.pairs import RowTemplate
from tests.objectives.blocks import BERT, block_of, blocks, documents_of, examples_of, plan_of, random_block
from tests.statistics import assert_same_distribution, bernstein, hoeffding


def test_every_objective_has_two_token_types_or_none_and_a_label_where_it_says_so() -> None:
    block = random_block(1, 80, 12)
    for objective in OBJECTIVES:
        plan = plan_of(block, objective)
        assert set(plan.types.tolist()) == set(range(OBJECTIVES[objective].token_types))
        assert set(plan.labels.tolist()) == ({0, 1} if OBJECTIVES[objective].label else {0})


@pytest.mark.parametrize("name", [*OBJECTIVES])
@pytest.mark.parametrize(
    ("setting", "changed"),
    [
        ("short_seq_prob", ExamplesConfig(max_seq_length=32, short_seq_prob=1)),
        ("single_segment_prob", ExamplesConfig(max_seq_length=32, single_segment_prob=1)),
        ("min_seq_length", ExamplesConfig(max_seq_length=32, min_seq_length=8)),
    ],
)
def test_an_objective_names_the_settings_that_change_its_rows(name: str, setting: str, changed: ExamplesConfig) -> None:
    block = random_block(1, 80, 12)
    configs = (replace(config, objective=name) for config in (ExamplesConfig(max_seq_length=32), changed))
    plans = [plan_examples(block, config, 0, BERT) for config in configs]
    assert (setting in OBJECTIVES[name].settings) == (plans[0].spans.tolist() != plans[1].spans.tolist())


@pytest.mark.parametrize("name", [*OBJECTIVES])
def test_an_objective_says_whether_its_rows_depend_on_sentences(name: str) -> None:
    block = random_block(1, 80, 12)
    config = ExamplesConfig(objective=name, max_seq_length=32)
    whole = replace(block, sentence_ends=block.document_ends)
    plans = [plan_examples(some, config, 0, BERT) for some in (block, whole)]
    assert OBJECTIVES[name].by_sentences == (plans[0].spans.tolist() != plans[1].spans.tolist())


def test_a_pair_of_sentences_is_two_sentences_and_the_last_of_an_odd_document_three() -> None:
    lengths = [[3, 4, 5, 6], [7, 8, 9, 10, 11], [12, 13, 14]]
    block = block_of([[[1] * length for length in document] for document in lengths])
    seen = set()
    for seed in range(60):
        plan = plan_of(block, "sentence-pair-nsp", seed=seed)
        assert len(plan.ids) == 5
        for (a, b), label in zip(examples_of(plan), plan.labels.tolist(), strict=True):
            if not label:
                assert a[1] == b[0]
                seen.add((a[1] - a[0], b[1] - b[0]))
    assert seen == {(3, 4), (5, 6), (7, 8), (9, 10 + 11), (9 + 10, 11), (12, 13 + 14), (12 + 13, 14)}


@settings(deadline=None, max_examples=60)
@given(blocks(at_least=2), st.integers(8, 40), st.integers(0, 9))
def test_pairs_of_sentences_are_cut_as_the_plain_loop_cuts_them(block: TokenBlock, length: int, seed: int) -> None:
    plan = plan_of(block, "sentence-pair-nsp", length, seed=seed)
    room, expected, begin = length - 3, set(), 0
    for limit in block.document_ends.tolist():
        while begin < limit:
            ends = [end for end in block.sentence_ends.tolist() if begin < end <= limit]
            end = ends[1] if len(ends) > 1 else ends[0]
            if len(ends) == 3 and ends[2] - begin <= room:
                end = ends[2]
            if end - begin > room:
                end = next((at for at in range(begin + room, begin, -1) if block.word_start[at]), begin + room)
            expected.add((begin, end))
            begin = end
    spans = plan.spans.reshape(-1, 2, 2)
    for (start, middle, end), label in zip(
        ((int(a[0]), int(a[1]), int(b[1])) for a, b in spans), plan.labels.tolist(), strict=True
    ):
        assert label or (start, end) in expected
        assert start in {first for first, _ in expected}
        borders = [
            sentence_end
            for sentence_end in block.sentence_ends.tolist()
            if start < sentence_end < dict(expected)[start]
        ]
        assert not borders or middle in borders


def test_a_random_second_sentence_is_of_another_document_and_of_the_same_length() -> None:
    # 2 x 7,000 pairs: a difference of 0.046 between the distribution functions is found, one false alarm in 10**6.
    block = random_block(2, 900, 36)
    plan = plan_of(block, "sentence-pair-nsp")
    spans, labels = plan.spans.reshape(-1, 2, 2), plan.labels
    owner = np.searchsorted(block.document_ends, spans[:, :, 0], side="right")
    assert ((owner[:, 0] != owner[:, 1]) == (labels == 1)).all()
    assert min((labels == 0).sum(), (labels == 1).sum()) > 7000
    assert abs(labels.mean() - 0.5) < hoeffding(len(labels))
    lengths = spans[:, :, 1] - spans[:, :, 0]
    for part in (lengths[:, 0], lengths[:, 1], lengths.sum(1)):
        assert_same_distribution(part[labels == 0], part[labels == 1])


def test_short_rows_are_not_asked_for_where_rows_are_two_sentences() -> None:
    block = random_block(3, 50, 20)
    plans = [plan_of(block, "sentence-pair-nsp", short_seq_prob=share) for share in (0.0, 1.0)]
    assert plans[0].spans.tolist() == plans[1].spans.tolist()


@settings(deadline=None, max_examples=60)
@given(blocks(), st.integers(8, 40), st.integers(0, 3), st.sampled_from([0.0, 0.3, 1.0]))
def test_rows_of_electra_are_cut_as_the_plain_loop_cuts_them(
    block: TokenBlock, length: int, copy: int, short: float
) -> None:
    config = ExamplesConfig("single-segment", max_seq_length=length, short_seq_prob=short, single_segment_prob=0.4)
    names = ("short", "length", "alone", "cut")
    draws = {name: key(0, f"single-segment {name}") for name in names}
    expected, begin = [], 0
    for owner, limit in zip(block.document_keys.tolist(), block.document_ends.tolist(), strict=True):
        number = 0
        while begin < limit:
            place = owner, copy, number
            alone = bool(bernoulli(bits(draws["alone"], *place), 0.4))
            room = length - (2 if alone else 3)
            target = room
            if bernoulli(bits(draws["short"], *place), short):
                target = 2 + int(randint(bits(draws["length"], *place), room - 1))
            ends = [end for end in block.sentence_ends.tolist() if begin < end <= limit]
            end = next((end for end in ends if end - begin >= target), limit)
            if end - begin > room:
                end = next((at for at in range(begin + room, begin, -1) if block.word_start[at]), begin + room)
            middle = (
                end
                if alone
                else _electra_cut(begin, end, ends, target, bool(bernoulli(bits(draws["cut"], *place), 0.5)))
            )
            expected.append([(begin, middle), (middle, end)] if middle < end else [(begin, end)])
            begin, number = end, number + 1
    assert examples_of(plan_examples(block, config, copy, BERT)) == expected


def _electra_cut(begin: int, end: int, ends: list[int], target: int, coin: bool) -> int:
    """Deal sentences to two segments one after another: to the first while it is below half the target."""
    first, second = 0, 0
    for start, stop in pairwise([begin, *(place for place in ends if place < end), end]):
        if not second and (not first or first + stop - start < target // 2):
            first += stop - start
        elif not second and first < target // 2 and coin:
            first, coin = first + stop - start, False
        else:
            second += stop - start
    return begin + first


def test_a_tenth_of_the_rows_of_electra_is_one_segment_and_as_long_as_the_others() -> None:
    # Sentences of 4 tokens, documents of 2,000: 10,000 and more rows before the last of each document.
    block = block_of([[[1] * 4] * 500] * 700)
    plan = plan_of(block, "single-segment", short_seq_prob=0)
    each = np.diff(plan.offsets)
    last = plan.spans[plan.offsets[1:] - 1, 1]
    inner = ~np.isin(last, block.document_ends)
    assert inner.sum() > 10_000
    assert abs((each[inner] == 1).mean() - 0.1) < bernstein(int(inner.sum()), 0.1)
    size = np.add.reduceat(plan.spans[:, 1] - plan.spans[:, 0], plan.offsets[:-1])
    assert set(size[inner & (each == 1)].tolist()) == {126}
    assert set(size[inner & (each == 2)].tolist()) == {125}
    first = (plan.spans[:, 1] - plan.spans[:, 0])[plan.offsets[:-1]][inner & (each == 2)]
    assert 55 <= first.min() <= first.max() <= 66


@pytest.mark.parametrize(("share", "number"), [(0.0, {2}), (1.0, {1})])
def test_the_share_of_single_segments_can_be_none_or_all(share: float, number: set[int]) -> None:
    block = block_of([[[1] * 3] * 400] * 10)
    plan = plan_of(block, "single-segment", 32, single_segment_prob=share, short_seq_prob=0)
    ends = np.isin(plan.spans[plan.offsets[1:] - 1, 1], block.document_ends)
    assert set(np.diff(plan.offsets)[~ends].tolist()) == number


@settings(deadline=None, max_examples=40)
@given(blocks(), st.integers(8, 40))
def test_rows_of_electra_hold_every_token_of_their_documents_in_order(block: TokenBlock, length: int) -> None:
    plan = plan_of(block, "single-segment", length)
    assert [at for start, end in plan.spans.tolist() for at in range(start, end)] == list(range(len(block.tokens)))
    for spans in examples_of(plan):
        assert len(set(documents_of(block, [spans[0][0], spans[-1][1] - 1]))) == 1


class _Registered(Objective):
    """Gives the plan that a test wants."""

    def plan(self, block: TokenBlock, config: ExamplesConfig, copy: int, template: RowTemplate) -> Plan:
        plan = find_objective("doc-sentences").plan(block, config, copy, BERT)
        return replace(plan, spans=plan.spans.astype(np.int32))


REGISTERED = _Registered("tests.objectives.test_objectives:REGISTERED")


def test_a_plan_of_another_type_is_refused_with_the_class_and_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(OBJECTIVES._items, "narrow", _Registered("narrow"))
    with pytest.raises(
        ConfigError, match=r"test_objectives\.py: .* _Registered plans spans that are int32 in 2 .* int64"
    ):
        plan_of(block_of([[[1, 2]]]), "narrow")


def test_an_objective_without_a_name_is_refused_with_the_class_and_its_file() -> None:
    with pytest.raises(ConfigError, match=r"test_objectives\.py: the objective _Registered has no name; give it"):
        _Registered(help="rows")
