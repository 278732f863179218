"""How mixed the batches of a window shuffle are: spread of sources and lengths within a batch, beside a full shuffle.

Run: python benchmarks/order.py [CORPUS] [--batch 256] [--epochs 4]; without a corpus it builds one of the dumps and the
books in the folder that BERTDATA_DATA names, or ../shared/data.

The order is that of the loader (`WindowedOrder`), over the shards as they were built, and over the same rows sorted by
source and length, which is the worst that shards can be. Of each batch: by how many percentage points the share of the
first source differs from its share of all rows, and by how many tokens the mean length differs from that of all rows,
both as root mean square over the batches of some epochs. `expected` is what a draw without replacement gives.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from _harness import DATA, table
from numpy.typing import NDArray

from bertdata.cli.main import main as bertdata
from bertdata.io import files
from bertdata.io.console import byte_size
from bertdata.loader import ShardExamples
from bertdata.loader.window_order import WindowedOrder

WINDOWS = (1, 2, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class Rows:
    """Rows in the order of their shards: the source and the length of each (N,), and the rows of each shard (S,)."""

    sources: NDArray[np.int64]
    lengths: NDArray[np.int64]
    shards: NDArray[np.int64]

    def sorted(self) -> Rows:
        """Return the rows sorted by source and length, in shards of the same sizes."""
        order = np.lexsort((self.lengths, self.sources))
        return Rows(self.sources[order], self.lengths[order], self.shards)


def main() -> None:
    """Print a table of windows for both orders of the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", nargs="?", help="a build of several sources (default: build one)")
    parser.add_argument("--batch", type=int, default=256, help="rows in a batch (default: 256)")
    parser.add_argument("--epochs", type=int, default=4, help="epochs that are counted (default: 4)")
    flags = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bertdata-order-") as folder:
        examples = ShardExamples(flags.corpus or built(folder), "train")
        rows = Rows(
            np.asarray(examples.sources, np.int64),
            examples.lengths.astype(np.int64),
            np.concatenate(examples.shard_rows),
        )
        paths = [path for item in examples.sets for path in item.paths]
        size = byte_size(sum(files.size(path) for path in paths) // len(paths))
    share = 100 * (rows.sources == 0).mean()
    print(
        f"{len(rows.lengths):,} rows in {len(rows.shards)} shards of about {size}; {share:.1f}% of the first source, "
        f"{rows.lengths.mean():.1f} tokens a row (sd {rows.lengths.std():.1f}); batches of {flags.batch}"
    )
    lines = []
    for window in (*(item for item in WINDOWS if item < len(rows.shards)), len(rows.shards)):
        name = "all: a full shuffle" if window == len(rows.shards) else str(window)
        spreads = [spread(item, window, flags.batch, flags.epochs) for item in (rows, rows.sorted())]
        lines.append([name, *(f"{value:.2f}" for pair in spreads for value in pair), f"{held(rows, window):.0%}"])
    lines.append(
        ["expected of a full shuffle", *(2 * [f"{value:.2f}" for value in expected(rows, flags.batch)]), "100%"]
    )
    head = ["shards in a window", "source, points", "length, tokens", "sorted: source", "sorted: length", "cache"]
    print(table(head, lines))


def built(folder: str) -> str:
    """Build shards of the dumps and the books of the data folder, and return where they are."""
    dumps = [str(path) for path in sorted((DATA / "wikipedia").glob("*.xml*.bz2"))]
    if not dumps or not (DATA / "books").is_dir():
        sys.exit(f"no data in {DATA}; set BERTDATA_DATA to a folder with wikipedia/ and books/, or name a corpus")
    command = ["build", "--vocab", "bertdata-30k-uncased", "--wikipedia", *dumps, "--books", str(DATA / "books")]
    command += ["--objective", "doc-sentences", "--max-seq-length", "128", "--shard-bytes", "200000", "--quiet"]
    if bertdata([*command, "--output", f"{folder}/corpus"]):
        sys.exit("the corpus was not built")
    return f"{folder}/corpus"


def spread(rows: Rows, window: int, batch: int, epochs: int) -> tuple[float, float]:
    """Return by how much batches differ from all rows, as root mean squares: points of the first source, and tokens."""
    order = WindowedOrder(size=len(rows.lengths), key=1, rows=rows.shards, window=window, shards_key=2, first=0)
    squares = []
    for epoch in range(1, epochs + 1):  # epoch 0 begins with small windows
        _, numbers = order.pairs(np.arange(len(rows.lengths)) + epoch * len(rows.lengths))
        whole = numbers[: len(numbers) // batch * batch].reshape(-1, batch)
        shares = 100 * ((rows.sources[whole] == 0).mean(1) - (rows.sources == 0).mean())
        lengths = rows.lengths[whole].mean(1) - rows.lengths.mean()
        squares.append([shares**2, lengths**2])
    source, length = np.sqrt(np.concatenate(squares, axis=1).mean(1))
    return float(source), float(length)


def expected(rows: Rows, batch: int) -> tuple[float, float]:
    """Return what `spread` is of batches that are drawn from all rows without replacement."""
    share, number = (rows.sources == 0).mean(), len(rows.lengths)
    shrink = math.sqrt((number - batch) / (number - 1) / batch)
    return 100 * math.sqrt(share * (1 - share)) * shrink, float(rows.lengths.std()) * shrink


def held(rows: Rows, window: int) -> float:
    """Return which part of all shards a cache of two windows holds."""
    return min(1.0, 2 * window / len(rows.shards))


if __name__ == "__main__":
    main()
