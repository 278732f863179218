"""One shard: the examples of a token block, every copy of them, written as an Arrow IPC stream.

Copies follow one another, each in an order of its own, so memory does not grow with their number. The order is drawn by
example id, so that a reader who does not shuffle still sees mixed documents and labels. A shard of a length bin holds
the examples of that bin only; a packed one holds rows of several examples, each row at the place of its first example.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.draws import bits, key
from bertdata.examples.blocks import take_documents
from bertdata.examples.masking import count_masked, count_predictions, mask_tokens
from bertdata.examples.mixing import documents_of_copy, number_of_copies
from bertdata.examples.packing import pack
from bertdata.examples.rows import Rows, build_rows
from bertdata.examples.segments import Plan, TokenBlock, plan_examples
from bertdata.records import Tally
from bertdata.shards.packed import BORDERS
from bertdata.shards.schema import ShardInfo, shard_schema

ROWS_PER_BATCH = 1000


@dataclass(frozen=True)
class PlannedCopy:
    """One copy of a block: its documents as a block, their examples, and the tokens of each example's row (E,)."""

    block: TokenBlock
    plan: Plan
    lengths: NDArray[np.int64]


def plan_copies(block: TokenBlock, info: ShardInfo, *, mixed: bool = True) -> Iterator[PlannedCopy]:
    """Yield the copies of a block; where sources are weighted and `mixed`, of each the documents drawn for it."""
    epochs = info.epochs if mixed else ()
    copies = number_of_copies(epochs, info.examples.dupe_factor)
    for copy in range(copies if len(block.document_ends) else 0):
        taken = documents_of_copy(block.document_keys, block.document_sources, epochs, copy, info.examples.seed)
        part = take_documents(block, taken)
        plan = plan_examples(part, info.examples, copy)
        yield PlannedCopy(part, plan, row_lengths(plan))


def write_shard(
    block: TokenBlock,
    info: ShardInfo,
    replacement_ids: NDArray[np.integer],
    file: BinaryIO,
    *,
    continuation: NDArray[np.bool_] | None = None,
    copies: Iterable[PlannedCopy] | None = None,
    length_bin: int = 0,
) -> Tally:
    """Write the examples of a block; raises ConfigError where the objective cannot be met with its documents.

    replacement_ids and continuation: as `mask_tokens` takes them; copies: those of `plan_copies`, unless given;
    length_bin: which of `info.examples.bins` is written. What is not of one bin is counted with the first.

    Counts examples, tokens, labels, predictions and what became of them. Under dynamic masking the predictions are
    those that epoch 0 will draw. Of several copies each ends with a record batch that is not full, if need be an empty
    one, so that a reader knows where the next begins. A block without documents gives a shard without rows.
    """
    tally = Tally()
    schema = shard_schema(info)
    bins = info.examples.bins
    for name in ("examples", "tokens_in_examples", "labels_1"):
        tally.add(name, 0)
    _count_block(block, info, tally, whole=length_bin == 0)
    several = number_of_copies(info.epochs, info.examples.dupe_factor) > 1
    with pa.ipc.new_stream(file, schema) as writer:
        for copy, planned in enumerate(plan_copies(block, info) if copies is None else copies):
            if length_bin == 0:
                _count_copy(planned, info, tally)
            full, of_source = True, _sources(planned)
            chosen = np.flatnonzero(np.searchsorted(bins, planned.lengths) == length_bin)
            for examples, borders in _batches(planned, chosen, info, copy):
                sources = of_source[examples]
                rows = build_rows(
                    planned.block,
                    planned.plan,
                    examples,
                    cls_token_id=info.cls_token_id,
                    sep_token_id=info.sep_token_id,
                )
                _count_rows(rows, sources, info, tally)
                writer.write_batch(
                    _batch(rows, sources, borders, info, replacement_ids, continuation, copy, schema, tally)
                )
                full = (len(examples) if borders is None else len(borders) - 1) == ROWS_PER_BATCH
            if full and several:
                writer.write_batch(pa.RecordBatch.from_pylist([], schema=schema))
    return tally


def row_lengths(plan: Plan) -> NDArray[np.int64]:
    """Return the tokens of the row of each example, special ones included, int64 (E,)."""
    behind = np.concatenate([[0], np.cumsum(plan.spans[:, 1] - plan.spans[:, 0] + 1)])
    return np.asarray(1 + behind[plan.offsets[1:]] - behind[plan.offsets[:-1]], np.int64)


