"""Import of tables of ids: Parquet, Arrow (also of `datasets`), JSON lines, MDS.

A row may be padded, as its attention_mask says, or else by the padding at its end. Its masks are `labels`, a number for
each token, or positions and ids; without either a loader draws them. The examples of packed rows become a row each.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.documents.row_batches import read_batches, row_bytes
from bertdata.errors import InputError, parse_problem
from bertdata.formats.base import ImportFormat
from bertdata.formats.lddl import COLUMNS, lddl_fields
from bertdata.formats.static import Fields
from bertdata.io import files
from bertdata.io.arrow_data import checked, reading_arrow
from bertdata.io.bounded_lines import bounded_lines
from bertdata.io.compression import endings, open_decompressed
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.shards.columns import CU_SEQLENS, WORD_STARTS
from bertdata.shards.packed import unpacked
from bertdata.tokenizers.base import Tokenizer

_NAMES = {
    "input_ids": ("input_ids", "input_word_ids", "tokens"),
    "input_mask": ("attention_mask", "input_mask"),
    "segment_ids": ("token_type_ids", "segment_ids", "input_type_ids"),
    WORD_STARTS: (WORD_STARTS,),
    "labels": ("labels",),
    "masked_lm_positions": ("masked_lm_positions",),
    "masked_lm_ids": ("masked_lm_ids",),
    "next_sentence_labels": ("next_sentence_label", "next_sentence_labels", "sentence_order_label", "is_random_next"),
}
"""What the columns of Google's fields are called in tables."""
_UNLABELLED = (IGNORE_INDEX, -1)
"""What stands in `labels` where nothing is predicted."""
_ROWS = 1000
_ROOM = 64 << 20
"""Bytes of rows that are padded at a time: those of the longest row, as many times as there are rows."""


def read_parquet(path: str, tokenizer: Tokenizer) -> Iterator[Fields]:
    """Yield the rows of a Parquet file of ids, or of LDDL; raises InputError where it is damaged or another table."""
    with files.open_raw(path) as raw:
        yield from record_fields(read_batches(raw, path), path, tokenizer)


def read_arrow(path: str, tokenizer: Tokenizer) -> Iterator[Fields]:
    """Yield the rows of an Arrow stream or file of ids; raises InputError where it is damaged or another table."""
    remedy = "expected one as datasets' save_to_disk or bertdata writes it: save it again"
    with reading_arrow(path, "is not a whole Arrow file", remedy), files.open_raw(path) as raw:
        is_file = raw.read(6) == b"ARROW1"
        raw.seek(0)
        opened = pa.ipc.open_file(raw) if is_file else pa.ipc.open_stream(raw)
        batches = map(opened.get_batch, range(opened.num_record_batches)) if is_file else iter(opened)
        parts = (batch.slice(start, _ROWS) for batch in map(checked, batches) for start in range(0, len(batch), _ROWS))
        yield from record_fields(parts, path, tokenizer)


def read_json_lines(path: str, tokenizer: Tokenizer) -> Iterator[Fields]:
    """Yield the rows of JSON lines of ids; raises InputError, with the line, for what is no row of ids."""
    with open_decompressed(path) as file:
        lines = enumerate(bounded_lines(file, path, "JSON lines, one object in a line"), 1)
        while block := list(islice(((number, line) for number, line in lines if line.strip()), _ROWS)):
            rows = [parsed_row(line, number, path) for number, line in block]
            yield from rows_as_fields(rows, [number for number, _ in block], path, tokenizer)


def rows_as_fields(
    rows: Sequence[dict[str, Any]], numbers: Sequence[int], path: str, tokenizer: Tokenizer
) -> Iterator[Fields]:
    """Yield rows of JSON as Google's fields; raises InputError, by their numbers, where they are no table of ids."""
    names = [*rows[0]]
    if other := next((number for number, row in zip(numbers, rows, strict=True) if {*row} != {*names}), None):
        raise InputError(f"row {other} has other columns than row {numbers[0]}; expected the same", path=path)
    try:
        batch = pa.record_batch({name: pa.array([row[name] for row in rows]) for name in names})
    except MemoryError:
        raise
    except (pa.ArrowException, TypeError, OverflowError) as error:
        raise InputError(f"rows {numbers[0]} to {numbers[-1]} are no table ({error})", path=path) from error
    yield from record_fields([batch], path, tokenizer)


