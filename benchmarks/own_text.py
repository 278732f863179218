"""Own JSON lines to rows of whole sentences: `bertdata build --documents`, and what run_mlm of transformers does.

Run: python benchmarks/own_text.py [--megabytes 100 400] [--peer-megabytes 20] [--rounds 2] [--old COMMIT]
The rows are articles of `BERTDATA_DATA`, else the sample books, again and again up to so many megabytes. What a command
takes to start is measured by a build of 1 MB; beyond it are the seconds for the rest. The peer reads the same rows with
`datasets`, tokenizes them with the fast tokenizer of transformers (batches of 1,000, `return_special_tokens_mask`),
joins them and cuts them at 512, as its run_mlm does, in one process; it cuts no sentences and writes no shards. Before
it measures, the ids of the first documents are compared. Seconds are of the processor, with all processes, unless they
are said to be of the clock; the least of the rounds. --old is a commit of bertdata, or a folder with a checkout of one,
whose shards are compared by their bytes.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

LENGTH = 512
COMPARED = 50
"""Documents whose ids are compared."""
ROOT = Path(__file__).resolve().parents[1]


class Spent(NamedTuple):
    """Seconds of the processor and of the clock."""

    processor: float
    clock: float


def main() -> None:
    """Print the tables of one worker, beside the peer and another checkout, and of two workers."""
    import _harness as harness

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, nargs="+", default=[100, 400], help="of text (default: 100 400)")
    parser.add_argument("--peer-megabytes", type=int, default=20, help="of text for the peer (default: 20)")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--old", help="a commit, or a folder with a checkout, to be measured beside this one")
    parser.add_argument("--peer", nargs=2, help=argparse.SUPPRESS)
    flags = parser.parse_args()
    if flags.peer:
        peer(*flags.peer)
        return
    print(f"{harness.machine()}\n")
    with tempfile.TemporaryDirectory(prefix="bertdata-benchmark-") as temporary, checked_out(flags.old) as old:
        folder = Path(temporary)
        checkouts = {"bertdata": ROOT} | ({f"bertdata of {flags.old}": old} if old else {})
        inputs = {size: write_rows(folder, size) for size in (1, flags.peer_megabytes, *flags.megabytes)}
        compare_ids(inputs[1], folder)
        head = ["one worker", "text, MB", "seconds", "start", "MB/s beyond the start", "this / bertdata"]
        print(harness.table(head, one_worker(checkouts, inputs, flags, folder)), flush=True)
        head = ["text, MB", "one worker, s by the clock", "two workers", "times one"]
        print("\n" + harness.table(head, two_workers(inputs, flags, folder)))


@contextlib.contextmanager
def checked_out(old: str | None) -> Iterator[Path | None]:
    """Give the folder of another checkout: one that is there, or one of a commit, which is removed afterwards."""
    if not old or Path(old).is_dir():
        yield Path(old).resolve() if old else None
        return
    with tempfile.TemporaryDirectory(prefix="bertdata-old-") as temporary:
        place = Path(temporary) / old
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", place, old], cwd=ROOT, check=True)
        try:
            yield place
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", place], cwd=ROOT, check=True)


def one_worker(
    checkouts: Mapping[str, Path], inputs: Mapping[int, Path], flags: argparse.Namespace, folder: Path
) -> list[list[str]]:
    """Return a row for each size and checkout, and one for the peer."""
    start = {name: least(flags.rounds, partial(build, at, inputs[1], folder, 1)) for name, at in checkouts.items()}
    rows: list[list[str]] = []
    ours = 0.0
    for size in flags.megabytes:
        for name, checkout in checkouts.items():
            spent = least(flags.rounds, partial(build, checkout, inputs[size], folder, 1)).processor
            speed = (size - 1) / (spent - start[name].processor)
            ours = speed if checkout == ROOT else ours
            cells = [f"{spent:.1f}", f"{start[name].processor:.1f}", f"{speed:.0f}", f"{speed / ours:.2f}"]
            rows.append([name, f"{size}", *cells])
        if len({shards(folder, checkout) for checkout in checkouts.values()}) > 1:
            sys.exit("the shards of the two checkouts differ")
    size = flags.peer_megabytes
    begun, ended = (
        least(flags.rounds, partial(run_peer, inputs[size_here], folder)).processor for size_here in (1, size)
    )
    speed = (size - 1) / (ended - begun)
    rows.append(
        ["datasets, transformers", f"{size}", f"{ended:.1f}", f"{begun:.1f}", f"{speed:.1f}", f"{speed / ours:.2f}"]
    )
    return rows


def two_workers(inputs: Mapping[int, Path], flags: argparse.Namespace, folder: Path) -> list[list[str]]:
    """Return a row for each size: what a build takes by the clock with one worker and with two."""
    rows = []
    for size in flags.megabytes:
        alone, two = (least(flags.rounds, partial(build, ROOT, inputs[size], folder, many)).clock for many in (1, 2))
        rows.append([f"{size}", f"{alone:.1f}", f"{two:.1f}", f"{two / alone:.2f}"])
    return rows


def write_rows(folder: Path, megabytes: int) -> Path:
    """Write JSON lines with so much text, and return where."""
    import _articles

    texts, _ = _articles.texts(megabytes * 1e6)
    path, size, number = folder / f"{megabytes}.jsonl", 0, 0
    with path.open("w", encoding="utf-8") as file:
        while size < megabytes * 1e6:
            text = texts[number % len(texts)]
            file.write(json.dumps({"id": str(number), "title": f"Article {number}", "text": text}) + "\n")
            size, number = size + len(text.encode()), number + 1
    return path


def least(rounds: int, work: Callable[[], Spent]) -> Spent:
    """Return the least that some rounds of work took."""
    spent = [work() for _ in range(rounds)]
    return Spent(min(round_spent.processor for round_spent in spent), min(round_spent.clock for round_spent in spent))


def timed(command: Sequence[str | Path], checkout: Path) -> Spent:
    """Run a command with the modules of a checkout, and return what it took with its processes."""
    before, began = os.times(), time.perf_counter()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(
        [*map(str, command)],
        check=True,
        stdout=subprocess.DEVNULL,
        env=environment | {"PYTHONPATH": str(checkout)},
        cwd=checkout,  # where `python -m` looks first
    )
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return Spent(used, time.perf_counter() - began)


def build(checkout: Path, rows: Path, folder: Path, workers: int) -> Spent:
    """Build rows of whole sentences anew, and return what that took."""
    output = folder / f"corpus-{checkout.name}"
    shutil.rmtree(output, ignore_errors=True)
    call: list[str | Path] = [
        "build",
        "--documents",
        rows,
        "--output",
        output,
        "--vocab",
        "bertdata-30k-uncased",
        "--quiet",
        "--force",
    ]
    call += ["--objective", "full-sentences", "--max-seq-length", str(LENGTH), "--workers", str(workers)]
    return timed([sys.executable, "-m", "bertdata", *call], checkout)


def shards(folder: Path, checkout: Path) -> str:
    """Return a digest of the shards of the last build of a checkout."""
    digest = hashlib.sha256()
    for path in sorted((folder / f"corpus-{checkout.name}").glob("*/*.arrow")):
        digest.update(f"{path.parent.name}/{path.name}".encode() + path.read_bytes())
    return digest.hexdigest()


def run_peer(rows: Path, folder: Path) -> Spent:
    """Tokenize, join and cut rows with `datasets` and transformers, and return what that took."""
    return timed([sys.executable, __file__, "--peer", rows, folder / "tokenizer"], ROOT)


def compare_ids(rows: Path, folder: Path) -> None:
    """Save the tokenizer for the peer, and end the program unless the ids of both are the same."""
    from transformers import AutoTokenizer

    import bertdata

    ours = bertdata.load_tokenizer("bertdata-30k-uncased")
    ours.save_pretrained(str(folder / "tokenizer"))
    theirs = AutoTokenizer.from_pretrained(str(folder / "tokenizer"))
    with rows.open(encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line, _ in zip(lines, range(COMPARED), strict=False)]
    if [ours(text)["input_ids"] for text in texts] != theirs(texts)["input_ids"]:
        sys.exit("the ids differ")


def peer(rows: str, tokenizer_folder: str) -> None:
    """Do what run_mlm does before it trains, in one process."""
    import datasets
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)

    def tokenized(batch: dict[str, list[str]]) -> Any:
        return tokenizer(batch["text"], return_special_tokens_mask=True)

    def cut(batch: dict[str, list[list[int]]]) -> dict[str, list[list[int]]]:
        joined = {name: [value for row in column for value in row] for name, column in batch.items()}
        total = len(joined["input_ids"]) // LENGTH * LENGTH
        return {name: [values[at : at + LENGTH] for at in range(0, total, LENGTH)] for name, values in joined.items()}

    datasets.disable_progress_bars()
    with tempfile.TemporaryDirectory(prefix="bertdata-benchmark-") as cache:
        data = datasets.load_dataset("json", data_files=rows, split="train", cache_dir=cache)
        data = data.map(tokenized, batched=True, remove_columns=data.column_names)
        data.map(cut, batched=True)


if __name__ == "__main__":
    main()
