"""Rows of labelled examples in JSON, CSV, TSV and Parquet files, and in those of fastText.

The format is that of the name's ending: .jsonl, .ndjson, .json, .csv and .tsv (compressed or not), .parquet. A .json is
a list of rows, an object with the list `data`, or JSON lines. CSV is read with quotes, TSV without, as GLUE's files are
written. The first line of either names the columns; in a file without such a line, as CoLA's, the columns are called
"1", "2" and so on. Columns of texts that are not given have the names of public data sets; `a.b` is a place in a column
of objects.
"""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import islice
from operator import getitem
from typing import Any

from bertdata.documents import open_parquet, read_batches
from bertdata.errors import InputError, parse_problem
from bertdata.io import compression, files
from bertdata.io.bounded_lines import bounded_lines
from bertdata.io.console import counted
from bertdata.io.decoding import how_to_convert
from bertdata.io.separated_lines import WHAT, RowError, is_declaration, rows_of, separator_of
from bertdata.sources.labelled.fasttext_lines import is_labelled, labelled_row
from bertdata.sources.labelled.json_list import as_row, read_json_rows
from bertdata.sources.labelled.word_columns import a_word_a_line
from bertdata.sources.text_template import names_in

Row = Mapping[str, Any]
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_SINGLE_QUOTES = (
    'fields in single quotes become those in double ones by python -c "import csv, sys; '
    "csv.writer(sys.stdout).writerows(csv.reader(sys.stdin, delimiter=sys.argv[1], quotechar=chr(39)))\" ';' < FILE > "
    "NEW, with the separator of the file"
)
_REMEDY = "write quotes that are part of the text twice, in a field in quotes, or make it a .tsv, which has none"
_FEW_LINES = 10
"""Lines that tell nothing yet of the quotes of a column."""
TABLES = (".csv", ".tsv")
"""Formats whose first line may name the columns."""
JSON = ".json"
FASTTEXT = "fastText"
"""The format of lines with `__label__`, which are in files of several endings."""
FORMATS = (".jsonl", ".ndjson", JSON, ".csv", ".tsv", ".parquet")
_SEQUENCES = (
    "holds a text or its tags in each line, as slots of ATIS and SNIPS; expected a word and its tag in each line: "
    f"paste seq.in seq.out | {a_word_a_line(1, 2)} > NEW.iob; for intents paste seq.in label > NEW.tsv, and --task "
    "classification --text-columns 1 --label-column 2"
)
ELSEWHERE = {
    ".arrow": "is a part of a folder of datasets' save_to_disk; expected a table with the names of its classes: write "
    'the folder as Parquet, python -c "import datasets, sys; datasets.load_from_disk(sys.argv[1])'
    '.to_parquet(sys.argv[2])" FOLDER NEW.parquet',
    ".xlsx": "is a spreadsheet; expected a table of text: save it as .csv",
    "seq.in": _SEQUENCES,
    "seq.out": _SEQUENCES,
    ".spacy": "is a DocBin of spaCy; expected texts with spans: write it as JSON lines, python -c "
    '"import json, spacy, sys; from spacy.tokens import DocBin; '
    "[print(json.dumps({'text': doc.text, 'spans': [{'start': span.start_char, 'end': span.end_char, "
    "'label': span.label_} for span in doc.ents], 'tokens': [{'start': token.idx, 'end': token.idx + len(token)} "
    "for token in doc]})) for doc in DocBin().from_disk(sys.argv[1]).get_docs(spacy.blank('xx').vocab)]\" "
    "FILE > NEW.jsonl",
    ".pubtator": "is PubTator, whose lines are titles, abstracts and mentions; expected texts with spans: write it as "
    'JSON lines, python -c "import json, pathlib, sys; '
    "[print(json.dumps({'text': ' '.join(line.split('|', 2)[2] for line in lines if line.split('|')[1:2] in "
    "(['t'], ['a'])), 'spans': [{'start': int(part[1]), 'end': int(part[2]), 'text': part[3], 'label': part[4]} "
    "for part in (line.split('\\t') for line in lines) if len(part) > 4]})) for text in "
    "pathlib.Path(sys.argv[1]).read_bytes().decode().replace('\\r', '').strip().split('\\n\\n') "
    "for lines in [text.split('\\n')]]\" FILE > NEW.jsonl",
    ".ann": "is standoff of brat, whose texts are in other files; expected texts with spans: write the documents of a "
    'folder as JSON lines, python -c "import json, pathlib, sys; '
    "[print(json.dumps({'text': ann.with_suffix('.txt').read_bytes().decode(), "
    "'spans': [{'start': int(start), 'end': int(end), 'label': kind, 'text': quoted} "
    "for line in ann.read_bytes().decode().splitlines() if line[:1] == 'T' "
    "for _, places, quoted in [line.split('\\t')] "
    "for kind, start, end in [places.split()]]})) for ann in sorted(pathlib.Path(sys.argv[1]).rglob('*.ann'))]\" "
    "FOLDER > NEW.jsonl",
}
"""Files that other programs write, by their endings: what they are, and how to write them as one that is read."""
KNOWN_COLUMNS = (
    ("text", "text_pair"),
    ("sentence1", "sentence2"),
    ("premise", "hypothesis"),
    ("question1", "question2"),
    ("question", "sentence"),
    ("text",),
    ("sentence",),
)
SCORE_COLUMNS = ("label", "score", "similarity_score")
"""The known columns of labels that are numbers; that of classes is the first."""
_KNOWN_NAMES = {"labels", *SCORE_COLUMNS, *(name for names in KNOWN_COLUMNS for name in names)}


