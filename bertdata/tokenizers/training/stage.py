"""The stage that trains a vocabulary: documents in, word counts of ranges, sums of partitions, a vocabulary out.

The words of each range of documents are counted into one file, grouped by partition; references to these groups are
grouped by partition, and the counts of each are summed; one vocabulary is trained from all sums. The model of the
settings (`models.py`) says what a word is, and how a vocabulary is trained and kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from bertdata.documents import DocumentRange, cut_ranges, range_tasks, read_range
from bertdata.engine.byte_ranges import Stream, read_stream, read_streams, write_stream
from bertdata.engine.fingerprints import fingerprint
from bertdata.engine.parts import Counters, PartMetadata, PartResult, Task, part_name
from bertdata.engine.stages import BuildState, Grouping, Plan, Step, require_documents
from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.options.option import stored_values
from bertdata.sources.inputs import DocumentSources
from bertdata.tokenizers.base import Tokenizer
from bertdata.tokenizers.settings import VocabularyConfig
from bertdata.tokenizers.training import VOCABULARY_MODELS
from bertdata.tokenizers.training.models import VocabularyModel
from bertdata.tokenizers.training.partitions import (
    PARTITIONS,
    frequencies,
    frequent_words,
    least_count,
    merge_words,
    multiply_counts,
    partition_words,
    source_factors,
)

REVISION = 3
RARE = "rare word"
LONG = "long word"


class WordCount(StrEnum):
    """What the records of word counts, of their sums and of the vocabulary count."""

    WORDS = "words"
    DISTINCT_WORDS = "distinct_words"
    PIECES = "pieces"


CountedWords = tuple[str, bytes, int, int, str, int]
"""A reference to the word counts of one range and partition: the name of the part, its SHA-256, offset, length, the
source, and the words of the whole range. There is one for each partition of each range, so they are built-in values,
which a runner sends as they are: a pickled object is five times as large."""
SummedWords = tuple[str, bytes, int, int, int, tuple[int, ...]]
"""A reference to the sums of one partition: the name of the part, its SHA-256, its bytes, words, distinct words, and
their `frequencies`; without the references that its task has to all ranges."""


@dataclass(frozen=True)
class MergedWords:
    """The word counts of one partition: where they are, how many words there are, and their `frequencies`."""

    stream: Stream
    words: int
    distinct_words: int
    frequencies: tuple[int, ...]


def plan_words(ranges: Sequence[DocumentRange], directory: str, config: VocabularyConfig) -> list[Task]:
    """Return one counting task for each range of documents."""
    return range_tasks(ranges, directory, "count_words", REVISION, *VOCABULARY_MODELS[config.model].counted_by(config))


def words_part(config: VocabularyConfig, task: Task, file: BinaryIO) -> Counters:
    """Write the words of one range of documents with their counts, a stream for each partition.

    Words that are longer than the model takes are left out, and counted as drops. details["streams"] lists [offset,
    length] of each. Memory is the text of the range, and what counting takes.
    """
    documents: DocumentRange = task.payload
    counters = Counters()
    texts = [chunk for table in read_range(documents) for chunk in table["text"].chunks]
    model = VOCABULARY_MODELS[config.model]
    counted = model.count(pa.chunked_array(texts, pa.string()), config)
    is_long = pc.greater(model.length(counted["word"]), model.longest_word)
    if long_words := pc.sum(counted["count"].filter(is_long)).as_py():
        counters.drop(LONG, long_words)
        counted = counted.filter(pc.invert(is_long))
    counters.details["streams"] = [write_stream(file, table) for table in partition_words(counted)]
    counters.add(WordCount.DISTINCT_WORDS, counted.num_rows)
    counters.add(WordCount.WORDS, pc.sum(counted["count"]).as_py() or 0)
    return counters


def words_of(source_of: Mapping[str, str], task: Task, record: PartMetadata) -> list[tuple[int, CountedWords]]:
    """Return the references (partition, words) into the word counts of one range; source_of: of each path."""
    source, words = source_of.get(task.payload.path, ""), record.counts[WordCount.WORDS]
    digest = bytes.fromhex(record.sha256)
    return [
        (partition, (task.name, digest, offset, length, source, words))
        for partition, (offset, length) in enumerate(record.details["streams"])
    ]


def merge_task(
    stages: str, folder: str, temperature: float, partition: int, counted: Iterable[CountedWords]
) -> list[Task]:
    """Return the task that sums one partition; its fingerprint does not depend on the order of the references.

    folder: of the word counts. Its payload is the streams of each source, with what their counts are multiplied by.
    """
    words: defaultdict[str, int] = defaultdict(int)
    streams: defaultdict[str, list[Stream]] = defaultdict(list)
    digests, weight = [], 0
    for name, digest, offset, length, source, number in sorted(counted):
        words[source] += number
        streams[source].append(Stream(files.join(folder, name + ".arrow"), digest.hex(), offset, length))
        digests.append([digest.hex(), offset, length])
        weight += length
    factors = source_factors(words, temperature)
    payload = tuple((factors[source], tuple(of_source)) for source, of_source in streams.items())
    weighted = [[factor, len(of_source)] for factor, of_source in payload] if set(factors.values()) - {1.0} else []
    made_from = fingerprint("merge_words", REVISION, digests, *weighted)
    name = part_name("merged", partition)
    return [Task(_sums_folder(stages), name, ".arrow", made_from, weight, payload)]


def _sums_folder(stages: str) -> str:
    return files.join(stages, "merged-words")


def merged_words(
    stages: str, folder: str, temperature: float = 1.0, source_of: Mapping[str, str] | None = None
) -> Grouping:
    """Return how ranges counted in a folder lead to the sums of all partitions; source_of: of each range's path."""
    tasks = partial(merge_task, stages, folder, temperature)
    return Grouping(range(PARTITIONS), partial(words_of, source_of or {}), tasks)


