"""Sentences of all available real text against NLTK's, with several sets of Punkt parameters; prints every difference.

Run: python benchmarks/sentences_equality.py [--workers N] [--sets N] [--share F]
The sets are the shipped English one, NLTK's English one, one without any parameters, and some trained here on one kind
of text each, with different settings. All sets split all texts: English articles and books, and those of other
languages, with their markup. --share takes only a share of the texts. It needs the folder that
BERTDATA_DATA names, or ../shared/data.
"""

from __future__ import annotations

import argparse
import bz2
import functools
import gzip
import io
import json
import multiprocessing
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bertdata.sentences import PunktParameters, PunktSettings, SentenceSegmenter, load_parameters, train_punkt

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("BERTDATA_DATA") or ROOT.parent / "shared" / "data")
TRAINED = {
    "books, all collocations": ("books/pg*.txt", PunktSettings(include_all_collocs=True, min_colloc_freq=2)),
    "French books": ("books-french/*.txt", PunktSettings()),
    "other languages, markup": ("wikipedia-other/*wiki*", PunktSettings(include_abbrev_collocs=True)),
    "novels in TEI": ("books-tei/*.xml", PunktSettings()),
    "web, e-mail, talk": ("sentences/*.jsonl", PunktSettings(lower_case_starters=True)),
}
TRAINING_CHARACTERS = 8_000_000
Work = tuple[str, str, int]


def main() -> None:
    """Compare and print one row for each set of parameters."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--sets", type=int, default=len(set_names()), help="how many of the sets (default: all)")
    parser.add_argument("--share", type=int, default=1, metavar="F", help="take every F-th text (default: all)")
    flags = parser.parse_args()
    paths = sorted(path for path in DATA.rglob("*") if path.is_file() and is_text(path))
    if not paths:
        sys.exit(f"no text below {DATA}; set BERTDATA_DATA to a folder that has some")
    print("| parameters | texts | MB | sentences | differences |\n|---|---:|---:|---:|---:|", flush=True)
    total = [0, 0]
    began = time.monotonic()
    with multiprocessing.Pool(flags.workers) as pool:
        for name in set_names()[: flags.sets]:
            work = [(str(path), name, flags.share) for path in sorted(paths, key=lambda path: -path.stat().st_size)]
            row = [0, 0, 0, 0]
            for differences, unequal_texts in pool.imap_unordered(compare, work):
                row = [before + more for before, more in zip(row, differences, strict=True)]
                for line in unequal_texts:
                    print(line, file=sys.stderr, flush=True)
            print(f"| {name} | {row[0]:,} | {row[1] / 1e6:,.0f} | {row[2]:,} | {row[3]:,} |", flush=True)
            total = [total[0] + row[2], total[1] + row[3]]
    print(f"\n{total[0]:,} sentences, {total[1]:,} differences, {time.monotonic() - began:,.0f} s")
    sys.exit(1 if total[1] else 0)


def set_names() -> list[str]:
    """Return the names of the sets of parameters."""
    return ["bertdata english", "NLTK english", *TRAINED, "none"]


def is_text(path: Path) -> bool:
    """Tell the files that hold text from indexes and parameters."""
    return not {"punkt_tab", "vocab"} & set(path.parts) and "index" not in path.name and path.name != "README.md"


@functools.cache
def parameters_of(name: str) -> PunktParameters:
    """Return a set of parameters; the trained ones are trained in every process that needs them."""
    if name == "none":
        return PunktParameters()
    if name in TRAINED:
        pattern, settings = TRAINED[name]
        return train_punkt(beginning(sorted(DATA.glob(pattern))), settings)
    return load_parameters("english" if name.startswith("bertdata") else str(DATA / "punkt_tab" / "english"))


def beginning(paths: list[Path]) -> Iterator[str]:
    """Yield texts until there are TRAINING_CHARACTERS."""
    left = TRAINING_CHARACTERS
    for path in paths:
        for text in texts_of(path):
            if left > 0:
                yield text[:left]
                left -= len(text)


def texts_of(path: Path) -> Iterator[str]:
    """Yield the texts of a file: the fields of JSON lines, else its whole content."""
    data = path.read_bytes()
    if path.suffix == ".zst":
        import zstandard

        data = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data)).read()
    elif path.suffix in (".bz2", ".gz"):
        data = (bz2 if path.suffix == ".bz2" else gzip).decompress(data)
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    text = data.decode(encoding, "replace").replace("\r\n", "\n")
    if ".jsonl" not in path.name:
        yield text
        return
    for line in text.splitlines():
        try:
            yield from strings_of(json.loads(line))
        except json.JSONDecodeError:
            yield line


def strings_of(value: Any) -> Iterator[str]:
    """Yield the long strings of a JSON value; the sentences of a paragraph as one text."""
    if isinstance(value, dict):
        for item in value.values():
            yield from strings_of(item)
    elif isinstance(value, list) and all(isinstance(item, str) for item in value):
        yield " ".join(value)
    elif isinstance(value, list):
        for item in value:
            yield from strings_of(item)
    elif isinstance(value, str) and len(value) > 40:
        yield value


@functools.cache
def pair_of(name: str) -> tuple[SentenceSegmenter, Any]:
    """Return our segmenter and NLTK's tokenizer with the same parameters."""
    from nltk.tokenize.punkt import PunktParameters as NltkParameters
    from nltk.tokenize.punkt import PunktSentenceTokenizer

    parameters = parameters_of(name)
    theirs = NltkParameters()
    theirs.abbrev_types = set(parameters.abbrev_types)
    theirs.collocations = set(parameters.collocations)
    theirs.sent_starters = set(parameters.sent_starters)
    theirs.ortho_context = defaultdict(int, parameters.ortho_context)
    return SentenceSegmenter(parameters), PunktSentenceTokenizer(theirs)


def compare(work: Work) -> tuple[list[int], list[str]]:
    """Cut the texts of one file both ways; returns texts, bytes, sentences, differences, and lines that tell them."""
    path, name, share = work
    segmenter, tokenizer = pair_of(name)
    texts = [text for number, text in enumerate(texts_of(Path(path))) if number % share == 0]
    rows = segmenter.segment_batch(texts)
    counts, unequal_texts = [len(texts), 0, 0, 0], []
    for number, text in enumerate(texts):
        spans = spans_by_nltk(tokenizer, text)
        counts[1] += len(text.encode())
        counts[2] += len(spans)
        ours, theirs = rows[number].as_py(), [text[start:stop] for start, stop in spans]
        if ours != theirs or segmenter.spans(text) != spans:
            different = set(ours) ^ set(theirs)
            counts[3] += max(1, len(different))
            unequal_texts.append(f"{name}, {path}, text {number}: {sorted(different)[:4]!r}")
        tokenizer._params.ortho_context = defaultdict(int, segmenter.parameters.ortho_context)  # it grows
    return counts, unequal_texts


def spans_by_nltk(tokenizer: Any, text: str) -> list[tuple[int, int]]:
    """Return the spans of NLTK's sentences, paragraph by paragraph, stripped, without empty ones."""
    spans = []
    position = 0
    for part in text.split("\n\n"):
        paragraph = part.strip()
        base = position + len(part) - len(part.lstrip())
        for start, stop in tokenizer.span_tokenize(paragraph):
            sentence = paragraph[start:stop].strip()
            begin = base + stop - len(paragraph[start:stop].lstrip())
            if sentence:
                spans.append((begin, begin + len(sentence)))
        position += len(part) + 2
    return spans


if __name__ == "__main__":
    main()
