"""Everything of the package that reads a text, as functions of one text by name: registries are walked over."""

from __future__ import annotations

import contextlib
import csv
import html
import io
import json
from collections import deque
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bertdata.curation import CLEANERS, FILTERS
from bertdata.curation.decontamination.ngram_words import words_of
from bertdata.curation.dedup.minhash import signature
from bertdata.curation.dedup.spans.text_units import paragraph_units
from bertdata.curation.filters import filtered
from bertdata.curation.words import reference, split
from bertdata.documents import paragraphs
from bertdata.engine.parts import Counters
from bertdata.errors import BertDataError, printable
from bertdata.io.console import wrapped
from bertdata.sentences import SentenceSegmenter
from bertdata.sentences.training import PunktCounts
from bertdata.sources import SOURCE_FORMATS
from bertdata.sources.books.read import clean_book
from bertdata.sources.formats import write_documents
from bertdata.sources.labelled.json_list import read_list
from bertdata.sources.labelled.strings import texts_of
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.text_template import parse_template
from bertdata.tokenizers import Tokenizer, load_tokenizer
from tests.sources.planned import plan_books, plan_documents, plan_wikipedia

Run = Callable[[str], object]
ARGUMENTS = {"min-characters": "200"}
"""Arguments of filters that have no default."""
VOCABULARIES = ["bertdata-30k-uncased", "bertdata-30k-cased", "bertdata-32k-bpe"]


def text_readers() -> dict[str, Run]:
    """Return what takes a text in memory."""
    runs: dict[str, Run] = {}
    for name in CLEANERS:
        runs[f"cleaner {name}"] = partial(_cleaned, name)
    for name in FILTERS:
        rule = f"{name}={ARGUMENTS[name]}" if FILTERS[name].default is None else name
        runs[f"filter {name}"] = partial(_filtered, rule)
    for name in VOCABULARIES:
        runs[f"tokenizer {name}"] = partial(_encoded, name)
    segment = SentenceSegmenter.from_pretrained(attach_citations=True, sentence_marks=True)
    return runs | {
        "sentences": segment.segment,
        "sentences without kernels": lambda text: segment.segment_batch([text], compiled=False),
        "counts of sentences": lambda text: PunktCounts().add(text),
        "book": clean_book,
        "book without kernels": lambda text: clean_book(text, compiled=False),
        "words": lambda text: split.split(pa.array([text])),
        "counts of words and sentences": lambda text: split.sentence_counts(pa.array([text])),
        "words without kernels": reference.words,
        "words of decontamination": lambda text: deque(words_of(text), 0),
        "signature": signature,
        "paragraphs": paragraphs,
        "paragraph units": lambda text: paragraph_units(pa.array([text])),
        "printable": printable,
        "wrapped": lambda text: wrapped(text, columns=80),
        "text template": lambda text: _refusable(lambda: parse_template.__wrapped__("{a}" + text)),
    }


@cache
def _tokenizer(name: str) -> Tokenizer:
    return load_tokenizer(name)


def _cleaned(name: str, text: str) -> object:
    return CLEANERS[name].clean(pa.array([text]))


def _filtered(rule: str, text: str) -> object:
    return filtered(pa.array([text]), [rule], Counters())


def _encoded(name: str, text: str) -> object:
    return _tokenizer(name).encode_batch([text])


def _refusable(run: Callable[[], object]) -> None:
    with contextlib.suppress(BertDataError):
        run()


def _separated(text: str, dialect: str) -> str:
    file = io.StringIO()
    csv.writer(file, dialect).writerows([["id", "text"], ["1", text], *(["2", line] for line in text.split("\n"))])
    return file.getvalue()


def _json_rows(text: str) -> str:
    return "".join(json.dumps({"text": part}) + "\n" for part in [text, *text.split("\n")])


def _page(text: str) -> str:
    page = f"<page><title>A</title><ns>0</ns><id>1</id><revision><id>2</id><text>{html.escape(text)}</text></revision>"
    return f'<mediawiki xml:lang="en">\n<siteinfo></siteinfo>\n{page}</page>\n</mediawiki>\n'


def _table(text: str) -> pa.Table:
    return pa.table({"id": [str(place) for place in range(text.count("\n") + 2)], "text": [text, *text.split("\n")]})


def _parquet(text: str) -> bytes:
    pq.write_table(_table(text), file := io.BytesIO())
    return file.getvalue()


def _arrow(text: str) -> bytes:
    table, file = _table(text), io.BytesIO()
    with pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    return file.getvalue()


WRITTEN: dict[str, Callable[[str], str | bytes]] = {
    "wikipedia": _page,
    "parquet": _parquet,
    "arrow": _arrow,
    "json-lines": _json_rows,
    "csv": lambda text: _separated(text, "excel"),
    "tsv": lambda text: _separated(text, "excel-tab"),
}
"""Files of source formats in which a text is a document, and each line of it. Other formats have the text itself."""


def file_readers(folder: Path) -> dict[str, Run]:
    """Return what reads files of source formats and of labelled data, each with a text as a row and as it stands."""
    runs: dict[str, Run] = {}
    for name in SOURCE_FORMATS:
        path = str(folder / f"{name}{next(iter(SOURCE_FORMATS[name].suffixes), '.txt')}")
        runs[name] = partial(_documents, name, path, str)
        if name in WRITTEN:
            runs[f"{name} rows"] = partial(_documents, name, path, WRITTEN[name])
    rows = {"jsonl": _json_rows, "csv": WRITTEN["csv"], "tsv": WRITTEN["tsv"]}
    for ending in [*rows, "conll"]:
        path = str(folder / f"labelled.{ending}")
        runs[f"strings of .{ending}"] = partial(_values, path, str, texts_of)
        if ending in rows:
            runs[f"strings of .{ending} rows"] = partial(_values, path, rows[ending], texts_of)
    path, elements = str(folder / "list.json"), partial(read_list, name="data")
    runs["JSON list"] = partial(_values, path, str, elements)
    runs["JSON list of it"] = partial(_values, path, '{{"data": [{}'.format, elements)
    runs["JSON list of a string"] = partial(_values, path, '{{"data": ["{}"]}}'.format, elements)
    return runs


def _bytes(data: str | bytes) -> bytes:
    return data.encode() if isinstance(data, str) else data


def _documents(name: str, path: str, written: Callable[[str], str | bytes], text: str) -> None:
    """Write a file, and its documents, as a build does; a file may be refused."""
    Path(path).write_bytes(_bytes(written(text)))
    kind = SOURCE_FORMATS[name].kind
    with contextlib.suppress(BertDataError):
        if kind == "documents":
            tasks = plan_documents([path], "out", 1 << 30)
        else:
            plan = {"wikipedia": plan_wikipedia, "books": plan_books}[kind]
            tasks = plan([path], "out", CleaningConfig())
        for task in tasks:
            write_documents(task, io.BytesIO())


def _values(path: str, written: Callable[[str], str | bytes], read: Callable[[str], Iterator[Any]], text: str) -> None:
    """Write a file and read all values of it; it may be refused."""
    Path(path).write_bytes(_bytes(written(text)))
    with contextlib.suppress(BertDataError):
        deque(read(path), 0)