def merge_part(task: Task, file: BinaryIO) -> Counters:
    """Write the word counts of one partition, sorted by word; memory is its words and a few millions more.

    Those of a source are summed before they are multiplied, so that they do not depend on how it was cut into ranges.
    details["frequencies"] are those of `partitions.frequencies`.
    """
    counters = Counters()

    def sums() -> Iterator[pa.Table]:
        for factor, streams in task.payload:
            table = merge_words(read_streams(streams))
            counters.add(WordCount.WORDS, pc.sum(table["count"]).as_py() or 0)
            yield multiply_counts(table, factor)

    merged = merge_words(sums())
    write_stream(file, merged)
    counters.add(WordCount.DISTINCT_WORDS, merged.num_rows)
    counters.details["frequencies"] = frequencies(merged)
    return counters


def trained_vocabulary(stages: str, config: VocabularyConfig) -> Grouping:
    """Return how the sums of all partitions lead to the vocabulary."""
    return Grouping((None,), _sums_of, partial(_vocabulary_task, stages, config))


def _sums_of(task: Task, record: PartMetadata) -> list[tuple[None, SummedWords]]:
    words, distinct = record.counts[WordCount.WORDS], record.counts[WordCount.DISTINCT_WORDS]
    numbers = tuple(record.details["frequencies"])
    return [(None, (task.name, bytes.fromhex(record.sha256), record.bytes, words, distinct, numbers))]


def _vocabulary_task(stages: str, config: VocabularyConfig, _: None, parts: Iterable[SummedWords]) -> list[Task]:
    """Return the task that trains a vocabulary from all merged partitions."""
    payload = tuple(
        MergedWords(
            Stream(files.join(_sums_folder(stages), name + ".arrow"), digest.hex(), 0, size), words, distinct, numbers
        )
        for name, digest, size, words, distinct, numbers in sorted(parts)
    )
    digests = [part.stream.sha256 for part in payload]
    made_from = fingerprint("train_vocabulary", REVISION, stored_values(config), digests)
    suffix = VOCABULARY_MODELS[config.model].suffix
    return [Task(files.join(stages, "vocabulary"), "vocab", suffix, made_from, 0, payload)]