def read_rows(
    path: str, *, header: bool = True, lenient: bool = False, needed: Sequence[str] = ()
) -> Iterator[tuple[str, Row]]:
    """Yield (place, row) of a file, the place as "line 3"; raises InputError, with the place, where it is damaged.

    header: whether the first line of a CSV or TSV file names its columns. lenient: read a line of these with another
    number of fields as well, which has its first columns. needed: the columns that are read; where there are no names
    and these are given, a line between tabs may have any number of fields that reaches them, as in STS's files.
    """
    kind = file_format(path)
    if kind == ".parquet":
        return _parquet_rows(path)
    if kind in TABLES:
        if _is_without_quotes(path, kind):
            return _table_rows(_tsv_fields(path), path, header=header, lenient=lenient, needed=needed)
        return _table_rows(_csv_fields(path), path, header=header, lenient=lenient)
    if kind == FASTTEXT:
        lines = ((number, line) for number, line in text_lines(path) if line.strip())
        return ((f"line {number}", labelled_row(line, number, path)) for number, line in lines)
    if kind == JSON:
        return ((f"row {number}", row) for number, row in enumerate(read_json_rows(path), 1))
    return _json_rows(path)


def file_format(path: str, others: Sequence[str] = ()) -> str:
    """Return the ending that names a file's format, without that of compression, or `FASTTEXT`, by the first line.

    Raises InputError for another ending.

    >>> file_format("s3://data/train.tsv.gz")
    '.tsv'
    """
    name = files.name(path).lower()
    plain = name.rsplit(".", 1)[0] if compression.compression(name) else name
    for suffix in (*FORMATS, *others):
        if plain.endswith(suffix):
            return suffix
    if is_labelled(path):
        return FASTTEXT
    for suffix, how in ELSEWHERE.items():
        if plain.endswith(suffix):
            raise InputError(how, path=path)
    endings = ", ".join((*FORMATS, *others))
    raise InputError(
        f"has a name of no known format; expected one that ends in {endings} (or these with .gz): rename it by what it "
        "holds, or link to it",
        path=path,
    )


