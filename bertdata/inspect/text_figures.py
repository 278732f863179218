"""Figures of documents: their lengths, the odd ones among them, and how a vocabulary fits them.

Documents are read from evenly spaced parts of a folder, or of the stages of a build, so that the time does not grow
with it; `TextFigures` says how many were read.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bertdata.documents import open_parquet
from bertdata.documents.reread import is_textless
from bertdata.engine.origin import read_origin
from bertdata.errors import InputError
from bertdata.inspect.word_figures import WordFigures, measure_words
from bertdata.io import files, listing
from bertdata.io.arrow_data import checked, reading_arrow
from bertdata.sources.finished import texts_again
from bertdata.sources.stage import FOLDERS
from bertdata.tokenizers.base import Tokenizer

MOST_PARTS = 8
READ_WHOLE = 32 << 20
"""The parts of documents that are read of each kind of source, where it has more bytes of Parquet than that."""
_WORD_SAMPLE = 400
_SAMPLE_CHARACTERS = 4000
_START = 240
_NOT_LETTERS = r"[^\pL\pM]+"
_LEAST_FOR_LETTERS = 40
_COLUMNS = ("id", "source", "title", "text")


@dataclass(frozen=True)
class Sample:
    """A document by its title or id and source: how many characters it has, the share of letters, and its start."""

    name: str
    source: str
    characters: int
    letters: float
    start: str


@dataclass(frozen=True)
class TextFigures:
    """Figures of the documents that were read.

    lengths: (least characters, most characters, documents) of each bin, whose width doubles; shortest: the documents
    with the fewest characters; longest: those with the most; oddest: those of over 40 characters with the lowest share
    of letters; words: None where no vocabulary was given.
    """

    documents: int
    characters: int
    lengths: tuple[tuple[int, int, int], ...]
    shortest: tuple[Sample, ...]
    longest: tuple[Sample, ...]
    oddest: tuple[Sample, ...]
    words: WordFigures | None


def document_files(build: str) -> list[str]:
    """Return the parts of documents in the stages of a build, or of the build that it is a phase of, evenly spaced."""
    parts: list[str] = []
    for root in (build, files.join(build, "..")):
        for folder in FOLDERS.values():
            parts += spaced_parts(files.join(root, "stages", folder))
        if parts or files.is_remote(build):
            break
    return parts


def spaced_parts(folder: str) -> list[str]:
    """Return the Parquet files of a folder that have documents: all, or of a large one some that are evenly spaced."""
    sizes = {name: entry.size for name, entry in listing.entries(folder).items() if name.endswith(".parquet")}
    names = list(sizes)
    parts = MOST_PARTS if sum(sizes.values()) > READ_WHOLE else len(names)
    starts = sorted({len(names) * number // parts for number in range(parts)})
    chosen: list[str] = []
    for begin, end in zip(starts, [*starts[1:], len(names)], strict=False):
        paths = (files.join(folder, name) for name in names[begin:end])
        chosen += next(([path] for path in paths if _rows(path)), [])
    return chosen


def _rows(path: str) -> int:
    with files.open_raw(path) as raw:
        return int(open_parquet(raw, path).metadata.num_rows)


def measure_text(paths: Sequence[str], tokenizer: Tokenizer | None, *, samples: int = 3) -> TextFigures | None:
    """Measure documents in Parquet files, and how a vocabulary fits them if one is given; None where there are none.

    Raises InputError where a file has no column `text`.
    """
    lengths = [np.zeros(0, np.int64)]
    shortest: list[Sample] = []
    longest: list[Sample] = []
    oddest: list[Sample] = []
    texts: list[str] = []
    for path in paths:
        table = _read(path)
        if not len(table):
            continue
        characters = pc.utf8_length(table["text"]).to_numpy().astype(np.int64)
        letters = pc.utf8_length(pc.replace_substring_regex(table["text"], _NOT_LETTERS, "")).to_numpy()
        shares = letters / np.maximum(1, characters)
        lengths.append(characters)
        few = np.argsort(characters, kind="stable")[:samples]
        odd = np.argsort(np.where(characters < _LEAST_FOR_LETTERS, 2.0, shares), kind="stable")[:samples]
        shortest += _samples(table, few, characters, shares)
        longest += _samples(table, np.argsort(-characters, kind="stable")[:samples], characters, shares)
        oddest += _samples(table, odd, characters, shares)
        step = max(1, len(table) // max(1, _WORD_SAMPLE // len(paths)))
        texts += [str(text)[:_SAMPLE_CHARACTERS] for text in table["text"][::step].to_pylist()]
    every = np.concatenate(lengths)
    if not len(every):
        return None
    return TextFigures(
        documents=len(every),
        characters=int(every.sum()),
        lengths=tuple(doubling_bins(every)),
        shortest=tuple(sorted(shortest, key=lambda text: (text.characters, text.name))[:samples]),
        longest=tuple(sorted(longest, key=lambda text: (-text.characters, text.name))[:samples]),
        oddest=tuple(sorted(oddest, key=lambda text: (text.letters, text.name))[:samples]),
        words=measure_words(tokenizer, texts) if tokenizer else None,
    )


def _read(path: str) -> pa.Table:
    """Return the columns of documents of one file, those that it lacks empty."""
    if (tables := _again(path)) is not None:
        return tables
    with files.open_raw(path) as raw, reading_arrow(path, "cannot be read", "write it again with what made it"):
        file = open_parquet(raw, path)
        there = [name for name in _COLUMNS if name in file.schema_arrow.names]
        if "text" not in there:
            columns = ", ".join(file.schema_arrow.names) or "none"
            raise InputError(f"has no column `text`, as documents have; its columns: {columns}", path=path)
        table = checked(file.read(there))
    for name in _COLUMNS:
        if name not in there:
            table = table.append_column(name, pa.array([""] * len(table), pa.string()))
    return table


def _again(path: str) -> pa.Table | None:
    """Return the documents of a part whose texts are read from its source; none, and a warning, where they are gone."""
    try:
        tables = texts_again(path)
        return tables and pa.concat_tables(tables).select(_COLUMNS).combine_chunks()
    except InputError as error:
        with files.open_raw(path) as raw:
            if not is_textless(open_parquet(raw, path).schema_arrow):
                raise
        logging.getLogger("bertdata").warning("the documents of this part are not shown: %s", error)
        return pa.table({name: pa.array([], pa.string()) for name in _COLUMNS})


def _samples(
    table: pa.Table, places: NDArray[np.int64], characters: NDArray[np.int64], shares: NDArray[np.float64]
) -> Iterator[Sample]:
    for place in places.tolist():
        row = {name: str(table[name][place].as_py() or "") for name in _COLUMNS}
        start = " ".join(row["text"][:_START].split())
        start += " ..." if len(row["text"]) > _START else ""
        name = row["title"] or row["id"] or "untitled"
        yield Sample(name, row["source"], int(characters[place]), float(shares[place]), start)


def doubling_bins(lengths: NDArray[np.int64]) -> list[tuple[int, int, int]]:
    """Return (least, most, number) of bins from a power of two to the next, without empty ones at the ends.

    >>> doubling_bins(np.array([5, 6, 9, 40]))
    [(4, 7, 2), (8, 15, 1), (16, 31, 0), (32, 63, 1)]
    """
    exponents = np.frexp(np.maximum(1, lengths))[1] - 1
    counts = np.bincount(exponents)
    first = int(np.flatnonzero(counts)[0])
    return [(1 << n, (2 << n) - 1, int(counts[n])) for n in range(first, len(counts))]


def rejected_pages(build: str, most: int = 12) -> list[tuple[str, str]]:
    """Return (reason, title) of dropped pages where the build wrote them (--rejects), in turn of each reason."""
    origin = read_origin(build)[0]
    settings = origin.settings if origin else {}
    folder = str((settings.get("cleaning") or settings.get("CleaningConfig") or {}).get("rejects", ""))
    names = sorted(name for name in listing.names(folder) if name.endswith(".jsonl")) if folder else []
    by_reason: dict[str, list[str]] = {}
    for name in names[:MOST_PARTS]:
        with files.open_raw(files.join(folder, name)) as file:
            for line in file:
                row: dict[str, Any] = json.loads(line)
                titles = by_reason.setdefault(str(row["reason"]), [])
                if len(titles) < most:
                    titles.append(str(row["title"] or row["id"]))
    each = max(1, most // max(1, len(by_reason)))
    return [(reason, title) for reason in sorted(by_reason) for title in by_reason[reason][:each]]
