"""Trains the vocabularies of `vocab/` and writes their cards.

usage: python scripts/train_vocabularies.py [NAME ...] [--data DIR] [--output DIR] [--work DIR] [--workers N]

From the folder that BERTDATA_DATA names it cleans the Wikipedia dumps of `wikipedia/` and the books of `books/`, adds
the articles of `wikipedia-plain/`, and trains on all of it by `pipelines.train_vocab`: about three words of Wikipedia
to one of books. Names are uncased, cased and bpe; without any, all are made. The figures on the cards are those of
held-out vocabularies, which are trained in the same way without some articles and books, and measured on these.
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
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bertdata.counter_rng import text_bits
from bertdata.documents import SCHEMA
from bertdata.inspect.stats import VocabularyFigures, measure_vocabulary
from bertdata.io import compression, files
from bertdata.tokenizers import Tokenizer, load_tokenizer
from bertdata.tokenizers.settings import VocabularyConfig
from bertdata.tokenizers.training.merging.merge_score import CODES
from bertdata.tokenizers.wordpiece import WordPieceTokenizer, merge_counts, train_wordpiece

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bertdata.cli.main import run_verb  # noqa: E402

DATA = Path(os.environ.get("BERTDATA_DATA") or ROOT.parent / "shared" / "data")
HELD_OUT = {"wikipedia": 64, "books": 16}
"""One title in so many is held out, chosen by its hash, so that all editions of a book go the same way."""
VOCAB_SIZE = 30_000
DEFAULT = VocabularyConfig().criterion
PUBLISHED = {"uncased": "bert-base-uncased", "cased": "bert-base-cased"}
BPE_NAME, BPE_SIZE = "bertdata-32k-bpe", 1 << 15
BPE_FLAGS = ["--model", "bpe", "--unused-tokens", "64", "--pad-to-multiple-of", "64"]


def main() -> None:
    """Gather, train and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*PUBLISHED, "bpe"], default=[*PUBLISHED, "bpe"], metavar="NAME")
    parser.add_argument("--data", type=Path, default=DATA, metavar="DIR")
    parser.add_argument("--output", type=Path, default=ROOT / "vocab", metavar="DIR")
    parser.add_argument("--work", metavar="DIR", help="where to work (default: a temporary folder, deleted at the end)")
    parser.add_argument("--workers", type=int, default=0, metavar="N")
    flags = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(flags.work or temporary)
        words, held_out = gather(flags.data, work, flags.workers)
        for case in [name for name in PUBLISHED if name in flags.names]:
            make(case, flags.data, work, flags.output, words, held_out, flags.workers)
        if "bpe" in flags.names:
            make_bpe(flags.data, work, flags.output, words, held_out, flags.workers)


def gather(data: Path, work: Path, workers: int) -> tuple[dict[str, int], dict[str, str]]:
    """Write the documents, those held out in a folder of their own; returns words and held-out text files by source."""
    dumps = sorted(map(str, (data / "wikipedia").glob("*-pages-articles*.xml.bz2")))
    books = sorted(map(str, (data / "books").glob("*.txt")))
    if not dumps or not books or not plain_articles(data):
        folders = "wikipedia/, wikipedia-plain/ and books/"
        sys.exit(f"no dump, articles or books below {data}; set BERTDATA_DATA to a folder with {folders}")
    run_verb("clean-wikipedia", [*dumps, "--output", str(work / "wikipedia"), "--workers", str(workers)])
    run_verb("clean-books", [*books, "--output", str(work / "books"), "--workers", str(workers)])
    words = dict.fromkeys(HELD_OUT, 0)
    held_out = {source: str(work / f"held-out-{source}.txt") for source in HELD_OUT}
    for source, share in HELD_OUT.items():
        kept: dict[str, list[dict[str, str]]] = {"training": [], "held-out": []}
        with Path(held_out[source]).open("w", encoding="utf-8") as text:
            for row in documents(source, data, work):
                held = text_bits(re.sub(r"\W+", " ", row["title"].lower())[:24]) % share == 0
                kept["held-out" if held else "training"].append({name: row.get(name) or "" for name in SCHEMA.names})
                words[source] += len(row["text"].split())
                if held:
                    text.write(row["text"] + "\n\n")
        for folder, rows in kept.items():
            (work / folder).mkdir(parents=True, exist_ok=True)
            table = pa.Table.from_pylist(rows, SCHEMA)
            pq.write_table(table, work / folder / f"{source}.parquet", compression="zstd")
    return words, held_out


def documents(source: str, data: Path, work: Path) -> Iterator[dict[str, Any]]:
    """Yield the documents of a source."""
    for path in sorted((work / source).glob("*.parquet")):
        yield from pq.read_table(path).to_pylist()
    if source == "wikipedia":
        for path in plain_articles(data):
            with compression.open_decompressed(str(path)) as raw:
                yield from map(json.loads, io.TextIOWrapper(raw, encoding="utf-8"))


