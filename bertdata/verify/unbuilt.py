"""Verification of shards that were not built: imports and fine-tuning data, whose rows cannot be drawn again.

Checked are the bytes and the schema of each shard, the files beside it, and every row: ids of the vocabulary, the
special tokens at its beginning and end, labels of the task.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.errors import VerificationError
from bertdata.finetune.task_info import TaskInfo
from bertdata.io.console import Row
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.shards.choices import choices_apart
from bertdata.shards.contents import reading_values
from bertdata.shards.schema import ShardInfo
from bertdata.verify.claims import BrokenRules, Claims, ShardEntry, flat_columns
from bertdata.verify.pieces import write_pieces


def is_unbuilt(manifest: Any) -> bool:
    """Return whether a manifest is of shards that were not built.

    >>> is_unbuilt({"info": {"task": "classification"}}), is_unbuilt({"info": {}})
    (True, False)
    """
    info = manifest.get("info") if isinstance(manifest, dict) else None
    return isinstance(info, dict) and ("task" in info or bool(manifest.get("imported")))


def verify_unbuilt(
    path: str, manifest: dict[str, Any], report: Callable[[str], None] | None, piece_bytes: int | None = None
) -> list[Row]:
    """Check shards against their manifest and return the table of what was counted.

    piece_bytes: write the digests of pieces of about so many bytes. Raises VerificationError with every disagreement,
    one a line, each beginning with the file it is in.
    """
    claims = Claims.read(path, manifest)
    claims.piece_bytes = piece_bytes
    with reading_values(path, VerificationError):
        claims.check_files()
    counts: dict[str, Counter[str]] = {split: Counter() for split in claims.splits}

    def check(split: str, shard: ShardEntry) -> None:
        broken = BrokenRules()
        with claims.open_shard(shard) as stream:
            for batch in stream:
                _check_rows(batch, claims.info, broken)
                broken.begin += batch.num_rows
                tokens = sum(len(batch[name].flatten()) for name in _ids_columns(claims.info))
                counts[split].update(examples=batch.num_rows, tokens=tokens)
        for line in broken.lines():
            claims.note(shard.file, line)
        claims.expect(shard.file, "examples", broken.begin, shard.counts["examples"])

    claims.check_each(check, report)
    if piece_bytes is not None:
        write_pieces(claims, manifest)
    rows: list[Row] = []
    for split, of_split in counts.items():
        rows += [claims.size_row(split), ("  examples", f"{of_split['examples']:,}")]
        rows.append(("  tokens", f"{of_split['tokens']:,}, special ones among them"))
    return rows


def _check_rows(batch: pa.RecordBatch, info: ShardInfo, broken: BrokenRules) -> None:
    batch.validate(full=True)
    if info.has_choices:
        _check_choices(batch, info, broken)
        return
    _, *others = names = _ids_columns(info)
    checked = [_check_ids(batch, name, info, broken) for name in names]
    if not all(checked):
        return
    offsets = batch["input_ids"].offsets.to_numpy().astype(np.int64)
    offsets -= offsets[0]
    lengths, aligned = np.diff(offsets), True
    for field in batch.schema:
        if pa.types.is_list(field.type) and field.name not in (*others, *info.set_columns):
            wrong = np.diff(batch[field.name].offsets.to_numpy()) != lengths
            broken.add_flags(f"{field.name} does not have a value for each token", wrong)
            aligned &= not wrong.any()
    if not aligned:
        return
    values = flat_columns(batch)
    labels = len(info.labels) if isinstance(info, TaskInfo) else info.vocab_size
    if "labels" in values:
        kind = "one of the task" if isinstance(info, TaskInfo) else "an id of the vocabulary"
        broken.add_flags(f"a label is not {kind}", _outside(values["labels"], labels), offsets)
    for name in info.set_columns:
        offsets_of_sets = batch[name].offsets.to_numpy().astype(np.int64)
        broken.add_flags(
            "a label is not one of the task", _outside(values[name], labels), offsets_of_sets - offsets_of_sets[0]
        )
    if "label" in values and labels:
        broken.add_flags("the label is not one of the task", _outside(values["label"], labels))
    if "start_positions" in values:
        start, end = values["start_positions"], values["end_positions"]
        broken.add_flags("the answer is not inside its row", (start < 0) | (end < start) | (end >= lengths - 1))
        broken.add_flags("offsets run backwards", values["offsets_end"] < values["offsets_start"], offsets)


def _check_choices(batch: pa.RecordBatch, info: ShardInfo, broken: BrokenRules) -> None:
    """Check rows of several choices, each of which is as a row of another task."""
    try:
        choices, rows = choices_apart(batch)
    except ValueError as error:
        broken.add(str(error), np.arange(batch.num_rows))
        return
    broken.rows = rows
    _check_ids(choices, "input_ids", info, broken)
    broken.rows = None
    wrong = _outside(batch["label"].to_numpy(), np.bincount(rows, minlength=batch.num_rows))
    broken.add_flags("the label is not one of the choices of its row", wrong)


def _ids_columns(info: ShardInfo) -> tuple[str, ...]:
    return info.ids_columns if isinstance(info, TaskInfo) else ("input_ids",)


def _check_ids(batch: pa.RecordBatch, name: str, info: ShardInfo, broken: BrokenRules) -> bool:
    """Check a column of ids; returns whether its rows are long enough for the template."""
    ids, offsets = batch[name].flatten().to_numpy(), batch[name].offsets.to_numpy().astype(np.int64)
    offsets -= offsets[0]
    lengths = np.diff(offsets)
    least = info.row_template.special(pair=False)
    wrong = (lengths < least) | (lengths > info.max_seq_length)
    broken.add_flags(f"a row has under {least} tokens or over {info.max_seq_length}", wrong)
    if lengths.min(initial=least) < least:
        return False
    broken.add_flags("an id is not in the vocabulary", ids >= info.vocab_size, offsets)
    broken.add_template(ids, offsets, info.row_template)
    return True


def _outside(labels: NDArray[Any], number: int | NDArray[np.int64]) -> NDArray[np.bool_]:
    outside: NDArray[np.bool_] = ((labels < 0) | (labels >= number)) & (labels != IGNORE_INDEX)
    return outside
