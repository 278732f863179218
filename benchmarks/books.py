"""Books: which lines are kept and lost, and how fast on one core, ours and other tools.

Run: python benchmarks/books.py [--rounds 3] [--books N]
Lines are those of pairs of a raw Project Gutenberg file and its text without header and licence. A line is kept where
its letters and digits, with or without those of footnote marks, are in the output in that order, whatever its
wrapping. Long lines are those of at least eight words in a block of at least three lines; archive lines are those of
the raw file that are not in that text. Headings, contents, footnotes, tables and indexes are lines too, and ours leaves
them out on purpose; the other tools leave them in, and keep lines wrapped and marks of italics in place. Speed is bytes
of raw books over CPU seconds, all tools in turns on the same core and books. Before it measures, it checks that ours
gives the same bytes from both files of each pair. It needs the folder that BERTDATA_DATA names, or ../shared/data; each
peer gets an environment of its own in a cache folder, and is left out, saying so, where that cannot be made.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("BERTDATA_DATA") or ROOT.parent / "shared" / "data")
OURS = "bertdata `clean_book`"
PEERS = {
    "gutenbergpy `strip_headers`": ["gutenbergpy"],
    "gutenberg-cleaner simple": ["gutenberg-cleaner", "nltk"],
    "gutenberg-cleaner super": ["gutenberg-cleaner", "nltk"],
}
Clean = Callable[[str], str]
_MARK = re.compile(r"\[\d{1,3}\]|\{\d{1,3}\}")


def main() -> None:
    """Check, measure in turns, print one table."""
    import _harness as harness

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--books", type=int, default=12, metavar="N", help="books that the speed is measured on")
    flags = parser.parse_args()
    raws = sorted((DATA / "books-pairs" / "raw").glob("*.txt"))
    if not raws:
        sys.exit(f"no pairs of books below {DATA}; set BERTDATA_DATA to a folder with books-pairs/ and books/")
    pairs = [(text_of(raw), text_of(raw.parent.parent / "clean" / raw.name)) for raw in raws]
    books = sorted((DATA / "books").glob("*.txt"))
    with tempfile.TemporaryDirectory(prefix="bertdata-benchmark-") as folder:
        work = Path(folder) / "work.json"
        timed = [text_of(path) for path in books[:: max(1, len(books) // flags.books)]]
        work.write_text(json.dumps({"pairs": pairs, "books": timed}))
        contestants = {}
        for name in (OURS, *PEERS):
            python: str | Path = sys.executable
            if name in PEERS:
                try:
                    python = harness.environment_of(PEERS[name][0], PEERS[name])
                except subprocess.CalledProcessError as error:
                    print(f"{name} is left out: its environment cannot be made ({error})", file=sys.stderr)
                    continue
            contestants[name] = harness.Contestant([python, __file__, "--work", work, name], core=0)
        ours = contestants[OURS].first
        if ours["cleaned"] != ours["bare"]:
            sys.exit("ours gives other text of a raw file than of its text without header and licence")
        said = harness.interleaved(contestants, flags.rounds)
        for contestant in contestants.values():
            contestant.end()
    speeds = {name: harness.median(answers, "bytes_per_second") for name, answers in said.items()}
    rows = []
    for name, contestant in contestants.items():
        counts = kept_lines(pairs, contestant.first["cleaned"])
        shares = [f"{kept / total:.2%}" for kept, total in counts]
        rows.append([name, *shares, f"{speeds[name] / 1e6:.2f}", f"{speeds[name] / speeds[OURS]:.2f}"])
    head = ["tool", "long lines kept", "all lines kept", "frame lines kept", "MB/s", "this / bertdata"]
    print(harness.table(head, rows))
    print(f"\n{len(pairs)} pairs of books; speed on {len(timed)} books, {harness.machine()}, one core")


def text_of(path: Path) -> str:
    """Return the text of a book, UTF-8 or else cp1252, without a byte-order mark, its lines ended by line feeds."""
    data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def kept_lines(pairs: list[tuple[str, str]], cleaned: list[str]) -> list[tuple[int, int]]:
    """Return (kept, all) of the long lines, of all lines, and of those that only the raw files have."""
    long, every, archive = [0, 0], [0, 0], [0, 0]
    for (raw, bare_text), output in zip(pairs, cleaned, strict=True):
        letters, own = letters_of(output), set(map(letters_of, bare_text.split("\n")))
        position = 0
        for block in bare_text.split("\n\n"):
            lines = [line for line in block.split("\n") if letters_of(line)]
            for line in lines:
                wanted, unmarked = letters_of(line), letters_of(_MARK.sub("", line))
                near = letters.find(wanted, position, position + 20_000)
                place = near if near >= 0 else max(letters.find(wanted), letters.find(unmarked))
                position = place + len(unmarked) if place >= 0 else position
                for counts in (every, long) if len(lines) > 2 and len(line.split()) > 7 else (every,):
                    counts[0] += place >= 0
                    counts[1] += 1
        foreign = {letters_of(line) for line in raw.split("\n") if len(line.split()) > 3} - own
        archive[0] += sum(line in letters for line in foreign)
        archive[1] += len(foreign)
    return [(kept, total) for kept, total in (long, every, archive)]


def letters_of(text: str) -> str:
    """Return the letters and digits of a text, lower-cased."""
    return "".join(filter(str.isalnum, text.lower()))


def cleaner_of(name: str) -> Clean:
    """Return what cleans a book, of the tool that this environment has."""
    if name == OURS:
        sys.path.insert(0, str(ROOT))
        from bertdata import clean_book

        return lambda text: clean_book(text) or ""
    if name.startswith("gutenbergpy"):
        from gutenbergpy.textget import strip_headers  # type: ignore[import-not-found, unused-ignore]

        return lambda text: strip_headers(text.encode()).decode("utf-8", "replace")
    import gutenberg_cleaner  # type: ignore[import-not-found, unused-ignore]

    if name.endswith("simple"):
        return lambda text: str(gutenberg_cleaner.simple_cleaner(text))
    return lambda text: str(gutenberg_cleaner.super_cleaner(text, -1)).replace("[deleted]", "")


def contestant(work: str, name: str) -> None:
    """Say what the pairs become, then time one round for each line of input."""
    given = json.loads(Path(work).read_text())
    clean = cleaner_of(name)
    cleaned = [clean(raw) for raw, _ in given["pairs"]]
    bare = [clean(bare_text) for _, bare_text in given["pairs"]] if name == OURS else []
    print(json.dumps({"cleaned": cleaned, "bare": bare}), flush=True)
    size = sum(len(text.encode()) for text in given["books"])
    for _ in sys.stdin:
        began = time.process_time()
        for text in given["books"]:
            clean(text)
        print(json.dumps({"bytes_per_second": size / (time.process_time() - began)}), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        contestant(sys.argv[2], sys.argv[3])
    else:
        main()
