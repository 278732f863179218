"""All texts in a file of labelled data or of test data, whatever their columns: what decontamination looks for.

Of rows (.jsonl, .ndjson, .csv, .tsv, .parquet) and of values in .json each string is a text, also inside lists and
objects, and a list of strings is one text, joined by spaces, as the words of `tokens` or the choices of a question.
The words of a sentence are one text in .conll and .conllu. In files of other names, as plain text, a blank line ends a
text; where their lines have equally many tabs, each cell is a text, or of each block between blank lines each column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, zip_longest
from typing import Any

from bertdata.errors import InputError
from bertdata.sources.labelled.conll import CONLL, CONLLU, read_sentences
from bertdata.sources.labelled.json_list import read_values
from bertdata.sources.labelled.labelled_files import FASTTEXT, FORMATS, JSON, file_format, read_rows, text_lines

WORDS = (".conll", *CONLLU)
"""Files whose words are known."""
COLUMNS = tuple(ending for ending in CONLL if ending not in (*WORDS, ".txt"))
"""Files with a word a line, in one of their columns; .txt is plain text here."""
_FIRST_LINES = 50
"""Lines by which a table without a known ending is known."""


def texts_of(path: str) -> Iterator[str]:
    """Yield the texts of a file; raises InputError, with the line or row, where it is damaged."""
    try:
        kind = file_format(path, (*WORDS, *COLUMNS))
    except InputError:
        kind = ""
    if kind == JSON:
        for value in read_values(path):
            yield from _strings(value)
    elif kind in (*FORMATS, FASTTEXT):
        for _, row in read_rows(path, header=False, lenient=True):
            yield from _strings(dict(row))
    elif kind in WORDS:
        yield from (" ".join(sentence.words) for sentence in read_sentences(path, unlabelled=True))
    else:
        yield from _paragraphs(path, None if kind in COLUMNS else "\t")


def _strings(value: Any) -> Iterator[str]:
    """Yield the strings in a value of JSON or Arrow; of an object the values, not the names.

    >>> list(_strings({"question": "Who?", "choices": ["He", "She"], "more": [{"a": "x"}, 3]}))
    ['Who?', 'He She', 'x']
    """
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for element in value.values():
            yield from _strings(element)
    elif isinstance(value, list) and value and all(isinstance(element, str) for element in value):
        yield " ".join(value)
    elif isinstance(value, list):
        for element in value:
            yield from _strings(element)


def _paragraphs(path: str, separator: str | None = "\t") -> Iterator[str]:
    """Yield the texts between blank lines; of lines with equally many tabs the cells, or the columns of each block.

    separator: what separates columns, None for white space in files that are known to have columns.
    """
    lines: list[str] = []
    tabs, any_blank = separator is None or _tabs(path), separator is None
    for _, line in text_lines(path):
        if line.strip():
            lines.append(line)
            continue
        any_blank = any_blank or bool(lines)
        if lines:
            yield from _columns(lines, separator) if tabs else ["\n".join(lines)]
            lines = []
    if tabs and not any_blank:
        yield from (cell for line in lines for cell in line.split("\t") if cell.strip())
    elif lines:
        yield from _columns(lines, separator) if tabs else ["\n".join(lines)]


def _columns(lines: Sequence[str], separator: str | None) -> Iterator[str]:
    """Yield each column of some lines as a text: the words of a sentence are one.

    >>> list(_columns(["Ann B-PER", "left O"], None))
    ['Ann left', 'B-PER O']
    """
    for cells in zip_longest(*(line.split(separator) for line in lines), fillvalue=""):
        yield " ".join(cells).strip()


def _tabs(path: str) -> int:
    """Return how many tabs each of the first lines has, 0 where these are not as many."""
    lines = islice((line for _, line in text_lines(path) if line.strip()), _FIRST_LINES)
    numbers = {line.count("\t") for line in lines}
    return numbers.pop() if len(numbers) == 1 else 0
