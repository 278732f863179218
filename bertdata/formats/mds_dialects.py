"""The export format `mds` and its dialects: the columns of samples that certain trainers read from MDS.

Without a dialect, the samples are the rows. The trainers of a dialect draw the masks and pack the rows themselves, so a
sample has the ids of one example, unmasked, with the special tokens of its row; the examples of packed rows become a
sample each.

modernbert: AnswerDotAI/ModernBERT, src/text_data.py, also Ettin (JHU-CLSP/ettin-encoder-vs-decoder) and mmBERT.
eurobert: Nicolas-BZRD/EuroBERT, optimus/dataprocess/tokenize_dataset.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from bertdata.errors import ConfigError
from bertdata.formats.base import ExportFormat
from bertdata.formats.mds import ENCODING, finish_mds, write_indices, write_mds, write_samples
from bertdata.formats.shard import ExportedShard
from bertdata.shards import Shards
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.schema import ShardInfo

Columns = Mapping[str, pa.Array]


@dataclass(frozen=True)
class Dialect:
    """The columns of samples, and how they are made of examples, for shards with sources of the names given."""

    schema: pa.Schema
    columns: Callable[[pa.RecordBatch, Sequence[str]], Columns]

    def write(self, shard: ExportedShard, file: BinaryIO) -> None:
        """Write the examples of a shard as one MDS file; raises InputError where it would be over 4 GiB."""
        sources = ShardInfo.from_schema(shard.schema, shard.path).sources
        batches = (self._converted(batch, sources) for batch in shard.examples())
        write_samples(batches, self.schema, file, shard.path)

    def _converted(self, batch: pa.RecordBatch, sources: Sequence[str]) -> pa.RecordBatch:
        columns = self.columns(batch, sources)
        return pa.RecordBatch.from_arrays([columns[name] for name in self.schema.names], schema=self.schema)

    def finish(self, output: str, splits: Sequence[Shards], entries: Mapping[str, Any]) -> None:
        """Write `index.json` into the folder of each split; files without samples are not in it."""
        write_indices(output, splits, entries, self.schema)


def require_unmasked_texts(info: ShardInfo) -> None:
    """Raise ConfigError for shards whose rows are not unmasked ids that a masked language model is trained on."""
    if not isinstance(info, PretrainingInfo):
        raise ConfigError(
            f"the shards hold {info.purpose}, and these trainers read pretraining data; take another format, or none "
            "as --dialect"
        )
    if not info.draws_masks:
        raise ConfigError(
            "the masks of these shards are static: written into their ids, and these trainers mask the ids they read "
            "once more; build with --masking dynamic, or take another format, or none as --dialect"
        )
    if info.label:
        raise ConfigError(
            f"rows of --objective {info.examples.objective} are pairs with a {info.label}, which these trainers do not "
            "read: they would take two texts for one; build with --objective full-sentences, or take another "
            "format, or none as --dialect"
        )


def _ids(batch: pa.RecordBatch) -> list[str]:
    return [str(number) for number in batch["example_id"].to_pylist()]


def _modernbert(batch: pa.RecordBatch, sources: Sequence[str]) -> Columns:
    lengths = np.diff(batch["input_ids"].offsets.to_numpy()).astype(np.int64)
    return {
        "input_ids": batch["input_ids"].cast(pa.list_(pa.uint32())),
        "id": pa.array(_ids(batch), pa.string()),
        "len": pa.array(lengths),
    }


def _eurobert(batch: pa.RecordBatch, sources: Sequence[str]) -> Columns:
    described: list[dict[str, str]] = [{"id": name} for name in _ids(batch)]
    if sources:
        for row, source in zip(described, batch["source"].to_pylist(), strict=True):
            row["source"] = sources[source]
    return {
        "tokens": batch["input_ids"].cast(pa.list_(pa.int32())),
        "metadata": pa.array([json.dumps(row) for row in described], pa.string()),
    }


def _dialect_format(help_: str, dialect: Dialect) -> ExportFormat:
    return ExportFormat(
        help=help_,
        suffix=".mds",
        write=dialect.write,
        finish=dialect.finish,
        examples=True,
        accepts=require_unmasked_texts,
    )


MODERNBERT = Dialect(
    pa.schema(
        [
            ("input_ids", pa.list_(pa.uint32())),
            ("id", pa.string()),
            pa.field("len", pa.int64(), metadata={ENCODING: b"int"}),
        ]
    ),
    _modernbert,
)
EUROBERT = Dialect(
    pa.schema([("tokens", pa.list_(pa.int32())), pa.field("metadata", pa.string(), metadata={ENCODING: b"json"})]),
    _eurobert,
)
MDS = ExportFormat(
    help="the rows for MosaicML Streaming's `StreamingDataset`: format version 2, `index.json` in each split's folder",
    suffix=".mds",
    write=write_mds,
    finish=finish_mds,
    dialects={
        "modernbert": _dialect_format(
            "`input_ids` (uint32), `id` and `len`, as ModernBERT's trainer reads", MODERNBERT
        ),
        "eurobert": _dialect_format("`tokens` (int32) and `metadata` (JSON), as EuroBERT's trainer reads", EUROBERT),
    },
)
