"""The token store: tokenized documents, one file for a range of documents, its rows grouped by output shard.

A file is an Arrow IPC stream with one record batch for each shard that has rows in it. Its record has the byte range of
each batch, so a shard is written by reading its slices: references go through the runner's shuffle, tokens do not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bertdata.corpus.lost_marks import count_lost_marks
from bertdata.corpus.selection import languages_in, stored_columns
from bertdata.corpus.statistics import SignTables, count_signs, sign_tables
from bertdata.corpus.stored_ids import with_stored_ids
from bertdata.corpus.token_rows import joined, row_bytes_of, taken
from bertdata.counter_rng import argsort, bits, key
from bertdata.curation.scores import Score
from bertdata.documents import DocumentRange, id_bits, slots
from bertdata.engine.byte_ranges import ByteRange, each_read, read_at
from bertdata.engine.parts import Counters, add_counts
from bertdata.errors import InputError
from bertdata.kernels.warmup import compiling_pays
from bertdata.objectives.blocks import TokenBlock
from bertdata.sentences.by_language import Segmenter, SentencesByLanguage
from bertdata.shards.columns import WORD_STARTS
from bertdata.shards.schema import numpy_type
from bertdata.tokenizers.base import Tokenizer


@dataclass(frozen=True)
class TokenSlice(ByteRange):
    """The byte range of a shard's rows in one token file; `source` is the number of their source."""

    source: int = 0


def token_schema(tokenizer: Tokenizer, *, columns: bool = False) -> pa.Schema:
    """Return the columns of a token file: document id, token ids, the number of tokens in each sentence.

    Where an id alone does not tell whether it begins a word, there is `word_starts` too, a bit for each token. With
    `columns` there are columns of the documents, as a JSON object for each.
    """
    fields = [
        pa.field("id", pa.string()),
        pa.field("tokens", pa.list_(tokenizer.id_type)),
        pa.field("sentence_lengths", pa.list_(pa.int32())),
    ]
    if tokenizer.continuation is None:
        fields.append(pa.field(WORD_STARTS, _FLAGS))
    return pa.schema([*fields, *([pa.field(_COLUMNS, pa.string())] if columns else [])])


_FLAGS = pa.list_(pa.bool_())
_COLUMNS = "columns"
CUT_BY = "cut_by"
"""The detail of records that has the documents by the language whose sentence parameters cut them."""
SENTENCES_COMPILED_FROM = 1 << 20
"""Bytes of text from which compiled code finds the sentences; plain Python takes an eighth of a second for as many."""


def compiling_sentences_pays(ranges: Iterable[DocumentRange]) -> bool:
    """Tell whether compiled code finds the sentences of these documents; a function of their size alone."""
    return compiling_pays(sum(documents.text_bytes for documents in ranges), None, SENTENCES_COMPILED_FROM)


def write_tokens(
    documents: Iterable[pa.Table],
    tokenizer: Tokenizer,
    segmenter: Segmenter,
    shard_ends: Sequence[int],
    file: BinaryIO,
    *,
    compiled: bool = True,
    columns: Sequence[str] = (),
    scores: Sequence[Score] = (),
    ids_of: Collection[str] = (),
) -> Counters:
    """Segment and tokenize documents and write them grouped by shard; shard s has the slots below shard_ends[s].

    `compiled` says whether compiled code finds the sentences; `columns` of the documents are kept, `scores` among them
    made of the texts. Documents that brought along ids of one of the tokenizers `ids_of` have these ids.
    details["slices"] lists [shard, offset, length] of each batch. Sentences without a token are left out, and a
    document without any is dropped and counted. Where the language of a document chooses its sentence parameters,
    `documents` have the column `columns` of `read_range`, and details["cut_by"] says how many documents the parameters
    of each language cut.
    """
    counters = Counters()
    schema = token_schema(tokenizer, columns=bool(columns))
    empty = pa.RecordBatch.from_pylist([], schema=schema)
    signs = sign_tables(tokenizer)
    tables = [
        _tokenize(table, tokenizer, segmenter, schema, signs, counters, compiled, columns, scores, frozenset(ids_of))
        for table in documents
    ]
    [batch] = (pa.concat_tables(tables) if tables else schema.empty_table()).combine_chunks().to_batches() or [empty]
    shards = np.searchsorted(shard_ends, slots(batch["id"]), side="right")
    order = np.argsort(shards, kind="stable")
    columns = [
        taken(batch[column.name], order) if pa.types.is_list(column.type) else batch[column.name].take(pa.array(order))
        for column in schema
    ]
    ordered = pa.RecordBatch.from_arrays(columns, schema=schema)
    bounds = np.searchsorted(shards[order], np.arange(len(shard_ends) + 1)).tolist()
    slices = []
    with pa.ipc.new_stream(file, schema) as writer:
        writer.write_batch(empty)
        for shard in np.unique(shards).tolist():
            begin = file.tell()
            writer.write_batch(ordered.slice(bounds[shard], bounds[shard + 1] - bounds[shard]))
            slices.append([shard, begin, file.tell() - begin])
    counters.details["slices"] = slices
    return counters


