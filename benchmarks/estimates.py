"""How near `bertdata build --dry-run` comes to what builds then make and take, with one worker and with two.

Run: python benchmarks/estimates.py [--gigabytes 0.1 1.5] [--folder DIR]
It estimates and builds what is in the folder that BERTDATA_DATA names, or ../shared/data: a dump and books, rows of
JSON, and XML made as `benchmarks/build.py` makes it. Each cell is what was estimated, and what was built; disk is the
shards and stages. With one worker the estimated CPU-s are its time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from _harness import DATA, processor_seconds
from _large_dump import write_xml

WORKERS = (1, 2)
COLUMNS = ("of", "text, MB", "tokens, M", "examples", "disk, MB", "CPU-s", "one worker, s", "two workers, s")


def main() -> None:
    """Print a table with a row for each input."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, nargs="+", default=[0.1, 1.5], metavar="N", help="of XML to be made")
    parser.add_argument("--folder", help="where to build; the XML there is kept for later runs")
    flags = parser.parse_args()
    if not (DATA / "wikipedia-plain").is_dir():
        sys.exit(f"no data in {DATA}; set BERTDATA_DATA to a folder with wikipedia/, books/ and wikipedia-plain/")
    print(f"| {' | '.join(COLUMNS)} |\n|---|" + "---:|" * (len(COLUMNS) - 1), flush=True)
    with tempfile.TemporaryDirectory(prefix="bertdata-estimates-") as temporary:
        folder = Path(flags.folder or temporary)
        for name, arguments in inputs(folder, flags.gigabytes):
            print(f"| {name} | {' | '.join(compared(arguments, Path(temporary) / 'corpus'))} |", flush=True)


def inputs(folder: Path, gigabytes: Sequence[float]) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each input and the flags of its build; writes the XML that is not there."""
    [dump] = (DATA / "wikipedia").glob("*-pages-articles*.xml.bz2")
    rows = DATA / "wikipedia-plain" / "good-2019.jsonl.zst"
    megabytes = dump.stat().st_size / 1e6
    yield f"{megabytes:.0f} MB of bz2 and 45 MB of books", ["--wikipedia", f"{dump}", "--books", f"{DATA / 'books'}"]
    for more in ("--masking static --dupe-factor 2", "--model unigram", "--dedup near"):
        yield f"9 MB of rows in zst, `{more}`", ["--documents", str(rows), *more.split()]
    for size in gigabytes:
        path = folder / f"wiki-{size:g}.xml"
        if not path.exists():
            write_xml(dump, path, int(size * 1e9), compress=False)
        yield f"{size:g} GB of XML", ["--wikipedia", str(path)]


def compared(arguments: Sequence[str], output: Path) -> list[str]:
    """Return the cells of one input: what is estimated of each figure, and what a build made or took."""
    command = [sys.executable, "-m", "bertdata", "build", *arguments, "--output", str(output)]
    estimate = json.loads(processor_seconds([*command, "--dry-run", "--json"], subprocess.PIPE)[1])["estimate"]
    used, walls = [], []
    for workers in WORKERS:
        began = time.monotonic()
        building = [*command, "--workers", str(workers), "--json", "--quiet", "--force"]
        seconds, printed = processor_seconds(building, subprocess.PIPE)
        walls.append(time.monotonic() - began)
        used.append(seconds)
    manifest = json.loads(printed)["manifest"]
    made = sum(path.stat().st_size for name in ("stages", "train", "validation") for path in (output / name).rglob("*"))
    counts, times = manifest["tokens"]["counts"], estimate["wall_seconds"]
    examples = sum(split["counts"]["examples"] for split in manifest["splits"].values())
    pairs = [
        (estimate["text_bytes"] / 1e6, counts["text_bytes"] / 1e6, ".0f"),
        (estimate["tokens"] / 1e6, counts["tokens"] / 1e6, ".2f"),
        (estimate["examples"], examples, ",d"),
        (estimate["stored"] / 1e6, made / 1e6, ".0f"),
        (times["1"], used[0], ".1f"),
        *((times[str(number)], wall, ".1f") for number, wall in zip(WORKERS, walls, strict=True)),
    ]
    return [f"{estimated:{form}} / {real:{form}}" for estimated, real, form in pairs]


if __name__ == "__main__":
    main()
