"""What the process that plans a build holds, simulated with the real planning: the tables of docs/scale.md.

Run: python benchmarks/memory.py [--scale 1] [--corpora wikipedia-books all-wikipedias terabyte]. No text is read or
written. Records of parts of documents and of token files are made of documents drawn at random (uniform slots, lengths
of an exponential distribution); `plan_shards`, the grouping of token files by shard, what Beam pickles, and the
manifest are the project's own. --scale divides the numbers of documents, ranges and shards. Memory is the resident set
of this process as Linux counts it, its peak since the step began. The bound is that of
`bertdata.corpus.estimate.memory`.
"""

from __future__ import annotations

import argparse
import gc
import json
import pickle
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import _harness as harness
import numpy as np

from bertdata.corpus.estimate import memory
from bertdata.corpus.manifest import build_manifest, source_entry
from bertdata.corpus.plan import ShardPlan, plan_shards
from bertdata.corpus.stage import ShardsSpec, SourcedRange, sharded
from bertdata.documents import SLOTS
from bertdata.engine.fingerprints import fingerprint, sealed
from bertdata.engine.parts import PartMetadata, PartResult, Task
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.settings import ShardsConfig
from bertdata.tokenizers.wordpiece.tokenizer import WordPieceTokenizer

Result = TypeVar("Result")
TOKENS_PER_BYTE = 0.5
"""Bytes of a token file for a byte of text: a token of two bytes for four."""


MANY_COUNTS = ("documents", "examples", "tokens", "predictions", "sentences", "labels", "row_tokens", "dropped", "kept")


