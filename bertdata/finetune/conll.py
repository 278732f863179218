"""Tagged words: CoNLL-2003 and CoNLL-U files, and rows with lists of words and tags.

CoNLL-2003: a word a line, columns separated by spaces or a tab, a blank line after each sentence, `-DOCSTART-` at the
beginning of a document; the word is the first column and the tag the last unless said otherwise. CoNLL-U: ten columns
separated by tabs, comments (`# newdoc` begins a document); ranges of words (1-2) and empty words (1.1) are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from bertdata.errors import ConfigError, InputError
from bertdata.finetune.labelled_files import column_names, file_format, read_rows, text_lines
from bertdata.finetune.labels import Label

BYTE_ORDER_MARK = "\ufeff"
Word = tuple[str, Label | None]
"""A word and its tag, None where it has none."""
CONLL = (".conll", ".conllu", ".txt", ".bio", ".iob", ".iob2")
_WORDS, _TAGS = ("tokens", "words"), ("ner_tags", "tags", "labels", "pos_tags", "chunk_tags")
_CONLLU = {"form": 1, "lemma": 2, "upos": 3, "xpos": 4, "feats": 5, "deprel": 7, "misc": 9}


@dataclass(frozen=True)
class Sentence:
    """Words and the tag of each, None where there are none, and whether a document begins with them."""

    words: tuple[str, ...]
    tags: tuple[Label, ...] | None
    begins_document: bool = False
    place: str = field(default="", compare=False)


def read_sentences(
    path: str, words_column: str | None = None, tags_column: str | None = None, *, unlabelled: bool = False
) -> Iterator[Sentence]:
    """Yield tagged words of a CoNLL file, JSON lines or Parquet.

    Columns are named; of a CoNLL file they are numbers from 1 (or form, upos and so on, of CoNLL-U). With `unlabelled`
    there may be no tags. Raises InputError, with the line or row, where the file is not in its format, and ConfigError
    for a missing column.
    """
    kind = file_format(path, CONLL)
    if kind == ".conllu":
        sentences = _grouped(_conllu(path, words_column, tags_column))
    elif kind in CONLL:
        sentences = _grouped(_conll(path, words_column, tags_column, unlabelled))
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
    if file_format(path, CONLL) in CONLL:
        return None
    return _named(path, tags_column, _TAGS, "tags", "--label-column", required=False)


def _lines(path: str) -> Iterator[tuple[int, str]]:
    """Yield (number, line) without byte order marks, which concatenated files have in the middle; one may be a word."""
    for number, line in text_lines(path, keep_mark=True):
        rest = line.removeprefix(BYTE_ORDER_MARK)
        yield number, line if rest[:1].isspace() and rest.strip() else rest


def _grouped(lines: Iterable[tuple[int, Word | str]]) -> Iterator[Sentence]:
    """Yield the sentences of numbered words; "" ends a sentence, "document" also begins a document."""
    words: list[Word] = []
    begins, first = True, 0
    for number, line in chain(lines, [(0, "")]):
        if not isinstance(line, str):
            if not words:
                first = number
            words.append(line)
            continue
        if words:
            texts, tags = zip(*words, strict=True)
            yield Sentence(texts, None if None in tags else tags, begins, f"line {first}")
            words, begins = [], False
        begins = begins or line == "document"


def _conll(
    path: str, words_column: str | None, tags_column: str | None, unlabelled: bool
) -> Iterator[tuple[int, Word | str]]:
    word_at = _number(words_column, 0, "--text-columns")
    tag_at = _number(tags_column, -1, "--label-column")
    width = 0
    for number, line in _lines(path):
        fields = line.split("\t") if "\t" in line else [part for part in line.split(" ") if part]
        if not line.strip():
            fields = []
        if not fields or fields[0] == "-DOCSTART-":
            yield number, "document" if fields else ""
            continue
        width = width or len(fields)
        if len(fields) != width:
            raise InputError(
                f"line {number} has {len(fields)} columns, the lines before have {width}; expected as many", path=path
            )
        if max(word_at, tag_at) >= width or -tag_at > width:
            raise ConfigError(f"the columns asked for are not in line {number}, which has {width}", path=path)
        tagged = width > 1 or tags_column is not None
        if not tagged and not unlabelled:
            raise InputError(f"line {number} is a word without a tag; expected two columns or more", path=path)
        yield number, (fields[word_at], fields[tag_at] if tagged else None)


def _conllu(path: str, words_column: str | None, tags_column: str | None) -> Iterator[tuple[int, Word | str]]:
    word_at = _conllu_column(words_column, "form", "--text-columns")
    tag_at = _conllu_column(tags_column, "upos", "--label-column")
    for number, line in _lines(path):
        if line.startswith("#"):
            if line[1:].split()[:1] == ["newdoc"]:
                yield number, "document"
            continue
        if not line.strip():
            yield number, ""
            continue
        fields = line.split("\t")
        if len(fields) != 10:
            raise InputError(f"line {number} has {len(fields)} columns; CoNLL-U has 10, separated by tabs", path=path)
        if "-" in fields[0] or "." in fields[0]:
            continue
        if not fields[0].isdigit():
            raise InputError(f"line {number} begins with {fields[0]!r}; expected the number of a word", path=path)
        yield number, (fields[word_at], fields[tag_at])


def _conllu_column(given: str | None, default: str, flag: str) -> int:
    name = (given or default).lower()
    if name in _CONLLU:
        return _CONLLU[name]
    number = _number(given, 0, flag)
    if number >= 10:
        raise ConfigError(f"{flag} is {given}; CoNLL-U has 10 columns: {', '.join(_CONLLU)}")
    return number


def _number(given: str | None, default: int, flag: str) -> int:
    if given is None:
        return default
    if not given.isdigit() or int(given) < 1:
        raise ConfigError(f"{flag} is {given!r}; of a CoNLL file it is the number of a column, from 1")
    return int(given) - 1


def _rows(path: str, words_column: str | None, tags_column: str | None, unlabelled: bool) -> Iterator[Sentence]:
    words_name = _named(path, words_column, _WORDS, "words", "--text-columns")
    tags_name = _named(path, tags_column, _TAGS, "tags", "--label-column", required=not unlabelled)
    for number, (place, row) in enumerate(read_rows(path)):
        words, tags = row.get(words_name or ""), row.get(tags_name or "")
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise InputError(f"{place} has no list of strings in {words_name!r}; expected the words", path=path)
        if tags is None and not unlabelled:
            raise InputError(f"{place} has no tags in {tags_name!r}; expected one for each word", path=path)
        if tags is not None:
            if not isinstance(tags, list) or not all(isinstance(tag, str | int) for tag in tags):
                raise InputError(f"{place} has in {tags_name!r} no list of strings or whole numbers", path=path)
            if len(tags) != len(words):
                raise InputError(f"{place} has {len(words)} words and {len(tags)} tags; expected as many", path=path)
        yield Sentence(tuple(words), None if tags is None else tuple(tags), number == 0, place)


def _named(
    path: str, given: str | None, known: Sequence[str], what: str, flag: str, *, required: bool = True
) -> str | None:
    there = column_names(path)
    wanted = [given] if given else [name for name in known if name in there]
    if wanted and wanted[0] in there:
        return wanted[0]
    if not required:
        return None
    asked = repr(given) if given else f"of {what}"
    raise ConfigError(
        f"has no column {asked}; its columns are {', '.join(map(repr, there))}: name the one of the {what} with {flag}",
        path=path,
    )
