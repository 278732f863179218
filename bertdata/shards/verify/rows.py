"""Verification of shards that no build has made: fine-tuning data and imports, whose rows cannot be drawn again.

Checked are the bytes and the schema of each shard, what stands beside them, and that every row is one: ids of the
vocabulary, [CLS] first and [SEP] last, labels of the task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.errors import BertDataError, InputError, VerificationError, printable
from bertdata.io import files
from bertdata.io.console import Row
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.shards.contents import changed_files, check_names, inside, is_changed, reading_values
from bertdata.shards.manifest import dataset_files
from bertdata.shards.reader import open_shards
from bertdata.shards.schema import ShardInfo, shard_schema
from bertdata.shards.task_info import TaskInfo


def is_plain(manifest: Any) -> bool:
    """Tell whether a manifest is of shards that no build has made.

    >>> is_plain({"info": {"task": "classification"}}), is_plain({"imported": True, "info": {}}), is_plain({"info": {}})
    (True, True, False)
    """
    info = manifest.get("info") if isinstance(manifest, dict) else None
    return isinstance(info, dict) and ("task" in info or bool(manifest.get("imported")))


def verify_rows(path: str, manifest: dict[str, Any], report: Callable[[str], None] | None) -> list[Row]:
    """Check shards against their manifest and return the table of what was counted.

    Raises VerificationError with every disagreement, one a line, each beginning with the file it is in.
    """
    with reading_values(path, VerificationError):
        rows, problems = _verified(path, manifest, report)
    if problems:
        raise VerificationError(
            "\n".join([f"{len(problems)} disagreement{'s' * (len(problems) > 1)} in {path}:", *problems])
        )
    return rows


def _verified(path: str, manifest: dict[str, Any], report: Callable[[str], None] | None) -> tuple[list[Row], list[str]]:
    """Return the table of what was counted, and the disagreements."""
    check_names(manifest, files.join(path, "manifest.json"))
    info = ShardInfo.from_values(manifest.get("info"), files.join(path, "manifest.json"))
    problems = ["manifest.json: its checksum is not that of its contents; make the shards again"] * is_changed(manifest)
    rows: list[Row] = []
    for name, expected in dataset_files(manifest["splits"], info).items():
        if not files.exists(files.join(path, name)) or files.read_json(files.join(path, name)) != expected:
            problems.append(f"{name}: does not say what manifest.json says of the same shards; make them again")
    told = {problem.partition(":")[0] for problem in problems}
    problems += [f"{name}: {problem}" for name, problem in changed_files(path, manifest) if name not in told]
    for split, entry in manifest["splits"].items():
        found = tokens = 0
        for shard in entry["shards"]:
            try:
                count, held, broken = _check_shard(path, shard, info)
            except (BertDataError, pa.ArrowException, OSError) as error:
                problems.append(f"{shard['file']}: {str(error).removeprefix(files.join(path, shard['file']) + ': ')}")
                continue
            problems += [f"{shard['file']}: {rule}" for rule in broken]
            found, tokens = found + count, tokens + held
            if report:
                report(shard["file"])
        size = sum(shard["bytes"] for shard in entry["shards"])
        rows += [(f"{split}: shards", f"{len(entry['shards']):,} of {size:,} bytes"), ("  examples", f"{found:,}")]
        rows.append(("  tokens", f"{tokens:,}, special ones among them"))
    if not problems:
        try:
            open_shards(path, next(iter(manifest["splits"]))).tokenizer()
        except BertDataError as error:
            problems.append(f"tokenizer: {error}")
    return rows, [printable(problem) for problem in problems]


def _check_shard(path: str, shard: dict[str, Any], info: ShardInfo) -> tuple[int, int, list[str]]:
    """Return the rows and tokens of a shard, and a line for each rule that rows break."""
    place = inside(path, shard["file"])
    size, digest = files.size(place), files.sha256(place)
    if (size, digest) != (shard["bytes"], shard["sha256"]):
        raise InputError(
            f"has {size:,} bytes and SHA-256 {digest[:12]}, manifest.json says {shard['bytes']:,} and "
            f"{shard['sha256'][:12]}: it was cut off or changed; make it again"
        )
    rows = tokens = 0
    broken: dict[str, int] = {}
    with (
        closing(files.open_raw(place) if files.is_remote(place) else pa.memory_map(place)) as source,
        pa.ipc.open_stream(source) as stream,
    ):
        if not stream.schema.equals(shard_schema(info), check_metadata=True):
            raise InputError("its schema is not that of the settings in manifest.json; make it again")
        for batch in stream:
            for rule, wrong in _rules(batch, info):
                if wrong.any():
                    broken.setdefault(rule, rows + int(np.flatnonzero(wrong)[0]))
            rows += batch.num_rows
            tokens += len(batch["input_ids"].flatten())
    claimed = shard["counts"]["examples"]
    lines = [f"{rule}, first in row {first:,}" for rule, first in broken.items()]
    if rows != claimed:
        lines.append(f"examples: {rows:,} counted, {claimed:,} in manifest.json")
    return rows, tokens, lines


def _rules(batch: pa.RecordBatch, info: ShardInfo) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield each rule with the rows that break it, bool (N,)."""
    batch.validate(full=True)
    ids, offsets = batch["input_ids"].flatten().to_numpy(), batch["input_ids"].offsets.to_numpy().astype(np.int64)
    offsets -= offsets[0]
    lengths = np.diff(offsets)
    yield (
        f"a row has under 2 tokens or over {info.max_seq_length}",
        (lengths < 2) | (lengths > info.max_seq_length),
    )
    if lengths.min(initial=2) < 2:
        return
    yield "an id is not of the vocabulary", _any(ids >= info.vocab_size, offsets)
    yield "[CLS] is not the first token", ids[offsets[:-1]] != info.cls_token_id
    yield "[SEP] is not the last token", ids[offsets[1:] - 1] != info.sep_token_id
    aligned = True
    for field in batch.schema:
        if pa.types.is_list(field.type):
            wrong = np.diff(batch[field.name].offsets.to_numpy()) != lengths
            yield f"{field.name} has not a value for each token", wrong
            aligned &= not wrong.any()
    if not aligned:
        return
    if isinstance(info, TaskInfo):
        yield from _task_rules(batch, info, offsets, lengths)
    else:
        yield (
            "a label is not an id of the vocabulary",
            _any(_outside(batch["labels"].flatten().to_numpy(), info.vocab_size), offsets),
        )


