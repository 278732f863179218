"""Warnings come before a limit is reached, and times shrink with workers as far as the largest part allows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bertdata.corpus.estimate.figures import Estimate, Work
from bertdata.corpus.estimate.rates import COMMAND_SECONDS, KERNELS_SECONDS, START_SECONDS
from bertdata.corpus.estimate.shown import MOST_REFERENCES, Room, estimate_rows, estimate_values, limits

GIGABYTE = 10**9
FOUND = Estimate(
    documents=7_000_000,
    text_bytes=20 * GIGABYTE,
    tokens=4_000_000_000,
    examples=30_000_000,
    ranges=2_000,
    token_files=800,
    shards=300,
    references=240_000,
    stages=(
        Work("clean wikipedia", 2_000, 8 * GIGABYTE, 16_000.0, 8.0),
        Work("train vocabulary", 17, GIGABYTE, 30.0, 30.0),
    ),
    worker_memory=GIGABYTE,
    driver_memory=2 * GIGABYTE,
    requests=50_000,
    jobs=("clean wikipedia", "train vocabulary"),
)
ROOM = Room(disk=100 * GIGABYTE, memory=16 * GIGABYTE, workers=2)


def test_there_is_no_warning_where_there_is_room() -> None:
    assert limits(FOUND, ROOM) == []
    assert limits(FOUND, replace(ROOM, disk=None)) == []


@pytest.mark.parametrize(
    ("room", "warning"),
    [
        (replace(ROOM, disk=11 * GIGABYTE), "disk: about 9.0 GB are needed, and 11.0 GB are free"),
        (replace(ROOM, workers=14), "memory: 14 workers, with this process, need about 15.8 GB, of 16.0 GB; take"),
        (replace(ROOM, workers=0, memory=2 * GIGABYTE), "memory: this process needs about 2.0 GB, of 2.0 GB"),
    ],
)
def test_a_limit_that_is_near_is_told(room: Room, warning: str) -> None:
    [near_limit] = limits(FOUND, room)
    assert near_limit.startswith(warning)
    assert ("warning", near_limit) in list(estimate_rows(FOUND, room))
    assert estimate_values(FOUND, room)["warnings"] == [near_limit]


def test_many_references_are_told() -> None:
    assert limits(replace(FOUND, references=MOST_REFERENCES * 7 // 10), ROOM) == []
    [warning] = limits(replace(FOUND, references=MOST_REFERENCES), ROOM)
    assert warning.startswith(f"references: {MOST_REFERENCES:,} of shards to token files")


def test_a_stage_in_one_part_does_not_get_faster() -> None:
    one, two, many = (FOUND.wall(number) for number in (1, 2, 1_000_000))
    assert one == pytest.approx(16_030 + COMMAND_SECONDS + KERNELS_SECONDS)
    assert 1.9 < one / two < 2
    assert many > 30 + 4 + START_SECONDS
    assert FOUND.stored == 9 * GIGABYTE


def test_the_requests_of_all_workers_are_shared_among_them() -> None:
    there = replace(FOUND, store_seconds=100.0)
    assert [there.wall(number) - FOUND.wall(number) for number in (1, 4)] == pytest.approx([100, 25])
    assert there.seconds == FOUND.seconds + 100
    assert ("  requests", "50,000 of the output's store, 100 s of the CPU") in list(estimate_rows(there, ROOM))


def test_a_url_has_no_disk_and_a_folder_that_is_not_there_that_of_the_nearest_one() -> None:
    assert Room.of("gs://bucket/out", 2).disk is None
    disk = Room.of("/nowhere/at/all", 2).disk
    assert disk is not None
    assert disk > 0
