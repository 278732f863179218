"""`encode_task`: files of labelled examples to shards that the loader reads, for fine-tuning.

    OUTPUT/manifest.json       the task, its labels and settings, counts of each split, what was truncated
    OUTPUT/tokenizer/          the tokenizer of the rows
    OUTPUT/train/ ...          Arrow shards, in the order of the file; also validation and test if given
    OUTPUT/examples/*.parquet  questions only: the examples as text, for the metric and to map answers back

The manifest is written last: a folder without it is unfinished. Files are read in batches of examples, each of which is
written before the next is read; of SQuAD's JSON, an article is held in memory. The loader shuffles.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

import pyarrow as pa

from bertdata import __version__
from bertdata.corpus.manifest import write_dataset_files
from bertdata.engine.origin import Origin
from bertdata.engine.output_lock import output_lock, refuse_own
from bertdata.engine.parts import Counters, Counts, add_counts
from bertdata.errors import ConfigError, InputError
from bertdata.finetune import TASKS
from bertdata.finetune.layout import Encoded, TaskSplit, batches
from bertdata.finetune.settings import Columns, TaskConfig
from bertdata.finetune.task import TASK_SPLITS
from bertdata.finetune.task_info import TaskInfo
from bertdata.io import files
from bertdata.io.unchanged import file_states, unchanged
from bertdata.options.option import stored_values
from bertdata.shards.schema import FORMAT, shard_schema
from bertdata.tokenizers.loading import load_tokenizer
from bertdata.tokenizers.roles import require_rows

EXAMPLES_AT_ONCE = 4096
"""Examples in a batch."""
ROWS_PER_BATCH, ROWS_PER_GROUP = 1000, 4096


def encode_task(
    output: str | os.PathLike[str],
    vocab: str,
    sources: Mapping[str, str],
    config: TaskConfig | None = None,
    columns: Columns | None = None,
    *,
    force: bool = False,
) -> dict[str, Any]:
    """Encode the files of a task, by split (train is required), and return the manifest.

    The output of an earlier run is replaced; if it was made from other files as well, only with `force`. Raises
    ConfigError and InputError as the task's `read` and its encoder do, and OutputError where the folder holds something
    else.
    """
    settings, directory = config or TaskConfig(), files.path_text(output)
    tokenizer = load_tokenizer(vocab)
    require_rows(tokenizer, vocab, masked=False)
    task = TASKS[settings.task]
    for split in sources:
        if split not in task.splits:
            expected = ", ".join(task.splits)
            raise ConfigError(f"--task {settings.task} has no split {split}; expected some of {expected}")
    given = columns or Columns()
    if (given.label_columns or given.label_separator) and not task.batch_sets:
        raise ConfigError(
            f"--label-columns and --label-separator are for --task multi-label-classification, and --task is "
            f"{settings.task}; leave them out"
        )
    if given.choice_columns and not task.choices:
        raise ConfigError(
            f"--choice-columns is for --task multiple-choice, and --task is {settings.task}; leave it out"
        )
    paths = {split: sources[split] for split in TASK_SPLITS if split in sources}
    refuse_own(directory, list(paths.values()))
    states = file_states(paths.values())
    with unchanged(states):
        labels, splits = task.read(paths, tokenizer, settings, given)
    if set(splits) != set(paths) or len(set(labels)) < len(labels):
        raise ConfigError(
            f"the task {settings.task} gives the splits {', '.join(splits)} and the labels {', '.join(labels)}; "
            f"expected the splits {', '.join(paths)}, and labels that differ"
        )
    stride = settings.doc_stride if task.windows else 0
    info = TaskInfo.of(tokenizer, task=settings.task, labels=labels, max_seq_length=settings.length, doc_stride=stride)
    origin = Origin.of("encode-task", paths.values())
    with output_lock(directory, "task data", origin, force=force):
        for name in ("manifest.json", "dataset_dict.json", "README.md", "examples", *TASK_SPLITS):
            files.remove(files.join(directory, name))
        with unchanged(states):
            entries = {
                split: _write_split(directory, split, source, info, settings) for split, source in splits.items()
            }
            read = {
                split: {"name": files.name(path), "bytes": files.size(path), "sha256": files.sha256(path)}
                for split, path in paths.items()
            }
        tokenizer.save_pretrained(files.join(directory, "tokenizer"))
        manifest = {
            "format": FORMAT,
            "bertdata": __version__,
            "info": info.values(),
            "settings": stored_values(settings) | {"max_seq_length": settings.length},
            "sources": read,
            "splits": entries,
        }
        return write_dataset_files(directory, manifest, info)


def _write_split(directory: str, split: str, source: TaskSplit, info: TaskInfo, settings: TaskConfig) -> dict[str, Any]:
    shards: list[dict[str, Any]] = []
    number, rows = -(-source.examples // settings.shard_examples), 0
    examples, taken = source.read(), 0
    with _originals(directory, split, source) as keep:

        def encoded(chosen: Iterator[Any]) -> Iterator[Encoded]:
            nonlocal taken
            for batch in batches(chosen, EXAMPLES_AT_ONCE):
                taken += len(batch)
                keep(batch)
                yield source.encode(batch)

        for place in range(number):
            name = f"{split}/data-{place:05d}-of-{number:05d}.arrow"
            path = files.join(directory, *name.split("/"))
            with files.atomic_write(path) as file:
                written, counts = write_task_shard(encoded(islice(examples, settings.shard_examples)), info, rows, file)
            rows += written
            shards.append({"file": name, "bytes": files.size(path), "sha256": files.sha256(path), "counts": counts})
        if taken != source.examples or next(examples, None) is not None:
            raise InputError(f"the file of {split} changed while it was read; encode again")
    if not rows:
        raise InputError(
            f"no example of {split} is left of {source.examples:,}: their answers are not in the "
            "contexts at answer_start, which counts characters from 0"
        )
    return {"counts": add_counts(shard["counts"] for shard in shards), "shards": shards}


def write_task_shard(encoded: Iterable[Encoded], info: TaskInfo, first_id: int, file: Any) -> tuple[int, Counts]:
    """Write batches of encoded examples as one shard; returns its rows and the counts of all batches.

    `example_id` counts from `first_id`. The bytes do not depend on how the examples are batched.
    """
    schema, counters, rows = shard_schema(info), Counters(), 0
    empty = waiting = schema.empty_table()
    with pa.ipc.new_stream(file, schema) as writer:

        def write(table: pa.Table) -> None:
            """Write a slice as one batch: as a copy, since the buffers of a slice are written with their padding."""
            if table.num_rows:
                writer.write_table(pa.concat_tables([empty, table]).combine_chunks())

        for batch in encoded:
            for name, count in batch.counts.items():
                counters.add(name, count)
            waiting = pa.concat_tables([waiting, batch.table(schema, first_id + rows)])
            rows += len(batch)
            while waiting.num_rows >= ROWS_PER_BATCH:
                write(waiting.slice(0, ROWS_PER_BATCH))
                waiting = waiting.slice(ROWS_PER_BATCH)
        write(waiting)
    return rows, counters.counts


@contextmanager
def _originals(directory: str, split: str, source: TaskSplit) -> Iterator[Callable[[Sequence[Any]], None]]:
    """Yield a function that writes examples as text beside the shards, if answers are mapped back to it."""
    import pyarrow.parquet as pq

    make = source.original
    if make is None:
        yield lambda batch: None
        return
    schema = make([]).schema
    with (
        files.atomic_write(files.join(directory, "examples", f"{split}.parquet")) as file,
        pq.ParquetWriter(file, schema, compression="zstd") as writer,
    ):
        waiting: list[Any] = []

        def keep(batch: Sequence[Any]) -> None:
            waiting.extend(batch)
            while len(waiting) >= ROWS_PER_GROUP:
                writer.write_table(make(waiting[:ROWS_PER_GROUP]))
                del waiting[:ROWS_PER_GROUP]

        yield keep
        if waiting:
            writer.write_table(make(waiting))
