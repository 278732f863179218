"""Tagged words: files of columns (CoNLL-2003 and its kin, CoNLL-U), rows of words and tags, rows of texts and spans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from bertdata.errors import ConfigError, InputError
from bertdata.io.console import counted
from bertdata.sources.labelled.column_files import DOCUMENT, Sentence, read_conll, read_conllu
from bertdata.sources.labelled.labelled_files import column_names, file_format, first_row, has_column, read_rows
from bertdata.sources.labelled.other_forms import unfolding
from bertdata.sources.labelled.spans import span_columns, tagged_words
from bertdata.sources.text_template import value_at

CONLLU = (".conllu", ".conllup", ".cupt")
CONLL = (".conll", *CONLLU, ".txt", ".bio", ".iob", ".iob2", ".bioes", ".iobes", ".bilou", ".bmes", "gold_conll")
_COLUMN_FILES = (*CONLL, ".tsv")
"""Formats of a word a line; a .tsv is one too, as its cells hold no lists."""
_FIRST_ROWS = 100
"""Rows among which one with spans is looked for."""
_WORDS, _TAGS = ("tokens", "words"), ("ner_tags", "tags", "labels", "pos_tags", "chunk_tags")


def read_sentences(
    path: str, words_column: str | None = None, tags_column: str | None = None, *, unlabelled: bool = False
) -> Iterator[Sentence]:
    """Yield tagged words of a CoNLL file, JSON lines or Parquet; the tag of a word that has none is None.

    Columns are named; of a CoNLL file they are numbers from 1 (or form, upos, misc:name and so on, of CoNLL-U), or the
    names of its first line, if it has such a line. With `unlabelled` there may be no tags. Raises InputError, with the
    line or row, where the file is not in its format, and ConfigError for a missing column.
    """
    kind = file_format(path, CONLL)
    if kind in CONLLU:
        sentences = read_conllu(path, words_column, tags_column)
    elif kind in _COLUMN_FILES:
        sentences = read_conll(path, words_column, tags_column, unlabelled=unlabelled)
    elif kind == ".csv":
        raise InputError(
            "is a .csv, whose cells hold no lists of words; write a word and its tag on each line, with a tab between "
            "them and a blank line after each sentence, as a .conll file, or JSON lines with lists",
            path=path,
        )
    else:
        sentences = _rows(path, words_column, tags_column, unlabelled)
    empty = True
    for sentence in sentences:
        yield sentence
        empty = False
    if empty:
        raise InputError("holds no sentences; expected words with tags", path=path)


def tags_column_of(path: str, tags_column: str | None) -> str | None:
    """Return the name of the column of tags of a file of rows, None where there is none or it is a CoNLL file."""
    if file_format(path, CONLL) in (*_COLUMN_FILES, ".csv"):
        return None
    return _named(path, tags_column, _TAGS, "tags", "--label-column", required=False)


def _rows(path: str, words_column: str | None, tags_column: str | None, unlabelled: bool) -> Iterator[Sentence]:
    spans = _span_columns(path, words_column, tags_column)
    if spans:
        for place, row in read_rows(path):
            yield Sentence(*tagged_words(row, *spans, place, path), True, place)
        return
    words_name = _named(path, words_column, _WORDS, "words", "--text-columns")
    tags_name = _named(path, tags_column, _TAGS, "tags", "--label-column", required=not unlabelled)
    begins = True
    for place, row in read_rows(path):
        words, tags = value_at(row, words_name or ""), value_at(row, tags_name or "")
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise InputError(f"{place} has no list of strings in {words_name!r}; expected the words", path=path)
        if words == [DOCUMENT]:
            begins = True
            continue
        if tags is None and not unlabelled:
            raise InputError(f"{place} has no tags in {tags_name!r}; expected one for each word", path=path)
        if tags is not None:
            if not isinstance(tags, list) or not all(isinstance(tag, str | int | None) for tag in tags):
                raise InputError(f"{place} has in {tags_name!r} no list of strings or whole numbers", path=path)
            if len(tags) != len(words):
                raise InputError(
                    f"{place} has {counted(len(words), 'word')} and {counted(len(tags), 'tag')}; expected as many",
                    path=path,
                )
        yield Sentence(tuple(words), None if tags is None else tuple(tags), begins, place)
        begins = False


def _span_columns(path: str, words_column: str | None, tags_column: str | None) -> tuple[str, str] | None:
    """Return the columns of texts and of spans, by the first row that has some; None where rows are of words."""
    for _, row in islice(read_rows(path), _FIRST_ROWS):
        if columns := span_columns(row, words_column, tags_column):
            return columns
    return None


def _named(
    path: str, given: str | None, usual_names: Sequence[str], what: str, flag: str, *, required: bool = True
) -> str | None:
    there = column_names(path)
    wanted = [given] if given else [name for name in usual_names if name in there]
    if wanted and has_column(wanted[0], there, path):
        return wanted[0]
    if not required:
        return None
    asked = repr(given) if given else f"of {what}"
    raise ConfigError(
        f"has no column {asked}; its columns are {', '.join(map(repr, there))}: "
        f"{unfolding(first_row(path)) or f'name the one of the {what} with {flag}'}",
        path=path,
    )
