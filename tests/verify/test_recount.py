"""The rows of one shard counted again, and what is found where they are not what rows must be."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

from bertdata.corpus.writer import order_draws
from bertdata.errors import ConfigError
from bertdata.objectives import OBJECTIVES
from bertdata.objectives.blocks import TokenBlock
from bertdata.objectives.settings import MASKINGS
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.verify.accounts import is_of_the_block
from bertdata.verify.claims import UncountableError
from bertdata.verify.recount import recount
from tests.generated import examples
from tests.shards.blocks import (
    FIRST_WORD,
    TEMPLATES,
    TOKENIZER,
    block_from,
    block_of,
    blocks,
    info_of,
    infos,
    table_of,
    written,
)

Columns = dict[str, list[Any]]
CLS, SEP, MASK, PAD = TOKENIZER.cls_token_id, TOKENIZER.sep_token_id, TOKENIZER.mask_token_id, TOKENIZER.pad_token_id


def broken_rules(
    info: PretrainingInfo, change: Callable[[Columns], None], block: TokenBlock | None = None
) -> list[str]:
    """Return what is found in a shard whose columns were changed."""
    table = table_of(written(block or block_of(12), info)[0])
    columns: Columns = table.to_pydict()
    change(columns)
    changed = pa.Table.from_pydict(columns, schema=table.schema).combine_chunks()
    return recount(changed.to_batches(), info, TOKENIZER)[1]


def set_token(row: int, place: int, token: int, column: str = "input_ids") -> Callable[[Columns], None]:
    """Return a change of one token; places from the end are negative."""

    def change(columns: Columns) -> None:
        columns[column][row][place] = token

    return change


def has(rules: list[str], rule: str) -> bool:
    return any(problem.startswith(rule) for problem in rules)


@given(blocks(), infos())
@settings(max_examples=examples(60))
def test_what_the_writer_counted_is_found_in_its_bytes(block: TokenBlock, info: PretrainingInfo) -> None:
    try:
        data, counters = written(block, info)
    except ConfigError:
        return
    counts, rules = recount(pa.ipc.open_stream(data), info, TOKENIZER)
    assert rules == []
    assert counts.counts.pop("repeated_example_ids") == 0
    claimed = {name: number for name, number in counters.counts.items() if name in counts.counts}
    assert claimed == {name: number for name, number in counts.counts.items() if name in claimed}
    left = {name for name in counters.counts if name not in counts.counts and not is_of_the_block(name)}
    assert all(name.startswith("labels_1") for name in left)


def test_copies_of_more_than_a_thousand_rows_are_told_apart() -> None:
    info = info_of("doc-sentences", "static", max_seq_length=16, dupe_factor=3)
    data, counters = written(block_of(500), info)
    counts, rules = recount(pa.ipc.open_stream(data), info, TOKENIZER)
    assert rules == []
    assert counts.counts["examples"] == counters.counts["examples"] > 3000


def test_a_rule_is_told_with_the_number_of_rows_and_the_first_of_them() -> None:
    def change(columns: Columns) -> None:
        for row in (5, 9, 11):
            columns["input_ids"][row][0] = FIRST_WORD

    rules = broken_rules(info_of(), change)
    assert any(
        rule.startswith("a row does not begin with the special ids 2 in 3 of ") and rule.endswith("row 5")
        for rule in rules
    )


@pytest.mark.parametrize(
    ("place", "token", "rule"),
    [
        (0, FIRST_WORD, "a row does not begin with the special ids 2"),
        (-1, FIRST_WORD, "a row does not end with the special ids 3"),
        (1, SEP, "there are not 2 segments"),
        (1, SEP, "a segment is empty"),
        (1, CLS, "a special token is in the text"),
        (1, PAD, "a special token is in the text"),
        (1, MASK, "a special token is in the text"),
    ],
)
@pytest.mark.parametrize("masking", MASKINGS)
def test_special_tokens_stand_where_the_objective_puts_them(place: int, token: int, rule: str, masking: str) -> None:
    def change(columns: Columns) -> None:
        columns["input_ids"][3][place] = token
        if "labels" in columns:
            columns["labels"][3] = [-100] * len(columns["labels"][3])

    assert has(broken_rules(info_of(masking=masking), change), rule)


@pytest.mark.parametrize(
    ("objective", "number"),
    [("sop", "2"), ("sentence-pair-nsp", "2"), ("doc-sentences", "1"), ("single-segment", "1 or 2")],
)
def test_the_number_of_segments_is_that_of_the_objective(objective: str, number: str) -> None:
    assert has(broken_rules(info_of(objective), set_token(2, 2, SEP)), f"there are not {number} segments")


@pytest.mark.parametrize("masking", MASKINGS)
@pytest.mark.parametrize(
    ("name", "place", "tokens", "rule"),
    [
        ("RoBERTa", 0, [SEP], "a row does not begin with the special ids 2"),
        ("RoBERTa", -1, [CLS], "a row does not end with the special ids 3"),
        ("RoBERTa", 1, [SEP], "a segment is empty"),
        ("RoBERTa", 2, [SEP], "the separators of two segments are not those of the row template"),
        ("RoBERTa", 2, [SEP, SEP], "there are not 2 segments"),
        ("RoBERTa", 2, [SEP, SEP, SEP], "a segment is empty"),
        ("RoBERTa", 2, [CLS], "a special token is in the text"),
        ("XLNet", -1, [SEP], "a row does not end with the special ids 3, 2"),
        ("XLNet", -3, [SEP], "a segment is empty"),
        ("XLNet", 0, [SEP], "a segment is empty"),
        ("XLNet", 0, [CLS], "a special token is in the text"),
    ],
)
def test_special_tokens_stand_where_the_row_template_puts_them(
    name: str, place: int, tokens: list[int], rule: str, masking: str
) -> None:
    def change(columns: Columns) -> None:
        row = columns["input_ids"][3]
        row[place : place + len(tokens) or None] = tokens
        if "labels" in columns:
            columns["labels"][3] = [-100] * len(row)

    assert has(broken_rules(info_of(masking=masking, template=TEMPLATES[name]), change), rule)


@pytest.mark.parametrize("place", [0, -1, -2])
def test_the_last_special_token_has_its_own_type(place: int) -> None:
    def change(columns: Columns) -> None:
        columns["token_type_ids"][4][place] = 3

    rules = broken_rules(info_of(template=TEMPLATES["XLNet"]), change)
    assert [rule.split(" in ")[0] for rule in rules] == ["token_type_ids do not follow the separators"]


def test_full_sentences_may_have_any_number_of_separators() -> None:
    info = info_of("full-sentences")
    table = table_of(written(block_of(30, sentences=1), info)[0])
    numbers = {row.count(SEP) for row in table["input_ids"].to_pylist()}
    assert len(numbers) > 2
    assert broken_rules(info, lambda _: None, block_of(30, sentences=1)) == []


def test_an_unknown_token_is_text() -> None:
    assert broken_rules(info_of(), set_token(3, 1, TOKENIZER.unk_token_id)) == []


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("place", [0, -1])
def test_token_types_follow_the_separators(objective: str, place: int) -> None:
    def change(columns: Columns) -> None:
        columns["token_type_ids"][4][place] ^= 1

    rules = broken_rules(info_of(objective), change)
    assert [rule.split(" in ")[0] for rule in rules] == ["token_type_ids do not follow the separators"]


def test_a_row_longer_than_the_limit_is_found() -> None:
    def change(columns: Columns) -> None:
        for name, value in (("input_ids", FIRST_WORD), ("token_type_ids", 0)):
            columns[name][6][1:1] = [value] * 30

    assert has(broken_rules(info_of(), change), "there are not 1 to 32 tokens in 1 of ")


@pytest.mark.parametrize("value", [-1, 2])
def test_a_pair_label_is_0_or_1(value: int) -> None:
    def change(columns: Columns) -> None:
        columns["next_sentence_label"][0] = value

    assert has(broken_rules(info_of(), change), "next_sentence_label is not 0 or 1 in 1 of ")


def test_rows_in_another_order_are_found() -> None:
    def change(columns: Columns) -> None:
        for column in columns.values():
            column.reverse()

    with pytest.raises(UncountableError, match="not in the order drawn for copy 1 of 1"):
        broken_rules(info_of(), change)


def test_batches_that_changed_places_are_found() -> None:
    info = info_of("doc-sentences", max_seq_length=16)
    first, second, *others = pa.ipc.open_stream(written(block_of(1000), info)[0])
    with pytest.raises(UncountableError, match="the rows from row 1,000 on are not in the order drawn"):
        recount([second, first, *others], info, TOKENIZER)


def test_the_first_row_of_a_batch_comes_behind_the_last_of_the_one_before() -> None:
    info = info_of("doc-sentences", max_seq_length=16)
    table = table_of(written(block_of(1000), info)[0])
    order = [*range(999), 1000, 999, *range(1001, table.num_rows)]
    changed = table.take(order).combine_chunks().to_batches(max_chunksize=1000)
    with pytest.raises(UncountableError, match="the rows from row 1,000 on are not in the order drawn"):
        recount(changed, info, TOKENIZER)
    order[1000] = 1000
    twice = table.take(order).combine_chunks().to_batches(max_chunksize=1000)
    assert recount(twice, info, TOKENIZER)[0].counts["repeated_example_ids"] == 1


def test_a_copy_more_than_the_settings_say_is_found() -> None:
    data, _ = written(block_of(12), info_of("doc-sentences", "static", max_seq_length=16, dupe_factor=3))
    asked = info_of("doc-sentences", "static", max_seq_length=16, dupe_factor=2)
    with pytest.raises(UncountableError, match="not in the order drawn for copy 3 of 2"):
        recount(pa.ipc.open_stream(data), asked, TOKENIZER)


@pytest.mark.parametrize("seed", range(4))
def test_copies_of_a_single_row_are_told_apart(seed: int) -> None:
    info = info_of("doc-sentences", "static", max_seq_length=64, dupe_factor=8, seed=seed, short_seq_prob=0)
    data, counters = written(block_of(1, sentences=4), info)
    counts, rules = recount(pa.ipc.open_stream(data), info, TOKENIZER)
    assert rules == []
    assert counts.counts["examples"] == counters.counts["examples"] == 8


def test_rows_are_numbered_through_all_batches() -> None:
    info = info_of("doc-sentences", max_seq_length=16)
    first, second, *_ = pa.ipc.open_stream(written(block_of(1000), info)[0])
    columns = second.to_pydict()
    columns["token_type_ids"][7][0] = 1
    _, [rule] = recount([first, pa.RecordBatch.from_pydict(columns, schema=second.schema)], info, TOKENIZER)
    assert rule.endswith("in 1 of 2,000 rows, first in row 1,007")


def test_a_slice_of_a_batch_is_counted_as_what_it_is() -> None:
    info = info_of(masking="static")
    [batch] = pa.ipc.open_stream(written(block_of(12), info)[0])
    counts, rules = recount([batch.slice(5, 6)], info, TOKENIZER)
    assert rules == []
    assert counts.counts["row_tokens"] == sum(map(len, batch.slice(5, 6)["input_ids"].to_pylist()))


def test_a_negative_example_id_is_found() -> None:
    info = info_of("doc-sentences")
    table = table_of(written(block_of(5), info)[0])
    ids = np.arange(-1, table.num_rows - 1)
    ids = ids[np.argsort(order_draws(info.examples.seed, 0, ids))]
    place = table.column_names.index("example_id")
    changed = table.set_column(place, table.schema.field(place), pa.array(ids)).combine_chunks()
    assert has(recount(changed.to_batches(), info, TOKENIZER)[1], "the example id is negative in 1 of ")


def test_an_example_id_that_stands_twice_is_counted() -> None:
    info = info_of("sop")
    documents = [[[FIRST_WORD, FIRST_WORD + 1], [FIRST_WORD + 2]] for _ in range(5)]
    data, counters = written(block_from(documents, [7, 8, 7, 7, 9]), info)
    counts, rules = recount(pa.ipc.open_stream(data), info, TOKENIZER)
    assert rules == []
    assert counts.counts["repeated_example_ids"] == counters.counts["documents_sharing_id"] == 2


def predicted_place(columns: Columns, row: int) -> int:
    return next(place for place, label in enumerate(columns["labels"][row]) if label != -100)


def test_a_prediction_at_a_special_token_is_found() -> None:
    assert has(broken_rules(info_of(masking="static"), set_token(2, 0, CLS, "labels")), "a special token is predicted")


def test_a_label_that_is_a_special_token_is_found() -> None:
    def change(columns: Columns) -> None:
        columns["labels"][2][predicted_place(columns, 2)] = PAD

    assert has(broken_rules(info_of(masking="static"), change), "a label is a special token")


@pytest.mark.parametrize("token", ["[unused1]", "[UNK]"])
def test_a_replacement_that_may_not_be_drawn_is_found(token: str) -> None:
    def change(columns: Columns) -> None:
        columns["input_ids"][2][predicted_place(columns, 2)] = TOKENIZER.tokens.index(token)

    assert has(broken_rules(info_of(masking="static"), change), "a replacement is special or unused")


def test_a_prediction_too_many_or_too_few_is_found() -> None:
    def one_less(columns: Columns) -> None:
        columns["labels"][2][predicted_place(columns, 2)] = -100

    def one_more(columns: Columns) -> None:
        place = columns["labels"][2].index(-100, 1)
        columns["labels"][2][place] = columns["input_ids"][2][place]

    for change in (one_less, one_more):
        rules = broken_rules(info_of(masking="static"), change)
        assert has(rules, "the number of predictions is not the one drawn in 1 of ")


def test_a_mask_that_is_not_the_one_drawn_is_found() -> None:
    def move(columns: Columns) -> None:
        labels, ids = columns["labels"][2], columns["input_ids"][2]
        place, other = predicted_place(columns, 2), labels.index(-100, 1)
        ids[place], labels[place] = labels[place], -100
        labels[other] = ids[other]

    def keep(columns: Columns) -> None:
        for row, labels in enumerate(columns["labels"]):
            for place, label in enumerate(labels):
                if label != -100 and columns["input_ids"][row][place] == MASK:
                    columns["input_ids"][row][place] = label
                    return

    for change in (move, keep):
        rules = broken_rules(info_of(masking="static"), change)
        assert [rule.split(" in ")[0] for rule in rules] == ["the mask is not the one drawn"]


def test_a_mask_without_a_label_is_found() -> None:
    def change(columns: Columns) -> None:
        for row, labels in enumerate(columns["labels"]):
            for place, label in enumerate(labels):
                if label != -100 and columns["input_ids"][row][place] == MASK:
                    labels[place] = -100
                    return

    assert has(broken_rules(info_of(masking="static"), change), "a special token is in the text in 1 of ")


def test_an_id_beyond_the_vocabulary_cannot_be_counted() -> None:
    with pytest.raises(UncountableError, match=f"has the id 9999; the vocabulary ends at {TOKENIZER.vocab_size - 1}"):
        broken_rules(info_of(), set_token(1, 1, 9999))


@pytest.mark.parametrize("label", [-5, 9999])
def test_a_label_beyond_the_vocabulary_cannot_be_counted(label: int) -> None:
    with pytest.raises(UncountableError, match="neither -100 nor an id of the vocabulary"):
        broken_rules(info_of(masking="static"), set_token(1, 1, label, "labels"))


@pytest.mark.parametrize("name", ["input_ids", "token_type_ids", "labels", "example_id", "next_sentence_label"])
def test_a_null_cannot_be_counted(name: str) -> None:
    def change(columns: Columns) -> None:
        columns[name][3] = None

    with pytest.raises(UncountableError, match="holds nulls"):
        broken_rules(info_of(masking="static"), change)


@pytest.mark.parametrize("name", ["token_type_ids", "labels"])
def test_lists_of_unlike_lengths_cannot_be_counted(name: str) -> None:
    def change(columns: Columns) -> None:
        columns[name][3].pop()

    with pytest.raises(UncountableError, match="unlike lengths"):
        broken_rules(info_of(masking="static"), change)


@pytest.mark.parametrize("length", [0, 4])
def test_a_row_without_room_for_its_segments_cannot_be_counted(length: int) -> None:
    def change(columns: Columns) -> None:
        for name in ("input_ids", "token_type_ids"):
            del columns[name][3][length:]

    with pytest.raises(UncountableError, match="has a row of under 5 tokens"):
        broken_rules(info_of(), change)


def test_offsets_that_point_beyond_the_batch_are_damage_and_nothing_is_read() -> None:
    info = info_of("doc-sentences")
    [batch] = table_of(written(block_of(5), info)[0]).to_batches()
    offsets = batch["input_ids"].offsets.to_numpy().copy()
    offsets[2] = 1 << 30
    wrong = pa.ListArray.from_buffers(
        batch["input_ids"].type,
        batch.num_rows,
        [None, pa.py_buffer(offsets.tobytes())],
        children=[batch["input_ids"].values],
    )
    damaged = pa.RecordBatch.from_arrays([wrong, *batch.columns[1:]], schema=batch.schema)
    with pytest.raises(UncountableError, match="the record batch of row 0 is damaged"):
        recount([damaged], info, TOKENIZER)


def test_memory_of_a_recount_is_that_of_one_batch_and_of_the_example_ids() -> None:
    peaks, rows = [], []
    for documents in (600, 600, 3000):
        info = info_of("doc-sentences", "static")
        data = written(block_of(documents), info)[0]
        stream = pa.ipc.open_stream(pa.py_buffer(data))
        rows.append(table_of(data).num_rows)
        tracemalloc.start()
        recount(stream, info, TOKENIZER)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert rows[1] > 1000
    assert peaks[2] < 1.1 * peaks[1] + 8 * 5 * (rows[2] - rows[1])
    assert peaks[2] < 1.5 * peaks[1]


def test_ids_of_a_large_vocabulary_are_counted() -> None:
    tokens = np.arange(70_000, 70_030, dtype=np.uint32)
    info = replace(info_of("full-sentences", "static", max_seq_length=8), vocab_size=80_000)
    ends = np.arange(3, 31, 3, dtype=np.int64)
    block = TokenBlock(tokens, np.ones(30, np.bool_), ends, ends[[4, 9]], np.array([1, 2], np.uint64))
    data, counters = written(block, info)
    counts, rules = recount(pa.ipc.open_stream(data), info, TOKENIZER)
    assert rules == []
    assert counts.counts["tokens_in_examples"] == counters.counts["tokens_in_examples"] == 30
