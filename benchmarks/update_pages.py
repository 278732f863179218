"""Run the benchmarks whose tables stand in the pages, and put the new tables and figures there.

Run: scripts/bench [NAME ...] [--list] [--figures]     NAME: tokenizer, loader ...; default: all

A table of README.md or of a page named in `_NAMES` stands between two comments,
of which the first has its command and its place among the tables that the command prints:

    <!-- begin: python benchmarks/loader.py --rounds 3; table 1 -->
    <!-- end -->

Each command is run once and its tables are replaced; below its last table, as `; run`, stand the date, the machine and
the versions. What a benchmark says of `FIGURES` goes to benchmarks/figures.jsonl, a line a run. All its lines make the
table of figures (`<!-- begin: figures -->`): the lowest and the highest of all runs. `--figures` writes that table
alone. A command that fails leaves its tables as they were, and is named at the end.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import importlib.metadata
import json
import math
import os
import platform
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from _harness import ENVIRONMENTS, ROOT, machine, table

from bertdata.io.console import counted

_NAMES = (
    "docs/benchmarks.md",
    "docs/estimates.md",
    "docs/explain/order.md",
    "docs/finetuning.md",
    "docs/gpu.md",
    "docs/loader.md",
    "docs/peers.md",
    "docs/scale.md",
    "docs/tokenizers.md",
    "README.md",
)
PAGES = tuple(ROOT / name for name in _NAMES)
HISTORY = ROOT / "benchmarks" / "figures.jsonl"
PACKAGES = ("numba", "numpy", "pyarrow", "torch")
_PLACE = re.compile(r"(<!-- begin: (?P<name>[^\n]*?) -->\n)(?P<held>.*?)(<!-- end -->)", re.S)

Table = list[list[str]]
"""The rows of a Markdown table, the head first."""


@dataclass(frozen=True)
class Figure:
    """How many times as fast as a peer bertdata does some work: two cells of a table, by their rows and columns.

    A row is named by its first cells, a column by its head. With `seconds` less is faster.
    """

    work: str
    peer: str
    benchmark: str
    rows: tuple[tuple[str, ...], tuple[str, ...]]
    columns: tuple[str, str]
    place: int = 0
    seconds: bool = False

    @property
    def name(self) -> str:
        """What names the figure in the history."""
        return f"{self.work}: {self.peer}"

    def of(self, tables: Sequence[Table]) -> float:
        """Return the figure of a run; raises ValueError where the run printed no such cells.

        >>> figure = Figure("work", "peer", "", (("ours",), ("theirs",)), ("MB/s", "MB/s"))
        >>> figure.of([[["tool", "MB/s"], ["ours", "1,200.0"], ["theirs", "100.0"]]])
        12.0
        """
        ours, theirs = (cell(tables, self.place, row, head) for row, head in zip(self.rows, self.columns, strict=True))
        return theirs / ours if self.seconds else ours / theirs


def cell(tables: Sequence[Table], place: int, row: tuple[str, ...], column: str) -> float:
    """Return the number in a cell of a table; raises ValueError where there is none."""
    if place < len(tables):
        head, *rows = tables[place]
        matching = [cells for cells in rows if tuple(cells[: len(row)]) == row]
        if matching and column in head:
            return float(matching[0][head.index(column)].replace(",", ""))
    raise ValueError(f"table {place + 1} has no row {' | '.join(row)} with {column}")


def speeds(work: str, benchmark: str, ours: str, theirs: Mapping[str, str], column: str, **more: bool) -> list[Figure]:
    """Return the figures of one kind of work against several peers: the name of each, and its row."""
    pairs = [(peer, ((ours,), (row,))) for peer, row in theirs.items()]
    return [Figure(work, peer, benchmark, rows, (column, column), **more) for peer, rows in pairs]


def of_model(work: str, model: str, theirs: Iterable[str], place: int) -> list[Figure]:
    """Return the figures of the tokenizer of a model."""
    speed = ("MB/s warm", "MB/s warm")
    return [
        Figure(work, peer, "tokenizer.py --models", ((model, "bertdata"), (model, peer)), speed, place)
        for peer in theirs
    ]


COPY = "BERT's create_pretraining_data (our own faithful copy)"
HUGGING_FACE = "datasets + DataCollatorForLanguageModeling"
FIGURES = [
    *speeds("a bz2 dump decoded", "dump.py", "bertdata", {"bzip2": "`bzip2 -dc`"}, "MB/s"),
    *speeds(
        "wikitext to prose",
        "wikitext.py",
        "bertdata",
        {
            "wikiextractor": "wikiextractor 3.1, `--no-templates`",
            "mwparserfromhell": "mwparserfromhell `strip_code`",
        },
        "MB/s",
    ),
    *speeds(
        "sentences, with Punkt's boundaries",
        "sentences.py",
        "bertdata `spans_batch`",
        {"NLTK": "NLTK, our parameters", "BlingFire": "BlingFire", "sentencex": "sentencex"},
        "MB/s",
    ),
    *speeds(
        "WordPiece", "tokenizer.py", "bertdata", {"tokenizers": "tokenizers", "nanotoken": "nanotoken"}, "MB/s warm"
    ),
    *of_model("byte-level BPE (RoBERTa's)", "roberta", ("tokenizers", "gigatoken"), 0),
    *of_model("Unigram (ALBERT's)", "albert_v2", ("tokenizers",), 1),
    *speeds(
        "a vocabulary of 30,000 tokens",
        "trainer.py",
        "bertdata likelihood",
        {"tokenizers": "tokenizers `WordPieceTrainer`"},
        "seconds",
        seconds=True,
    ),
    *speeds(
        "tokens to NSP shards",
        "examples.py",
        "bertdata, token store to shards, dynamic",
        {"BERT's script": f"{COPY}, static"},
        "million tokens/s",
    ),
    Figure(
        "text to static examples, ten copies",
        "BERT's script",
        "pretraining_data.py",
        (("bertdata, static masks", "10"), (COPY, "10")),
        ("million tokens/s, copies counted",) * 2,
    ),
    Figure(
        "fine-tuning data, question answering",
        "transformers' recipe",
        "finetune.py",
        (("question answering, rows of 384",),) * 2,
        ("`bertdata encode-task`, examples/s", "recipe, examples/s"),
    ),
    *speeds(
        "an epoch of pairs, no text twice in a batch",
        "distinct_pairs.py",
        "`EpochBatchSampler(distinct=...)`",
        {
            "NO_DUPLICATES of sentence-transformers": "`NO_DUPLICATES`",
            "its NO_DUPLICATES_HASHED": "`NO_DUPLICATES_HASHED`",
        },
        "each further epoch, CPU s",
        seconds=True,
    ),
    Figure(
        "shards to masked batches, 511 MB of shards",
        "datasets with transformers' collator",
        "loader.py",
        (("bertdata.torch",), (HUGGING_FACE,)),
        ("million tokens/s",) * 2,
        place=1,
    ),
    Figure(
        "the same, 2 MB that stay in the cache",
        "datasets with transformers' collator",
        "loader.py",
        (("bertdata.torch",), (HUGGING_FACE,)),
        ("million tokens/s",) * 2,
    ),
    Figure(
        "a training step of ModernBERT, rows of 512",
        "transformers",
        "modernbert.py",
        (("512", "bertdata, padded"), ("512", "transformers, sdpa")),
        ("ms a step",) * 2,
        seconds=True,
    ),
]


def tables_of(text: str) -> list[Table]:
    """Return the Markdown tables of a text.

    >>> tables_of("Two rounds.\\n\\n| a | b |\\n| --- | ---: |\\n| 1 | 2 |\\n")
    [[['a', 'b'], ['1', '2']]]
    """
    tables_read: list[Table] = []
    inside = False
    for line in text.splitlines():
        if not line.startswith("|"):
            inside = False
            continue
        cells = [cell_text.strip() for cell_text in line.strip().strip("|").split(" | ")]
        if not inside:
            tables_read.append([])
        inside = True
        if not all(re.fullmatch(":?-+:?", cell_text) for cell_text in cells):
            tables_read[-1].append(cells)
    return tables_read


def places(page: str) -> dict[str, str]:
    """Return what stands between the comments of a page, by the names of these.

    >>> places("<!-- begin: figures -->\\nheld\\n<!-- end -->")
    {'figures': 'held\\n'}
    """
    return {match["name"]: match["held"] for match in _PLACE.finditer(page)}


def commands(page: str) -> list[str]:
    """Return the commands whose tables are in a page, in their order, each once.

    >>> commands("<!-- begin: python a.py --of 2; table 1 -->\\n<!-- end --><!-- begin: figures -->\\n<!-- end -->")
    ['python a.py --of 2']
    """
    names = [name.rpartition("; ")[0] for name in places(page)]
    return [*dict.fromkeys(name for name in names if name)]


def put(page: str, new: Mapping[str, str]) -> str:
    """Return a page in which what stands between some pairs of comments is replaced, by the names of these.

    >>> put("<!-- begin: figures -->\\nold\\n<!-- end -->", {"figures": "new"})
    '<!-- begin: figures -->\\nnew\\n<!-- end -->'
    """

    def replaced(match: re.Match[str]) -> str:
        held = f"{new[match['name']]}\n" if match["name"] in new else match["held"]
        return f"{match[1]}{held}{match[4]}"

    return _PLACE.sub(replaced, page)


def run(command: str) -> tuple[str, str]:
    """Run a command; returns what it printed, and date, machine and versions. Raises CalledProcessError."""
    with tempfile.NamedTemporaryFile("r") as used:
        words = [sys.executable if word == "python" else word for word in shlex.split(command)]
        environment = os.environ | {ENVIRONMENTS: used.name}
        done = subprocess.run(words, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True)
        peers = [json.loads(line) for line in used]
    versions = [*versions_here(), *(f"{name} {version}" for peer in peers for name, version in peer.items())]
    held = ", ".join(dict.fromkeys(versions))
    return done.stdout, f"{today()}, {machine()}, Python {platform.python_version()}, {held}."


def versions_here() -> Iterator[str]:
    """Yield the versions of packages that bertdata's speed depends on."""
    for name in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            yield f"{name} {importlib.metadata.version(name)}"