def plain_articles(data: Path) -> list[Path]:
    """Return the files of articles that are plain text already."""
    return sorted((data / "wikipedia-plain").glob("*.jsonl.zst"))


def make(
    case: str, data: Path, work: Path, output: Path, words: dict[str, int], held_out: dict[str, str], workers: int
) -> None:
    """Train one vocabulary, measure it beside the others, and write its folder."""
    lower = case == "uncased"
    tokenizer, counts = train(case, work, ["training", "held-out"], workers)
    twin, twin_counts = train(f"{case}-twin", work, ["training"], workers)
    compared = {f"twin of this ({DEFAULT})": twin}
    for criterion in CODES:
        if criterion != DEFAULT:
            tokens = train_wordpiece(twin_counts, VOCAB_SIZE, criterion=criterion)  # type: ignore[arg-type]
            compared[criterion] = WordPieceTokenizer.from_tokens(tokens, do_lower_case=lower)
    published = data / "vocab" / f"{PUBLISHED[case]}.txt"
    if published.exists():
        compared[PUBLISHED[case]] = WordPieceTokenizer.from_pretrained(published, do_lower_case=lower)
    figures = {
        (name, source): measure_vocabulary(tokenizer, [path])
        for name, tokenizer in compared.items()
        for source, path in held_out.items()
    }
    target = output / f"bertdata-30k-{case}"
    tokenizer.save_pretrained(target)
    files.write_bytes(str(target / "README.md"), card(case, tokenizer, counts, words, figures).encode())


def train(name: str, work: Path, folders: list[str], workers: int) -> tuple[WordPieceTokenizer, pa.Table]:
    """Train WordPiece on the documents of some folders; returns the tokenizer and the word counts."""
    flags = ["--vocab-size", str(VOCAB_SIZE), *([] if name.startswith("uncased") else ["--no-do-lower-case"])]
    counts = run_training(name, work, folders, workers, flags)
    return WordPieceTokenizer.from_pretrained(work / name), counts


def run_training(name: str, work: Path, folders: list[str], workers: int, flags: list[str]) -> pa.Table:
    """Train by the pipeline on the documents of some folders; returns the word counts."""
    arguments = ["--documents", *(str(work / folder) for folder in folders), "--output", str(work / name)]
    run_verb("train-vocab", [*arguments, "--workers", str(workers), *flags])
    parts = sorted((work / name / "stages" / "merged-words").glob("*.arrow"))
    return merge_counts(pa.ipc.open_stream(pa.memory_map(str(path))).read_all() for path in parts)


def make_bpe(
    data: Path, work: Path, output: Path, words: dict[str, int], held_out: dict[str, str], workers: int
) -> None:
    """Train the byte-level BPE, measure it beside others, and write its folder."""
    flags = ["--vocab-size", str(BPE_SIZE), *BPE_FLAGS]
    counts = run_training("bpe", work, ["training", "held-out"], workers, flags)
    run_training("bpe-twin", work, ["training"], workers, flags)
    compared: dict[str, Tokenizer] = {
        "twin of this": load_tokenizer(work / "bpe-twin"),
        "twin of bertdata-30k-cased": train("cased-twin", work, ["training"], workers)[0],
        "twin of bertdata-30k-uncased": train("uncased-twin", work, ["training"], workers)[0],
    }
    for name in ("gpt2", "modernbert"):
        if (data / "tokenizers" / name).exists():
            compared[name] = load_tokenizer(data / "tokenizers" / name)
    figures = {
        (name, source): fertility(tokenizer, Path(path).read_text(encoding="utf-8"))
        for name, tokenizer in compared.items()
        for source, path in held_out.items()
    }
    load_tokenizer(work / "bpe").save_pretrained(output / BPE_NAME)
    digest = files.sha256(str(output / BPE_NAME / "tokenizer.json"))
    files.write_bytes(str(output / BPE_NAME / "README.md"), bpe_card(compared, counts, words, figures, digest).encode())


def fertility(tokenizer: Tokenizer, text: str) -> tuple[float, float]:
    """Return the tokens for each word between white space, and the bytes of text for each token."""
    tokens = sum(pc.list_value_length(tokenizer.encode_batch(text.split("\n\n"))).to_pylist())
    return tokens / len(text.split()), len(text.encode()) / tokens