def order_draws(seed: int, copy: int, example_ids: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return what the examples of one copy are sorted by; packed rows are sorted by their first examples."""
    return bits(key(seed, "row order"), copy, example_ids)


def _batches(
    planned: PlannedCopy, chosen: NDArray[np.int64], info: ShardInfo, copy: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64] | None]]:
    """Yield the examples of each record batch in their order, and where packed rows begin among them."""
    draws = order_draws(info.examples.seed, copy, planned.plan.ids)
    order = chosen[np.argsort(draws[chosen], kind="stable")]
    if not info.examples.pack:
        for start in range(0, len(order), ROWS_PER_BATCH):
            yield order[start : start + ROWS_PER_BATCH], None
        return
    members, offsets = pack(planned.lengths[order], info.examples.row_length)
    packed = order[members]
    rows = np.argsort(draws[packed[offsets[:-1]]], kind="stable")
    sizes = np.diff(offsets)
    for start in range(0, len(rows), ROWS_PER_BATCH):
        here = rows[start : start + ROWS_PER_BATCH]
        borders = np.concatenate([[0], np.cumsum(sizes[here])])
        within = np.arange(borders[-1]) - np.repeat(borders[:-1] - offsets[here], sizes[here])
        yield packed[within], borders


def _sources(planned: PlannedCopy) -> NDArray[np.int8]:
    """Return the source of the document that each example's first token is of, int8 (E,), 0 where that is not told."""
    block, plan = planned.block, planned.plan
    first = plan.spans[plan.offsets[:-1], 0]
    if not len(block.document_sources):
        return np.zeros(len(first), np.int8)
    found: NDArray[np.int8] = block.document_sources[np.searchsorted(block.document_ends, first, side="right")]
    return found


def _count_block(block: TokenBlock, info: ShardInfo, tally: Tally, *, whole: bool) -> None:
    """Count the documents of a shard; of one with length bins that is with the first."""
    tally.add("documents", len(block.document_ends) if whole else 0)
    tally.add("documents_sharing_id", len(block.document_keys) - len(np.unique(block.document_keys)) if whole else 0)
    tally.add("sentences", len(block.sentence_ends) if whole else 0)
    tally.add("tokens", len(block.tokens) if whole else 0)
    tally.add("unknown_tokens", int(np.count_nonzero(block.tokens == info.unk_token_id)) if whole else 0)
    tally.add("tokens_in_copies", 0)
    sizes = np.diff(block.document_ends, prepend=0)
    for number, name in enumerate(info.sources):
        tally.add(f"examples_of_{name}", 0)
        tally.add(f"tokens_of_{name}", int(sizes[block.document_sources == number].sum()) if whole else 0)
        tally.add(f"tokens_in_copies_of_{name}", 0)


def _count_copy(planned: PlannedCopy, info: ShardInfo, tally: Tally) -> None:
    block = planned.block
    tally.add("tokens_in_copies", len(block.tokens))
    sizes = np.diff(block.document_ends, prepend=0)
    for number, name in enumerate(info.sources):
        tally.add(f"tokens_in_copies_of_{name}", int(sizes[block.document_sources == number].sum()))
    for name, count in planned.plan.counts.items():
        tally.add(name, count)


def _count_rows(rows: Rows, sources: NDArray[np.int8], info: ShardInfo, tally: Tally) -> None:
    tally.add("examples", len(rows.ids))
    tally.add("tokens_in_examples", len(rows.special) - int(np.count_nonzero(rows.special)))
    tally.add("labels_1", int(rows.labels.sum()))
    for number, name in enumerate(info.sources):
        tally.add(f"examples_of_{name}", int((sources == number).sum()))


def _batch(
    rows: Rows,
    sources: NDArray[np.int8],
    borders: NDArray[np.int64] | None,
    info: ShardInfo,
    replacement_ids: NDArray[np.integer],
    continuation: NDArray[np.bool_] | None,
    copy: int,
    schema: pa.Schema,
    tally: Tally,
) -> pa.RecordBatch:
    offsets = pa.array(rows.offsets if borders is None else rows.offsets[borders], pa.int32())
    input_ids: NDArray[np.integer] = rows.input_ids
    columns: dict[str, pa.Array] = {}
    tally.add("row_tokens", len(input_ids))
    if info.examples.masking == "static":
        label_type = schema.field("labels").type.value_type.to_pandas_dtype()
        masked = mask_tokens(
            rows.input_ids,
            rows.offsets,
            rows.special,
            rows.ids,
            config=info.masking,
            seed=info.examples.seed,
            epoch=copy,
            mask_token_id=info.mask_token_id,
            replacement_ids=replacement_ids,
            continuation=continuation,
            narrow=label_type == np.int16,
        )
        kept = masked.labels.astype(label_type, copy=False)
        columns["labels"] = pa.ListArray.from_arrays(offsets, pa.array(kept, schema.field("labels").type.value_type))
        predicted, became, stayed = count_masked(masked, info.mask_token_id)
        tally.add("predictions", predicted)
        tally.add("predictions_mask", became)
        tally.add("predictions_kept", stayed)
        tally.add("predictions_capped_rows", masked.capped)
        input_ids = masked.input_ids
    else:
        number, capped = count_predictions(
            rows.input_ids,
            rows.offsets,
            rows.special,
            rows.ids,
            config=info.masking,
            seed=info.examples.seed,
            epoch=0,
            continuation=continuation,
        )
        tally.add("predictions", number)
        tally.add("predictions_capped_rows", capped)
    columns["input_ids"] = pa.ListArray.from_arrays(
        offsets, pa.array(input_ids.astype(rows.input_ids.dtype, copy=False), schema.field("input_ids").type.value_type)
    )
    columns["token_type_ids"] = pa.ListArray.from_arrays(offsets, pa.array(rows.token_type_ids, pa.uint8()))
    each = {"example_id": rows.ids, "source": sources, info.label or "": rows.labels}
    for name in each.keys() & set(schema.names):
        columns[name] = pa.array(each[name])
        if borders is not None:
            columns[name] = pa.ListArray.from_arrays(pa.array(borders, pa.int32()), columns[name])
    if borders is not None:
        columns[BORDERS] = _borders(rows.offsets, borders)
        tally.add("rows", len(borders) - 1)
    return pa.RecordBatch.from_arrays([columns[field.name] for field in schema], schema=schema)


def _borders(ends: NDArray[np.int64], borders: NDArray[np.int64]) -> pa.ListArray:
    """Return `cu_seqlens`: for each row 0 and the ends of its examples, counted from the row's beginning."""
    rows = len(borders) - 1
    inserted = np.insert(ends[1:], borders[:-1], ends[borders[:-1]])
    offsets = borders + np.arange(rows + 1)
    begins = np.repeat(ends[borders[:-1]], np.diff(offsets))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(inserted - begins, pa.int32()))
