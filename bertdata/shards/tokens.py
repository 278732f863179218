"""The token store: tokenised documents, one file for a range of documents, its rows grouped by output shard.

A file is an Arrow IPC stream with one record batch for each shard that has rows in it. Its record names where each
batch lies, so that whoever builds a shard reads just its slices: tokens never go through a shuffle, references do.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bertdata import files
from bertdata.documents import slot
from bertdata.draws import bits, key, text_bits
from bertdata.errors import InputError
from bertdata.examples.segments import TokenBlock
from bertdata.records import Tally
from bertdata.sentences import SentenceSegmenter
from bertdata.wordpiece import WordPieceTokenizer

_LOOKED_UP = 1 << 14


@dataclass(frozen=True)
class Slice:
    """Where a shard's rows lie in one token file; `sha256` is that of the file, `source` the number of its source."""

    path: str
    sha256: str
    offset: int
    length: int
    source: int = 0


def token_schema(id_type: pa.DataType) -> pa.Schema:
    """Return the columns of a token file: document id, token ids, the number of tokens in each sentence."""
    return pa.schema(
        [
            pa.field("id", pa.string()),
            pa.field("tokens", pa.list_(id_type)),
            pa.field("sentence_lengths", pa.list_(pa.int32())),
        ]
    )


def write_tokens(
    documents: Iterable[pa.Table],
    tokenizer: WordPieceTokenizer,
    segmenter: SentenceSegmenter,
    shard_ends: Sequence[int],
    file: BinaryIO,
) -> Tally:
    """Segment and tokenise documents and write them grouped by shard; shard s has the slots below shard_ends[s].

    details["slices"] lists [shard, offset, length] of each batch. Sentences without a token are left out, and a
    document without any is dropped and counted.
    """
    tally = Tally()
    schema = token_schema(tokenizer.id_type)
    tables = [_tokenize(table, tokenizer, segmenter, schema, tally) for table in documents]
    table = pa.concat_tables(tables) if tables else schema.empty_table()
    shards = np.array([bisect_right(shard_ends, slot(one)) for one in table["id"].to_pylist()], np.int64)
    order = np.argsort(shards, kind="stable")
    bounds = np.searchsorted(shards[order], np.arange(len(shard_ends) + 1))
    slices = []
    with pa.ipc.new_stream(file, schema) as writer:
        writer.write_batch(pa.RecordBatch.from_pylist([], schema=schema))
        for shard in np.unique(shards).tolist():
            rows = table.take(order[bounds[shard] : bounds[shard + 1]]).combine_chunks()
            begin = file.tell()
            writer.write_table(rows, max_chunksize=rows.num_rows)
            slices.append([shard, begin, file.tell() - begin])
    tally.details["slices"] = slices
    return tally


def _tokenize(
    documents: pa.Table, tokenizer: WordPieceTokenizer, segmenter: SentenceSegmenter, schema: pa.Schema, tally: Tally
) -> pa.Table:
    sentences = segmenter.segment_batch(documents["text"])
    encoded = tokenizer.encode_batch(sentences.flatten())
    lengths = pc.list_value_length(encoded).to_numpy(zero_copy_only=False).astype(np.int32)
    tokens = encoded.flatten()
    owner = np.repeat(np.arange(len(sentences)), np.diff(sentences.offsets.to_numpy()))
    kept = lengths > 0
    sentence_count = np.bincount(owner[kept], minlength=len(sentences))
    token_count = np.bincount(owner, weights=lengths, minlength=len(sentences)).astype(np.int64)
    rows = np.flatnonzero(token_count > 0)
    tally.add("documents", len(rows))
    tally.add("text_bytes", pc.sum(pc.binary_length(documents["text"])).as_py() or 0)
    tally.add("sentences", int(kept.sum()))
    tally.add("tokens", len(tokens))
    tally.add("unknown_tokens", int((tokens.to_numpy() == tokenizer.unk_token_id).sum()))
    if dropped := len(sentences) - len(rows):
        tally.drop("no tokens", dropped)
    return pa.table(
        [
            documents["id"].combine_chunks().take(pa.array(rows)),
            pa.ListArray.from_arrays(_offsets(token_count[rows]), tokens),
            pa.ListArray.from_arrays(_offsets(sentence_count[rows]), pa.array(lengths[kept])),
        ],
        schema=schema,
    )


def _offsets(lengths: NDArray[np.int64]) -> pa.Array:
    return pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())


def read_slices(slices: Sequence[Slice], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the record batches that slices name; raises InputError where a file is not what it was."""
    for one in slices:
        with files.open_raw(one.path) as file:
            file.seek(one.offset)
            data = file.read(one.length)
        try:
            batch = pa.ipc.read_record_batch(pa.py_buffer(data), schema)
            batch.validate(full=True)
        except (pa.ArrowException, OSError) as error:
            raise InputError(
                f"the token store is damaged ({error}); delete this file and run again",
                path=one.path,
                offset=one.offset,
            ) from error
        yield batch


def load_block(slices: Sequence[Slice], id_type: pa.DataType, continuation: NDArray[np.bool_], seed: int) -> TokenBlock:
    """Return the documents of one shard as a block, in an order drawn by their ids.

    The order does not depend on that of the slices. `continuation` is True for ids of pieces that continue a word.
    """
    batches = list(read_slices(slices, token_schema(id_type)))
    names = [name for batch in batches for name in batch["id"].to_pylist()]
    tokens = [_rows(batch["tokens"]) for batch in batches]
    lengths = [_rows(batch["sentence_lengths"]) for batch in batches]
    flat_tokens = [row for rows in tokens for row in rows]
    flat_lengths = [row for rows in lengths for row in rows]
    keys = np.array([text_bits(name) for name in names], np.uint64)
    sources = np.repeat(np.array([one.source for one in slices], np.int8), [batch.num_rows for batch in batches])
    draws = bits(key(seed, "document order"), keys).tolist() if len(keys) else []
    repeated = len(set(names)) < len(names)
    order = sorted(range(len(names)), key=lambda i: (draws[i], names[i], flat_tokens[i].tobytes() if repeated else b""))
    ids = np.concatenate([flat_tokens[i] for i in order]) if order else np.zeros(0, id_type.to_pandas_dtype())
    sentences = np.concatenate([flat_lengths[i] for i in order]) if order else np.zeros(0, np.int32)
    return TokenBlock(
        tokens=ids,
        word_start=_word_starts(ids, continuation),
        sentence_ends=np.cumsum(sentences, dtype=np.int64),
        document_ends=np.cumsum([len(flat_tokens[i]) for i in order], dtype=np.int64),
        document_keys=keys[order] if order else keys,
        document_sources=sources[order] if order else sources,
    )


def _word_starts(ids: NDArray[np.unsignedinteger], continuation: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return where words begin, a piece at a time: numpy makes eight bytes of each id that it looks up."""
    found = np.empty(len(ids), np.bool_)
    for begin in range(0, len(ids), _LOOKED_UP):
        piece = slice(begin, begin + _LOOKED_UP)
        np.logical_not(continuation[ids[piece]], out=found[piece])
    return found


def _rows(column: pa.ListArray) -> list[NDArray[np.integer]]:
    values, offsets = column.values.to_numpy(), column.offsets.to_numpy()
    return [values[start:end] for start, end in pairwise(offsets)]