def today() -> str:
    """Return the date as 2026-11-23."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def revision() -> str:
    """Return the commit that is checked out, "" where there is none."""
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


def new_tables(command: str, printed: str, ran: str) -> dict[str, str]:
    """Return what goes into a page from a run of a command, by the names of the places."""
    blocks = re.findall(r"(?:^\|.*\n?)+", printed, re.M)
    return {f"{command}; table {number}": block.strip() for number, block in enumerate(blocks, 1)} | {
        f"{command}; run": ran
    }


def figures_of(command: str, printed: str) -> dict[str, float]:
    """Return the figures that a run of a command gives, by their names; raises ValueError where one is not there."""
    tables = tables_of(printed)
    words = command.split()
    scripts = {Path(words[1]).name, " ".join([Path(words[1]).name, *words[2:3]])}
    exact = [figure for figure in FIGURES if figure.benchmark in scripts]
    longest = max((len(figure.benchmark) for figure in exact), default=0)
    return {figure.name: round(figure.of(tables), 3) for figure in exact if len(figure.benchmark) == longest}


def figures_table(history: Sequence[Mapping[str, float | str]]) -> str:
    """Return the table of figures from all lines of the history, those of one kind of work in one row."""
    rows: dict[str, list[str]] = {}
    for figure in FIGURES:
        values = [float(line[figure.name]) for line in history if figure.name in line]
        if values:
            low, high = times(min(values)), times(max(values))
            several = f" ({counted(len(values), 'run')}{f', up to {high}' if high != low else ''})"
            rows.setdefault(figure.work, []).append(f"**{low}** {figure.peer}{several}")
    right = table(["work", "times as fast as"], [[work, ", ".join(said)] for work, said in rows.items()])
    return right.replace("---:", "---")  # the second column holds text, too


def times(value: float) -> str:
    """Return a ratio as it is written, rounded down.

    >>> times(10.97), times(3.68), times(0.728)
    ('10x', '3.6x', '0.72x')
    """
    unit = 1 if value >= 10 else 10 if value >= 1 else 100
    return f"{math.floor(value * unit) / unit:g}x"


def history() -> list[dict[str, float | str]]:
    """Return the lines of the history: date, commit and machine of a run, and its figures by their names."""
    return [json.loads(line) for line in HISTORY.read_text().splitlines()] if HISTORY.exists() else []


def replace(new: Mapping[str, str]) -> None:
    """Replace what stands between comments of these names in the pages."""
    for page in PAGES:
        page.write_text(put(page.read_text(), new))


def main() -> None:
    """Run the commands that are named, write pages and history, and end with 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--list", action="store_true", help="print the commands and run nothing")
    parser.add_argument("--figures", action="store_true", help="write the table of figures from the history alone")
    flags = parser.parse_args()
    known = commands("".join(page.read_text() for page in PAGES))
    unknown = [
        name for name in flags.names if not any(Path(command_line.split()[1]).stem == name for command_line in known)
    ]
    if unknown:
        parser.error(f"no table is from {', '.join(unknown)}; see --list")
    chosen = [
        command_line for command_line in known if not flags.names or Path(command_line.split()[1]).stem in flags.names
    ]
    if flags.list:
        print("\n".join(chosen))
        return
    failed = []
    for command in [] if flags.figures else chosen:
        print(f"== {command}", flush=True)
        try:
            printed, ran = run(command)
            print(printed, flush=True)
            figures_read = figures_of(command, printed)
        except (subprocess.CalledProcessError, ValueError) as error:
            failed.append(f"{command}: {error}")
            continue
        replace(new_tables(command, printed, ran))
        if figures_read:
            with HISTORY.open("a") as file:
                file.write(
                    json.dumps({"date": today(), "revision": revision(), "machine": machine(), **figures_read}) + "\n"
                )
    replace({"figures": figures_table(history())})
    if failed:
        sys.exit("\n".join(["left as they were:", *failed]))


if __name__ == "__main__":
    main()
