"""Processor seconds of each stage for a million bytes, by kind of source and tokenizer, beside those of estimates.

Run: python benchmarks/rates.py [--megabytes 20]; it needs the folder that BERTDATA_DATA names, or ../shared/data.
Each row runs the stages of a build in this process, on about so many megabytes, kernels compiled, and again, which is
the run that is measured. Rates are those of `Estimate`: for stored bytes of dumps, else for bytes of text, distinct
words, or tokens in rows.
"""

from __future__ import annotations

import argparse
import bz2
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pyarrow as pa
import pyarrow.parquet as pq

from bertdata.cli import command_line
from bertdata.curation.dedup.spans.store import TITLE
from bertdata.estimate import rates
from bertdata.estimate.sample import BeginningsOf, Sample
from bertdata.io.compression import open_decompressed
from bertdata.kernels.warmup import compiling_always
from pipelines.build_corpus import Build
from pipelines.build_flags import make_parser, settings_of_flags
from pipelines.estimates import sample_stages

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("BERTDATA_DATA") or ROOT.parent / "shared" / "data")


def main() -> None:
    """Print each rate beside that of the module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=20, help="of each source")
    flags = parser.parse_args()
    if not (DATA / "wikipedia").is_dir():
        sys.exit(f"no data in {DATA}; set BERTDATA_DATA to a folder with wikipedia/, books/ and wikipedia-plain/")
    print("| rate | measured | in rates.py |\n|---|---:|---:|", flush=True)
    with tempfile.TemporaryDirectory(prefix="bertdata-rates-") as folder, compiling_always():
        for name, known, measured in measure(Path(folder), int(flags.megabytes * 1e6)):
            print(f"| {name} | {measured:.4f} | {known:.4f} |", flush=True)


def measure(folder: Path, size: int) -> Iterator[tuple[str, float, float]]:
    """Yield the name of each rate, that of the module, and the measured one."""
    sources = {name: [str(path) for path in paths] for name, paths in write_sources(folder, size).items()}
    uncased = ["--vocab", str(DATA / "vocab" / "bert-base-uncased.txt")]
    flags_of = {
        "wikipedia, bz2": ["--wikipedia", *sources["bz2"]],
        "wikipedia": ["--wikipedia", *sources["xml"]],
        "books": ["--books", *sources["books"]],
        **{name: ["--documents", *sources[name]] for name in ("json-lines", "parquet", "plain-text")},
    }
    for name, flags in flags_of.items():
        sample = run([*flags, *uncased])
        [group] = (one for one in sample.groups.values() if one.tasks)
        text = sum(one.record.counts.get("text_bytes", 0) for one in sample.made if one.task.path in sample.kind_of)
        read = seconds(sample, "clean wikipedia", "clean books", "read documents")
        yield name, rates.READ[name], 1e6 * read / (group.weight if "wikipedia" in name else text)
    documents = flags_of["json-lines"]
    for model in rates.COUNT_WORDS:
        sample = run([*documents, "--model", model])
        words = sample.parts("train vocabulary")[-1].record.counts["distinct_words"]
        yield f"count words, {model}", rates.COUNT_WORDS[model], per_text(sample, "count words")
        yield f"train, {model}", rates.TRAIN[model], 1e6 * sample.parts("train vocabulary")[-1].seconds / words
    tokenizers = {"wordpiece": uncased[1], "bpe": "modernbert", "unigram": "albert_v2"}
    for model, place in tokenizers.items():
        path = place if model == "wordpiece" else str(DATA / "tokenizers" / place)
        sample = run([*documents, "--vocab", path])
        yield f"tokenize, {model}", rates.TOKENIZE[model], per_text(sample, "tokenize")
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


def run(flags: Sequence[str]) -> Sample:
    """Run the stages of a build of all sources, twice; returns the second run."""
    parsed = command_line.parse(make_parser(), [*flags, "--output", "not-written"])
    sources, settings = settings_of_flags(parsed)
    build = Build(sources, "not-written", settings)
    for _ in range(2):
        with tempfile.TemporaryDirectory() as folder:
            sample = sample_stages(build.stages_in, settings, BeginningsOf(folder, sample_bytes=1 << 60))
    return sample


def seconds(sample: Sample, *titles: str) -> float:
    """Return the processor seconds of steps."""
    return sum(one.seconds for one in sample.parts(*titles))


def per_text(sample: Sample, *titles: str) -> float:
    """Return the processor seconds of steps for a million bytes of text."""
    text = sum(one.record.counts.get("text_bytes", 0) for one in sample.made if one.task.path in sample.kind_of)
    return 1e6 * seconds(sample, *titles) / text


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
