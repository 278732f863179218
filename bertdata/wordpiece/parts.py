"""Word counts of one range of documents, and the vocabulary trained from all of them, as parts.

What it does not do: counting and training themselves (`counting`, `trainer`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from bertdata import files
from bertdata.config import VocabularyConfig
from bertdata.documents import DocumentRange, read_range
from bertdata.records import Record, Tally, Task, fingerprint
from bertdata.tables import part_name
from bertdata.wordpiece.counting import count_words, merge_counts, prune_counts
from bertdata.wordpiece.trainer import train_wordpiece
from bertdata.wordpiece.vocabulary import format_vocabulary

REVISION = 1
_MERGE_ROWS = 4_000_000


def plan_words(ranges: Sequence[DocumentRange], directory: str, config: VocabularyConfig) -> list[Task]:
    """Return one counting task for each range of documents."""
    return [
        Task(
            directory,
            part_name("words", number),
            ".arrow",
            fingerprint("count_words", REVISION, config.do_lower_case, asdict(one) | {"path": ""}),
            one.text_bytes,
            one,
        )
        for number, one in enumerate(ranges)
    ]


def words_part(config: VocabularyConfig, task: Task, file: BinaryIO) -> Tally:
    """Write the words of one range of documents with their counts, all of them, sorted by word.

    Memory is the text of the range, and what `count_words` takes.
    """
    documents: DocumentRange = task.payload
    tally = Tally()
    texts = [chunk for table in read_range(documents) for chunk in table["text"].chunks]
    counted = count_words(pa.chunked_array(texts, pa.string()), do_lower_case=config.do_lower_case)
    with pa.ipc.new_stream(file, counted.schema) as writer:
        writer.write_table(counted)
    tally.add("distinct_words", counted.num_rows)
    tally.add("words", pc.sum(counted["count"]).as_py() or 0)
    return tally


def vocabulary_task(parts: Sequence[tuple[Task, Record]], directory: str, config: VocabularyConfig) -> Task:
    """Return the task that trains a vocabulary from all counted parts."""
    ordered = sorted((task.path, record.sha256) for task, record in parts)
    mark = fingerprint("train_vocabulary", REVISION, asdict(config), [digest for _, digest in ordered])
    return Task(directory, "vocab", ".txt", mark, 0, tuple(path for path, _ in ordered))


def vocabulary_part(config: VocabularyConfig, task: Task, file: BinaryIO) -> Tally:
    """Merge the word counts and write the vocabulary trained from them, one piece a line.

    The rarest words are left out if there are more than `max_words`: by their counts in the whole corpus, so the
    vocabulary is the same however the corpus was cut into ranges. A word left out has no part in any pair. Memory is
    the distinct words of the corpus, a few millions more while counts are merged, and what the trainer takes.
    """
    waiting: list[pa.Table] = []
    for path in task.payload:
        with files.open_raw(path) as raw:
            waiting.append(pa.ipc.open_stream(raw).read_all())
        if sum(table.num_rows for table in waiting[1:]) > _MERGE_ROWS:
            waiting = [merge_counts(waiting)]
    everything = merge_counts(waiting)
    words = prune_counts(everything, config.max_words)
    vocabulary = train_wordpiece(
        words,
        vocab_size=config.vocab_size,
        criterion=config.criterion,  # type: ignore[arg-type]
        min_frequency=config.min_frequency,
        limit_alphabet=config.limit_alphabet,
    )
    file.write(format_vocabulary(vocabulary))
    tally = Tally()
    tally.add("distinct_words", everything.num_rows)
    tally.add("words", pc.sum(everything["count"]).as_py() or 0)
    if left_out := everything.num_rows - words.num_rows:
        tally.drop("rare word", left_out)
    tally.add("pieces", len(vocabulary))
    return tally
