"""The sources and settings of a build that a request stands for."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any

from bertdata.corpus.phase_requests import phases_of, require_model_length, say_defaults
from bertdata.corpus.recipe_settings import apply_recipe
from bertdata.corpus.settings import GROUPS, OF_A_PHASE, Settings
from bertdata.engine.origin import as_flag, read_origin
from bertdata.engine.remote_lock import LOCK
from bertdata.errors import ConfigError, InputError, did_you_mean
from bertdata.io import files, listing
from bertdata.io.engine_outputs import MARKER
from bertdata.options.option import flag_of, names_code
from bertdata.options.request import Request, defaults_of, settings_from, value_of_keyword
from bertdata.plugins import consent_to
from bertdata.sample import SAMPLE_BOOKS, SAMPLE_DUMP
from bertdata.sources import streamed
from bertdata.sources.inputs import Sources
from bertdata.sources.kinds import settings_of, settings_read
from bertdata.sources.names import KINDS, named
from bertdata.sources.source_columns import SourceColumns
from bertdata.tokenizers.settings import VocabularyConfig

COMMAND = "build"
DEFAULT_OUTPUT = "corpus"
"""The output of a command that names neither sources nor an output."""
SAMPLE = Sources((SAMPLE_DUMP,), (SAMPLE_BOOKS,))
"""The corpus that ships with the package."""
REJECTS_HINT = (
    "; bertdata show DIR --dropped shows documents that rules dropped, with what was measured, and "
    "DIR/stages/duplicates/duplicates.parquet names duplicates"
)
_ARTICLES = "tables of Wikipedia's articles, known by their columns"
_TEXT = "text files, as .txt, .csv or .jsonl"
_READ_BY = {
    "text_column": "tables",
    "id_column": "tables",
    "language_column": "tables",
    "min_words": f"{_ARTICLES} (of other documents, --where 'tokens >= 100' takes the longer ones)",
    "templates": _ARTICLES,
    "variant": _ARTICLES,
    "keep_lists": _ARTICLES,
    "encoding": _TEXT,
    "bad_files": _TEXT,
    "csv_quotes": "tables as .csv and .tsv",
    "source_tokenizer": "MDS of token ids",
    "whole_files": "plain text, as .txt",
}
"""What the files of documents are called that are read by a setting."""
OF_A_CALL: dict[str, Any] = {
    **{key: [] for key in ("wikipedia", "books", "documents", "source_format", "phase")},
    **{key: [] for key in ("text_column", "id_column", "language_column")},
    **dict.fromkeys(("output", "vocab", "recipe", "save_recipe")),
    **dict.fromkeys(("force", "quiet", "dry_run"), False),
    "model_max_length": 0,
    "workers": 0,
}
"""What a build is asked for beside its settings, with the values where nothing is said."""
PLACES = ("wikipedia", "books", "documents")
"""The settings that name sources: given without a path they do not mean that the caller named none."""


@dataclass(frozen=True)
class Named:
    """What a command names: its recipe, and its settings by name, these where it leaves its sources to the output.

    output: whether it names that, and so may change a finished one there. values: what it gives its settings, by name,
    for a later command that leaves the sources to the output.
    """

    recipe: str = ""
    settings: frozenset[str] | None = None
    output: bool = True
    values: Mapping[str, Any] = field(default_factory=dict)

    @staticmethod
    def by(request: Request) -> Named:
        """Return what a request names after `settings_of_request`, themselves or by their recipe."""
        values = {name: getattr(request, name) for name in sorted(_recorded_names() & {*request.named})}
        values = {name: value for name, value in values.items() if is_plain(value)}
        if any(getattr(request, kind) for kind in KINDS):
            return Named(request.recipe or "", values=values)
        settings = frozenset(request.named) | request.named_by_recipe | _replaced_by(request.named)
        return Named(request.recipe or "", settings, "output" in request.named, values)


def request_of(keywords: Mapping[str, Any]) -> Request:
    """Return the request that Python's keywords make, named as the settings.

    A setting of several values also takes one, --mix a mapping. A name as `module:name` is the consent to import it, as
    on the command line. Raises ConfigError for a name that is no setting, and InputError for a source without a path;
    settings classes check the values.

    >>> request_of({"max_seq_length": (128, 512)}).max_seq_length
    [128, 512]
    """
    defaults = OF_A_CALL | defaults_of(GROUPS.values())
    code = {"source_format"} | {each.name for kind in GROUPS.values() for each in fields(kind) if names_code(each)}
    request = Request(**{name: list(value) if isinstance(value, list) else value for name, value in defaults.items()})
    for name, value in keywords.items():
        if name not in defaults:
            raise ConfigError(f"there is no setting {name!r}{did_you_mean(name, defaults)}")
        chosen = value_of_keyword(name, value, defaults[name])
        if name in PLACES and chosen == []:
            raise InputError(f"`{name}` has no path in it; expected one or more, or leave it out")
        setattr(request, name, chosen)
        for item in (chosen if isinstance(chosen, list) else [chosen]) if name in code else ():
            consent_to(str(item))
    request.runner_flags, request.named = (), {name: flag_of(name) for name in keywords}
    return request


def read_streams(request: Request) -> None:
    """Put files in the place of the streams among `request.documents`, standard input and data sets of the hub.

    They are written beside --output. Raises what `bertdata.sources.streamed.written` does, and ConfigError for a dry
    run, which writes nothing.
    """
    for document in request.documents if getattr(request, "dry_run", False) else ():
        if streamed.is_stream(named(document, "")[1]):
            raise ConfigError(f"--documents {document} is a stream, which a dry run does not read; leave out --dry-run")
    if not getattr(request, "save_recipe", None):
        say = partial(print, file=sys.stderr, flush=True)
        request.documents = streamed.written(request.documents, request.output or "", force=request.force, say=say)


def sources_of(output: str) -> Sources:
    """Return the sources of a build whose command names none: those of the output, or the sample corpus.

    The sample is taken for an output that is empty, or holds the sample. Raises ConfigError where the sources of the
    output are not known, or do not exist any more.
    """
    finished, begun = read_origin(output)
    origin = finished or begun
    if origin is None:
        if files.exists(files.join(output, MARKER)) and set(listing.names(output)) - {MARKER, LOCK}:
            raise ConfigError(
                "holds a build that does not say what it was made from; name its sources again (--wikipedia, --books, "
                "--documents), or choose another --output for the sample corpus",
                path=output,
            )
        return SAMPLE
    if origin.given is None:
        return SAMPLE
    if origin.command != COMMAND:
        raise ConfigError(
            f"was made by `bertdata {origin.command}`; name the sources of a build, and another --output for it",
            path=output,
        )
    sources = Sources.from_given(origin.given)
    try:
        sources.inputs()
    except InputError as error:
        raise ConfigError(
            f"no sources were named, and those that it was made from cannot be found: {error}; name where they are now",
            path=output,
        ) from error
    return sources


def _refuse_unread(request: Request, sources: Sources) -> None:
    """Raise ConfigError for flags of a vocabulary that is not trained, or of kinds of sources that are not given."""
    request.refuse_unread(
        vars(VocabularyConfig()), not request.vocab, "the vocabulary is given by --vocab and not trained"
    )
    request.refuse_unread(["source_format"], bool(sources.documents), "it is for --documents, and there is none")
    of_kinds = {kind: settings_of(kind) for kind in KINDS}
    read = {name for kind in KINDS if getattr(sources, kind) for name in of_kinds[kind]}
    settings = ["decontaminate_ngram", "decontaminate_action"]
    request.refuse_unread(settings, bool(request.decontaminate), "no test data is given by --decontaminate")
    for kind in KINDS:
        unread = [name for name in of_kinds[kind] if name not in read]
        for name in unread:
            more = REJECTS_HINT if name == "rejects" else ""
            request.refuse_unread([name], False, f"it is for --{kind}, and there is none{more}")
    _refuse_unread_of_documents(request, sources, of_kinds)


def _refuse_unread_of_documents(request: Request, sources: Sources, of_kinds: Mapping[str, Sequence[str]]) -> None:
    """Raise ConfigError for flags by which some files of documents are read, but none of those that are given."""
    of_others = {name for kind in ("wikipedia", "books") if getattr(sources, kind) for name in of_kinds[kind]}
    asked = [name for name in of_kinds["documents"] if name in request.named and name not in of_others]
    if not asked or not sources.documents:
        return
    read = settings_read("documents", [*sources.inputs().by_kind["documents"]], sources.formats)
    for name in asked:
        read_by = _READ_BY.get(name, "files of other formats")
        request.refuse_unread([name], name in read, f"it is for {read_by}, and no file of --documents is one")


def columns_of_request(request: Request) -> tuple[str, SourceColumns]:
    """Return the column of the text of all sources, and the columns that sources have of their own."""
    columns = SourceColumns.of(request.text_column, request.id_column, request.language_column)
    texts = tuple((name, column) for name, column in columns.texts if name)
    return columns.text(""), replace(columns, texts=texts)


def _recorded_names() -> set[str]:
    """Return the names of the settings that a later build without sources takes from its output.

    How the columns of sources are called, and the format of their files, is recorded with the sources themselves.
    """
    return {*defaults_of(GROUPS.values()), "vocab", "recipe", "phase", "model_max_length"}


def _replaced_by(named: Collection[str]) -> set[str]:
    """Return the settings that those which are named take the place of: a vocabulary is given, or trained."""
    trained = {*vars(VocabularyConfig())}
    return trained if "vocab" in named else {"vocab"} if trained & {*named} else set()


def is_plain(value: Any) -> bool:
    """Return whether a value is text, a number, true or false, or a list of these, as a command line gives it.

    >>> is_plain(["a", 2]), is_plain(len)
    (True, False)
    """
    return all(isinstance(item, str | int | float) for item in (value if isinstance(value, list) else [value]))


def take_recorded(request: Request) -> dict[str, Any]:
    """Give a request without sources the settings that it does not name, as the last command in its output gave them.

    Returns them. A request that names a recipe takes none, and one that names a vocabulary none of how one is trained,
    or the other way round. None are taken for a finished build of the sample corpus, which any settings may replace.
    """
    finished, begun = read_origin(request.output)
    origin = finished or begun
    if origin is None or origin.command != COMMAND or "recipe" in request.named:
        return {}
    if origin.given is None and finished:
        return {}
    names = _recorded_names() - {*request.named} - _replaced_by(request.named)
    taken = {name: value for name, value in origin.named.items() if name in names and is_plain(value)}
    for name, value in taken.items():
        setattr(request, name, value)
        request.named[name] = flag_of(name)
    return taken


def settings_of_request(request: Request) -> tuple[Sources, Settings]:
    """Return the sources and settings that a request stands for; sets `request.output` to its default.

    Without sources both are those of the output, but for what the request names. With --save-recipe they are written,
    and there need be no --output.
    """
    taken: dict[str, Any] = {}
    if not any(getattr(request, kind) for kind in KINDS):
        request.output = request.output or DEFAULT_OUTPUT
        taken = take_recorded(request)
    apply_recipe(request)
    text_column, columns = columns_of_request(request)
    given = (text_column, tuple(request.source_format), columns)
    sources = Sources(tuple(request.wikipedia), tuple(request.books), tuple(request.documents), *given)
    if not sources.are_named:
        sources = sources_of(request.output)
        if text_column != Sources.text_column:
            sources = replace(sources, text_column=text_column)
        if columns != SourceColumns():
            before = sources.columns
            named = SourceColumns(
                columns.texts or before.texts, columns.ids or before.ids, columns.languages or before.languages
            )
            sources = replace(sources, columns=named)
        if request.source_format and sources.documents:
            sources = replace(sources, formats=tuple(request.source_format))
        if not request.quiet:
            if sources != SAMPLE:
                shown = ", ".join(path for kind in KINDS for path in getattr(sources, kind))
                print(f"sources: those of {request.output}, {shown}", file=sys.stderr)
            if taken:
                flags = " ".join(as_flag(flag_of(name), value) for name, value in taken.items())
                print(f"settings: those of {request.output}, {flags}", file=sys.stderr)
    if not request.output and not request.save_recipe:
        raise ConfigError("--output is missing; give a folder for the shards")
    _refuse_unread(request, sources)
    groups = {name: settings_from(request, GROUPS[name]) for name in GROUPS if name not in OF_A_PHASE}
    phases = phases_of(request)
    require_model_length(request, phases)
    say_defaults(request)
    return sources, Settings(phases=phases, vocab=request.vocab, **groups)
