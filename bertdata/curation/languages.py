"""The language of each document: a column `language`, from the source or by a model, decided from each text alone.

    source       what the source says: a column `language` of a table, the language of a wiki; no model
    py3langid    141 languages, a package that brings its model (Lui and Baldwin, 2012, "langid.py")
    lingua       75 languages, a package that brings its models; slower, better for a line or two
    FILE         a model of fastText, as lid.176.bin (Joulin et al., 2016), or GlotLID's model.bin

A model is asked only where the source says nothing. It sees the first 1,000 characters of a text. The code is what the
model calls the language: of two letters, or of GlotLID as eng_Latn.
"""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from bertdata.curation import LANGUAGE_MODELS
from bertdata.curation.document_rules import rules_of, with_rules
from bertdata.curation.fasttext_models import LABEL, load_fasttext, one_line
from bertdata.documents import AddLanguages
from bertdata.engine.fingerprints import fingerprint
from bertdata.engine.parts import Task
from bertdata.errors import ConfigError, MissingExtraError, expected_one_of
from bertdata.io import files

LANGUAGE = "language"
"""The column."""
UNKNOWN = "unknown"
"""What counts call the documents without a language."""
SOURCE = "source"
_LOOKED_AT = 1000
_FASTTEXT = (".bin", ".ftz")
LanguageOf = Callable[[pa.StringArray], pa.StringArray]
"""Returns the codes of the languages of texts, null where one has none."""


@dataclass(frozen=True, kw_only=True)
class LanguageModel:
    """A model that tells languages apart; `load` returns what gives the code of a text, "" for none.

    package: the package whose version is part of what documents are made from.
    """

    help: str
    package: str
    load: Callable[[], Callable[[str], str]]


def _load_py3langid() -> Callable[[str], str]:
    try:
        import py3langid
    except ImportError as error:
        raise MissingExtraError("py3langid", "languages") from error
    return lambda text: str(py3langid.classify(text)[0])


def _load_lingua() -> Callable[[str], str]:
    try:
        from lingua import LanguageDetectorBuilder
    except ImportError as error:
        raise MissingExtraError("lingua-language-detector", "lingua") from error
    detector = LanguageDetectorBuilder.from_all_languages().build()

    def code_of(text: str) -> str:
        language = detector.detect_language_of(text)
        return language.iso_code_639_1.name.lower() if language else ""

    return code_of


PY3LANGID = LanguageModel(help="141 languages (py3langid 0.4; in 0.3 97)", package="py3langid", load=_load_py3langid)
LINGUA = LanguageModel(
    help="75 languages (lingua-language-detector)", package="lingua-language-detector", load=_load_lingua
)


def check_model(name: str) -> None:
    """Raise ConfigError for what names neither a model nor the file of one; nothing is loaded."""
    if name in ("", SOURCE) or name in LANGUAGE_MODELS or ":" in name or name.lower().endswith(_FASTTEXT):
        return
    expected = expected_one_of(name, [SOURCE, *LANGUAGE_MODELS])
    raise ConfigError(f"--language-model is {name!r}{expected}, or a file of fastText (.bin or .ftz), as lid.176.bin")


def with_language(tasks: Sequence[Task], model: str) -> list[Task]:
    """Return tasks that write the languages of documents; their fingerprints change if a model is named.

    Raises MissingExtraError where its package is not installed, InputError where its file is missing.
    """
    if not model:
        return list(tasks)
    made_from = _identity(model)
    return [with_rules(task, fingerprint(task.fingerprint, "language", made_from), language=model) for task in tasks]


def _identity(model: str) -> list[str]:
    """Return what the languages by a model depend on; a file is known by its digest, wherever it is."""
    if model == SOURCE:
        return [model]
    if _is_file(model):
        return ["fasttext", files.sha256(model)]
    chosen = LANGUAGE_MODELS[model]
    try:
        return [model, importlib.metadata.version(chosen.package)]
    except importlib.metadata.PackageNotFoundError as error:
        raise MissingExtraError(chosen.package, "lingua" if model == "lingua" else "languages") from error


def _is_file(model: str) -> bool:
    return model.lower().endswith(_FASTTEXT)


def add_languages(task: Task) -> AddLanguages | None:
    """Return what adds the languages of a task's documents for a `DocumentWriter`, None where it is not asked."""
    model = rules_of(task).language
    return partial(with_languages, language=partial(_language_of, model)) if model else None


def _language_of(model: str, texts: pa.StringArray) -> pa.StringArray:
    return pa.nulls(len(texts), pa.string()) if model == SOURCE else _codes(_loaded(model), texts)


def _codes(code_of: Callable[[str], str], texts: pa.StringArray) -> pa.StringArray:
    starts = pc.utf8_slice_codeunits(texts, 0, _LOOKED_AT).to_pylist()
    return pa.array([code_of(text) or None for text in starts], pa.string())


@lru_cache(maxsize=2)
def _loaded(model: str) -> Callable[[str], str]:
    return _load_fasttext(model) if _is_file(model) else LANGUAGE_MODELS[model].load()


def _load_fasttext(path: str) -> Callable[[str], str]:
    model = load_fasttext(path, "--language-model")

    def code_of(text: str) -> str:
        predictions = model.f.predict(one_line(text), 1, 0.0, "strict")
        return predictions[0][1].removeprefix(LABEL) if predictions else ""

    return code_of


def with_languages(columns: Sequence[str], texts: pa.StringArray, language: LanguageOf) -> tuple[list[str], list[str]]:
    """Return the columns of documents, as JSON objects, with the language of each, and these, `UNKNOWN` for none.

    A language that a document has already stays; its text is not looked at.

    >>> with_languages(['{"language": "de"}', "{}"], pa.array(["Salz.", "Salt."]), lambda texts: pa.array(["en"]))
    (['{"language": "de"}', '{"language": "en"}'], ['de', 'en'])
    """
    values = [json.loads(column) for column in columns]
    missing = [row for row, value in enumerate(values) if not value.get(LANGUAGE)]
    if missing:
        for row, code in zip(missing, language(texts.take(pa.array(missing))).to_pylist(), strict=True):
            if code:
                values[row][LANGUAGE] = code
    return [json.dumps(value) for value in values], [_code_in(value) for value in values]


def languages_in(columns: Sequence[str | None]) -> list[str]:
    """Return the languages of documents by their columns, as JSON objects, `UNKNOWN` where these have none.

    >>> languages_in(['{"language": "de"}', "{}", None])
    ['de', 'unknown', 'unknown']
    """
    return [_code_in(json.loads(column or "{}")) for column in columns]


def languages_told(columns: Sequence[str], texts: pa.StringArray) -> tuple[list[str], list[str]]:
    """Return the columns of documents as they are, and their languages: an `AddLanguages` for parts written anew."""
    return list(columns), languages_in(columns)


def _code_in(values: dict[str, Any]) -> str:
    return str(values.get(LANGUAGE) or UNKNOWN)
