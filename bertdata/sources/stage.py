"""The stages that read what a build is made of: the files of one kind to parts of documents, by ranges or groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

from bertdata.curation.cleaners import with_cleaners
from bertdata.curation.filters import with_filters
from bertdata.curation.languages import LANGUAGE, with_language
from bertdata.curation.where import Condition
from bertdata.engine.fingerprints import fingerprint
from bertdata.engine.parts import PartResult, Task, labels
from bertdata.engine.stages import BuildState, Grouping, Plan, Step, all_together
from bertdata.errors import ConfigError, InputError, did_you_mean
from bertdata.io import files
from bertdata.io.encodings import encoded
from bertdata.io.unchanged import file_states
from bertdata.options.option import require
from bertdata.sources import SOURCE_FORMATS
from bertdata.sources.finished import finished_parts, refuse_damaged
from bertdata.sources.first_rows import TRIED, first_values
from bertdata.sources.formats import Request, SourceFile, write_documents
from bertdata.sources.kinds import formats_at, formats_of
from bertdata.sources.path_columns import path_columns
from bertdata.sources.problems import Problems, planned_or_all_problems
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.source_columns import TEXT, SourceColumns
from bertdata.sources.source_rows import with_rows
from bertdata.sources.tabular import LOOKED_AT, TableFormat
from bertdata.sources.text_encodings import encodings_of, parse_encodings
from bertdata.sources.text_template import is_template, parse_template

FOLDERS = {"wikipedia": "wikipedia", "books": "books", "documents": "tables"}
"""The folder of the documents of each kind, below the stages of a build."""
KIND_TITLES = {"wikipedia": "clean wikipedia", "books": "clean books", "documents": "read documents"}


class Sampler(Protocol):
    """Chooses the parts of its files that a stage reads."""

    def tasks(self, kind: str, tasks: Sequence[Task]) -> list[Task]:
        """Return tasks in the place of all those of a kind."""

    def finished(self, parts: Sequence[PartResult]) -> list[PartResult]:
        """Return parts in the place of all that bertdata wrote before."""


@dataclass(frozen=True)
class ReadSource:
    """The stage that makes documents of files of one kind, each given with its source, as parts in `directory`.

    columns: those of tables that are kept beside the text, for selections. formats: the names of source formats that
    are not registered. sampler: chooses what an estimate reads of the files, all else. notes: what the user is told of
    the files before anything else. conditions: those of selections, by the source whose documents they choose.
    made: the columns that are made of documents later, which sources must not have. check: raises an error where what
    the first rows hold in the columns, by their names, does not suit what reads them.
    text_column, own_columns: the column of the text, and those of the text, the id and the language that sources have
    of their own.

    Parts of documents that an earlier run of bertdata wrote are taken as they are.
    """

    kind: str
    source_of: Mapping[str, str]
    directory: str
    config: CleaningConfig
    text_column: str = TEXT
    columns: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    sampler: Sampler | None = None
    notes: tuple[str, ...] = ()
    conditions: Mapping[str, tuple[Condition, ...]] = field(default_factory=dict)
    own_columns: SourceColumns = field(default_factory=SourceColumns)
    made: tuple[str, ...] = ()
    check: Callable[[Mapping[str, Sequence[Any]]], None] | None = None
    first = True

    @property
    def title(self) -> str:
        """What progress calls it."""
        return KIND_TITLES[self.kind]

    def plan(self, build_state: BuildState) -> Plan:
        """Plan the parts; raises the errors with which files are refused."""
        finished = finished_parts(self.source_of) if self.kind == "documents" else []
        if finished and (self.config.filter or self.config.clean):
            flag = "--filter" if self.config.filter else "--clean"
            raise ConfigError(
                f"these documents are written already, and {flag} is for where they are; give it to clean-wikipedia "
                "or clean-books",
                path=finished[0][0].path,
            )
        given = {task.payload.path for task, _ in finished}
        paths = [path for path in self.source_of if path not in given]
        states = file_states([*paths, *filter(None, [self.config.templates])]) if paths else {}
        tasks, notes = self._tasks(paths, states) if paths else ([], [])
        notes = [*self.notes, *notes]
        if self.sampler:
            finished, tasks = self.sampler.finished(finished), self.sampler.tasks(self.kind, tasks)
        formats = formats_of(self.kind, self.formats).values()

        def prepare() -> None:
            refuse_damaged(finished)
            for source_format in formats:
                source_format.prepare(tasks, self.config)

        before = [step for source_format in formats for step in source_format.steps_before(tasks, self.config)]
        grouping = Grouping((None,), all_together, partial(_after, tasks)) if before else None
        return Plan(
            [*before, Step(self.title, write_documents, () if before else tasks, grouping)],
            lambda done: replace(build_state, documents=(*build_state.documents, *finished, *map(with_rows, done[-1]))),
            prepare,
            inputs=paths,
            states=states,
            folders=[self.directory, *dict.fromkeys(task.directory for step in before for task in step.tasks)],
            notes=notes,
        )

    def _tasks(self, paths: Sequence[str], states: Mapping[str, str]) -> tuple[list[Task], list[str]]:
        """Return the tasks of all formats, in the order of the files where there are several formats."""
        target = self.config.target_bytes(sum(files.size(path) for path in paths), self.kind)
        adds = self.kind == "documents" and self.config.language_model and LANGUAGE not in self.columns
        columns = (*self.columns, LANGUAGE) if adds else self.columns
        request = Request(self.directory, target, self.config, columns=columns)
        by_format: dict[str, list[SourceFile]] = {}
        format_named = formats_at(paths, self.kind, self.formats)
        encoding_of = self._encodings(format_named)
        for path, label in zip(paths, labels(paths), strict=True):
            source = SourceFile(path, label, self.source_of[path], encoding_of.get(path, ""))
            by_format.setdefault(format_named[path], []).append(source)
        with encoded(encoding_of):
            return self._planned(by_format, request, paths, states)

    def _encodings(self, format_named: Mapping[str, str]) -> dict[str, str]:
        """Return the encoding of each text file that is not UTF-8; raises InputError that names all bad ones."""
        texts = {name: SOURCE_FORMATS[name].text for name in {*format_named.values()}}
        text_of = {path: texts[name] for path, name in format_named.items()}
        lines = [path for path, text in text_of.items() if text == "lines"]
        chosen = {path: self.source_of[path] for path, text in text_of.items() if text}
        asked = parse_encodings(self.config.encoding)
        return encodings_of(chosen, asked, self.config.bad_files, lines=lines)

    def _planned(
        self,
        by_format: Mapping[str, Sequence[SourceFile]],
        request: Request,
        paths: Sequence[str],
        states: Mapping[str, str],
    ) -> tuple[list[Task], list[str]]:
        """Return the tasks of files by their formats, and notes on them."""
        tasks, problems = [], Problems()
        notes = self._check_languages(by_format)
        notes += self._check_columns(by_format) + self._check_templates(by_format)
        for (name, text, document_id, language), sources in self._by_columns(by_format).items():
            asked = replace(request, format=name, text_column=text, id_column=document_id, language_column=language)
            with problems.noted():
                planned, format_notes = planned_or_all_problems(SOURCE_FORMATS[name].plan, sources, asked)
                planned = self._own(planned, name) if name in self.formats else planned
                tasks += [_with_inputs(task, states) for task in planned]
                notes += format_notes
        problems.raise_any()
        if not tasks:
            raise InputError("these files hold no rows; expected documents", path=", ".join(paths[:3]))
        if self.check and self.columns:
            values = first_values(tasks, self.source_of, self.columns)
            self.check(values)
            notes += [
                f"no value of {name} is in the first {TRIED} rows of any source: see that there is such a place in "
                f"{name.partition('.')[0]}"
                for name, of_column in values.items()
                if "." in name and of_column and all(value is None for value in of_column)
            ]
        if len(by_format) > 1:
            place_of = {path: place for place, path in enumerate(paths)}
            tasks.sort(key=lambda task: place_of[task.payload.path])
        tasks = with_cleaners(with_filters(tasks, self.config.filter), self.config.clean)
        return with_language(tasks, self.config.language_model), notes

    def _columns(self, source: str) -> tuple[str, str, str]:
        """Return the columns of the text, of the id and of the language of a source."""
        named = dict(self.own_columns.texts)
        text = named.get(source, named.get("", self.text_column))
        return text, self.own_columns.id(source), self.own_columns.language(source)

    def _by_columns(
        self, by_format: Mapping[str, Sequence[SourceFile]]
    ) -> dict[tuple[str, str, str, str], list[SourceFile]]:
        """Return the files by their format and the columns that are read of them.

        Raises ConfigError where columns are named for a source that has no tables.
        """
        by_columns: dict[tuple[str, str, str, str], list[SourceFile]] = {}
        with_tables = set()
        for name, sources in by_format.items():
            reads = "text_column" in SOURCE_FORMATS[name].settings
            for source in sources:
                columns = self._columns(source.source if reads else "")
                by_columns.setdefault((name, *columns), []).append(source)
                with_tables |= {source.source} if reads else set()
        here = {source.source for sources in by_format.values() for source in sources}
        for flag, pairs in self.own_columns.by_flag().items():
            for source_name, column in pairs:
                require(
                    source_name not in here - with_tables,
                    f"{flag} {source_name}={column} has no effect: the files of the source {source_name} are no tables",
                )
        return by_columns

    def _check_templates(self, by_format: Mapping[str, Sequence[SourceFile]]) -> list[str]:
        """Return notes on sources that lack columns of their template; raises InputError for one that none has."""
        there: dict[str, dict[str, set[str]]] = {}
        paths_of: dict[str, list[str]] = {}
        for name, sources in by_format.items():
            source_format = SOURCE_FORMATS[name]
            for source in sources if "text_column" in source_format.settings else ():
                if is_template(text := self._columns(source.source)[0]):
                    paths_of.setdefault(text, []).append(source.path)
                    columns = there.setdefault(text, {}).setdefault(source.source, set())
                    names = source_format.columns_of(source.path)
                    if isinstance(source_format, TableFormat):
                        names = source_format.all_names(source.path, self.config)
                    columns.update(names)
        notes = []
        for text, columns_of in there.items():
            every = set().union(*columns_of.values())
            if text in every:
                continue
            for column in parse_template(text).columns:
                places = {column, column.partition(".")[0]}
                if not places & every:
                    first, *more = paths_of[text]
                    has, its = (f"and {len(more):,} more have", "their") if more else ("has", "its")
                    raise InputError(
                        f"{has} no column {column!r}, which --text-column '{text}' names; {its} columns are "
                        f"{', '.join(map(repr, sorted(every)))}{did_you_mean(column, every)}",
                        path=first,
                    )
                notes += [
                    f"the source {source} has no column {column!r} of --text-column '{text}': it leaves nothing there"
                    for source, columns in columns_of.items()
                    if not places & columns
                ]
        return notes

    def _own(self, tasks: Sequence[Task], name: str) -> list[Task]:
        """Return the tasks of a format that is not registered, with its name in their fingerprints.

        Raises ConfigError where they name another one.
        """
        if other := next((task.payload.format for task in tasks if task.payload.format != name), None):
            raise ConfigError(
                f"the source format {name} plans tasks of the format {other!r}; expected that of the request"
            )
        of_format = "format", name, SOURCE_FORMATS[name].revision
        return [replace(task, fingerprint=fingerprint(task.fingerprint, *of_format)) for task in tasks]

    def _check_columns(self, by_format: Mapping[str, Sequence[SourceFile]]) -> list[str]:
        """Return notes on sources whose files lack columns.

        Raises ConfigError for a column that no file has, and for one of `made` that some have.
        """
        if not (self.columns or self.made) and not any(
            condition.columns for conditions in self.conditions.values() for condition in conditions
        ):
            return []
        every = [(SOURCE_FORMATS[name], source) for name, sources in by_format.items() for source in sources]
        columns_of: dict[str, set[str]] = {}
        for source_format, source in every:
            columns = [*source_format.columns_of(source.path)]
            if self.own_columns.language(source.source) in columns:
                columns.append(LANGUAGE)
            columns_of.setdefault(source.source, set()).update(columns, path_columns(source.path) if columns else ())
        all_columns = set().union(*columns_of.values())
        if taken := sorted({*self.made} & all_columns):
            raise ConfigError(
                f"--score makes the column {taken[0]!r}, which these documents have; give it another name"
            )
        for name in self.columns:
            if name == LANGUAGE and self.config.language_model:
                continue
            places = dict.fromkeys((name, name.partition(".")[0]))
            if not all_columns & places.keys() and not any(
                source_format.has_column(source.path, at) for source_format, source in every for at in places
            ):
                in_condition = any(name in each.columns for of_one in self.conditions.values() for each in of_one)
                quotes = f"; if it is meant as a text, write it in quotes, '{name}'." if in_condition else "."
                raise ConfigError(
                    f"--where, --source-where, --keep or --account names the column {name!r}, which these documents do "
                    "not have"
                    + (did_you_mean(name, all_columns) or quotes)
                    + f" Their columns are {', '.join(map(repr, sorted(all_columns))) or 'none'}"
                )
        return list(self._excluded(columns_of))

    def _check_languages(self, by_format: Mapping[str, Sequence[SourceFile]]) -> list[str]:
        """Return notes on sources that do not say a language where they alone tell it.

        Raises ConfigError where the column of the language is named, and the language is not read.
        """
        require(
            not self.own_columns.languages or LANGUAGE in self.columns or bool(self.config.language_model),
            "--language-column is given, but the language is not read; give --language-model source, or py3langid for "
            "the documents that have none there, --sentences auto, or a condition, as --where \"language == 'en'\"",
        )
        if self.kind != "documents" or self.config.language_model != "source":
            return []
        said: dict[str, bool] = {}
        for name, sources in by_format.items():
            for source in sources:
                names = {*SOURCE_FORMATS[name].columns_of(source.path), *path_columns(source.path)}
                has = bool({(at := self.own_columns.language(source.source)), at.partition(".")[0]} & names)
                said[source.source] = said.get(source.source, False) or has
        return [
            f"the source {source} has no column {self.own_columns.language(source)!r}, so --language-model source "
            "knows no language of its documents; name the column by "
            f"--language-column {source}=NAME, or take a model, as py3langid"
            for source, is_said in said.items()
            if not is_said
        ]

    def _excluded(self, columns_of: Mapping[str, set[str]]) -> Iterator[str]:
        """Yield a note on each source from which a condition takes no document because its files lack a column."""
        for source, columns in columns_of.items():
            present = columns | {*self.made} | ({LANGUAGE} if self.config.language_model else set())
            for condition in self.conditions.get(source, ()):
                missing = [name for name in condition.columns if not {name, name.partition(".")[0]} & present]
                if not condition.can_hold(missing):
                    yield (
                        f"{condition.label} takes no document of the source {source}: its files have no column "
                        f"{' or '.join(map(repr, missing))} (of JSON lines {LOOKED_AT:,} rows each were looked at)"
                    )


def _with_inputs(task: Task, states: Mapping[str, str]) -> Task:
    """Return a task with the states of the files that it reads."""
    paths = SOURCE_FORMATS[task.payload.format].files_of(task)
    return replace(task, inputs=tuple((path, states[path]) for path in paths if path in states))


def _after(tasks: Sequence[Task], _: None, parts: Iterable[PartResult]) -> list[Task]:
    """Return the tasks of documents, once the parts are there that they read."""
    finished = list(parts)
    return [SOURCE_FORMATS[task.payload.format].after(task, finished) for task in tasks]
