"""One shard: the examples of a token block, every copy of them, written as an Arrow IPC stream.

Copies follow one another, each in an order of its own, so memory does not grow with their number. The order is drawn by
example id, so that documents and labels are mixed even for a reader that does not shuffle. A shard of a length bin has
the examples of that bin only; a packed one has rows of several examples, each row at the place of its first example.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.counter_rng import argsort, bits, key
from bertdata.engine.parts import Counters
from bertdata.masking.masked import count_masked
from bertdata.masking.masking import Masker
from bertdata.objectives.blocks import Plan, TokenBlock, take_documents
from bertdata.objectives.mixing import documents_of_copy, number_of_copies
from bertdata.objectives.objective import plan_examples
from bertdata.objectives.packing import pack
from bertdata.objectives.rows import Rows, build_rows, row_offsets, with_word_starts
from bertdata.shards.by_source import count_by_source, source_type
from bertdata.shards.columns import CU_SEQLENS, MASK_RATE, OF_TOKENS, WORD_STARTS
from bertdata.shards.kept_columns import SUM_OF, sums_of
from bertdata.shards.pieces import PieceDigests
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.schema import label_type, numpy_type, shard_schema
from bertdata.tokenizers.pairs import RowTemplate

ROWS_PER_BATCH = 1000
_TOKENS_AT_ONCE = 1 << 20
_END = b"\xff\xff\xff\xff\0\0\0\0"
"""The end of an Arrow IPC stream. Messages are written whole, as Arrow's own writer writes each buffer by itself."""


@dataclass(frozen=True)
class PlannedCopy:
    """One copy of a block: its documents as a block, their examples, and what stands around the texts of these."""

    block: TokenBlock
    plan: Plan
    template: RowTemplate

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """The tokens of the row of each example, special ones included, int64 (E,)."""
        chosen = np.arange(len(self.plan.ids))
        return np.diff(row_offsets(self.block, self.plan, chosen, self.template))


def plan_copies(block: TokenBlock, info: PretrainingInfo, *, mixed: bool = True) -> Iterator[PlannedCopy]:
    """Yield the copies of a block; where sources are weighted and `mixed`, of each the documents drawn for it."""
    epochs, template = info.epochs if mixed else (), info.row_template
    copies = number_of_copies(epochs, info.examples.dupe_factor)
    for copy in range(copies if len(block.document_ends) else 0):
        taken = documents_of_copy(block.document_keys, block.document_sources, epochs, copy, info.examples.seed)
        part = take_documents(block, taken)
        yield PlannedCopy(part, plan_examples(part, info.examples, copy, template), template)


def write_shard(
    block: TokenBlock,
    info: PretrainingInfo,
    masker: Masker,
    file: BinaryIO,
    *,
    copies: Iterable[PlannedCopy] | None = None,
    length_bin: int = 0,
    pieces: PieceDigests | None = None,
) -> Counters:
    """Write the examples of a block; raises ConfigError where the objective cannot be met with its documents.

    masker: that of `info`, the tokenizer and the split; copies: those of `plan_copies`, unless given; length_bin: which
    of `info.examples.bins` is written. Counts that do not belong to one bin are added to the first. pieces: takes the
    messages that are written, if given.

    Counts examples, tokens, labels, predictions and what became of them. Under dynamic masking the predictions are
    those of epoch 0, at the rate of the beginning of a run. Each of several copies ends with a record batch that is not
    full, if need be an empty one, so that a reader knows where the next begins. A block without documents gives a shard
    without rows.
    """
    counters = Counters()
    schema = shard_schema(info.of_rows())
    _count_block(block, info, counters, whole=length_bin == 0)
    several = number_of_copies(info.epochs, info.examples.dupe_factor) > 1

    def write(message: Any, rows: int = 0) -> None:
        file.write(message)
        if pieces is not None:
            pieces.add(message, rows)

    write(schema.serialize())
    for copy, planned in enumerate(plan_copies(block, info) if copies is None else copies):
        if length_bin == 0:
            counters.add_all(tokens_in_copies=len(planned.block.tokens), **planned.plan.counts)
            counters.add_all(**_tokens_by_source("tokens_in_copies", planned.block, info))
        full, of_source, of_documents = True, _sources(planned, info), _of_first_documents(planned)
        for examples, borders in _batches(planned, length_bin, info, copy):
            sources = of_source[examples]
            rows = build_rows(planned.block, planned.plan, examples, planned.template)
            if info.word_starts:
                rows = with_word_starts(rows, planned.block, planned.plan, examples)
            carried = {name: of_example[examples] for name, of_example in of_documents.items()}
            _count_rows(rows, sources, info, counters)
            counters.add_all(**sums_of(carried))
            values = _masked(rows, info, masker, copy, counters)
            values |= {"token_type_ids": rows.token_type_ids, "example_id": rows.ids, "source": sources}
            values |= {info.label or "": rows.labels} | carried
            if rows.word_starts is not None:
                values[WORD_STARTS] = rows.word_starts
            if borders is not None:
                counters.add("rows", len(borders) - 1)
            for batch in _record_batches(values, rows.offsets, borders, schema):
                write(batch.serialize(), len(batch))
                full = len(batch) == ROWS_PER_BATCH
        if full and several:
            write(pa.RecordBatch.from_pylist([], schema=schema).serialize())
    write(_END)
    return counters


