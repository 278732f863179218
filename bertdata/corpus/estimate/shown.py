"""An estimate as rows of a table, as JSON, and warnings where a build comes near what a machine has."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bertdata.corpus.estimate.figures import Estimate
from bertdata.corpus.estimate.rates import KERNELS_SECONDS, START_SECONDS
from bertdata.io import files
from bertdata.io.console import Row, byte_size, counted

WORKERS = (1, 2, 16, 64)
"""The numbers of workers that times are shown for where none is given."""
NEAR = 0.8
"""The share of a limit from which on there is a warning."""
MOST_REFERENCES = 100_000_000
"""References between stages that one process can group: it holds some hundred bytes for each."""


@dataclass(frozen=True)
class Room:
    """What there is for a build, in bytes: free on the disk of its output, None for a URL, and memory of this machine.

    workers: how many it would have here, 0 on a cluster.
    """

    disk: int | None
    memory: int
    workers: int

    @staticmethod
    def of(output: str, workers: int) -> Room:
        """Return what this machine has for a build in `output`."""
        folder = os.path.abspath(output)
        while not os.path.exists(folder):
            folder = os.path.dirname(folder)
        disk = None if files.is_remote(output) else shutil.disk_usage(folder).free
        return Room(disk, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), workers)


def limits(found: Estimate, room: Room) -> list[str]:
    """Return a warning for each limit that a build would come near, or go beyond."""
    told = []
    if room.disk is not None and found.stored > NEAR * room.disk:
        told.append(f"disk: about {byte_size(found.stored)} are needed, and {byte_size(room.disk)} are free")
    needed = found.driver_memory + room.workers * found.worker_memory
    if needed > NEAR * room.memory:
        what = f"{counted(room.workers, 'worker')} and this process need" if room.workers else "this process needs"
        remedy = "; take fewer --workers or a smaller --shard-bytes" if room.workers else ""
        told.append(f"memory: {what} about {byte_size(needed)}, of {byte_size(room.memory)}{remedy}")
    if found.references > NEAR * MOST_REFERENCES:
        told.append(
            f"references: {found.references:,} of shards to token files, which one process groups; "
            "take a larger --shard-bytes"
        )
    return told


def estimate_rows(
    found: Estimate, room: Room, workers: Sequence[int] = WORKERS, left: Estimate | None = None
) -> Iterator[Row]:
    """Yield rows of an estimate; each fits into 80 columns but for the titles of jobs and warnings.

    left: of it, what is not done yet, where something is; the rows say that with the whole beside it.
    """
    if left:
        yield from _rows_of_left(found, left, room, workers)
        return
    yield "estimate", "of a whole build, about, from samples of the sources"
    yield "  documents", f"{found.documents:,} ({byte_size(found.text_bytes)} of text), {found.tokens:,} tokens"
    yield "  ranges", f"{found.ranges:,} of the sources, {found.token_files:,} of documents"
    yield "  shards", f"{found.shards:,} ({found.examples:,} examples, {found.references:,} references)"
    for work in found.stages:
        made = f"{counted(work.parts, 'part')}, {byte_size(work.stored)} on disk, {duration(work.seconds)} of CPU"
        yield f"  {work.title}", made
    starts = duration(KERNELS_SECONDS + START_SECONDS)
    yield "  disk, CPU", f"{byte_size(found.stored)}, {duration(found.seconds)}, and {starts} for a worker to start"
    yield (
        "  memory",
        f"up to {byte_size(found.worker_memory)} a worker, {byte_size(found.driver_memory)} the process that plans",
    )
    times = ", ".join(f"{counted(number, 'worker')} {duration(found.wall(number))}" for number in workers)
    yield "  time", times
    yield "  jobs", f"{len(found.jobs)}, one after another; the process that starts them must live"
    yield from (("", f"  {title}") for title in found.jobs)
    where = f"the output's store, {duration(found.store_seconds)} of the CPU" if found.store_seconds else ""
    yield "  requests", f"{found.requests:,} of {where or 'an object store, with input and output there'}"
    yield from (("  note", note) for note in found.notes)
    yield from (("warning", text) for text in limits(found, room))


def _rows_of_left(whole: Estimate, left: Estimate, room: Room, workers: Sequence[int]) -> Iterator[Row]:
    """Yield rows of what is left of a build."""
    yield "estimate", "of what is left to do, about, and of a whole build, from samples"
    yield "  documents", f"{whole.documents:,} ({byte_size(whole.text_bytes)} of text), {whole.tokens:,} tokens, whole"
    yield "  shards", f"{whole.shards:,} ({whole.examples:,} examples, {whole.references:,} references), whole"
    of_whole = {work.title: work for work in whole.stages}
    for work in left.stages:
        entire = of_whole.get(work.title)
        taken = f"{byte_size(work.stored)} on disk, {duration(work.seconds)} of CPU" if work.parts else "nothing"
        parts = f"{work.parts:,} of {counted(entire.parts, 'part')}" if entire else counted(work.parts, "part")
        more = f" (whole: {byte_size(entire.stored)}, {duration(entire.seconds)})" if entire and work != entire else ""
        yield f"  {work.title}", f"{parts}: {taken}{more}"
    starts = duration(KERNELS_SECONDS + START_SECONDS)
    yield "  disk, CPU", f"{byte_size(left.stored)}, {duration(left.seconds)}, and {starts} for a worker to start"
    yield "    whole", f"{byte_size(whole.stored)}, {duration(whole.seconds)}"
    yield (
        "  memory",
        f"up to {byte_size(left.worker_memory)} a worker, {byte_size(left.driver_memory)} the process that plans",
    )
    for name, one in (("  time", left), ("    whole", whole)):
        yield name, ", ".join(f"{counted(number, 'worker')} {duration(one.wall(number))}" for number in workers)
    yield "  jobs", f"{len(left.jobs)} of {len(whole.jobs)}, one after another"
    yield from (("", f"  {title}") for title in left.jobs)
    yield "  requests", f"{left.requests:,} of {whole.requests:,}, with input and output in an object store"
    yield from (("  note", note) for note in whole.notes)
    yield from (("warning", text) for text in limits(left, room))


def duration(seconds: float) -> str:
    """Return seconds in the unit that suits them.

    >>> duration(3.2), duration(45), duration(600), duration(90_000)
    ('3.2 s', '45 s', '10 min', '25.0 h')
    """
    if seconds < 120:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def estimate_values(
    found: Estimate, room: Room, workers: Sequence[int] = WORKERS, left: Estimate | None = None
) -> dict[str, Any]:
    """Return an estimate as JSON-like values: sizes in bytes, times in seconds; `left` beside the whole."""
    if left:
        whole = estimate_values(found, room, workers)
        of_left = estimate_values(left, room, workers)
        return whole | {"warnings": of_left["warnings"], "left": of_left}
    derived = {"stored": found.stored, "cpu_seconds": found.seconds}
    times = {str(number): round(found.wall(number), 1) for number in workers}
    return asdict(found) | derived | {"wall_seconds": times, "warnings": limits(found, room)}
