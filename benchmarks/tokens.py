"""The processor time of each step of the token store, from documents to tokens.

Run: python benchmarks/tokens.py [--megabytes 10] [--rounds 3] [--vocab bertdata-30k-uncased]
It reads plain Wikipedia articles from Parquet as a build does, and writes token files; each round has documents of its
own, and the first, which loads kernels and fills caches, is left out. It needs the folder that BERTDATA_DATA names, or
../shared/data.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import _harness as harness
import pyarrow as pa
import pyarrow.parquet as pq
from sentences import DATA, articles

from bertdata import SentenceSegmenter, WordPieceTokenizer
from bertdata.corpus.token_store import write_tokens

READ, SENTENCES, PIECES, STORE = "read Parquet", "sentences", "WordPiece", "group by shard, write"
SHARD_ENDS = tuple((1 << 32) * (shard + 1) // 8 for shard in range(8))
RANGE = 4_000_000


def main() -> None:
    """Measure the rounds and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=10, help="text of one round (default: 10)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--vocab", default="bertdata-30k-uncased")
    flags = parser.parse_args()
    if not (DATA / "wikipedia-plain").exists():
        sys.exit(f"no plain text below {DATA}; set BERTDATA_DATA to a folder with wikipedia-plain/")
    tokenizer, segmenter = WordPieceTokenizer.from_pretrained(flags.vocab), SentenceSegmenter.from_pretrained()
    texts, rounds, sizes = articles(flags.megabytes * 1e6 * (flags.rounds + 1)), [], []
    each = -(-len(texts) // (flags.rounds + 1))
    with tempfile.TemporaryDirectory(prefix="bertdata-benchmark-") as folder:
        path = Path(folder) / "documents.parquet"
        for begin in range(0, len(texts), each):
            part = texts[begin : begin + each]
            table = pa.table({"id": [f"document {begin + n}" for n in range(len(part))], "text": part})
            pq.write_table(table, path, compression="zstd", row_group_size=200)
            rounds.append(measure(path, tokenizer, segmenter))
            sizes.append(sum(len(text.encode()) for text in part))
    spent = {name: sum(seconds[name] for seconds in rounds[1:]) for name in rounds[0]}
    size, total = sum(sizes[1:]), sum(spent.values())
    rows = [
        [name, f"{seconds:.2f}", f"{100 * seconds / total:.0f}%", f"{size / seconds / 1e6:.0f}"]
        for name, seconds in spent.items()
    ]
    rows.append(["together", f"{total:.2f}", "100%", f"{size / total / 1e6:.0f}"])
    print(harness.table(["step", "CPU seconds", "share", "MB/s"], rows))
    print(f"\n{size / 1e6:.1f} MB of text in {flags.rounds} rounds, one core of {harness.machine()}")


def measure(path: Path, tokenizer: WordPieceTokenizer, segmenter: SentenceSegmenter) -> dict[str, float]:
    """Return the processor seconds of each step of writing the tokens of all documents, one file for each range."""
    spent = dict.fromkeys((READ, SENTENCES, PIECES, STORE), 0.0)

    class Timed:
        """An object whose one method is measured."""

        def __init__(self, inner: Any, method: str, step: str) -> None:
            self._inner = inner
            setattr(self, method, timed(getattr(inner, method), step))

        def __getattr__(self, name: str) -> Any:
            return getattr(self._inner, name)

    def timed(function: Callable[..., Any], step: str) -> Callable[..., Any]:
        def run(*arguments: Any, **keywords: Any) -> Any:
            began = time.process_time()
            result = function(*arguments, **keywords)
            spent[step] += time.process_time() - began
            return result

        return run

    pieces: Any = Timed(tokenizer, "encode_batch", PIECES)
    sentences: Any = Timed(segmenter, "segment_batch", SENTENCES)
    tables = ranges_of(path)
    next_range = timed(lambda: next(tables, None), READ)
    while (table := next_range()) is not None:
        before = spent[SENTENCES] + spent[PIECES]
        began = time.process_time()
        write_tokens([table], pieces, sentences, SHARD_ENDS, io.BytesIO())
        spent[STORE] += time.process_time() - began - (spent[SENTENCES] + spent[PIECES] - before)
    return spent


def ranges_of(path: Path) -> Iterator[pa.Table]:
    """Yield documents in tables of RANGE bytes of text or a little more."""
    gathered: list[pa.RecordBatch] = []
    for batch in pq.ParquetFile(path).iter_batches(200):
        gathered.append(batch)
        if sum(array.nbytes for array in gathered) >= RANGE:
            yield pa.Table.from_batches(gathered)
            gathered = []
    if gathered:
        yield pa.Table.from_batches(gathered)


if __name__ == "__main__":
    main()
