"""The token file of one range of documents, and one shard, as parts.

What it does not do: tokenising and building examples themselves (`tokens`, `writer`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import BinaryIO

from bertdata import files
from bertdata.documents import DocumentRange, read_range
from bertdata.errors import ConfigError
from bertdata.records import Record, Tally, Task, fingerprint
from bertdata.sentences import SentenceSegmenter
from bertdata.shards.plan import ShardPlan
from bertdata.shards.schema import ShardInfo
from bertdata.shards.tokens import Slice, load_block, write_tokens
from bertdata.shards.writer import write_shard
from bertdata.tables import part_name
from bertdata.wordpiece import WordPieceTokenizer

REVISION = 2


@dataclass(frozen=True)
class TokensSpec:
    """What all token files of a build share; `tokenizer` and `segmenter` are fingerprints."""

    tokenizer_path: str
    tokenizer: str
    sentences: str
    segmenter: str
    shard_ends: tuple[int, ...]
    join_references: bool = False


@dataclass(frozen=True)
class ShardsSpec:
    """What all shards of a phase share; `records` is where those of the shards lie, if not in its own stages."""

    output: str
    plan: ShardPlan
    info: ShardInfo
    tokenizer_path: str
    records: str = ""


@lru_cache(maxsize=2)
def _tokenizer(path: str, fingerprint: str) -> WordPieceTokenizer:
    tokenizer = WordPieceTokenizer.load(path)
    if tokenizer.fingerprint != fingerprint:
        raise ConfigError(f"the tokenizer in {path} changed while the build was running; build again")
    return tokenizer


@lru_cache(maxsize=2)
def _segmenter(name: str, fingerprint: str, join_references: bool) -> SentenceSegmenter:
    segmenter = SentenceSegmenter.load(name, join_references=join_references)
    if segmenter.fingerprint != fingerprint:
        raise ConfigError(f"the sentence parameters {name} changed while the build was running; build again")
    return segmenter


def plan_tokens(ranges: Sequence[DocumentRange], directory: str, spec: TokensSpec) -> list[Task]:
    """Return one tokenising task for each range of documents."""
    shared = [spec.tokenizer, spec.segmenter, spec.shard_ends]
    return [
        Task(
            directory,
            part_name("tokens", number),
            ".arrow",
            fingerprint("tokenize", REVISION, shared, asdict(one) | {"path": ""}),
            one.text_bytes,
            one,
        )
        for number, one in enumerate(ranges)
    ]


def tokens_part(spec: TokensSpec, task: Task, file: BinaryIO) -> Tally:
    """Write the token file of one range of documents."""
    documents: DocumentRange = task.payload
    tokenizer = _tokenizer(spec.tokenizer_path, spec.tokenizer)
    segmenter = _segmenter(spec.sentences, spec.segmenter, spec.join_references)
    return write_tokens(read_range(documents), tokenizer, segmenter, spec.shard_ends, file)


def shard_task(spec: ShardsSpec, shard: int, slices: Iterable[Slice]) -> Task:
    """Return the task of one shard; its fingerprint does not depend on the order of the slices."""
    ordered = tuple(sorted(slices, key=lambda one: (one.path, one.offset)))
    found = [[one.sha256, one.offset, one.length] for one in ordered]
    mark = fingerprint("shard", REVISION, asdict(spec.info), found)
    folder, name = spec.plan.file(shard).split("/")
    weight = sum(one.length for one in ordered)
    stem = name.removesuffix(".arrow")
    records = files.join(spec.records or files.join(spec.output, "stages", "shards"), folder)
    return Task(files.join(spec.output, folder), stem, ".arrow", mark, weight, ordered, records)


def shard_tasks(spec: ShardsSpec, tokenized: Iterable[tuple[Task, Record]]) -> list[Task]:
    """Return the tasks of all shards, from the token files that hold their slices."""
    slices: dict[int, list[Slice]] = {shard: [] for shard in range(len(spec.plan.ends))}
    for shard, one in (pair for task, record in tokenized for pair in slices_of(task, record)):
        slices[shard].append(one)
    return [shard_task(spec, shard, found) for shard, found in slices.items()]


def slices_of(task: Task, record: Record) -> list[tuple[int, Slice]]:
    """Return the references (shard, slice) into one token file."""
    return [
        (shard, Slice(task.path, record.sha256, offset, length)) for shard, offset, length in record.details["slices"]
    ]


def shard_part(spec: ShardsSpec, task: Task, file: BinaryIO) -> Tally:
    """Write one shard from its slices of the token store."""
    slices: tuple[Slice, ...] = task.payload
    tokenizer = _tokenizer(spec.tokenizer_path, spec.info.tokenizer)
    block = load_block(slices, tokenizer.id_type, tokenizer.continuation, spec.info.examples.seed)
    return write_shard(block, spec.info, tokenizer.replacement_ids, file, continuation=tokenizer.continuation)
