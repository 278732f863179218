"""Processor seconds of each stage for a million bytes, by kind of source and tokenizer, beside those of estimates.

Run: python benchmarks/rates.py [--megabytes 30]; it needs the folder that BERTDATA_DATA names, or ../shared/data.
Each row runs the stages of a build in this process, on about so many megabytes in small parts, kernels compiled. The
first part of each step, which loads kernels and tables, counts with the rate of the others. Rates are those of
`Estimate`: for stored bytes of dumps, else for bytes of text, distinct words, or tokens in rows. Then follows what
does not grow with the text: the kernels and tables of one process, and, from builds with one and with two workers, the
command itself and each worker process; and last the rates of dumps that are too small for kernels.
"""

from __future__ import annotations

import argparse
import bz2
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pyarrow as pa
import pyarrow.parquet as pq
from _harness import DATA, processor_seconds

from bertdata.cli import command_line
from bertdata.cli.main import parser_of
from bertdata.corpus.build import Build
from bertdata.corpus.estimate import rates
from bertdata.corpus.estimate.build_estimate import sample_stages
from bertdata.corpus.estimate.sample import BeginningsOf, Made, Sample
from bertdata.corpus.requests import settings_of_request
from bertdata.curation.dedup.spans.store import TITLE
from bertdata.io.compression import open_decompressed
from bertdata.kernels.warmup import compiling_always

SMALLEST_PARTS = ("--range-bytes", "500000")
SMALL_PARTS = ("--range-bytes", "4000000", "--shard-bytes", "8000000")


