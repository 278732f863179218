"""Trains the vocabularies of `vocab/` and writes their cards.

usage: python scripts/train_vocabularies.py [--data DIR] [--output DIR] [--work DIR] [--workers N]

From the folder that BERTDATA_DATA names it cleans the Wikipedia dumps of `wikipedia/` and the books of `books/`, adds
the articles of `wikipedia-plain/`, holds some of both out, and trains on the rest by `pipelines.train_vocab`: about
three words of Wikipedia to one of books. What is held out is not seen by any training; the figures on the cards are
measured on it. What it does not do: draw a ratio; the card says what the sources give.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bertdata import files
from bertdata.documents import SCHEMA
from bertdata.draws import text_bits
from bertdata.stats import VocabularyFigures, measure_vocabulary
from bertdata.wordpiece import WordPieceTokenizer, merge_counts, train_wordpiece
from bertdata.wordpiece.criteria import CODES
from pipelines import clean_books, clean_wikipedia, train_vocab

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("BERTDATA_DATA") or ROOT.parent / "shared" / "data")
HELD_OUT = {"wikipedia": 64, "books": 16}
"""One title in so many is held out, chosen by its hash, so that all editions of a book go the same way."""
VOCAB_SIZE = 30_000
PUBLISHED = {"uncased": "bert-base-uncased", "cased": "bert-base-cased"}


def main() -> None:
    """Gather, train and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, metavar="DIR")
    parser.add_argument("--output", type=Path, default=ROOT / "vocab", metavar="DIR")
    parser.add_argument("--work", metavar="DIR", help="where to work (default: a temporary folder, deleted at the end)")
    parser.add_argument("--workers", type=int, default=0, metavar="N")
    flags = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(flags.work or temporary)
        words, held_out = gather(flags.data, work, flags.workers)
        for case in PUBLISHED:
            make(case, flags.data, work, flags.output, words, held_out, flags.workers)


def gather(data: Path, work: Path, workers: int) -> tuple[dict[str, int], dict[str, str]]:
    """Write the training documents; returns their words by source, and the held-out text files by source."""
    dumps = sorted(map(str, (data / "wikipedia").glob("*-pages-articles*.xml.bz2")))
    books = sorted(map(str, (data / "books").glob("*.txt")))
    if not dumps or not books:
        sys.exit(f"no dump or no books below {data}; set BERTDATA_DATA to a folder with wikipedia/ and books/")
    clean_wikipedia.main([*dumps, "--output", str(work / "wikipedia"), "--workers", str(workers)])
    clean_books.main([*books, "--output", str(work / "books"), "--workers", str(workers)])
    words = dict.fromkeys(HELD_OUT, 0)
    held_out = {source: str(work / f"held-out-{source}.txt") for source in HELD_OUT}
    (work / "training").mkdir(parents=True, exist_ok=True)
    for source, share in HELD_OUT.items():
        kept = []
        with Path(held_out[source]).open("w", encoding="utf-8") as held:
            for row in documents(source, data, work):
                if text_bits(re.sub(r"\W+", " ", row["title"].lower())[:24]) % share == 0:
                    held.write(row["text"] + "\n\n")
                else:
                    kept.append({name: row.get(name) or "" for name in SCHEMA.names})
                    words[source] += len(row["text"].split())
        pq.write_table(pa.Table.from_pylist(kept, SCHEMA), work / "training" / f"{source}.parquet", compression="zstd")
    return words, held_out


def documents(source: str, data: Path, work: Path) -> Iterator[dict[str, Any]]:
    """Yield the documents of a source."""
    for path in sorted((work / source).glob("*.parquet")):
        yield from pq.read_table(path).to_pylist()
    if source == "wikipedia":
        for path in sorted((data / "wikipedia-plain").glob("*.jsonl.zst")):
            with files.open_decompressed(str(path)) as raw:
                yield from map(json.loads, io.TextIOWrapper(raw, encoding="utf-8"))


def make(
    case: str, data: Path, work: Path, output: Path, words: dict[str, int], held_out: dict[str, str], workers: int
) -> None:
    """Train one vocabulary, measure it beside the others, and write its folder."""
    lower = case == "uncased"
    folder = work / case
    flags = [] if lower else ["--no-do-lower-case"]
    arguments = ["--documents", str(work / "training"), "--output", str(folder), "--workers", str(workers)]
    train_vocab.main([*arguments, "--vocab-size", str(VOCAB_SIZE), *flags])
    tokenizer = WordPieceTokenizer.load(folder)
    counts = merge_counts(
        pa.ipc.open_stream(pa.memory_map(str(path))).read_all()
        for path in sorted((folder / "stages" / "words").glob("*.arrow"))
    )
    compared = {"this vocabulary (likelihood)": tokenizer}
    for criterion in list(CODES)[1:]:
        tokens = train_wordpiece(counts, VOCAB_SIZE, criterion=criterion)  # type: ignore[arg-type]
        compared[criterion] = WordPieceTokenizer.from_tokens(tokens, do_lower_case=lower)
    published = data / "vocab" / f"{PUBLISHED[case]}.txt"
    if published.exists():
        compared[PUBLISHED[case]] = WordPieceTokenizer.load(published, do_lower_case=lower)
    figures = {
        (name, source): measure_vocabulary(one, [path])
        for name, one in compared.items()
        for source, path in held_out.items()
    }
    target = output / f"bertdata-30k-{case}"
    tokenizer.save(target)
    files.write_bytes(str(target / "README.md"), card(case, tokenizer, counts, words, figures).encode())


def card(
    case: str,
    tokenizer: WordPieceTokenizer,
    counts: pa.Table,
    words: dict[str, int],
    figures: dict[tuple[str, str], VocabularyFigures],
) -> str:
    """Return the card of a vocabulary."""
    total = sum(words.values())
    lines = [
        f"# bertdata-30k-{case}",
        "",
        f"{tokenizer.vocab_size:,} WordPiece pieces of English, {case}"
        + (" (lower-cased, accents stripped)." if case == "uncased" else " (case and accents kept)."),
        "",
        "```python",
        "from bertdata import WordPieceTokenizer",
        f'tokenizer = WordPieceTokenizer.load("bertdata-30k-{case}")',
        "```",
        "",
        "## Corpus",
        "",
        f"- English Wikipedia, {words['wikipedia']:,} words ({words['wikipedia'] / total:.0%}): articles of a sample "
        "of dumps from 2006 to 2025, cleaned by bertdata, and the featured and good articles of 2019. CC BY-SA.",
        f"- Project Gutenberg books, {words['books']:,} words ({words['books'] / total:.0%}), cleaned by bertdata. "
        "Public domain.",
        f"- {len(counts):,} distinct words after BERT's normalisation.",
        "",
        "Made by `python scripts/train_vocabularies.py`; the criterion is `likelihood`, a pair occurs at least twice,",
        "and the 1,000 most frequent characters are kept. The same sources give the same bytes.",
        "",
        "## Quality",
        "",
        f"On text that was held out: one article in {HELD_OUT['wikipedia']} and one book in {HELD_OUT['books']}, "
        "by title. The rows below the first",
        "are the other criteria, trained on the same words, and the published vocabulary, whose training text may hold "
        "some of this.",
        "",
        "| vocabulary | text | pieces per word | words of one piece | [UNK] words | bytes per token |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for (name, source), one in figures.items():
        lines.append(
            f"| {name} | {source} | {one.pieces_per_word:.4f} | {one.single_piece_share:.2%} | "
            f"{one.unknown_share:.4%} | {one.bytes_per_token:.4f} |"
        )
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
