"""Words with tags in columns: CoNLL-2003 and its kin, and CoNLL-U.

CoNLL-2003: a word a line, columns separated by spaces or a tab, a blank line after each sentence, `-DOCSTART-` at the
beginning of a document; the word is the first column and the tag the last unless said otherwise. The first line may
name the columns. A line that begins with "#" or "##" and a space or a tab before the first word of a sentence is a
comment, unless it has as many columns as the words and a tag that other words have: then it is the word "#". CoNLL-U:
ten columns separated by tabs, or those that a first line `# global.columns = ` names (CoNLL-U Plus), and comments
(`# newdoc` begins a document). In both, where the first column numbers the
words, ranges of words (1-2) and empty words (1.1) are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain

from bertdata.errors import ConfigError, InputError
from bertdata.io.console import counted
from bertdata.sources.labelled.labelled_files import text_lines
from bertdata.sources.labelled.labels import Label
from bertdata.sources.labelled.word_columns import (
    column_names,
    column_number,
    default_word_column,
    may_name_columns,
    with_true_words,
)

BYTE_ORDER_MARK = "\ufeff"
DOCUMENT = "-DOCSTART-"
Line = tuple[int, list[str]]
"""The number of a line and its fields."""
Lines = Callable[[], Iterator[tuple[int, str]]]
"""Reads the lines of a file, with their numbers, from the start."""
_CONLLU = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
_GLOBAL_COLUMNS = re.compile(r"#[ \t]*global\.columns[ \t]*=(.*)")
"""The first line of CoNLL-U Plus, which names the columns."""
_KEYED = ("feats", "misc")
"""The columns of CoNLL-U that hold `key=value|key=value`."""
_UNSAID = "_"
"""What CoNLL-U has in place of a value that is not given."""
_COMMENT = re.compile(r"#{1,2}(?:[ \t]|$)")
_DOCUMENT_COMMENT = re.compile(r"#[ \t]*(?:(?P<begin>newdoc\b|begin document\b)|end document\b)")
_BEGIN = "#begin document"
"""The first line of a file of CoNLL-2011 or CoNLL-2012."""
_NOT_A_WORD = re.compile(r"[0-9]+[-.][0-9]+")
"""The number of a range of words, or of an empty word."""


@dataclass(frozen=True)
class Sentence:
    """Words and the tag of each, None of a word without; None in place of all where no word has one.

    begins_document: whether a document begins with them; lines: what each word is called in messages.
    """

    words: tuple[str, ...]
    tags: tuple[Label, ...] | None
    begins_document: bool = False
    place: str = field(default="", compare=False)
    lines: tuple[str, ...] = field(default=(), compare=False)


def read_conll(
    path: str, words_column: str | None, tags_column: str | None, *, unlabelled: bool = False
) -> Iterator[Sentence]:
    """Yield the sentences of a file of columns; with `unlabelled` there may be no column of tags.

    Raises InputError, with the line, for another number of columns, and where the words are none; ConfigError for a
    column that is not there.
    """
    begin, first = next(((number, fields) for number, line in _lines(path) if (fields := _fields(line))), (0, []))
    names = column_names(first, (words_column, tags_column))
    word_at = column_number(words_column, names, default_word_column(names), "--text-columns")
    tag_at = column_number(tags_column, names, -1, "--label-column")
    if not names and words_column is None and may_name_columns(first):
        _require_words(path, first, begin, tag_at)
    lines = partial(_lines, path, after=begin if names else 0)
    blocks = _blocks(lines(), path, word_at, _is_comment(lines, tag_at))
    is_tagged = True if tags_column is not None else None if unlabelled else False
    varies = bool(first) and " ".join(first).startswith(_BEGIN)
    sentences = _conll_sentences(path, blocks, word_at, tag_at, is_tagged, varies=varies)
    return with_true_words(sentences, path, word_at, None if unlabelled else tag_at)


def _require_words(path: str, first: list[str], begin: int, tag_at: int) -> None:
    """Raise InputError for a first line with a usual name of a column, and a tag that no other line has."""
    tag = first[tag_at] if -len(first) <= tag_at < len(first) else ""
    for _, line in _lines(path, after=begin):
        fields = _fields(line)
        if len(fields) == len(first) and fields[tag_at] == tag:
            return
    raise InputError(
        f"line {begin} seems to name the columns ({', '.join(first)}): no other line has the tag {tag!r}; name the "
        f"column of the tags, as --label-column {tag or 'NAME'}, or, if the line is a word with its tag, the number of "
        "the column of the words, as --text-columns 1",
        path=path,
    )


def _conll_sentences(
    path: str,
    blocks: Iterator[tuple[bool, list[Line]]],
    word_at: int,
    tag_at: int,
    is_tagged: bool | None,
    *,
    varies: bool,
) -> Iterator[Sentence]:
    """Yield sentences; is_tagged: whether a file of one column has tags, None where it may have none.

    varies: whether sentences may have another number of columns each, as in CoNLL-2012 one for each predicate.
    """
    width = 0
    is_numbered = bool(word_at and tag_at)
    for begins, lines in blocks:
        words: list[str] = []
        tags: list[Label] = []
        numbers: list[int] = []
        width = 0 if varies else width
        numbered = is_numbered and any(fields[0].isdigit() for _, fields in lines)
        for number, fields in lines:
            width = width or len(fields)
            if len(fields) != width:
                raise InputError(
                    f"line {number} has {counted(len(fields), 'column')}, the lines before have {width}; expected as "
                    "many: a word in each line, with its tags, and a blank line after each sentence",
                    path=path,
                )
            if max(word_at, tag_at) >= width or -tag_at > width:
                raise ConfigError(f"the columns asked for are not in line {number}, which has {width}", path=path)
            if numbered and _NOT_A_WORD.fullmatch(fields[0]):
                continue
            tagged = width > 1 or bool(is_tagged)
            if not tagged and is_tagged is not None:
                raise InputError(f"line {number} is a word without a tag; expected two columns or more", path=path)
            words.append(fields[word_at])
            tags.append(fields[tag_at].strip() or None if tagged else None)
            numbers.append(number)
        if words:
            yield _sentence(words, tags, numbers, begins=begins)


def read_conllu(path: str, words_column: str | None, tags_column: str | None) -> Iterator[Sentence]:
    """Yield the sentences of a CoNLL-U or CoNLL-U Plus file; a key of FEATS or MISC is a column too, as `misc:name`.

    Raises InputError, with the line, for a line that is not CoNLL-U, for MISC as a whole as the tag where it holds
    keys, and where no word is given; ConfigError for a column that is not there.
    """
    columns = _conllu_columns(path)
    word_at, _ = _conllu_column(words_column, "form", "--text-columns", columns)
    tag_at, key = _conllu_column(tags_column, "upos", "--label-column", columns)
    numbered = columns[0] == "id"
    is_given = False
    is_comment = lambda number, line: line.startswith("#")  # noqa: E731
    for begins, lines in _blocks(_lines(path), path, word_at, is_comment, conllu=len(columns)):
        words: list[str] = []
        tags: list[Label] = []
        numbers: list[int] = []
        for number, fields in lines:
            if numbered and _NOT_A_WORD.fullmatch(fields[0]):
                continue
            if numbered and not fields[0].isdigit():
                raise InputError(f"line {number} begins with {fields[0]!r}; expected the number of a word", path=path)
            words.append(fields[word_at])
            tags.append(_conllu_tag(fields[tag_at], columns[tag_at], key, number, path))
            numbers.append(number)
        if words:
            is_given = is_given or any(word != _UNSAID for word in words)
            yield _sentence(words, tags, numbers, begins=begins)
    if not is_given:
        raise InputError(
            "has _ for every word: CoNLL-U without its text; put the text in, as the treebank says", path=path
        )


def _conllu_columns(path: str) -> tuple[str, ...]:
    """Return the names of the columns, those of the first line of CoNLL-U Plus where there is one."""
    first = next((line for _, line in _lines(path) if line.strip()), "")
    names = _GLOBAL_COLUMNS.match(first)
    return tuple(names[1].lower().split()) or _CONLLU if names else _CONLLU


def _sentence(words: list[str], tags: list[Label], numbers: list[int], *, begins: bool) -> Sentence:
    there = None if all(tag is None for tag in tags) else tuple(tags)
    return Sentence(tuple(words), there, begins, f"line {numbers[0]}", tuple(f"line {number}" for number in numbers))


def _lines(path: str, *, after: int = 0) -> Iterator[tuple[int, str]]:
    """Yield (number, line) without byte order marks, which concatenated files have in the middle; one may be a word.

    after: the number of the line that is left out, with all before it.
    """
    for number, line in text_lines(path, keep_mark=True):
        if number <= after:
            continue
        rest = line.removeprefix(BYTE_ORDER_MARK)
        yield number, line if rest[:1].isspace() and rest.strip() else rest


def _fields(line: str) -> list[str]:
    if not line.strip():
        return []
    return line.split("\t") if "\t" in line else [part for part in line.split(" ") if part]


def _blocks(
    lines: Iterator[tuple[int, str]],
    path: str,
    word_at: int,
    is_comment: Callable[[int, str], bool],
    *,
    conllu: int = 0,
) -> Iterator[tuple[bool, list[Line]]]:
    """Yield (whether a document begins, the lines of words) of each sentence.

    conllu: the columns of CoNLL-U, where comments may be anywhere; 0 of other files.
    """
    block: list[Line] = []
    begins = True
    for number, line in chain(lines, [(0, "")]):
        fields = line.split("\t") if conllu and line.strip() else _fields(line)
        comment = bool(fields) and (conllu or not block) and is_comment(number, line)
        marks = not comment and not conllu and DOCUMENT in (*fields[:1], *fields[word_at : word_at + 1])
        if fields and not comment and not marks:
            if conllu and len(fields) != conllu:
                expected = f"CoNLL-U has {conllu}" if conllu == len(_CONLLU) else f"the first line names {conllu}"
                raise InputError(
                    f"line {number} has {counted(len(fields), 'column')}; {expected}, separated by tabs", path=path
                )
            block.append((number, fields))
            continue
        if block and not (comment and conllu):
            yield begins, block
            block, begins = [], False
        comment_match = _DOCUMENT_COMMENT.match(line) if comment else None
        begins = begins or marks or bool(comment_match and comment_match["begin"])


def _is_comment(lines: Lines, tag_at: int) -> Callable[[int, str], bool]:
    """Return a function that tells whether (number, line), a line before the first word of a sentence, is a comment."""
    seen: list[tuple[int, frozenset[str]]] = []

    def is_comment(number: int, line: str) -> bool:
        if _DOCUMENT_COMMENT.match(line):
            return True
        if not _COMMENT.match(line):
            return False
        if not seen:
            seen.append(_width_and_tags(lines, tag_at))
        [(width, tags)] = seen
        fields = _fields(line)
        if len(fields) != width or tag_at >= width:
            return True
        return width > 1 and fields[tag_at].strip() not in tags

    return is_comment


def _width_and_tags(lines: Lines, tag_at: int) -> tuple[int, frozenset[str]]:
    """Return how many columns the words have, of the lines that cannot be comments, and the tags of these words."""
    width, inside = 0, False
    tags: set[str] = set()
    for _, line in lines():
        fields = _fields(line)
        if not fields:
            inside = False
        elif inside or not line.startswith("#"):
            inside, width = True, width or len(fields)
            if len(fields) == width and -width <= tag_at < width:
                tags.add(fields[tag_at].strip())
    return width, frozenset(tags)


def _conllu_tag(value: str, column: str, key: str, number: int, path: str) -> Label:
    """Return a tag of CoNLL-U, None where it is not given."""
    if key:
        pairs = (pair.partition("=") for pair in value.split("|"))
        return next((tag for name, _, tag in pairs if name == key), "") or None
    if column == "misc" and "=" in value:
        names = ", ".join(pair.partition("=")[0] for pair in value.split("|"))
        raise InputError(
            f"line {number} has {value!r} in MISC, which holds keys with values ({names}); name the key of the tag, as "
            f"--label-column misc:{value.rpartition('|')[2].partition('=')[0]}",
            path=path,
        )
    return None if value == _UNSAID and column != "feats" else value or None


def _conllu_column(given: str | None, default: str, flag: str, columns: Sequence[str]) -> tuple[int, str]:
    """Return the place of a column, and the key in it, "" for the whole."""
    wanted = (given or default).lower()
    if wanted in columns:
        return columns.index(wanted), ""
    name, _, key = (given or default).partition(":")
    if key and name.lower() in _KEYED and name.lower() in columns:
        return columns.index(name.lower()), key
    if not wanted.isdigit() or not 0 < int(wanted) <= len(columns):
        keyed = " and ".join(name for name in _KEYED if name in columns)
        raise ConfigError(
            f"{flag} is {given or default}; expected one of {counted(len(columns), 'column')}: {', '.join(columns)}"
            + (f"; keys are of {keyed}, as misc:name" if keyed else "")
        )
    return int(wanted) - 1, ""