def column_names(path: str, *, header: bool = True) -> list[str]:
    """Return the names of a file's columns, of JSON lines those of the first row; `header` as in `read_rows`."""
    if file_format(path) == ".parquet":
        with files.open_raw(path) as raw:
            return list(open_parquet(raw, path).schema_arrow.names)
    if header and file_format(path) in TABLES:
        for _, first in read_rows(path, header=False):
            return _checked_names(list(first.values()), path)
    for _, row in read_rows(path, header=header):
        return list(row)
    raise InputError("holds no rows; expected examples", path=path)


def first_row(path: str, *, header: bool = True) -> Row:
    """Return the first row of a file, without columns where there is none; `header` as in `read_rows`."""
    return next((row for _, row in read_rows(path, header=header, lenient=True)), {})


def has_column(name: str, columns: Sequence[str], path: str) -> bool:
    """Tell whether a file has a column, or all of a template.

    It is among its `columns`, or a place in one of objects, as `labels.score`.
    """
    objects = file_format(path) not in TABLES
    return all(part in columns or (objects and part.partition(".")[0] in columns) for part in names_in([name], columns))


def score_column(path: str) -> str:
    """Return the column of the labels: the first of `SCORE_COLUMNS` that a file has, `label` where it has none."""
    there = column_names(path)
    return next((name for name in SCORE_COLUMNS if name in there), SCORE_COLUMNS[0])


def class_names(path: str, column: str) -> tuple[str, ...]:
    """Return the class names that a Parquet file gives a column of integers, none where it does not.

    `datasets` writes them into its metadata, as a `ClassLabel` or a list of them.
    """
    if file_format(path, (".conll",)) != ".parquet":
        return ()
    with files.open_raw(path) as raw:
        metadata = open_parquet(raw, path).schema_arrow.metadata or {}
    try:
        features = json.loads(metadata.get(b"huggingface", b"{}"))["info"]["features"]
        feature = features[column] if column in features else reduce(getitem, column.split("."), features)
        while "feature" in feature:
            feature = feature["feature"]
        return tuple(map(str, feature["names"]))
    except (KeyError, TypeError, ValueError):
        return ()


def text_lines(path: str, *, keep_mark: bool = False) -> Iterator[tuple[int, str]]:
    """Yield (number from 1, line without its end) of a text file; raises InputError where a line is not UTF-8.

    A byte order mark at the beginning of the file is left out unless `keep_mark` says otherwise.
    """
    with compression.open_decompressed(path) as file:
        for number, line in enumerate(bounded_lines(file, path, "text in lines"), 1):
            data = line.removeprefix(b"\xef\xbb\xbf") if number == 1 and not keep_mark else line
            try:
                yield number, data.decode("utf-8").removesuffix("\n").removesuffix("\r")
            except UnicodeDecodeError as error:
                remedy = how_to_convert(data, is_start=number == 1)
                raise InputError(f"line {number} is not UTF-8 ({error.reason}); {remedy}", path=path) from error


def _json_rows(path: str) -> Iterator[tuple[str, Row]]:
    for number, line in text_lines(path):
        if line.strip():
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise InputError(
                    f"line {number} is not JSON ({parse_problem(error)}); expected JSON lines", path=path
                ) from error
            if (object_of_line := as_row(row)) is None:
                raise InputError(f"line {number} is not a JSON object; expected JSON lines", path=path)
            yield f"line {number}", object_of_line


def _parquet_rows(path: str) -> Iterator[tuple[str, Row]]:
    number = 0
    with files.open_raw(path) as raw:
        for batch in read_batches(raw, path):
            for number, row in enumerate(batch.to_pylist(), number + 1):  # noqa: B020
                yield f"row {number}", row


