"""Parquet of NVIDIA's LDDL (its preprocess_bert_pretrain): two texts of tokens, and with static masks what was masked.

Columns: A and B, tokens with a space between; is_random_next, whether B is from another document; num_tokens; with
masks masked_lm_positions, the bytes of `numpy.save` of uint16, and masked_lm_labels, tokens with a space between. A row
is [CLS] A [SEP] B [SEP]. Binned files end in `.parquet_N` and have a column bin_id.
"""

from __future__ import annotations

import io
import tokenize
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.errors import InputError
from bertdata.formats.static import Fields
from bertdata.tokenizers.base import Tokenizer

COLUMNS = ("A", "B", "is_random_next")
_POSITIONS, _LABELS = "masked_lm_positions", "masked_lm_labels"


def lddl_fields(batch: pa.RecordBatch, path: str, begin: int, tokenizer: Tokenizer) -> Fields:
    """Return rows of LDDL as Google's fields, padded to the longest; row `begin` of the file is the first.

    Raises InputError, with the row, for a token that the vocabulary does not have, and masks that do not fit.
    """
    ids_of = {token: token_id for token_id, token in enumerate(tokenizer.tokens)}

    def ids(text: Any, row: int, name: str) -> list[int]:
        try:
            return [ids_of[token] for token in text.split()]
        except (KeyError, AttributeError) as error:
            raise InputError(
                f"row {begin + row} has the token {error} in {name}, which the vocabulary does not have: it was made "
                "with another one; give that with --vocab",
                path=path,
            ) from error

    label = batch["is_random_next"]
    if label.null_count or not (pa.types.is_boolean(label.type) or pa.types.is_integer(label.type)):
        raise InputError(f"after row {begin}: is_random_next holds {label.type}; expected true or false", path=path)
    if _POSITIONS in batch.schema.names and _LABELS not in batch.schema.names:
        raise InputError(f"has {_POSITIONS} and no {_LABELS}; expected both, or neither", path=path)
    template, rows, types = tokenizer.row_template, [], []
    predicted: list[tuple[NDArray[np.int64], list[int]]] = []
    columns = {name: batch[name].to_pylist() for name in batch.schema.names}
    for row, (a, b) in enumerate(zip(columns["A"], columns["B"], strict=True)):
        first, second = ids(a, row, "A"), ids(b, row, "B")
        whole = [*template.prefix, *first, *template.between, *second, *template.suffix]
        rows.append(whole)
        borders = len(template.prefix) + len(first) + len(template.between)
        types.append([0] * borders + [1] * (len(whole) - borders))
        if _POSITIONS in columns:
            places = _positions(columns[_POSITIONS][row], begin + row, path)
            labels = ids(columns[_LABELS][row], row, _LABELS)
            if len(places) != len(labels):
                raise InputError(f"row {begin + row} has {len(places)} positions and {len(labels)} labels", path=path)
            predicted.append((places, labels))
    lengths = np.array([len(row) for row in rows])
    width = int(lengths.max(initial=1))
    fields: Fields = {
        "input_ids": _padded(rows, width, tokenizer.pad_token_id),
        "input_mask": (np.arange(width) < lengths[:, None]).astype(np.int64),
        "segment_ids": _padded(types, width, 0),
        "next_sentence_labels": np.array(columns["is_random_next"], np.int64),
    }
    if predicted:
        number = np.array([len(labels) for _, labels in predicted])
        room = max(1, int(number.max(initial=1)))
        fields["masked_lm_positions"] = _padded([places.tolist() for places, _ in predicted], room, 0)
        fields["masked_lm_ids"] = _padded([labels for _, labels in predicted], room, 0)
        fields["masked_lm_weights"] = (np.arange(room) < number[:, None]).astype(np.float32)
    return fields


def _positions(data: Any, row: int, path: str) -> NDArray[np.int64]:
    """Return the positions that `numpy.save` wrote as bytes; raises InputError where they are none."""
    try:
        file = io.BytesIO(data)
        version = np.lib.format.read_magic(file)
        if version != (1, 0):
            raise ValueError(f"its version is {version}")
        shape, _, kind = np.lib.format.read_array_header_1_0(file)
        if kind.kind not in "iu" or len(shape) != 1:
            return _none(kind)
        array = np.frombuffer(data, kind, offset=file.tell())
        if shape != array.shape:
            raise ValueError(f"it has {len(array):,} numbers and says {shape}")
        return array.astype(np.int64)
    except (ValueError, TypeError, EOFError, OSError, RecursionError, tokenize.TokenError) as error:
        raise InputError(
            f"row {row} has masked_lm_positions that are no array of numbers ({error})", path=path
        ) from error


def _none(kind: Any) -> NDArray[np.int64]:
    raise ValueError(f"it holds {kind}")


def _padded(rows: list[list[int]], width: int, filler: int) -> NDArray[np.int64]:
    out = np.full((len(rows), width), filler, np.int64)
    for row, values in zip(out, rows, strict=True):
        row[: len(values)] = values
    return out