def parsed_row(line: bytes, number: int, path: str) -> dict[str, Any]:
    """Return the object of a row of JSON; raises InputError, with its number, for what is none."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"row {number} is no JSON ({parse_problem(error)}); expected an object with input_ids", path=path
        ) from error
    if not isinstance(row, dict):
        raise InputError(f"row {number} is {type(row).__name__}; expected an object with input_ids", path=path)
    return row


def record_fields(batches: Any, path: str, tokenizer: Tokenizer) -> Iterator[Fields]:
    """Yield the rows of record batches as Google's fields, padded to the longest of each batch."""
    begin = 0
    for batch in chain.from_iterable(map(_narrow, batches)):
        names = batch.schema.names
        if {*COLUMNS} <= {*names}:
            yield lddl_fields(batch, path, begin, tokenizer)
        else:
            try:
                batch = unpacked(_as_lists(batch)) if CU_SEQLENS in names else batch  # noqa: PLW2901
            except MemoryError:
                raise
            except (ValueError, AttributeError, pa.ArrowException) as error:  # AttributeError: of a column of no lists
                raise InputError(f"after row {begin}: {error}; save the rows again", path=path) from error
            yield fields_of(batch, path, begin, tokenizer)
        begin += len(batch)


def _narrow(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a batch, so many at a time that they take a bounded room when padded, or one row."""
    sizes, start = row_bytes(batch), 0
    while start < len(batch):
        widest = np.maximum.accumulate(sizes[start:])
        fitting = widest * np.arange(1, len(widest) + 1) <= _ROOM
        number = max(1, int(fitting.sum()))  # the room only grows with the rows
        yield batch.slice(start, number)
        start += number


def _as_lists(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch whose lists are of one kind, for packed rows of JSON."""
    columns = [column.cast(pa.list_(column.type.value_type)) for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def fields_of(batch: pa.RecordBatch, path: str, begin: int, tokenizer: Tokenizer) -> Fields:
    """Return rows of ids as Google's fields, padded to the longest; row `begin` of a file is the first.

    Where there are no token types, those of a pair are what its separators make them, and others are 0.

    >>> from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer
    >>> batch = pa.record_batch({"input_ids": [[2, 5, 3], [2, 3]], "labels": [[-100, 4, -100], [-100, -100]]})
    >>> fields_of(batch, "", 0, WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, "a"]))["masked_lm_ids"].tolist()
    [[4], [0]]
    """
    pad_token_id = tokenizer.pad_token_id
    name_of = {
        field: next((name for name in names if name in batch.schema.names), "") for field, names in _NAMES.items()
    }
    if not name_of["input_ids"]:
        raise InputError(
            f"has no column input_ids; its columns are {', '.join(batch.schema.names)}; expected rows of ids, of LDDL "
            f"({', '.join(COLUMNS)}), or text, which goes to `bertdata build --documents`",
            path=path,
        )
    ids = _lists(batch, name_of["input_ids"], path, begin)
    width = int(ids.lengths.max(initial=1))
    fields: Fields = {"input_ids": ids.padded(width, pad_token_id)}
    of_tokens = {name: name_of[name] for name in ("input_mask", "segment_ids", WORD_STARTS, "labels") if name_of[name]}
    values = {name: _lists(batch, column, path, begin) for name, column in of_tokens.items()}
    for name, value in values.items():
        if not np.array_equal(value.lengths, ids.lengths):
            row = int((value.lengths != ids.lengths).argmax())
            raise InputError(
                f"row {begin + row} has {ids.lengths[row]} ids and {value.lengths[row]} values of {of_tokens[name]}; "
                "expected one for each id",
                path=path,
            )
    if "input_mask" in values:
        fields["input_mask"] = values["input_mask"].padded(width, 0)
    else:
        real = fields["input_ids"] != pad_token_id
        lengths = np.where(real.any(1), width - real[:, ::-1].argmax(1), 0)
        fields["input_mask"] = (np.arange(width) < lengths[:, None]).astype(np.int64)
    if WORD_STARTS in values:
        fields[WORD_STARTS] = values[WORD_STARTS].padded(width, 0)
    if "segment_ids" in values:
        fields["segment_ids"] = values["segment_ids"].padded(width, 0)
    else:
        fields["segment_ids"] = np.zeros_like(fields["input_ids"])
        if name_of["next_sentence_labels"] and tokenizer.row_template.last_type is not None:
            raise InputError(
                "has pairs without token_type_ids, which do not follow from the ids with this tokenizer; expected them",
                path=path,
            )
        if name_of["next_sentence_labels"]:
            ends = (fields["input_ids"] == tokenizer.sep_token_id).cumsum(1)
            first = np.pad(ends[:, :-1], ((0, 0), (1, 0)))
            fields["segment_ids"] = ((first > 0) & (fields["input_mask"] > 0)).astype(np.int64)
    if "labels" in values:
        fields |= _predictions(values["labels"].padded(width, IGNORE_INDEX))
    elif name_of["masked_lm_positions"] and name_of["masked_lm_ids"]:
        positions, originals = (
            _lists(batch, name_of[name], path, begin) for name in ("masked_lm_positions", "masked_lm_ids")
        )
        if not np.array_equal(positions.lengths, originals.lengths):
            raise InputError(f"after row {begin}: masked_lm_positions and masked_lm_ids differ in length", path=path)
        room = int(positions.lengths.max(initial=1))
        fields |= {"masked_lm_positions": positions.padded(room, 0), "masked_lm_ids": originals.padded(room, 0)}
        fields["masked_lm_weights"] = (np.arange(room) < positions.lengths[:, None]).astype(np.float32)
    if label := name_of["next_sentence_labels"]:
        fields["next_sentence_labels"] = _numbers(batch[label], label, path, begin)
    return fields


def _predictions(labels: NDArray[np.int64]) -> Fields:
    """Return the predictions of labels (N, L) as lists: positions, ids and weights, each (N, P)."""
    rows, places = np.nonzero(~np.isin(labels, _UNLABELLED))
    number = np.bincount(rows, minlength=len(labels))
    room = max(1, int(number.max(initial=1)))
    column = np.arange(len(rows)) - np.repeat(np.cumsum(number) - number, number)
    predicted: Fields = {
        name: np.zeros((len(labels), room), np.int64) for name in ("masked_lm_positions", "masked_lm_ids")
    }
    predicted["masked_lm_positions"][rows, column] = places
    predicted["masked_lm_ids"][rows, column] = labels[rows, places]
    predicted["masked_lm_weights"] = (np.arange(room) < number[:, None]).astype(np.float32)
    return predicted


class _Lists:
    """A column of lists of numbers: its lengths (N,), and the values padded."""

    def __init__(self, values: NDArray[np.int64], lengths: NDArray[np.int64]) -> None:
        self.values, self.lengths = values, lengths

    def padded(self, width: int, filler: int) -> NDArray[np.int64]:
        """Return the lists in an array (N, width), int64, `filler` after their ends."""
        out = np.full((len(self.lengths), width), filler, np.int64)
        out[np.arange(width) < self.lengths[:, None]] = self.values
        return out


def _lists(batch: pa.RecordBatch, name: str, path: str, begin: int) -> _Lists:
    column = batch[name]
    kind = column.type
    lists = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    if not lists or not (pa.types.is_integer(kind.value_type) or pa.types.is_boolean(kind.value_type)):
        raise InputError(f"the column {name!r} holds {kind}; expected lists of whole numbers", path=path)
    column = column.cast(pa.large_list(kind.value_type))
    values = column.flatten()
    if column.null_count or values.null_count:
        raise InputError(f"after row {begin}: the column {name!r} has nulls; expected numbers", path=path)
    lengths = np.diff(column.offsets.to_numpy()).astype(np.int64)
    return _Lists(_integers(values, name, path), lengths)


def _numbers(column: pa.Array, name: str, path: str, begin: int) -> NDArray[np.int64]:
    if not (pa.types.is_integer(column.type) or pa.types.is_boolean(column.type)) or column.null_count:
        raise InputError(f"after row {begin}: the column {name!r} holds {column.type}; expected numbers", path=path)
    return _integers(column, name, path)


def _integers(values: pa.Array, name: str, path: str) -> NDArray[np.int64]:
    array: NDArray[Any] = values.to_numpy(zero_copy_only=False)
    if array.dtype == np.uint64 and len(array) and int(array.max()) >> 63:
        raise InputError(f"the column {name!r} holds {int(array.max())}, which is no id", path=path)
    return array.astype(np.int64)


def table_format(help_: str, suffixes: Sequence[str], read: Any, signature: bytes = b"") -> ImportFormat:
    """Return an import format of rows that are not padded to one length."""
    return ImportFormat(help=help_, suffixes=tuple(suffixes), read_tokens=read, signature=signature)


PARQUET_IMPORT = table_format("Parquet of ids, or of LDDL", (".parquet", ".parquet_*"), read_parquet, b"PAR1")
ARROW_IMPORT = table_format("folders of datasets with ids", (".arrow",), read_arrow, b"\xff\xff\xff\xff")
ARROW_FILE_IMPORT = table_format("Arrow files of ids", (".arrow", ".feather"), read_arrow, b"ARROW1")
JSONL_IMPORT = table_format("JSON lines of ids", endings(".jsonl"), read_json_lines)