def _table_rows(
    lines: Iterator[tuple[int, list[str]]], path: str, *, header: bool, lenient: bool, needed: Sequence[str] = ()
) -> Iterator[tuple[str, Row]]:
    names: list[str] = []
    by_number = bool(needed) and not header and not lenient
    last = max(map(int, needed), default=0) if by_number else 0
    for number, fields in lines:
        if not names:
            names = _checked_names(fields, path) if header else [str(number) for number in range(1, len(fields) + 1)]
            if header:
                continue
        if by_number and len(fields) < last:
            raise InputError(
                f"line {number} has {counted(len(fields), 'field')}; expected {last} or more, as column "
                f"{last} is asked for",
                path=path,
            )
        if len(fields) != len(names) and not lenient and not by_number:
            columns = f"names {counted(len(names), 'column')}" if header else f"has {len(names)}"
            single = any(field.startswith("'") for field in fields)
            raise InputError(
                f"line {number} has {counted(len(fields), 'field')}, the first line {columns}; expected as many"
                + (f": {_SINGLE_QUOTES}" if single and not _is_without_quotes(path, file_format(path)) else ""),
                path=path,
            )
        yield f"line {number}", dict(zip(names, fields, strict=False))


def _tsv_fields(path: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in text_lines(path):
        if line or number == 1:
            yield number, line.split("\t")


def quoted_lines(path: str, most: int = 1000) -> tuple[int, int]:
    """Return how many of the first lines of a table whose quotes are text have a field quoted as in CSV, and all those.

    Such a field is in quotes, and has quotes inside that are doubled, as programs write them, or it is in a column of
    which all lines, but the first, have quotes; (0, 0) of other files.
    """
    kind = file_format(path, ("",))
    if kind not in TABLES or not _is_without_quotes(path, kind):
        return 0, 0
    lines = [fields for _, fields in islice(_tsv_fields(path), most)]
    quoted = [any('""' in field[1:-1] and _QUOTED.fullmatch(field) for field in fields) for fields in lines]
    examples = lines[1:]
    columns = zip(*examples, strict=False) if len(examples) >= _FEW_LINES else ()
    if any(all(map(_QUOTED.fullmatch, column)) for column in columns):
        return len(examples), len(lines)
    return sum(quoted), len(lines)


def _is_without_quotes(path: str, kind: str) -> bool:
    """Tell whether quotes are text in a table: in a .tsv, and in a .csv whose first line shows tabs."""
    if kind == ".tsv":
        return True
    with compression.open_decompressed(path) as raw:
        first = next(bounded_lines(raw, path, WHAT), b"").decode("utf-8-sig", "replace")
    return separator_of(first) == "\t" and not is_declaration(first)


def _csv_fields(path: str) -> Iterator[tuple[int, list[str]]]:
    number = 0
    try:
        with compression.open_decompressed(path) as raw, io.TextIOWrapper(raw, "utf-8-sig", newline="") as text:
            for number, fields in rows_of(bounded_lines(text, path, WHAT), path, remedy=_REMEDY):
                yield number, fields
    except RowError as error:
        raise InputError(f"line {error.line} cannot be read ({error}); check its quotes", path=path) from error
    except UnicodeDecodeError as error:
        remedy = how_to_convert(error.object, is_start=not number)
        raise InputError(f"is not UTF-8 after line {number}; {remedy}", path=path) from error


def _checked_names(names: list[str], path: str) -> list[str]:
    for name, number in Counter(names).items():
        if number > 1:
            raise InputError(f"line 1 names the column {name!r} twice; expected a header of distinct names", path=path)
    return names


def has_names(path: str, text_columns: Sequence[str], *label_columns: str | None) -> bool:
    """Return whether a file names its columns.

    A CSV or TSV file does not if all given columns of texts are numbers, and its first line is an example: it has no
    known name, and not all the numbers as names.
    """
    if not are_numbers(path, text_columns):
        return True
    named = names_in([*text_columns, *filter(None, label_columns)])
    numbers = {name for name in named if name.isdecimal()}
    first = set(next((row for _, row in read_rows(path, header=False)), {}).values())
    return bool(_KNOWN_NAMES & first) or numbers <= first


def are_numbers(path: str, text_columns: Sequence[str]) -> bool:
    """Return whether columns of a table are given by numbers."""
    numbers = bool(text_columns) and all(name.isdecimal() for name in names_in(text_columns))
    return numbers and file_format(path) in TABLES
