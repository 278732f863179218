"""One shard: the examples of a block, every copy, in their order and with their masks."""

from __future__ import annotations

import io
import tracemalloc
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from bertdata.corpus.writer import ROWS_PER_BATCH, write_shard
from bertdata.errors import ConfigError
from bertdata.masking import MASK_UNITS
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives import OBJECTIVES
from bertdata.objectives.blocks import DROPPED, TokenBlock
from bertdata.objectives.objective import plan_examples
from bertdata.objectives.settings import MASKINGS, ExamplesConfig
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.schema import shard_schema
from tests.shards.blocks import FIRST_WORD, TOKENIZER, block_from, block_of, blocks, info_of, infos, table_of, written

CLS, SEP, MASK = TOKENIZER.cls_token_id, TOKENIZER.sep_token_id, TOKENIZER.mask_token_id


def plain_rows(table: pa.Table) -> list[list[int]]:
    """Return the rows as they were before masking."""
    if "labels" not in table.column_names:
        return [list(row) for row in table["input_ids"].to_pylist()]
    pairs = zip(table["input_ids"].to_pylist(), table["labels"].to_pylist(), strict=True)
    return [[b if b != -100 else a for a, b in zip(ids, labels, strict=True)] for ids, labels in pairs]


def rows_of_plan(block: TokenBlock, info: PretrainingInfo, copy: int) -> dict[int, tuple[list[int], int]]:
    """Return ids and pair label of each example of a copy, put together one token after another."""
    plan = plan_examples(block, info.examples, copy, info.row_template)
    rows = {}
    for number, example_id in enumerate(plan.ids.tolist()):
        row = [CLS]
        for start, end in plan.spans[plan.offsets[number] : plan.offsets[number + 1]].tolist():
            row += [*block.tokens[start:end].tolist(), SEP]
        rows[example_id] = row, int(plan.labels[number])
    return rows


@pytest.mark.parametrize("masking", MASKINGS)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_tokens_and_label_of_a_row_come_from_the_same_example(objective: str, masking: str) -> None:
    block, info = block_of(20), info_of(objective, masking, dupe_factor=2)
    table = table_of(written(block, info)[0])
    expected = rows_of_plan(block, info, 0) | rows_of_plan(block, info, 1)
    labels = table[info.label].to_pylist() if info.label else [0] * table.num_rows
    names = table["example_id"].to_pylist()
    label_of = dict(zip(names, zip(plain_rows(table), labels, strict=True), strict=True))
    assert label_of == expected
    assert len(names) == len(expected)


@pytest.mark.costly
@given(blocks(), infos())
def test_every_token_is_accounted_for(block: TokenBlock, info: PretrainingInfo) -> None:
    try:
        counts = written(block, info)[1].counts
    except ConfigError:
        return
    gone = sum(count for name, count in counts.items() if name.startswith(DROPPED))
    used = counts["tokens"] * info.examples.dupe_factor + counts.get("tokens_borrowed", 0) - gone
    assert used == counts["tokens_in_examples"]
    assert counts["tokens"] == len(block.tokens)


@pytest.mark.parametrize("objective", ["sop", "doc-sentences", "full-sentences"])
def test_without_nsp_every_token_stands_once_in_each_copy(objective: str) -> None:
    block, info = block_of(20), info_of(objective, dupe_factor=3)
    token_counts = Counter(token for row in plain_rows(table_of(written(block, info)[0])) for token in row)
    del token_counts[CLS], token_counts[SEP]
    assert token_counts == {token: 3 * number for token, number in Counter(block.tokens.tolist()).items()}


def test_the_same_block_gives_the_same_bytes() -> None:
    info = info_of(masking="static", dupe_factor=2)
    assert written(block_of(20), info)[0] == written(block_of(20), info)[0]


def test_another_seed_gives_other_bytes() -> None:
    shards = {written(block_of(20), replace(info_of(), examples=ExamplesConfig(seed=seed)))[0] for seed in range(3)}
    assert len(shards) == 3


def test_a_shard_keeps_its_schema_and_metadata() -> None:
    info = info_of("sop", "static")
    assert table_of(written(block_of(5), info)[0]).schema.equals(shard_schema(info), check_metadata=True)