@dataclass(frozen=True)
class Corpus:
    """A corpus: documents, bytes of text, ranges, and the text of a shard."""

    name: str
    documents: int
    text_bytes: int
    ranges: int
    shard_bytes: int

    def divided(self, scale: int) -> Corpus:
        """Return it with so many times fewer documents, ranges and bytes; a shard has as many bytes less."""
        small = replace(self, documents=self.documents // scale, ranges=max(1, self.ranges // scale))
        return replace(small, text_bytes=self.text_bytes // scale**2, shard_bytes=max(1024, self.shard_bytes // scale))


CORPORA = {
    "wikipedia-books": Corpus("English Wikipedia + 20 GB of books", 7_000_000, 52_680_000_000, 2_780, 64 << 20),
    "all-wikipedias": Corpus("all Wikipedias", 65_000_000, 150_000_000_000, 4_800, 64 << 20),
    "terabyte": Corpus("1 TB of text", 250_000_000, 1_000_000_000_000, 30_000, 512 << 20),
}


@dataclass(frozen=True)
class Measured:
    """What one step held beyond what there was before it: at its peak and at its end, in bytes; and its seconds."""

    peak: int
    held: int
    seconds: float


def measured(step: Callable[[], Result]) -> tuple[Result, Measured]:
    """Return what a step returns, and what it took."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before, began = resident("VmRSS"), time.process_time()
    result = step()
    seconds, peak = time.process_time() - began, resident("VmHWM")
    gc.collect()
    return result, Measured(max(0, peak - before), max(0, resident("VmRSS") - before), seconds)


def resident(name: str) -> int:
    """Return bytes that Linux says of this process: VmRSS, those resident now, or VmHWM, their peak."""
    match = re.search(rf"^{name}:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.M)
    assert match
    return int(match[1]) << 10


def record(name: str, details: dict[str, Any]) -> PartMetadata:
    """Return a record."""
    counts = {"documents": 2_500, "text_bytes": 9_000_000}
    return PartMetadata(name, fingerprint(name), 1 << 24, fingerprint(name) * 2, 1.0, counts, {}, details)


def document_records(corpus: Corpus) -> list[PartMetadata]:
    """Return the records of all parts of documents; the numbers of documents differ by one at most."""
    draws = np.random.default_rng(1)
    records = []
    for part, ends in enumerate(bounds(corpus)):
        slots, counts = np.unique(draws.integers(0, SLOTS, ends), return_counts=True)
        sizes = (draws.exponential(corpus.text_bytes / corpus.documents, len(slots)) * counts).astype(np.int64) + 1
        groups = [[ends, int(sizes.sum())]]
        rows = np.stack([slots, counts, sizes], axis=1).tolist()
        records.append(record(f"documents-{part:05d}", {"row_groups": groups, "slots": rows}))
    return records


def bounds(corpus: Corpus) -> list[int]:
    """Return the documents of each range."""
    borders: list[int] = np.diff(np.linspace(0, corpus.documents, corpus.ranges + 1).astype(np.int64)).tolist()
    return borders


def token_parts(corpus: Corpus, documents: Sequence[PartMetadata], ends: Sequence[int]) -> list[PartResult]:
    """Return the finished token files of parts of documents, of which a shard has the slots below its end."""
    parts: list[PartResult] = []
    for number, document in enumerate(documents):
        slots, _, sizes = np.array(document.details["slots"], np.int64).T
        shards = np.searchsorted(ends, slots, side="right")
        lengths = np.bincount(shards, sizes * TOKENS_PER_BYTE).astype(np.int64) + 200
        there = np.unique(shards)
        offsets = np.cumsum(lengths[there]) - lengths[there]
        rows = np.stack([there, offsets, lengths[there]], axis=1).tolist()
        name = f"tokens-{number:05d}"
        payload = SourcedRange(None, 0)  # type: ignore[arg-type]
        task = Task("gs://bucket/corpus/stages/tokens", name, ".arrow", fingerprint(name), 1 << 24, payload)
        parts.append((task, record(name, {"slices": rows})))
    return parts


def manifest_of(
    documents: Sequence[PartMetadata], tokens: Sequence[PartResult], plan: ShardPlan, info: PretrainingInfo
) -> bytes:
    """Return the manifest of a build of two sources, a file of theirs for each range, as it is written."""
    counts = {f"{name}_of_{source}": 10**6 for name in MANY_COUNTS for source in ("wikipedia", "books")}
    shards = [replace(record(f"shard-{number:05d}", {}), counts=dict(counts)) for number in range(len(plan.ends))]
    inputs = [(f"enwiki-20251101-pages-articles-multistream{number}.xml.bz2", 10**9) for number in range(len(tokens))]
    half = len(documents) // 2
    sources = {
        "wikipedia": source_entry(inputs[:half], documents[:half]),
        "books": source_entry(inputs[half:], documents[half:]),
    }
    origins: dict[str, dict[str, Any]] = {"sources": sources, "vocabulary": {"pieces": 30_000, "asked": 30_000}}
    manifest = build_manifest(origins, [done for _, done in tokens], plan, info, shards)
    return json.dumps(sealed(manifest), indent=1, sort_keys=True).encode()


def simulate(corpus: Corpus) -> list[tuple[str, Measured, int]]:
    """Return what each step took, with its bound in bytes, 0 where there is none."""
    records, read = measured(lambda: document_records(corpus))
    plan, planned = measured(lambda: plan_shards(records, ShardsConfig(corpus.shard_bytes)))
    parts, stored = measured(lambda: token_parts(corpus, records, plan.ends))
    tokenizer = WordPieceTokenizer.from_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b"])
    info = PretrainingInfo.of(tokenizer, examples=ExamplesConfig(), masking=MaskingConfig())
    spec = ShardsSpec("gs://bucket/corpus", plan, info, "tokenizer")
    grouping = sharded([spec])
    tasks, made = measured(lambda: grouping.plan(parts))
    written, finished = measured(lambda: manifest_of(records, parts, plan, info))
    sent = sum(len(pickle.dumps(pair)) for part in parts for pair in grouping.references(*part))
    sent += sum(len(pickle.dumps(task)) for task in tasks)
    documents, ranges, shards = corpus.documents, corpus.ranges, len(plan.ends)
    slots = memory.slots_held(documents, ranges) * memory.PLACE_BYTES + ranges * memory.PART_BYTES
    slices = memory.slices_held(documents, ranges, shards) * memory.PLACE_BYTES + ranges * memory.PART_BYTES
    tasks_bound = memory.task_bytes(documents, ranges, shards)
    return [
        (f"records of documents ({documents:,})", read, slots),
        (f"plan of shards ({shards:,})", planned, 0),
        (f"records of token files ({ranges:,})", stored, slices),
        ("tasks of shards", made, tasks_bound + memory.planning_bytes(documents, ranges, shards)),
        (f"manifest ({len(written) / 1e6:.1f} MB)", finished, memory.manifest_bytes(ranges, shards)),
        ("references and tasks, pickled", Measured(sent, sent, 0.0), memory.shuffle_bytes(documents, ranges, shards)),
    ]


def table(rows: Sequence[tuple[str, Measured, int]]) -> str:
    """Return a Markdown table in MB."""
    head = ["step", "held, MB", "peak, MB", "bound of the peak, MB", "CPU s"]
    lines = [
        [
            name,
            *(f"{size / 1e6:,.0f}" for size in (measured_value.held, measured_value.peak, bound)),
            f"{measured_value.seconds:.1f}",
        ]
        for name, measured_value, bound in rows
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *lines])


def main() -> None:
    """Simulate corpora and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, default=list(CORPORA))
    flags = parser.parse_args()
    for name in flags.corpora:
        corpus = CORPORA[name].divided(flags.scale) if flags.scale > 1 else CORPORA[name]
        print(f"{corpus.name}, a shard of {corpus.shard_bytes >> 20} MiB\n\n{table(simulate(corpus))}\n", flush=True)
    print(f"on {harness.machine()}")


if __name__ == "__main__":
    main()