def vocabulary_part(config: VocabularyConfig, task: Task, file: BinaryIO) -> Counters:
    """Write the vocabulary trained from the words of all partitions.

    The rarest words are left out if there are more than `max_words`: by their counts in the whole corpus, so the
    vocabulary does not depend on how the corpus was cut into ranges. A word left out has no part in any pair. Memory is
    the words that are kept, one partition, and what the trainer takes. Raises ConfigError where no word would be left.
    """
    merged: tuple[MergedWords, ...] = task.payload
    least = least_count([part.frequencies for part in merged], config.max_words)
    words = frequent_words((read_stream(part.stream) for part in merged), least, config.max_words)
    distinct = sum(part.distinct_words for part in merged)
    if not distinct:
        longest = VOCABULARY_MODELS[config.model].longest_word
        raise ConfigError(
            f"the documents have no word of at most {longest} characters to train a vocabulary from; expected text "
            "with spaces between its words"
        )
    if not words.num_rows:
        raise ConfigError(
            f"--max-words is {config.max_words}, which leaves none of the {distinct:,} distinct words, as more of them "
            "than that occur as often as any; raise it"
        )
    vocabulary, pieces = VOCABULARY_MODELS[config.model].train(words, config)
    file.write(vocabulary)
    counters = Counters()
    counters.add(WordCount.DISTINCT_WORDS, distinct)
    counters.add(WordCount.WORDS, sum(part.words for part in merged))
    if left_out := distinct - words.num_rows:
        counters.drop(RARE, left_out)
    counters.add(WordCount.PIECES, pieces)
    return counters


def trained_tokenizer(task: Task, config: VocabularyConfig) -> Tokenizer:
    """Load the tokenizer of the vocabulary that a task trained."""
    model: VocabularyModel = VOCABULARY_MODELS[config.model]
    return model.load(task.path, config)


def account_of(record: PartMetadata, config: VocabularyConfig) -> dict[str, int]:
    """Return what a manifest says of a trained vocabulary: tokens, how many were asked for, words left out."""
    account = {"pieces": record.counts[WordCount.PIECES], "asked": config.padded_size}
    left_out = {"rare_words_left_out": RARE, "long_words_left_out": LONG}
    return account | {name: record.drops[reason] for name, reason in left_out.items() if reason in record.drops}


def _with_long_words(vocabulary: PartResult, ranges: Iterable[PartResult]) -> PartResult:
    """Return a vocabulary whose record counts the long words of all ranges as dropped."""
    task, record = vocabulary
    long_words = sum(counted.drops.get(LONG, 0) for _, counted in ranges)
    return (task, replace(record, drops=record.drops | {LONG: long_words})) if long_words else vocabulary


@dataclass(frozen=True)
class TrainVocabulary:
    """The stage that trains a vocabulary from the documents; what leads there is kept in `stages`."""

    stages: str
    config: VocabularyConfig
    sources: DocumentSources
    title = "train vocabulary"
    first = False

    def plan(self, build_state: BuildState) -> Plan:
        """Plan counts, sums and the vocabulary; raises InputError where there is no document."""
        require_documents(build_state.documents)
        words, config = files.join(self.stages, "words"), self.config
        ranges = cut_ranges([(task.path, record) for task, record in build_state.documents])
        source_of: dict[str, str] = {}
        if config.vocab_temperature < 1:
            source_of = {task.path: name for name, (task, _) in self.sources.named(build_state.documents)}
        merging = merged_words(self.stages, words, config.vocab_temperature, source_of)
        training = trained_vocabulary(self.stages, config)
        return Plan(
            [
                Step("count words", partial(words_part, config), plan_words(ranges, words, config)),
                Step("train vocabulary", merge_part, grouping=merging, unit="task"),
                Step("train vocabulary", partial(vocabulary_part, config), grouping=training, unit="task"),
            ],
            lambda done: replace(build_state, vocabulary=_with_long_words(done[2][0], done[0])),
            inputs=[task.path for task, _ in build_state.documents],
            folders=[words, _sums_folder(self.stages)],
        )
