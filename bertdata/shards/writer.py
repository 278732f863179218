"""One shard: the examples of a token block, every copy of them, written as an Arrow IPC stream.

Copies follow one another, each in an order of its own, so memory does not grow with their number. The order is drawn by
example id, so that a reader who does not shuffle still sees mixed documents and labels.
"""

from __future__ import annotations

from typing import BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.draws import bits, key
from bertdata.examples.masking import IGNORE_INDEX, count_predictions, mask_tokens
from bertdata.examples.rows import Rows, build_rows
from bertdata.examples.segments import Plan, TokenBlock, plan_examples
from bertdata.records import Tally
from bertdata.shards.schema import ShardInfo, shard_schema

ROWS_PER_BATCH = 1000


def write_shard(
    block: TokenBlock,
    info: ShardInfo,
    replacement_ids: NDArray[np.integer],
    file: BinaryIO,
    *,
    continuation: NDArray[np.bool_] | None = None,
) -> Tally:
    """Write the examples of a block; raises ConfigError where the objective cannot be met with its documents.

    replacement_ids and continuation: as `mask_tokens` takes them.

    Counts examples, tokens, labels, predictions and what became of them. Under dynamic masking the predictions are
    those that epoch 0 will draw. A block without documents gives a shard without rows.
    """
    tally = Tally()
    schema = shard_schema(info)
    tally.add("documents", len(block.document_ends))
    tally.add("documents_sharing_id", len(block.document_keys) - len(np.unique(block.document_keys)))
    tally.add("tokens", len(block.tokens))
    for name in ("examples", "tokens_in_examples", "labels_1"):
        tally.add(name, 0)
    with pa.ipc.new_stream(file, schema) as writer:
        for copy in range(info.examples.dupe_factor if len(block.document_ends) else 0):
            plan = plan_examples(block, info.examples, copy)
            _count_plan(plan, tally)
            order = np.argsort(order_draws(info.examples.seed, copy, plan.ids), kind="stable")
            for start in range(0, len(order), ROWS_PER_BATCH):
                rows = build_rows(
                    block,
                    plan,
                    order[start : start + ROWS_PER_BATCH],
                    cls_token_id=info.cls_token_id,
                    sep_token_id=info.sep_token_id,
                )
                writer.write_batch(_batch(rows, info, replacement_ids, continuation, copy, schema, tally))
    return tally


def order_draws(seed: int, copy: int, example_ids: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return what the examples of one copy are sorted by."""
    return bits(key(seed, "row order"), copy, example_ids)


def _count_plan(plan: Plan, tally: Tally) -> None:
    tally.add("examples", len(plan.ids))
    tally.add("tokens_in_examples", int((plan.spans[:, 1] - plan.spans[:, 0]).sum()))
    tally.add("labels_1", int(plan.labels.sum()))
    for name, number in plan.counts.items():
        tally.add(name, number)


def _batch(
    rows: Rows,
    info: ShardInfo,
    replacement_ids: NDArray[np.integer],
    continuation: NDArray[np.bool_] | None,
    copy: int,
    schema: pa.Schema,
    tally: Tally,
) -> pa.RecordBatch:
    offsets = pa.array(rows.offsets, pa.int32())
    input_ids: NDArray[np.integer] = rows.input_ids
    columns: dict[str, pa.Array] = {}
    tally.add("row_tokens", len(input_ids))
    if info.examples.masking == "static":
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
        )
        narrow = masked.labels.astype(schema.field("labels").type.value_type.to_pandas_dtype())
        columns["labels"] = pa.ListArray.from_arrays(offsets, pa.array(narrow))
        predicted = np.flatnonzero(narrow != IGNORE_INDEX)
        shown = masked.input_ids[predicted]
        tally.add("predictions", len(predicted))
        tally.add("predictions_mask", int((shown == info.mask_token_id).sum()))
        tally.add("predictions_kept", int((shown == masked.labels[predicted]).sum()))
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
        offsets, pa.array(input_ids.astype(rows.input_ids.dtype), schema.field("input_ids").type.value_type)
    )
    columns["token_type_ids"] = pa.ListArray.from_arrays(offsets, pa.array(rows.token_type_ids))
    columns["example_id"] = pa.array(rows.ids)
    if info.label:
        columns[info.label] = pa.array(rows.labels)
    return pa.RecordBatch.from_arrays([columns[field.name] for field in schema], schema=schema)
