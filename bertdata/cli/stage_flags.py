"""What the verbs that begin with --documents share: their flags, and the run of their stages in --output."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from bertdata.cli import command_line
from bertdata.curation.where import Condition
from bertdata.engine.stages import BuildState, Stage
from bertdata.io import files
from bertdata.options.flags import add_flags
from bertdata.options.request import Request, settings_from
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.source_columns import SourceColumns
from bertdata.sources.stage import ReadSource
from bertdata.sources.text_encodings import check_sources

OF_TEXT = {"csv_quotes", "encoding", "bad_files"}
"""The settings of `CleaningConfig` that say how the files of --documents are read."""


def add_stage_flags(parser: argparse.ArgumentParser, *settings: type[Any], languages: bool = False) -> None:
    """Add --documents, --output and the flags of settings classes; `languages`: whether the command reads languages."""
    command_line.add_documents(parser, languages=languages)
    add_flags(parser, CleaningConfig, without={*vars(CleaningConfig())} - OF_TEXT)
    command_line.add_output(parser)
    for kind in settings:
        add_flags(parser, kind)


@contextlib.contextmanager
def finished(
    request: Request,
    command: str,
    kind: str,
    documents: Mapping[str, str],
    stages: Sequence[Stage],
    *settings: Any,
    cleaning: CleaningConfig | None = None,
    columns: Sequence[str] = (),
    conditions: Mapping[str, tuple[Condition, ...]] | None = None,
    made: Sequence[str] = (),
    check: Callable[[Mapping[str, Sequence[Any]]], None] | None = None,
) -> Iterator[BuildState]:
    """Read documents, run the stages after that, and yield what the last one made; --output is locked meanwhile.

    documents: the source of each file; kind, settings: what --output holds, and what it depends on, as
    `command_line.stages_run` takes them; columns: those of tables that selections read; conditions: by source; made:
    the columns that are made later; check: as of `ReadSource`.
    """
    folder = stages_folder(request)
    chosen = settings_from(request, CleaningConfig)
    config = replace(cleaning or CleaningConfig(), **{name: getattr(chosen, name) for name in OF_TEXT})
    place = files.join(folder, "tables")
    own_columns = SourceColumns.of(request.text_column, request.id_column, request.language_column)
    names = [*dict.fromkeys(documents.values())]
    own_columns.check_sources(names)
    check_sources(config.encoding, names)
    read = ReadSource(
        "documents",
        documents,
        place,
        config,
        columns=tuple(columns),
        conditions=conditions or {},
        own_columns=own_columns,
        made=tuple(made),
        check=check,
    )
    clear, every = partial(files.remove, folder), [read, *stages]
    with command_line.stages_run(request, kind, command, list(documents), every, *settings, clear=clear) as build_state:
        yield build_state


def stages_folder(request: Request) -> str:
    """Return the folder of the parts of all stages."""
    return files.join(request.output, "stages")
