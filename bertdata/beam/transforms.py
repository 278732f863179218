"""PTransforms that make parts: each wraps one pure function and does a task once.

An element is a `Task`; the output is the task with its `PartMetadata`. A task that is done already gives it at once,
so replays, retries and reruns do no work twice. What it does not do: any logic of the stages.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, BinaryIO

import apache_beam as beam

from bertdata.curation.dedup.stage import (
    SignatureRef,
    bucket_task,
    buckets_part,
    decision_part,
    decision_task,
    keys_of,
    signatures_part,
)
from bertdata.curation.settings import DedupConfig
from bertdata.engine.byte_ranges import Stream
from bertdata.engine.parts import Counters, PartMetadata, Task, run_once
from bertdata.errors import BertDataError
from bertdata.io import files
from bertdata.shards.stage import ShardsSpec, TokensSpec, bin_tasks, shard_part, slices_of, tokens_part
from bertdata.shards.token_store import Slice
from bertdata.sources.cleaning import books_part, wikipedia_part
from bertdata.sources.tabular import table_part
from bertdata.tokenizers.settings import VocabularyConfig
from bertdata.tokenizers.wordpiece.stage import (
    merge_part,
    merge_task,
    vocabulary_part,
    vocabulary_task,
    words_of,
    words_part,
)

Work = Callable[[Task, BinaryIO], Counters]
PartResult = tuple[Task, PartMetadata]


class MakePart(beam.DoFn):  # type: ignore[misc]
    """Does a task once; tells a failure in a file beside the record, for whoever started the build."""

    def __init__(self, work: Work) -> None:
        self._work = work

    def process(self, task: Task) -> Iterator[PartResult]:
        try:
            yield task, run_once(task, self._work)
        except BertDataError as error:
            with contextlib.suppress(BertDataError):
                files.write_json(task.failure_path, {"kind": type(error).__name__, "message": str(error)})
            raise


class MakeParts(beam.PTransform):  # type: ignore[misc]
    """Tasks to finished parts, by one pure function."""

    def __init__(self, work: Work) -> None:
        super().__init__()
        self._work = work

    def expand(self, tasks: Any) -> Any:
        return tasks | beam.ParDo(MakePart(self._work))


class CleanWikipedia(MakeParts):
    """Ranges of dumps to parts of documents."""

    def __init__(self) -> None:
        super().__init__(wikipedia_part)


class CleanBooks(MakeParts):
    """Groups of books to parts of documents."""

    def __init__(self) -> None:
        super().__init__(books_part)


class ReadTables(MakeParts):
    """Ranges of Parquet and JSON lines to parts of documents."""

    def __init__(self) -> None:
        super().__init__(table_part)


class FindDuplicates(beam.PTransform):  # type: ignore[misc]
    """Ranges of documents to signatures, their keys by reference to buckets, and all buckets to one decision."""

    def __init__(self, directory: str, config: DedupConfig) -> None:
        super().__init__()
        self._directory, self._config = directory, config

    def expand(self, tasks: Any) -> Any:
        return (
            tasks
            | "Sign" >> MakeParts(partial(signatures_part, self._config))
            | beam.FlatMapTuple(keys_of)
            | "Partition" >> beam.GroupByKey()
            | beam.Map(_bucket_task, self._directory)
            | "Bucket" >> MakeParts(buckets_part)
            | "Together" >> beam.Map(lambda done: (None, done))
            | "All" >> beam.GroupByKey()
            | beam.Map(_decision_task, self._directory, self._config)
            | "Decide" >> MakeParts(partial(decision_part, self._config))
        )


def _bucket_task(group: tuple[int, Iterable[SignatureRef]], directory: str) -> Task:
    return bucket_task(group[0], group[1], directory)


def _decision_task(group: tuple[None, Iterable[PartResult]], directory: str, config: DedupConfig) -> Task:
    return decision_task(group[1], directory, config)


class CountWords(MakeParts):
    """Ranges of documents to word counts."""

    def __init__(self, config: VocabularyConfig) -> None:
        super().__init__(partial(words_part, config))


class TrainVocabulary(beam.PTransform):  # type: ignore[misc]
    """Word counts, by reference, summed partition by partition; all partitions to one vocabulary."""

    def __init__(self, stages: str, config: VocabularyConfig) -> None:
        super().__init__()
        self._stages, self._config = stages, config

    def expand(self, counted: Any) -> Any:
        return (
            counted
            | beam.FlatMapTuple(words_of)
            | "Partition" >> beam.GroupByKey()
            | beam.Map(_merge_task, self._stages)
            | "Merge" >> MakeParts(merge_part)
            | "Together" >> beam.Map(lambda done: (None, done))
            | "All" >> beam.GroupByKey()
            | beam.Map(_vocabulary_task, self._stages, self._config)
            | "Train" >> MakeParts(partial(vocabulary_part, self._config))
        )


def _merge_task(group: tuple[int, Iterable[Stream]], stages: str) -> Task:
    return merge_task(group[0], group[1], stages)


def _vocabulary_task(group: tuple[None, Iterable[PartResult]], stages: str, config: VocabularyConfig) -> Task:
    return vocabulary_task(group[1], stages, config)


class Tokenize(beam.PTransform):  # type: ignore[misc]
    """Ranges of documents to references (shard, slice) into the token store."""

    def __init__(self, spec: TokensSpec) -> None:
        super().__init__()
        self._spec = spec

    def expand(self, tasks: Any) -> Any:
        return tasks | MakeParts(partial(tokens_part, self._spec)) | beam.FlatMapTuple(slices_of)


class WriteShards(beam.PTransform):  # type: ignore[misc]
    """References into the token store, grouped by shard, to shards."""

    def __init__(self, spec: ShardsSpec) -> None:
        super().__init__()
        self._spec = spec

    def expand(self, slices: Any) -> Any:
        shards = [(shard, None) for shard in range(len(self._spec.plan.ends))]
        every_shard = slices.pipeline | "Shards" >> beam.Create(shards, reshuffle=False)
        return (
            (slices, every_shard)
            | beam.Flatten()
            | beam.GroupByKey()
            | beam.FlatMap(_bin_tasks, self._spec)
            | MakeParts(partial(shard_part, self._spec))
        )


def _bin_tasks(group: tuple[int, Iterable[Slice | None]], spec: ShardsSpec) -> list[Task]:
    return bin_tasks(spec, group[0], [one for one in group[1] if one is not None])
