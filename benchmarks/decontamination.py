"""Decontamination: documents searched for 13-grams of test data, times datatrove's speed.

    pip install "datatrove==0.10.1" "spacy==3.8.*" "xxhash<4" zstandard
    python benchmarks/decontamination.py --data DATA [--documents 300] [--tests 5000] [--rounds 3]

The test data are passages of 13 to 40 words: one of every third document, in other case and punctuation, and others
whose words are mixed, which no document has. Both get the same texts and n-grams of 13 words, datatrove's filter with
numbers and accents left as they are; its index is made by its own `compute_hashes`, without lighteval, which `run`
would need. Which documents hold test data is compared before anything is printed. CPU time of one process; the index
is made once, and its time is not counted; the lowest ratio of the rounds is printed.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from filters import texts_of

from bertdata.curation.decontamination.ngram_table import NgramTable
from bertdata.curation.decontamination.search import find_hits

WORDS = 13


def main() -> None:
    """Print the documents a second of both, and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--tests", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    flags = parser.parse_args()
    texts = texts_of(flags.data, flags.documents, books=False)
    tests, planted = test_data(texts, flags.tests)
    batch = pa.array(texts, pa.string())
    table = NgramTable.of({"tests": tests}, WORDS)
    find_hits(batch.slice(0, 1), table)
    with tempfile.TemporaryDirectory() as folder:
        peer = datatrove_filter(folder, tests)
        theirs(peer, texts[:1])
        rounds = []
        for number in range(flags.rounds):
            began = time.process_time()
            hits = {hit.text for hit in find_hits(batch, table)}
            spent = time.process_time() - began
            expected, other = theirs(peer, texts)
            if hits != expected:
                sys.exit(f"the documents differ: {sorted(hits ^ expected)}")
            if not planted <= hits:
                sys.exit(f"planted passages were missed in {sorted(planted - hits)}")
            rounds.append((spent, other))
            print(f"round {number + 1}: {spent:.3f} and {other:.1f} s", file=sys.stderr, flush=True)
    ratio = min(other / spent for spent, other in rounds)
    rates = [len(texts) / min(spent) for spent in zip(*rounds, strict=True)]
    looked_for = f"{len(tests):,} test texts, {len(table.hashes):,} n-grams"
    print(f"{len(texts):,} documents, {looked_for}; the same {len(hits)} documents hit\n")
    print("| | documents a second | datatrove | times |\n|---|---:|---:|---:|")
    print(f"| `--decontaminate`, {WORDS} words | {rates[0]:,.0f} | {rates[1]:,.1f} | {ratio:.0f} |")


def test_data(texts: list[str], number: int) -> tuple[list[str], set[int]]:
    """Return passages of test data, and the texts that one was taken from."""
    draw = random.Random(1)
    tests, planted = [], set()
    for place in range(number):
        text = place * 3 % len(texts)
        words = [word for word in texts[text].split() if word.isascii() and word.isalpha()]
        if place * 3 < len(texts) and (passage := run_of_words(texts[text], draw)):
            tests.append(passage.upper().replace(" ", ", ") + "?")
            planted.add(text)
        elif len(words) > 40:
            tests.append(" ".join(draw.sample(words, 40)))
    return tests, planted


def run_of_words(text: str, draw: random.Random) -> str:
    """Return a run of 13 to 40 words of letters alone, "" where a text has none."""
    runs: list[list[str]] = [[]]
    for word in text.split():
        if word.isascii() and word.isalpha():
            runs[-1].append(word)
        else:
            runs.append([])
    long = [run for run in runs if len(run) >= WORDS]
    return " ".join(draw.choice(long)[:40]) if long else ""


def datatrove_filter(folder: str, tests: list[str]) -> Any:
    """Return datatrove's filter with an index of the test data."""
    from datatrove.pipeline.decont import NGramsDecontConfig, NGramsDecontFilter, NGramsDecontIndexer
    from datatrove.utils.text import TextNormConfig

    norm = TextNormConfig(norm_numbers=False, norm_unicode_diacritics=False)
    config = NGramsDecontConfig(n_grams=WORDS, find_overlap_ngrams=False, norm_config=norm)
    indexer: Any = object.__new__(NGramsDecontIndexer)  # its __new__ wants lighteval
    indexer.__init__(folder, config=config)
    hashes = sorted({value for text in tests for value in indexer.compute_hashes(text)})
    np.array(hashes, config.hash_config.np_descr).tofile(Path(folder) / "tests.index.hashes")
    return NGramsDecontFilter(folder, config=config)


def theirs(peer: Any, texts: list[str]) -> tuple[set[int], float]:
    """Return which documents datatrove's filter drops, and the seconds of CPU that it takes."""
    from datatrove.data import Document

    documents = [Document(text=text, id="") for text in texts]
    began = time.process_time()
    numbers = {number for number, document in enumerate(documents) if peer.filter(document) is not True}
    return numbers, time.process_time() - began


if __name__ == "__main__":
    main()
