"""Figures of the documents and the vocabulary of a build: lengths, odd documents, tokens per word, rare tokens.

Documents are read from the stages of the build, evenly spaced parts and documents of these, so that the time does not
grow with the build; `TextFigures` says how many were read.
"""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from bertdata.engine.origin import read_origin
from bertdata.io import files, listing
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.shards import Shards
from bertdata.sources.stage import FOLDERS
from bertdata.tokenizers.base import Tokenizer

MOST_PARTS = 8
"""The parts of documents that are read of each kind of source."""
_WORD_SAMPLE = 400
_SAMPLE_CHARACTERS = 4000
_START = 240
_NOT_LETTERS = r"[^\pL\pM]+"
_LEAST_FOR_LETTERS = 40


@dataclass(frozen=True)
class Sample:
    """A document by its title or id and source: how many characters it has, the share of letters, and its start."""

    name: str
    source: str
    characters: int
    letters: float
    start: str


@dataclass(frozen=True)
class WordFigures:
    """How a vocabulary fits a sample of the documents: its words, their tokens, and the characters it does not know."""

    documents: int
    words: int
    tokens: int
    single_token_words: int
    unknown_tokens: int
    unknown_characters: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class TextFigures:
    """Figures of the documents that were read.

    lengths: (least characters, most characters, documents) of each bin, whose width doubles; shortest: the documents
    with the fewest characters; oddest: those of over 40 characters with the lowest share of letters.
    """

    documents: int
    characters: int
    lengths: tuple[tuple[int, int, int], ...]
    shortest: tuple[Sample, ...]
    oddest: tuple[Sample, ...]
    words: WordFigures


def document_files(build: str) -> list[str]:
    """Return the parts of documents in the stages of a build, or of the build that it is a phase of, evenly spaced."""
    found: list[str] = []
    for root in (build, files.join(build, "..")):
        for folder in FOLDERS.values():
            place = files.join(root, "stages", folder)
            names = [name for name in sorted(listing.names(place)) if name.endswith(".parquet")]
            chosen = sorted({len(names) * number // MOST_PARTS for number in range(MOST_PARTS)}) if names else []
            found += [files.join(place, names[number]) for number in chosen]
        if found or files.is_remote(build):
            break
    return found


def measure_text(paths: Sequence[str], tokenizer: Tokenizer, *, samples: int = 3) -> TextFigures | None:
    """Measure documents in Parquet files and how a vocabulary fits them; None where there are none."""
    lengths = [np.zeros(0, np.int64)]
    shortest: list[Sample] = []
    oddest: list[Sample] = []
    texts: list[str] = []
    for path in paths:
        with files.open_raw(path) as raw:
            table = pq.read_table(pa.PythonFile(raw, mode="r"), columns=["id", "source", "title", "text"])
        if not len(table):
            continue
        characters = pc.utf8_length(table["text"]).to_numpy().astype(np.int64)
        letters = pc.utf8_length(pc.replace_substring_regex(table["text"], _NOT_LETTERS, "")).to_numpy()
        shares = letters / np.maximum(1, characters)
        lengths.append(characters)
        few = np.argsort(characters, kind="stable")[:samples]
        odd = np.argsort(np.where(characters < _LEAST_FOR_LETTERS, 2.0, shares), kind="stable")[:samples]
        shortest += _samples(table, few, characters, shares)
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
        shortest=tuple(sorted(shortest, key=lambda one: (one.characters, one.name))[:samples]),
        oddest=tuple(sorted(oddest, key=lambda one: (one.letters, one.name))[:samples]),
        words=measure_words(tokenizer, texts),
    )


def _samples(
    table: pa.Table, places: NDArray[np.int64], characters: NDArray[np.int64], shares: NDArray[np.float64]
) -> Iterator[Sample]:
    for place in places.tolist():
        row = {name: table[name][place].as_py() for name in table.column_names}
        start = " ".join(row["text"][:_START].split())
        start += " ..." if len(row["text"]) > _START else ""
        name = row["title"] or row["id"]
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


def measure_words(tokenizer: Tokenizer, texts: Sequence[str], most: int = 30) -> WordFigures:
    """Measure the words of texts, and the `most` frequent characters that alone become [UNK]."""
    encoded, starts = tokenizer.encode_batch_with_words(pa.array(texts, pa.string())).columns
    ids = encoded.flatten().to_numpy()
    begins = starts.flatten().to_numpy(zero_copy_only=False)
    unknown = ids == tokenizer.unk_token_id
    last = np.append(begins[1:], True) if len(begins) else begins
    characters = Counter(char for text in texts for char in text if unicodedata.category(char)[0] not in "ZC")
    return WordFigures(
        documents=len(texts),
        words=int(begins.sum()),
        tokens=len(ids),
        single_token_words=int((begins & last & ~unknown).sum()),
        unknown_tokens=int(unknown.sum()),
        unknown_characters=tuple(unknown_characters(tokenizer, characters)[:most]),
    )


def unknown_characters(tokenizer: Tokenizer, counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the characters that a tokenizer makes [UNK] of and no token has, the most frequent first, with counts.

    >>> from bertdata import WordPieceTokenizer
    >>> known = WordPieceTokenizer.from_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a"])
    >>> unknown_characters(known, {"a": 7, "ɡ": 2, "塩": 3})
    [('塩', 3), ('ɡ', 2)]
    """
    if tokenizer.unk_token_id < 0 or not counts:
        return []
    names = sorted(counts)
    encoded = tokenizer.encode_batch(names).to_pylist()
    parts = {char for token in tokenizer.token_texts for char in token}  # "t" may be known only inside of words
    alone = [name for name, ids in zip(names, encoded, strict=True) if tokenizer.unk_token_id in ids]
    unknown = [name for name in alone if not parts & {name, *name.lower()}]
    return [(name, counts[name]) for name in sorted(unknown, key=lambda name: (-counts[name], name))]


def count_ids(shards: Shards) -> NDArray[np.int64]:
    """Return how often each id is in the rows of a split, before masking: int64 (vocab_size,)."""
    counts = np.zeros(shards.info.vocab_size, np.int64)
    for rows in shards.table.to_batches():
        ids = rows["input_ids"].flatten().to_numpy()
        if "labels" in rows.schema.names:
            labels = rows["labels"].flatten().to_numpy()
            ids = np.where(labels == IGNORE_INDEX, ids.astype(np.int64), labels)
        counts += np.bincount(ids, minlength=len(counts))
    return counts


def rejected_pages(build: str, most: int = 12) -> list[tuple[str, str]]:
    """Return (reason, title) of dropped pages where the build wrote them (--rejects), in turn of each reason."""
    origin = read_origin(build)[0]
    folder = str(origin.settings.get("cleaning", {}).get("rejects", "")) if origin else ""
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