def card(
    case: str,
    tokenizer: WordPieceTokenizer,
    counts: pa.Table,
    words: dict[str, int],
    figures: dict[tuple[str, str], VocabularyFigures],
) -> str:
    """Return the card of a vocabulary."""
    lines = [
        f"# bertdata-30k-{case}",
        "",
        f"{tokenizer.vocab_size:,} WordPiece pieces of English, {case}"
        + (" (lower-cased, accents stripped)." if case == "uncased" else " (case and accents kept)."),
        "",
        "```python",
        "from bertdata import WordPieceTokenizer",
        "",
        f'tokenizer = WordPieceTokenizer.from_pretrained("bertdata-30k-{case}")',
        "```",
        "",
        *corpus_lines(words),
        f"- {len(counts):,} distinct words after BERT's normalisation.",
        "",
        f"Made from all of it by `python scripts/train_vocabularies.py`; the criterion is `{DEFAULT}`, a pair occurs",
        "at least twice, and the 1,000 most frequent characters are kept. The same sources give the same bytes.",
        "",
        "## Quality",
        "",
        f"Measured as `bertdata stats --vocab` does, on one article in {HELD_OUT['wikipedia']} and one book in "
        f"{HELD_OUT['books']}, chosen by title.",
        "The twin of this vocabulary is made in the same way without them, so has not seen them; so are those of the "
        "other",
        "criteria. The training text of the published vocabulary may hold some of them.",
        "",
        "| vocabulary | text | tokens per word | words of one token | [UNK] words | bytes per token |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for (name, source), fit in figures.items():
        lines.append(
            f"| {name} | {source} | {fit.tokens_per_word:.4f} | {fit.single_token_share:.2%} | "
            f"{fit.unknown_share:.4%} | {fit.bytes_per_token:.4f} |"
        )

    def pieces(name: str) -> float:
        return sum(fit.tokens_per_word for (kind, _), fit in figures.items() if kind.startswith(name))

    fewer = 1 - pieces("frequency") / pieces("twin")
    lines += [
        "",
        f"`{DEFAULT}` is the criterion because it is the one that BERT's sources describe. `frequency`, byte pair "
        f"encoding, gives {fewer:.1%}",
        "fewer tokens per word here, a difference that nothing says a model would notice; `--criterion frequency` has "
        "it. `score`",
        "joins what is rare, and serves for comparison only.",
    ]
    return "\n".join([*lines, ""])


def corpus_lines(words: dict[str, int]) -> list[str]:
    """Return what the cards say of the corpus."""
    total = sum(words.values())
    return [
        "## Corpus",
        "",
        f"- English Wikipedia, {words['wikipedia']:,} words ({words['wikipedia'] / total:.0%}): articles of a sample "
        "of dumps from 2006 to 2025, cleaned by bertdata, and the featured and good articles of 2019. CC BY-SA.",
        f"- Project Gutenberg books, {words['books']:,} words ({words['books'] / total:.0%}), cleaned by bertdata. "
        "Public domain.",
    ]


def bpe_card(
    compared: dict[str, Tokenizer],
    counts: pa.Table,
    words: dict[str, int],
    figures: dict[tuple[str, str], tuple[float, float]],
    digest: str,
) -> str:
    """Return the card of the byte-level BPE."""
    lines = [
        f"# {BPE_NAME}",
        "",
        f"{BPE_SIZE:,} tokens of byte-level BPE for English, case and all characters kept: [PAD] [UNK] [CLS] [SEP] "
        "[MASK], 64 unused",
        "ones, the 256 bytes, and what merges made of them. Rows are [CLS] A [SEP] and [CLS] A [SEP] B [SEP] without "
        "token types,",
        "as ModernBERT's. No text gives [UNK].",
        "",
        "```python",
        "from bertdata import load_tokenizer",
        "",
        f'tokenizer = load_tokenizer("{BPE_NAME}")',
        "```",
        "",
        *corpus_lines(words),
        f"- {len(counts):,} distinct pre-tokens by GPT-2's pattern, each with the space before it.",
        "",
        "Made from all of it by `python scripts/train_vocabularies.py bpe`, which cleans the corpus and runs",
        "",
        "```sh",
        f"bertdata train-vocab --documents CORPUS --output {BPE_NAME} --vocab-size {BPE_SIZE} {' '.join(BPE_FLAGS)}",
        "```",
        "",
        "A pair occurs at least twice. The same sources give the same bytes; SHA-256 of `tokenizer.json`:",
        "",
        f"    {digest}",
        "",
        "## Quality",
        "",
        f"Measured on one article in {HELD_OUT['wikipedia']} and one book in {HELD_OUT['books']}, chosen by title. The "
        "twins are made in the same way without",
        "these, so have not seen them; the training text of the published vocabularies may hold some. Words are what "
        "stands",
        "between white space.",
        "",
        "| vocabulary | tokens | text | tokens per word | bytes per token |",
        "|---|---:|---|---:|---:|",
    ]
    for (name, source), (per_word, per_token) in figures.items():
        lines.append(f"| {name} | {compared[name].vocab_size:,} | {source} | {per_word:.4f} | {per_token:.4f} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
