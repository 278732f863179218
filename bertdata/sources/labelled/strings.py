"""All texts in a file of labelled data or of test data, whatever their columns: what decontamination looks for.

Of rows (.jsonl, .ndjson, .csv, .tsv, .parquet) and of values in .json each string is a text, also inside lists and
objects, and a list of strings is one text, joined by spaces, as the words of `tokens` or the choices of a question.
The words of a sentence are one text in .conll and .conllu. In files of other names, as plain text, a blank line ends a
text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bertdata.errors import InputError
from bertdata.sources.labelled.conll import CONLLU, read_sentences
from bertdata.sources.labelled.json_list import read_values
from bertdata.sources.labelled.labelled_files import FORMATS, JSON, file_format, read_rows, text_lines

CONLL = (".conll", *CONLLU)
"""Files with a word a line; .txt is plain text here."""


def texts_of(path: str) -> Iterator[str]:
    """Yield the texts of a file; raises InputError, with the line or row, where it is damaged."""
    try:
        kind = file_format(path, CONLL)
    except InputError:
        kind = ""
    if kind == JSON:
        for value in read_values(path):
            yield from _strings(value)
    elif kind in FORMATS:
        for _, row in read_rows(path, header=False, lenient=True):
            yield from _strings(dict(row))
    elif kind in CONLL:
        yield from (" ".join(sentence.words) for sentence in read_sentences(path, unlabelled=True))
    else:
        yield from _paragraphs(path)


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


def _paragraphs(path: str) -> Iterator[str]:
    lines: list[str] = []
    for _, line in text_lines(path):
        if line.strip():
            lines.append(line)
        elif lines:
            yield "\n".join(lines)
            lines = []
    if lines:
        yield "\n".join(lines)
