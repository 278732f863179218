"""Flat files of ids: `.bin` and `.idx` of Megatron-Core, `.ds` of datatrove and nanotron.

Their readers draw the masks and add nothing but, in Megatron, the special tokens; so the ids are unmasked, of examples
also where rows are packed. Beside a file of ids others say where its parts end; they are written from the shard, too.

Megatron-Core (core/datasets/indexed_dataset.py, version 1): the ids of sequences, one after another, as uint16 where
there are fewer than 65,500 tokens, else int32; the index has, little endian, the bytes MMIDIDX and two zeros, the
version as uint64, the code of the type as uint8, the numbers of sequences and of document borders as uint64, then the
lengths (int32), the places in bytes (int64), and the borders of documents as numbers of sequences, from 0 (int64). A
document is an example, its sequences are its segments without special tokens; of sentence order they are put back.

datatrove (pipeline/tokens/tokenizer.py): the ids of examples with their special tokens, as uint16 up to 65,536 tokens,
else uint32; `.index` has the number of ids up to the end of each example, uint64; `.metadata` the tokenizer, the bytes
of an id, and the number of ids.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from bertdata.errors import ConfigError
from bertdata.formats.base import ExportFormat
from bertdata.formats.mds_dialects import require_unmasked_texts
from bertdata.formats.shard import ExportedShard
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.schema import ShardInfo

_MOST_UINT16 = 65_500
"""Megatron-Core's `DType.optimal_dtype` takes uint16 below as many tokens."""
_CODES = {"<u2": 8, "<i4": 4}


def require_texts_in_order(info: ShardInfo) -> None:
    """Raise ConfigError for shards whose rows are not unmasked texts in the order of their document."""
    if isinstance(info, PretrainingInfo) and info.label == "next_sentence_label":
        raise ConfigError(
            f"half of the pairs of --objective {info.examples.objective} are of two documents, and Megatron makes "
            "pairs itself from the sequences of one; build with --objective sop, or one without pairs"
        )
    if isinstance(info, PretrainingInfo) and info.label and not info.row_template.has_types:
        raise ConfigError(
            "rows of this tokenizer have no token types, which tell the two texts of a pair apart; build with an "
            "objective without pairs, such as --objective full-sentences"
        )
    if not isinstance(info, PretrainingInfo) or not info.draws_masks:
        require_unmasked_texts(info)


def _ids(info: ShardInfo) -> str:
    return "<u2" if info.vocab_size < _MOST_UINT16 else "<i4"


def _info(shard: ExportedShard) -> PretrainingInfo:
    info = ShardInfo.from_schema(shard.schema, shard.path)
    assert isinstance(info, PretrainingInfo)
    return info


def _segments(shard: ExportedShard) -> Iterator[list[NDArray[Any]]]:
    """Yield the segments of each example, without special tokens, in the order of their document."""
    info = _info(shard)
    template = info.row_template
    begin, end, between = len(template.prefix), len(template.suffix), len(template.between)
    for batch in shard.examples():
        offsets, ids = batch["input_ids"].offsets.to_numpy(), batch["input_ids"].values.to_numpy()
        types = batch["token_type_ids"].values.to_numpy() if "token_type_ids" in batch.schema.names else None
        labels = batch[info.label].to_numpy() if info.label else None
        for row, (start, stop) in enumerate(pairwise(offsets)):
            text = ids[start + begin : stop - end]
            if labels is None:
                yield [text]
                continue
            assert types is not None
            second = int((types[start + begin : stop - end] != 0).argmax())
            pair = [text[: second - between], text[second:]]
            yield pair[::-1] if labels[row] else pair


def write_bin(shard: ExportedShard, file: BinaryIO) -> None:
    """Write the ids of the segments of a shard."""
    kind = _ids(_info(shard))
    for segments in _segments(shard):
        for segment in segments:
            file.write(segment.astype(kind).tobytes())


def write_idx(shard: ExportedShard, file: BinaryIO) -> None:
    """Write the lengths of the segments of a shard, and which of them are a document."""
    kind = _ids(_info(shard))
    counts, lengths = [0], []
    for segments in _segments(shard):
        counts.append(len(segments))
        lengths += [len(segment) for segment in segments]
    sizes = np.array(lengths, np.int64) * np.dtype(kind).itemsize
    places = np.cumsum(sizes) - sizes
    file.write(b"MMIDIDX\x00\x00" + struct.pack("<QBQQ", 1, _CODES[kind], len(lengths), len(counts)))
    file.write(np.array(lengths, "<i4").tobytes() + places.astype("<i8").tobytes())
    file.write(np.cumsum(counts).astype("<i8").tobytes())


def _token_type(info: ShardInfo) -> str:
    return "<u2" if info.vocab_size <= 1 << 16 else "<u4"


def write_ds(shard: ExportedShard, file: BinaryIO) -> None:
    """Write the ids of the examples of a shard, special tokens included."""
    kind = _token_type(_info(shard))
    for batch in shard.examples():
        file.write(batch["input_ids"].flatten().to_numpy().astype(kind).tobytes())


def write_ds_index(shard: ExportedShard, file: BinaryIO) -> None:
    """Write where each example ends among the ids of a shard."""
    file.write(np.cumsum(_lengths(shard)).astype("<u8").tobytes())


def write_ds_metadata(shard: ExportedShard, file: BinaryIO) -> None:
    """Write the tokenizer, the bytes of an id, and the number of ids, in two forms."""
    total = int(_lengths(shard).sum())
    size = np.dtype(_token_type(_info(shard))).itemsize
    file.write(f"../tokenizer|{size}\n{total}\n{total} T".encode())


def _lengths(shard: ExportedShard) -> NDArray[np.int64]:
    lengths = [np.diff(batch["input_ids"].offsets.to_numpy()) for batch in shard.examples()]
    return np.concatenate([np.zeros(0, np.int64), *lengths]).astype(np.int64)


MEGATRON = ExportFormat(
    help="`.bin` and `.idx` of Megatron-Core: a document for each example, a sequence for each of its segments",
    suffix=".bin",
    write=write_bin,
    beside={".idx": write_idx},
    examples=True,
    accepts=require_texts_in_order,
)
DS = ExportFormat(
    help="`.ds` of datatrove and nanotron: the ids of examples, their ends in `.ds.index`",
    suffix=".ds",
    write=write_ds,
    beside={".ds.index": write_ds_index, ".ds.metadata": write_ds_metadata},
    examples=True,
    accepts=require_unmasked_texts,
)