def _task_rules(
    batch: pa.RecordBatch, info: TaskInfo, offsets: NDArray[np.int64], lengths: NDArray[np.int64]
) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    names = batch.schema.names
    if "label" in names and info.labels:
        yield "the label is none of the task's", _outside(batch["label"].to_numpy(), len(info.labels))
    if "labels" in names:
        wrong = _outside(batch["labels"].flatten().to_numpy(), len(info.labels))
        yield "a label is none of the task's", _any(wrong, offsets)
    if "start_positions" in names:
        start, end = (batch[name].to_numpy() for name in ("start_positions", "end_positions"))
        yield "the answer is not inside its row", (start < 0) | (end < start) | (end >= lengths - 1)
        begins, ends = (batch[name].flatten().to_numpy() for name in ("offsets_start", "offsets_end"))
        yield "offsets run backwards", _any(ends < begins, offsets)


def _outside(labels: NDArray[Any], number: int) -> NDArray[np.bool_]:
    outside: NDArray[np.bool_] = ((labels < 0) | (labels >= number)) & (labels != IGNORE_INDEX)
    return outside


def _any(wrong: NDArray[np.bool_], offsets: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which rows have a token that is wrong."""
    held = np.concatenate([np.zeros(1, np.int64), np.cumsum(wrong)])
    rows: NDArray[np.bool_] = held[offsets[1:]] > held[offsets[:-1]]
    return rows