def main() -> None:
    """Print each rate beside that of the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=30, help="of each source")
    flags = parser.parse_args()
    if not (DATA / "wikipedia").is_dir():
        sys.exit(f"no data in {DATA}; set BERTDATA_DATA to a folder with wikipedia/, books/ and wikipedia-plain/")
    size = int(flags.megabytes * 1e6)
    print("| rate | measured | in rates.py |\n|---|---:|---:|", flush=True)
    with tempfile.TemporaryDirectory(prefix="bertdata-rates-") as folder:
        sources = {name: [str(path) for path in paths] for name, paths in write_sources(Path(folder), size).items()}
        with compiling_always():
            show(measure(Path(folder), sources))
        show(without_kernels(sources))


def show(measured: Iterable[tuple[str, float, float]]) -> None:
    """Print rows of the table."""
    for name, known, measured_rate in measured:
        print(f"| {name} | {measured_rate:.4f} | {known:.4f} |", flush=True)


def without_kernels(sources: Mapping[str, list[str]]) -> Iterator[tuple[str, float, float]]:
    """Yield the rates of a dump that is too small for kernels."""
    for name, kind in (("wikipedia, bz2", "bz2"), ("wikipedia", "xml")):
        sample = run(["--wikipedia", *sources[kind], "--vocab", str(DATA / "vocab" / "bert-base-uncased.txt")])
        tasks = [part.task for part in sample.parts("clean wikipedia")]
        assert not any(task.payload.compiled for task in tasks)
        read = seconds(sample, "clean wikipedia")
        yield f"{name}, small", rates.READ_SMALL[name], 1e6 * read / sum(task.weight for task in tasks)


def measure(folder: Path, sources: Mapping[str, list[str]]) -> Iterator[tuple[str, float, float]]:
    """Yield the name of each rate, that of the module, and the measured one."""
    whole = run(["--wikipedia", *sources["xml"]])
    kernels = sum(loading(whole, *(part.title for part in whole.made)).values())
    uncased = ["--vocab", str(DATA / "vocab" / "bert-base-uncased.txt")]
    flags_of = {
        "wikipedia, bz2": ["--wikipedia", *sources["bz2"]],
        "wikipedia": ["--wikipedia", *sources["xml"]],
        "books": ["--books", *sources["books"]],
        **{name: ["--documents", *sources[name]] for name in ("json-lines", "parquet", "plain-text")},
    }
    for name, flags in flags_of.items():
        sample = run([*flags, *uncased])
        [group] = (part for part in sample.groups.values() if part.tasks)
        text = text_bytes(sample)
        read = seconds(sample, "clean wikipedia", "clean books", "read documents")
        yield name, rates.READ[name], 1e6 * read / (group.weight if "wikipedia" in name else text)
    documents = flags_of["json-lines"]
    a_part = max(part_seconds([*documents, *uncased], "tokenize"), 0.0)
    yield "a part, s", rates.PART_SECONDS, a_part
    for model in rates.COUNT_WORDS:
        sample = run([*documents, "--model", model])
        words = sample.parts("train vocabulary")[-1].record.counts["distinct_words"]
        yield f"count words, {model}", rates.COUNT_WORDS[model], per_text(sample, "count words", a_part=a_part)
        yield f"train, {model}", rates.TRAIN[model], 1e6 * sample.parts("train vocabulary")[-1].seconds / words
    tokenizers = {"wordpiece": uncased[1], "bpe": "modernbert", "unigram": "albert_v2"}
    for model, place in tokenizers.items():
        path = place if model == "wordpiece" else str(DATA / "tokenizers" / place)
        sample = run([*documents, "--vocab", path])
        yield f"tokenize, {model}", rates.TOKENIZE[model], per_text(sample, "tokenize", a_part=a_part)
    for dedup in rates.SIGN:
        sample = run([*documents, *uncased, "--dedup", dedup])
        yield f"sign, {dedup}", rates.SIGN[dedup], per_text(sample, "sign documents", "find duplicates")
    for kind in rates.SPANS:
        sample = run([*documents, *uncased, "--dedup-spans", kind])
        yield f"spans, {kind}", rates.SPANS[kind], per_text(sample, TITLE)
    for masking in rates.ROWS:
        sample = run([*documents, *uncased, "--masking", masking])
        tokens = sample.counts("write shards")["row_tokens"]
        yield f"rows, {masking}", rates.ROWS[masking], 1e6 * seconds(sample, "write shards") / tokens
    yield "kernels, s", rates.KERNELS_SECONDS, kernels
    (part, parts), (two, _) = (build_seconds(["--wikipedia", *sources["xml"]], workers, folder) for workers in (1, 2))
    yield "command, s", rates.COMMAND_SECONDS, part - parts
    yield "start of a worker, s", rates.START_SECONDS, (two - part - kernels) / 2


def build_seconds(flags: Sequence[str], workers: int, folder: Path) -> tuple[float, float]:
    """Return the processor seconds of a build of its own processes, and those of its parts."""
    output = folder / f"built-{workers}"
    command = [sys.executable, "-m", "bertdata", "build", *flags, "--output", str(output), "--workers", str(workers)]
    used, _ = processor_seconds([*command, "--quiet"])
    records = [json.loads(path.read_bytes()) for path in (output / "stages").rglob("*.json")]
    return used, sum(record["seconds"] for record in records if "seconds" in record)


def run(flags: Sequence[str]) -> Sample:
    """Run the stages of a build of all sources, in small parts."""
    parsed = command_line.parse(parser_of("build"), [*SMALL_PARTS, *flags, "--output", "not-written"])
    sources, settings = settings_of_request(parsed)
    build = Build(sources, "not-written", settings)
    with tempfile.TemporaryDirectory() as folder:
        return sample_stages(build.stages_in, settings, BeginningsOf(folder, sample_bytes=1 << 60))


def seconds(sample: Sample, *titles: str) -> float:
    """Return the processor seconds of steps, the first part of each with the rate of the others."""
    return sum(part.seconds for part in sample.parts(*titles)) - sum(loading(sample, *titles).values())


def loading(sample: Sample, *titles: str) -> dict[str, float]:
    """Return what the first part of each step took beyond the rate of the others, by the folder of its parts."""
    seconds = {}
    steps: defaultdict[str, list[Made]] = defaultdict(list)
    for part in sample.parts(*titles):
        steps[part.task.directory].append(part)
    for folder, (first, *others) in steps.items():
        if weight := sum(part.task.weight for part in others):
            rate = sum(part.seconds for part in others) / weight
            seconds[folder] = max(0.0, first.seconds - rate * first.task.weight)
    return seconds


def per_text(sample: Sample, *titles: str, a_part: float = 0.0) -> float:
    """Return the processor seconds of steps for a million bytes of text, beside those that each part takes."""
    return 1e6 * (seconds(sample, *titles) - a_part * len(sample.parts(*titles))) / text_bytes(sample)


def part_seconds(flags: Sequence[str], title: str) -> float:
    """Return the processor seconds that each part of a step takes, however small: by parts of two sizes."""
    few, many = run(flags), run([*flags, *SMALLEST_PARTS])
    more = len(many.parts(title)) - len(few.parts(title))
    return (seconds(many, title) - seconds(few, title)) / more


def text_bytes(sample: Sample) -> int:
    """Return the bytes of the text of all documents."""
    return sum(part.record.counts.get("text_bytes", 0) for part in sample.made if part.task.path in sample.kind_of)


def write_sources(folder: Path, size: int) -> dict[str, list[Path]]:
    """Write about so many bytes of each kind of source that is not there as it is; returns the files of each."""
    [dump] = (DATA / "wikipedia").glob("*-pages-articles*.xml.bz2")
    xml = folder / "dump.xml"
    xml.write_bytes(bz2.decompress(dump.read_bytes()))
    with open_decompressed(str(DATA / "wikipedia-plain" / "good-2019.jsonl.zst")) as stream:
        lines = []
        for line in stream:
            lines.append(line)
            if (size := size - len(line)) < 0:
                break
    rows = [json.loads(line) for line in lines]
    (folder / "rows.jsonl").write_bytes(b"".join(lines))
    pq.write_table(pa.Table.from_pylist(rows), folder / "rows.parquet", row_group_size=1000)
    plain = "\n\n".join(row["text"].replace("\n\n", "\n") for row in rows)
    (folder / "rows.txt").write_text(plain + "\n", encoding="utf-8")
    books = sorted((DATA / "books").glob("*.txt"))
    return {
        "bz2": [dump],
        "xml": [xml],
        "books": books,
        "json-lines": [folder / "rows.jsonl"],
        "parquet": [folder / "rows.parquet"],
        "plain-text": [folder / "rows.txt"],
    }


if __name__ == "__main__":
    main()