def test_batches_hold_a_thousand_rows_and_never_two_copies() -> None:
    block, info = block_of(500), info_of("doc-sentences", max_seq_length=16, dupe_factor=2)
    data, counters = written(block, info)
    sizes = [batch.num_rows for batch in pa.ipc.open_stream(data)]
    each = [len(plan_examples(block, info.examples, copy, info.row_template).ids) for copy in range(2)]
    expected = [
        size for count in each for size in [ROWS_PER_BATCH] * (count // ROWS_PER_BATCH) + [count % ROWS_PER_BATCH]
    ]
    assert min(each) > ROWS_PER_BATCH
    assert sizes == expected
    assert sum(sizes) == counters.counts["examples"]


def test_neighbouring_rows_are_of_different_documents() -> None:
    block, info = block_of(60), info_of("doc-sentences", max_seq_length=16, short_seq_prob=0)
    document = {}
    plan = plan_examples(block, info.examples, 0, info.row_template)
    for example_id, (start, _) in zip(plan.ids.tolist(), plan.spans.tolist(), strict=True):
        document[example_id] = int(np.searchsorted(block.document_ends, start, side="right"))
    owners = [document[token_id] for token_id in table_of(written(block, info)[0])["example_id"].to_pylist()]
    together = sum(a == b for a, b in pairwise(owners))
    assert together < len(owners) / 10


def test_copies_have_pairs_of_their_own() -> None:
    block, info = block_of(40), info_of(dupe_factor=2)
    first, second = (list(rows_of_plan(block, info, copy).values()) for copy in range(2))
    assert sum(row in second for row in first) < len(first) / 2


def test_static_masks_are_other_in_each_copy_and_the_tokens_the_same() -> None:
    block, info = block_of(40), info_of("full-sentences", "static", dupe_factor=2, short_seq_prob=0)
    table = table_of(written(block, info)[0])
    rows, masked = plain_rows(table), table["input_ids"].to_pylist()
    seen: dict[tuple[int, ...], list[list[int]]] = {}
    for row, shown in zip(rows, masked, strict=True):
        seen.setdefault(tuple(row), []).append(shown)
    assert all(len(each) == 2 for each in seen.values())
    assert sum(a == b for a, b in seen.values()) == 0


@pytest.mark.costly
@pytest.mark.parametrize("unit", MASK_UNITS)
def test_static_copy_k_is_what_is_drawn_of_its_rows_for_epoch_k(unit: str) -> None:
    config = MaskingConfig(mask_unit=unit)
    info = info_of(masking="static", dupe_factor=3, config=config)
    block = block_of(20)
    table = table_of(written(block, info)[0])
    copies = [set(plan_examples(block, info.examples, copy, info.row_template).ids.tolist()) for copy in range(3)]
    for row, original in zip(table.to_pylist(), plain_rows(table), strict=True):
        ids = np.array(original)
        copy = next(copy for copy in range(3) if row["example_id"] in copies[copy])
        masker, offsets = info.masker(TOKENIZER, config), np.array([0, len(ids)])
        masked = masker.mask(ids, offsets, np.array([row["example_id"]]), copy)
        assert masked.input_ids.tolist() == row["input_ids"]
        assert masked.labels.tolist() == row["labels"]


def test_static_and_dynamic_shards_hold_the_same_rows() -> None:
    block = block_of(20)
    tables = [table_of(written(block, info_of(masking=masking, dupe_factor=2))[0]) for masking in MASKINGS]
    assert plain_rows(tables[0]) == plain_rows(tables[1])
    for name in ("example_id", "next_sentence_label", "token_type_ids"):
        assert tables[0][name].to_pylist() == tables[1][name].to_pylist()


def test_predictions_are_counted_by_what_became_of_them() -> None:
    block, info = block_of(200), info_of(masking="static")
    data, counters = written(block, info)
    table = table_of(data)
    pairs = [
        (shown, label)
        for row, labels in zip(table["input_ids"].to_pylist(), table["labels"].to_pylist(), strict=True)
        for shown, label in zip(row, labels, strict=True)
        if label != -100
    ]
    assert counters.counts["predictions"] == len(pairs)
    assert counters.counts["predictions_mask"] == sum(shown == MASK for shown, _ in pairs)
    assert counters.counts["predictions_kept"] == sum(shown == label for shown, label in pairs)
    assert len(pairs) / counters.counts["tokens_in_examples"] == pytest.approx(0.15, abs=0.01)
    assert counters.counts["predictions_mask"] / len(pairs) == pytest.approx(0.8, abs=0.03)


def test_rows_at_the_limit_of_predictions_are_counted() -> None:
    block, config = block_of(100), MaskingConfig(max_predictions_per_seq=2)
    data, counters = written(block, info_of(masking="static", config=config))
    each = [sum(label != -100 for label in labels) for labels in table_of(data)["labels"].to_pylist()]
    free = [
        sum(label != -100 for label in labels)
        for labels in table_of(written(block, info_of(masking="static"))[0])["labels"].to_pylist()
    ]
    assert max(each) == 2
    assert counters.counts["predictions_capped_rows"] == sum(number > 2 for number in free) > 0


def test_labels_are_balanced() -> None:
    counters = written(block_of(800), info_of())[1]
    assert counters.counts["labels_1"] / counters.counts["examples"] == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("masking", MASKINGS)
def test_a_block_of_one_document_gives_nsp_no_rows_and_its_tokens_are_counted(masking: str) -> None:
    data, counters = written(block_of(1), info_of("nsp", masking))
    assert table_of(data).num_rows == counters.counts["examples"] == 0
    dropped = counters.counts["tokens_dropped_no_partner"] + counters.counts["tokens_dropped_single_word"]
    assert dropped == counters.counts["tokens"] > 0


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_block_without_documents_gives_a_shard_without_rows(objective: str) -> None:
    data, counters = written(block_from([]), info_of(objective, "static"))
    assert table_of(data).num_rows == 0
    assert counters.counts["documents"] == counters.counts["tokens"] == counters.counts["examples"] == 0


def test_documents_that_share_an_id_are_counted() -> None:
    documents = [[[FIRST_WORD, FIRST_WORD + 1]] for _ in range(5)]
    assert written(block_from(documents, [7, 8, 7, 7, 9]), info_of("sop"))[1].counts["documents_sharing_id"] == 2


@pytest.mark.parametrize("masking", MASKINGS)
def test_ids_past_65535_do_not_wrap(masking: str) -> None:
    info = replace(info_of("full-sentences", masking, max_seq_length=8), vocab_size=200_000)
    tokens = np.arange(199_000, 199_030, dtype=np.uint32)
    ends = np.arange(3, 31, 3, dtype=np.int64)
    block = TokenBlock(tokens, np.ones(30, np.bool_), ends, ends[[4, 9]], np.array([1, 2], np.uint64))
    file = io.BytesIO()
    write_shard(block, info, info.masker(TOKENIZER), file)
    table = table_of(file.getvalue())
    assert sorted(token for row in plain_rows(table) for token in row[1:] if token != SEP) == tokens.tolist()
    assert table.schema.field("input_ids").type == pa.list_(pa.uint32())


class _Sink(io.RawIOBase):
    """Forgets what is written, and keeps the most that Arrow held meanwhile."""

    def __init__(self) -> None:
        self.size, self.arrow, self._before = 0, 0, pa.total_allocated_bytes()

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        size = memoryview(data).nbytes  # type: ignore[arg-type]
        self.size += size
        self.arrow = max(self.arrow, pa.total_allocated_bytes() - self._before)
        return size


def test_memory_does_not_grow_with_the_number_of_copies() -> None:
    block = block_of(1500)
    peaks, sizes = [], []
    for copies in (2, 2, 8):
        sink = _Sink()
        tracemalloc.start()
        info = info_of(masking="static", dupe_factor=copies)
        write_shard(block, info, info.masker(TOKENIZER), sink)  # type: ignore[arg-type]
        peaks.append(tracemalloc.get_traced_memory()[1] + sink.arrow)
        tracemalloc.stop()
        sizes.append(sink.size)
    assert sizes[2] > 3.8 * sizes[1]
    assert peaks[2] < 1.2 * peaks[1]
