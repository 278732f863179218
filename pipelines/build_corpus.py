"""Dumps, books and other documents to a vocabulary and shards.

    dumps, books, other documents -> documents -> without duplicates -> without repeated text -> without test data
        -> vocabulary -> token store -> shards

Run: bertdata build, or python -m pipelines.build_corpus [--wikipedia [NAME=]DUMP ...] [--books [NAME=]PATH ...]
    [--documents [NAME=]PATH ...] --output DIR [-- RUNNER FLAGS]
"""

from __future__ import annotations

from functools import partial

from bertdata.corpus.build import Build
from bertdata.corpus.column_checks import check_first_values
from bertdata.corpus.count_tokens import write_stages
from bertdata.corpus.settings import Settings, choices_of, conditions_of
from bertdata.corpus.write_shards import CheckDocuments, WriteShards
from bertdata.curation.decontamination.stage import Decontaminate
from bertdata.curation.dedup.spans.stage import DropSpans
from bertdata.curation.dedup.stage import DropDuplicates
from bertdata.engine.stages import Stage
from bertdata.io import files
from bertdata.sentences.by_language import default_of
from bertdata.sources.stage import FOLDERS, ReadSource
from bertdata.tokenizers.training.stage import TrainVocabulary


def stages(build: Build, output: str, settings: Settings) -> list[Stage]:
    """Return the stages: what flows from where to where. Each reads what those before it wrote."""
    folder, inputs = files.join(output, "stages"), build.inputs
    read = [read_source(build, kind, files.join(folder, name), settings) for kind, name in FOLDERS.items()]
    write = WriteShards(
        output,
        inputs,
        settings.sharding,
        settings.phases,
        build.segmenter,
        settings.vocabulary,
        build.tokenizer,
        choices_of(settings, inputs.by_kind, build.formats),
        settings.accounts,
        settings.cleaning.tokenizers,
    )
    return [
        *read,
        DropDuplicates(files.join(folder, "duplicates"), settings.dedup),
        DropSpans(files.join(folder, "repeated"), settings.dedup_spans, default_of(build.segmenter)),
        Decontaminate(files.join(folder, "decontamination"), settings.decontamination, build.test_data),
        CheckDocuments(inputs, [phase.examples.objective for phase in settings.phases], build.segmenter),
        *([] if build.tokenizer else [TrainVocabulary(folder, settings.vocabulary, inputs)]),
        *write_stages(write),
    ]


def read_source(build: Build, kind: str, folder: str, settings: Settings) -> ReadSource:
    """Return the stage that makes documents of the files of one kind: dumps, books, or other documents."""
    of_tables = kind == "documents"
    return ReadSource(
        kind,
        build.inputs.by_kind[kind],
        folder,
        settings.cleaning,
        build.text_column,
        build.columns if of_tables else (),
        build.formats if of_tables else (),
        notes=build.inputs.notes if of_tables else (),
        conditions=conditions_of(settings.phases, build.inputs.names()),
        own_columns=build.own_columns,
        made=settings.accounts.made,
        check=partial(check_first_values, settings.phases, settings.accounts),
    )


if __name__ == "__main__":
    from bertdata.__main__ import main

    main("build")
