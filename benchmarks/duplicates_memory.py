"""What finding near duplicates holds in memory: the peak of each step, on synthetic signatures.

    python benchmarks/duplicates_memory.py [--documents 500000] [--group 10] [--ranges 64] [--minhash datatrove]

No text is made: the signatures of documents in groups, which share 0.9 of their numbers, are written as the stage
writes those of texts, and all steps that follow are those of the stage. Each step runs in a process of its own, one
part after another. Memory is the resident set beyond what the process had before its first part, as Linux counts it, at
its peak.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, BinaryIO

import _harness as harness
import numpy as np
import pyarrow as pa
from memory import Measured, measured
from numpy.typing import NDArray

from bertdata.counter_rng import bits, key
from bertdata.curation.dedup.minhash import BINS
from bertdata.curation.dedup.planning import Signed, pieces_for
from bertdata.curation.dedup.signature_store import documents_schema, rows_of_a_key, write_signed
from bertdata.curation.dedup.stage import DropDuplicates
from bertdata.curation.settings import DedupConfig
from bertdata.engine.fingerprints import fingerprint
from bertdata.engine.parts import Counters, PartFunction, PartMetadata, PartResult, Task, run_once
from bertdata.engine.stages import BuildState, Plan

CHANGED = 20
"""One of so many numbers of a signature is not that of its group."""


def parts(documents: int, ranges: int) -> BuildState:
    """Return the records of parts of documents, each of one range, without writing their files."""
    results: list[PartResult] = []
    for number, count in enumerate(np.diff(np.linspace(0, documents, ranges + 1).astype(np.int64)).tolist()):
        name = f"documents-{number:05d}"
        details = {"row_groups": [[count, 1 << 25]], "slots": []}
        counts = {"documents": count, "text_bytes": 1 << 25}
        record = PartMetadata(name, fingerprint(name), 1 << 24, fingerprint(name) * 2, 1.0, counts, {}, details)
        results.append((Task("in", name, ".parquet", fingerprint(name), 1 << 24, None), record))
    return BuildState(tuple(results))


def write_synthetic(
    config: DedupConfig, documents: int, group: int, numbers: int, task: Task, file: BinaryIO
) -> Counters:
    """Write signatures of so many numbers of one range; a document's number modulo that of the groups is its group."""
    signed: Signed = task.payload
    each = np.arange(signed.first, signed.first + signed.count)
    places = np.arange(numbers)
    common = bits(key(0, "group"), (each % max(1, documents // group))[:, None], places)
    own = bits(key(0, "document"), each[:, None], places)
    hashes = np.where(own % np.uint64(CHANGED) == 0, own, common) >> np.uint64(32)
    digests = np.stack([bits(key(0, "digest"), each, half) for half in (0, 1)], axis=1)
    sizes = 1000 + (bits(key(0, "size"), each) % np.uint64(1000)).astype(np.int64)
    columns = [pa.array([f"document:{number:09d}" for number in each.tolist()]), pa.array(sizes)]
    columns += [_fixed(digests), pa.nulls(len(each), pa.string()), _fixed(hashes.astype(np.uint32))]
    table = pa.table(columns, schema=documents_schema(numbers))
    width = rows_of_a_key(0.0 if config.dedup_minhash else config.dedup_threshold, config.buckets_of())
    return write_signed(table, width, file, pieces_for(documents))


def _fixed(values: NDArray[np.unsignedinteger[Any]]) -> pa.Array:
    width = values.shape[1] * values.itemsize
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), len(values), [None, pa.py_buffer(values.tobytes())])


def planned(folder: str, config: DedupConfig, documents: int, group: int, ranges: int, numbers: int = BINS) -> Plan:
    """Return the plan of the stage, whose first step writes synthetic signatures."""
    plan = DropDuplicates(folder, config).plan(parts(documents, ranges))
    first, *others = plan.steps
    return replace(
        plan, steps=[replace(first, make=partial(write_synthetic, config, documents, group, numbers)), *others]
    )


def make(tasks: Sequence[Task], work: PartFunction) -> tuple[list[PartResult], Measured]:
    """Return the parts of a step, made one after another, and what that took."""
    return measured(lambda: [(task, run_once(task, work)) for task in tasks])


def simulate(plan: Plan) -> Iterator[tuple[str, list[PartResult], Measured]]:
    """Yield the name of each step, its parts, and what they took in a process of their own."""
    done: list[PartResult] = []
    for step in plan.steps:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            done, taken = pool.apply(make, (step.plan(done), step.make))
        yield (done[0][0].name.split("-")[0] if done else "nothing"), done, taken


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=500_000)
    parser.add_argument("--group", type=int, default=10)
    parser.add_argument("--ranges", type=int, default=64)
    parser.add_argument("--minhash", default="")
    flags = parser.parse_args()
    config = DedupConfig("near", dedup_minhash=flags.minhash)
    numbers = np.prod(config.buckets_of() or (BINS,)).item()
    print("| step | parts | on disk, MB | peak, MB | CPU s |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        plan = planned(folder, config, flags.documents, flags.group, flags.ranges, numbers)
        for name, done, taken in simulate(plan):
            stored = sum(record.bytes for _, record in done)
            sizes = f"{stored / 1e6:,.0f} | {taken.peak / 1e6:,.0f} | {taken.seconds:.1f}"
            print(f"| {name} | {len(done)} | {sizes} |", flush=True)
        [(_, record)] = done
    print(f"\n{record.counts['dropped']:,} of {flags.documents:,} documents are dropped, on {harness.machine()}")


if __name__ == "__main__":
    main()