def _tokenize(
    documents: pa.Table,
    tokenizer: Tokenizer,
    segmenter: Segmenter,
    schema: pa.Schema,
    signs: SignTables,
    counters: Counters,
    compiled: bool,
    kept_columns: Sequence[str],
    scores: Sequence[Score],
    ids_of: frozenset[str],
) -> pa.Table:
    sentences = cut_sentences(documents, segmenter, keep_whitespace=tokenizer.IGNORES_WHITESPACE, compiled=compiled)
    word_starts: pa.Array | None = None
    if tokenizer.continuation is None:
        encoded, begins_word = tokenizer.encode_batch_with_words(sentences.flatten()).columns
        word_starts = begins_word.flatten()
    else:
        encoded = tokenizer.encode_batch(sentences.flatten())
    borders = sentences.offsets.to_numpy()
    if ids_of:
        of_text = borders, encoded, word_starts
        encoded, word_starts = with_stored_ids(documents, *of_text, tokenizer, ids_of, counters)
    tokens, ends = encoded.flatten(), encoded.offsets.to_numpy()
    lengths = np.diff(ends)
    has_tokens = lengths > 0
    sentence_count = np.diff(np.concatenate([[0], np.cumsum(has_tokens)])[borders])
    token_count = np.diff(ends[borders])
    rows = np.flatnonzero(token_count > 0)
    if isinstance(segmenter, SentencesByLanguage):
        languages = languages_in(documents)
        cut_by = Counter(segmenter.code_of(languages[row]) for row in rows.tolist())
        counters.details[CUT_BY] = add_counts([counters.details.get(CUT_BY, {}), cut_by])
    text_bytes = pc.sum(pc.binary_length(documents["text"])).as_py() or 0
    unknown = int(np.count_nonzero(tokens.to_numpy() == tokenizer.unk_token_id))
    counters.add_all(documents=len(rows), text_bytes=text_bytes, sentences=int(has_tokens.sum()))
    counters.add_all(tokens=len(tokens), unknown_tokens=unknown)
    begins = None if word_starts is None else word_starts.to_numpy(zero_copy_only=False)
    counted = (tokens.to_numpy(), ends[1:][has_tokens], token_count)
    count_signs(documents["text"], *counted, signs, counters, begins, compiled=compiled)
    count_lost_marks(documents["text"], tokenizer, counters)
    if dropped := len(sentences) - len(rows):
        counters.drop("no tokens", dropped)
    offsets = _offsets(token_count[rows])
    columns = [
        documents["id"].combine_chunks().take(pa.array(rows)),
        pa.ListArray.from_arrays(offsets, tokens),
        pa.ListArray.from_arrays(_offsets(sentence_count[rows]), pa.array(lengths[has_tokens])),
    ]
    if word_starts is not None:
        columns.append(pa.ListArray.from_arrays(offsets, word_starts))
    if kept_columns:
        columns.append(pa.array(stored_columns(kept_columns, documents, scores), pa.string()).take(pa.array(rows)))
    return pa.table(columns, schema=schema)


def cut_sentences(
    documents: pa.Table, segmenter: Segmenter, *, keep_whitespace: bool = False, compiled: bool = True
) -> pa.ListArray:
    """Return the sentences of documents, a row for each; the segmenter may go by their languages."""
    options = {"keep_whitespace": keep_whitespace, "compiled": compiled}
    if isinstance(segmenter, SentencesByLanguage):
        return segmenter.segment_batch(documents["text"], languages_in(documents), **options)
    return segmenter.segment_batch(documents["text"], **options)


def _offsets(lengths: NDArray[np.integer]) -> pa.Array:
    return pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())