def order_draws(seed: int, copy: int, example_ids: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the random numbers by which the examples of a copy are sorted, packed rows by their first examples."""
    return bits(key(seed, "row order"), copy, example_ids)


def _batches(
    planned: PlannedCopy, length_bin: int, info: PretrainingInfo, copy: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64] | None]]:
    """Yield the ordered examples of some record batches, and the offsets of packed rows among them."""
    draws, bins = order_draws(info.examples.seed, copy, planned.plan.ids), info.examples.bins
    if len(bins) > 1:
        chosen = np.flatnonzero(np.searchsorted(bins, planned.lengths) == length_bin)
        order = chosen[argsort(draws[chosen])]
    else:
        order = argsort(draws)
    step = max(1, _TOKENS_AT_ONCE // (ROWS_PER_BATCH * info.examples.row_length)) * ROWS_PER_BATCH
    if not info.examples.pack:
        for start in range(0, len(order), step):
            yield order[start : start + step], None
        return
    members, offsets = pack(planned.lengths[order], info.examples.row_length)
    packed = order[members]
    rows = argsort(draws[packed[offsets[:-1]]])
    sizes = np.diff(offsets)
    for start in range(0, len(rows), step):
        here = rows[start : start + step]
        borders = np.concatenate([[0], np.cumsum(sizes[here])])
        within = np.arange(borders[-1]) - np.repeat(borders[:-1] - offsets[here], sizes[here])
        yield packed[within], borders


def _sources(planned: PlannedCopy, info: PretrainingInfo) -> NDArray[np.signedinteger]:
    """Return the source of the first token of each example (E,), in the type of its column; 0 where it is not known."""
    kind = numpy_type(source_type(len(info.sources)))
    if not info.sources or not len(planned.block.document_sources):
        return np.zeros(len(planned.plan.ids), kind)
    sources: NDArray[np.signedinteger] = planned.block.document_sources[_first_documents(planned)]
    return sources.astype(kind, copy=False)


def _first_documents(planned: PlannedCopy) -> NDArray[np.int64]:
    """Return the number of the document of the first token of each example, int64 (E,)."""
    first = planned.plan.spans[planned.plan.offsets[:-1], 0]
    documents: NDArray[np.int64] = np.searchsorted(planned.block.document_ends, first, side="right")
    return documents


def _of_first_documents(planned: PlannedCopy) -> dict[str, NDArray[Any]]:
    """Return the columns that rows carry, each with the value of the document of an example's first token (E,)."""
    if not planned.block.document_values:
        return {}
    documents = _first_documents(planned)
    return {name: values[documents] for name, values in planned.block.document_values.items()}


def _tokens_by_source(what: str, block: TokenBlock, info: PretrainingInfo) -> dict[str, int]:
    sizes = np.diff(block.document_ends, prepend=0)
    return count_by_source(what, block.document_sources, info.sources, sizes)


def _count_block(block: TokenBlock, info: PretrainingInfo, counters: Counters, *, whole: bool) -> None:
    """Count the documents of a shard, those of one with length bins with the first (`whole`); begin the others at 0."""
    counts = {
        "documents": len(block.document_ends),
        "documents_sharing_id": len(block.document_keys) - len(np.unique(block.document_keys)),
        "sentences": len(block.sentence_ends),
        "tokens": len(block.tokens),
        "unknown_tokens": int(np.count_nonzero(block.tokens == info.unk_token_id)),
        **dict.fromkeys(("tokens_in_copies", "examples", "tokens_in_examples", "labels_1"), 0),
    }
    by_source = _tokens_by_source("tokens", block, info)
    for tokens in by_source:
        others = (tokens.replace("tokens", what, 1) for what in ("tokens_in_copies", "examples"))
        counts |= {tokens: by_source[tokens], **dict.fromkeys(others, 0)}
    counters.add_all(**{name: number if whole else 0 for name, number in counts.items()})
    counters.add_all(**{f"{SUM_OF}{name}": 0 for name in info.selection.kept})


def _count_rows(rows: Rows, sources: NDArray[np.signedinteger], info: PretrainingInfo, counters: Counters) -> None:
    ordinary = len(rows.special) - int(np.count_nonzero(rows.special))
    counters.add_all(examples=len(rows.ids), tokens_in_examples=ordinary, labels_1=int(rows.labels.sum()))
    counters.add_all(**count_by_source("examples", sources, info.sources))


def _masked(
    rows: Rows, info: PretrainingInfo, masker: Masker, copy: int, counters: Counters
) -> dict[str, NDArray[Any]]:
    """Return the columns `input_ids` and, with static masks, `labels` and drawn rates, and count what is predicted."""
    counters.add("row_tokens", len(rows.input_ids))
    special, starts = rows.special, rows.word_starts
    if info.examples.masking != "static":
        number, capped = masker.count(
            *(rows.input_ids, rows.offsets, rows.ids, 0), levels=0, special=special, word_starts=starts
        )
        counters.add_all(predictions=number, predictions_capped_rows=capped)
        return {"input_ids": rows.input_ids}
    kind = numpy_type(label_type(info.vocab_size))
    narrow = kind == np.int16
    masked = masker.mask(
        *(rows.input_ids, rows.offsets, rows.ids, copy), special=special, word_starts=starts, narrow=narrow
    )
    predicted, became, stayed = count_masked(masked, info.mask_token_id)
    counters.add_all(predictions=predicted, predictions_mask=became, predictions_kept=stayed)
    counters.add("predictions_capped_rows", masked.capped)
    return {
        "input_ids": masked.input_ids.astype(rows.input_ids.dtype, copy=False),
        "labels": masked.labels.astype(kind, copy=False),
        MASK_RATE: masker.rates(rows.ids, copy),
    }


def _record_batches(
    values: dict[str, NDArray[Any]],
    offsets: NDArray[np.int64],
    borders: NDArray[np.int64] | None,
    schema: pa.Schema,
) -> Iterator[pa.RecordBatch]:
    """Yield a record batch for each thousand rows of columns of tokens and of examples.

    offsets: of the examples among the tokens (E+1,); borders: of packed rows among the examples (R+1,).
    """
    starts = np.arange(len(offsets)) if borders is None else borders
    of_tokens = {name: name in OF_TOKENS for name in schema.names}
    for begin in range(0, len(starts) - 1, ROWS_PER_BATCH):
        row_starts = starts[begin : begin + ROWS_PER_BATCH + 1]
        places = offsets[row_starts]
        first, last, start, end = int(row_starts[0]), int(row_starts[-1]), int(places[0]), int(places[-1])
        token_offsets = pa.array((places - start).astype(np.int32))
        example_offsets = None if borders is None else pa.array((row_starts - first).astype(np.int32))
        columns = []
        for name, inside in of_tokens.items():
            if inside:
                columns.append(pa.ListArray.from_arrays(token_offsets, pa.array(values[name][start:end])))
            elif name == CU_SEQLENS:
                columns.append(_borders(offsets[first : last + 1], row_starts - first))
            elif example_offsets is None:
                columns.append(pa.array(values[name][first:last]))
            else:
                columns.append(pa.ListArray.from_arrays(example_offsets, pa.array(values[name][first:last])))
        yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _borders(ends: NDArray[np.int64], borders: NDArray[np.int64]) -> pa.ListArray:
    """Return `cu_seqlens`: for each row 0 and the ends of its examples, counted from the row's beginning."""
    rows = len(borders) - 1
    inserted = np.insert(ends[1:], borders[:-1], ends[borders[:-1]])
    offsets = borders + np.arange(rows + 1)
    begins = np.repeat(ends[borders[:-1]], np.diff(offsets))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(inserted - begins, pa.int32()))
