"""An estimate as rows of a table, as JSON, and warnings where a build comes near what a machine has."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bertdata.corpus.estimate.figures import Estimate
from bertdata.corpus.estimate.rates import DRIVER_BYTES, KERNELS_SECONDS, START_SECONDS
from bertdata.io import files, machine
from bertdata.io.console import Row, byte_size, counted

WORKERS = (1, 2, 16, 64)
"""The numbers of workers that times are shown for where none is given."""
NEAR = 0.8
"""The share of a limit from which on there is a warning."""
MOST_REFERENCES = 100_000_000
"""References between stages that one process can group: it holds some hundred bytes for each."""


@dataclass(frozen=True)
class Room:
    """What there is for a build, in bytes: free on the disk of its output (None for a URL), and memory.

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
        return Room(disk, machine.memory(), workers)


def limits(estimate: Estimate, room: Room) -> list[str]:
    """Return a warning for each limit that a build would come near, or go beyond."""
    messages = []
    if room.disk is not None and estimate.stored > NEAR * room.disk:
        messages.append(f"disk: about {byte_size(estimate.stored)} are needed, and {byte_size(room.disk)} are free")
    needed = estimate.driver_memory + room.workers * estimate.worker_memory
    needed -= DRIVER_BYTES if room.workers else 0  # the process that plans is one of the workers
    if needed > NEAR * room.memory:
        what = f"{counted(room.workers, 'worker')}, with this process, need" if room.workers else "this process needs"
        remedy = "; take fewer --workers or a smaller --shard-bytes" if room.workers else ""
        messages.append(f"memory: {what} about {byte_size(needed)}, of {byte_size(room.memory)}{remedy}")
    if estimate.references > NEAR * MOST_REFERENCES:
        messages.append(
            f"references: {estimate.references:,} of shards to token files, which one process groups; "
            "take a larger --shard-bytes"
        )
    return messages


def estimate_rows(
    estimate: Estimate, room: Room, workers: Sequence[int] = WORKERS, rest: Estimate | None = None
) -> Iterator[Row]:
    """Yield rows of an estimate; each fits into 80 columns but for the titles of jobs and warnings.

    left: of it, what is not done yet, where something is; the rows say that with the whole beside it.
    """
    if rest:
        yield from _rows_of_left(estimate, rest, room, workers)
        return
    yield "estimate", "of a whole build, about, from samples of the sources"
    yield (
        "  documents",
        f"{estimate.documents:,} ({byte_size(estimate.text_bytes)} of text), {estimate.tokens:,} tokens",
    )
    yield "  ranges", f"{estimate.ranges:,} of the sources, {estimate.token_files:,} of documents"
    yield "  shards", f"{estimate.shards:,} ({estimate.examples:,} examples, {estimate.references:,} references)"
    for work in estimate.stages:
        made = f"{counted(work.parts, 'part')}, {byte_size(work.stored)} on disk, {duration(work.seconds)} of CPU"
        yield f"  {work.title}", made
    starts = duration(KERNELS_SECONDS + START_SECONDS)
    yield (
        "  disk, CPU",
        f"{byte_size(estimate.stored)}, {duration(estimate.seconds)}, and {starts} for a worker to start",
    )
    yield (
        "  memory",
        f"up to {byte_size(estimate.worker_memory)} a worker, "
        f"{byte_size(estimate.driver_memory)} the process that plans",
    )
    times = ", ".join(f"{counted(number, 'worker')} {duration(estimate.wall(number))}" for number in workers)
    yield "  time", times
    yield "  jobs", f"{len(estimate.jobs)}, one after another; the process that starts them must live"
    yield from (("", f"  {title}") for title in estimate.jobs)
    where = f"the output's store, {duration(estimate.store_seconds)} of the CPU" if estimate.store_seconds else ""
    yield "  requests", f"{estimate.requests:,} of {where or 'an object store, with input and output there'}"
    yield from (("  note", note) for note in estimate.notes)
    yield from (("warning", text) for text in limits(estimate, room))


def _rows_of_left(whole: Estimate, rest: Estimate, room: Room, workers: Sequence[int]) -> Iterator[Row]:
    """Yield rows of what is left of a build."""
    yield "estimate", "of what is left to do, about, and of a whole build, from samples"
    yield "  documents", f"{whole.documents:,} ({byte_size(whole.text_bytes)} of text), {whole.tokens:,} tokens, whole"
    yield "  shards", f"{whole.shards:,} ({whole.examples:,} examples, {whole.references:,} references), whole"
    of_whole = {work.title: work for work in whole.stages}
    for work in rest.stages:
        entire = of_whole.get(work.title)
        taken = f"{byte_size(work.stored)} on disk, {duration(work.seconds)} of CPU" if work.parts else "nothing"
        parts = f"{work.parts:,} of {counted(entire.parts, 'part')}" if entire else counted(work.parts, "part")
        more = f" (whole: {byte_size(entire.stored)}, {duration(entire.seconds)})" if entire and work != entire else ""
        yield f"  {work.title}", f"{parts}: {taken}{more}"
    starts = duration(KERNELS_SECONDS + START_SECONDS)
    yield "  disk, CPU", f"{byte_size(rest.stored)}, {duration(rest.seconds)}, and {starts} for a worker to start"
    yield "    whole", f"{byte_size(whole.stored)}, {duration(whole.seconds)}"
    yield (
        "  memory",
        f"up to {byte_size(rest.worker_memory)} a worker, {byte_size(rest.driver_memory)} the process that plans",
    )
    for name, estimate in (("  time", rest), ("    whole", whole)):
        yield name, ", ".join(f"{counted(number, 'worker')} {duration(estimate.wall(number))}" for number in workers)
    yield "  jobs", f"{len(rest.jobs)} of {len(whole.jobs)}, one after another"
    yield from (("", f"  {title}") for title in rest.jobs)
    yield "  requests", f"{rest.requests:,} of {whole.requests:,}, with input and output in an object store"
    yield from (("  note", note) for note in whole.notes)
    yield from (("warning", text) for text in limits(rest, room))


def duration(seconds: float) -> str:
    """Return seconds in the unit that suits them.

    >>> duration(3.2), duration(45), duration(600), duration(90_000)
    ('3.2 s', '45 s', '10 min', '25.0 h')
    """
    if seconds < 120:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def estimate_values(
    estimate: Estimate, room: Room, workers: Sequence[int] = WORKERS, rest: Estimate | None = None
) -> dict[str, Any]:
    """Return an estimate as JSON-like values: sizes in bytes, times in seconds; `left` beside the whole."""
    if rest:
        whole = estimate_values(estimate, room, workers)
        of_left = estimate_values(rest, room, workers)
        return whole | {"warnings": of_left["warnings"], "left": of_left}
    derived = {"stored": estimate.stored, "cpu_seconds": estimate.seconds}
    times = {str(number): round(estimate.wall(number), 1) for number in workers}
    return asdict(estimate) | derived | {"wall_seconds": times, "warnings": limits(estimate, room)}