def read_slices(slices: Sequence[TokenSlice], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Return the record batches of slices, read one by one; raises InputError where a file was changed."""

    def read(token_slice: TokenSlice) -> pa.RecordBatch:
        batch = read_at(token_slice, lambda data: pa.ipc.read_record_batch(data, schema), "the token store")
        columns = [batch[name] for name in batch.schema.names if name != _COLUMNS]
        lists = [column.values for column in columns if pa.types.is_list(column.type)]
        if any(column.null_count for column in [*columns, *lists]):
            raise InputError("the token store holds nulls; delete this file and run again", path=token_slice.path)
        return batch

    return each_read(read, slices)


def load_documents(
    slices: Sequence[TokenSlice], tokenizer: Tokenizer, seed: int, *, columns: bool = False
) -> tuple[TokenBlock, list[str]]:
    """Return the documents of one shard as a block, in an order drawn by their ids, whatever that of the slices.

    With `columns`, those that the store keeps of each document are returned too, in the same order. Raises InputError
    where an id is not in the vocabulary of the tokenizer.
    """
    from bertdata.objectives.kernels.rows import word_starts

    batches = list(read_slices(slices, token_schema(tokenizer, columns=columns)))
    keys = np.concatenate([np.zeros(0, np.uint64), *(id_bits(batch["id"]) for batch in batches)])
    counts = [batch.num_rows for batch in batches]
    sources = np.repeat(np.array([token_slice.source for token_slice in slices], np.int16), counts)
    order = _document_order(batches, bits(key(seed, "document order"), keys))
    ids, id_counts = joined([batch["tokens"] for batch in batches], order, numpy_type(tokenizer.id_type))
    sentences, sentence_counts = joined([batch["sentence_lengths"] for batch in batches], order, np.int32)
    if tokenizer.continuation is None:
        starts, _ = joined([batch[WORD_STARTS] for batch in batches], order, np.bool_)
        are_in_vocabulary = int(ids.max(initial=0)) < tokenizer.vocab_size
        if len(starts) != len(ids):
            raise InputError(f"the token store has {len(starts):,} flags for {len(ids):,} ids; delete it and run again")
    else:
        starts = np.empty(len(ids), np.bool_)
        are_in_vocabulary = word_starts(ids, tokenizer.continuation, starts)
    sentence_ends = np.cumsum(sentences, dtype=np.int64)
    if not _fit(sentences, sentence_ends, sentence_counts, id_counts):
        raise InputError(
            "the token store has documents whose sentences have more or fewer ids; delete it and run again"
        )
    if not are_in_vocabulary:
        raise InputError(
            f"the token store holds an id over {tokenizer.vocab_size - 1}, the last of the vocabulary; delete it and "
            "run again"
        )
    block = TokenBlock(
        tokens=ids,
        word_start=starts,
        sentence_ends=sentence_ends,
        document_ends=np.cumsum(id_counts, dtype=np.int64),
        document_keys=keys[order],
        document_sources=sources[order],
    )
    stored = [text for batch in batches for text in batch[_COLUMNS].to_pylist()] if columns else []
    return block, [stored[i] for i in order.tolist() if columns]


def _document_order(batches: Sequence[pa.RecordBatch], draws: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the order of documents by their draws; those of equal draws go by their ids and then by their tokens."""
    order = argsort(draws)
    equal = np.flatnonzero(np.diff(draws[order]) == 0)
    if not len(equal):
        return order
    names = [name for batch in batches for name in batch["id"].to_pylist()]
    tokens = [batch["tokens"] for batch in batches]
    breaks = np.flatnonzero(np.diff(equal) > 1)
    for first, last in zip(equal[np.append(0, breaks + 1)], equal[np.append(breaks, -1)] + 2, strict=True):
        rows = order[first:last].tolist()
        keys = dict(zip(rows, zip([names[row] for row in rows], row_bytes_of(tokens, rows), strict=True), strict=True))
        order[first:last] = sorted(rows, key=lambda row: keys[row])
    return order


def _fit(
    sentences: NDArray[np.int32],
    sentence_ends: NDArray[np.int64],
    sentence_counts: NDArray[np.int64],
    id_counts: NDArray[np.int64],
) -> bool:
    """Tell whether the sentences of each document have an id or more each, and together as many as the document."""
    ends = np.append(0, sentence_ends)[np.append(0, np.cumsum(sentence_counts))]
    return bool((sentences > 0).all()) and np.array_equal(np.diff(ends), id_counts)
