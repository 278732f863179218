"""What a process may use of its machine: processor cores and memory, also in a container and in a step of Slurm."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterator
from pathlib import Path

from bertdata.io.console import counted

_GROUPS, _MOUNT = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")
"""The control groups of this process, and where the kernel shows their limits."""


def cores() -> int:
    """Return the processor cores that this process may use: those it may run on, or fewer (`docker --cpus`)."""
    return max(1, min([_allowed(), *map(math.ceil, _quotas())]))


def memory() -> int:
    """Return the bytes of memory that this process may use: those of the machine, or fewer (`docker --memory`)."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for folder in _folders("memory"):
        limits += _numbers(folder, "memory.max", "memory.limit_in_bytes")
    return min(limits)


def without_cores(workers: int) -> str:
    """Return what to say of more workers than cores they may use, where the machine has more; "" otherwise."""
    usable, installed = cores(), os.cpu_count() or 1
    if workers <= usable or usable >= installed:
        return ""
    return (
        f"--workers is {workers}, but this process may use {counted(usable, 'core')} of the {installed} here, which "
        "the workers share: give it more (srun --cpus-per-task, docker --cpus), or take fewer --workers"
    )


def _allowed() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _quotas() -> Iterator[float]:
    """Yield the limits of processor time in cores: "150000 100000" or "max 100000", in version 1 two files."""
    for folder in _folders("cpu"):
        numbers = _numbers(folder, "cpu.max") or [
            *_numbers(folder, "cpu.cfs_quota_us"),
            *_numbers(folder, "cpu.cfs_period_us"),
        ]
        if len(numbers) == 2 and min(numbers) > 0:
            yield numbers[0] / numbers[1]


def _folders(controller: str) -> Iterator[Path]:
    """Yield the folders of this process's control group and of those around it, of version 2 and of a controller of 1.

    In a container the path may be that of the machine, where the mount shows the container's group alone: so the mount
    comes as well.
    """
    lines: list[str] = []
    with contextlib.suppress(OSError, UnicodeDecodeError):
        lines = _GROUPS.read_text().splitlines()
    for line in lines:
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and controller not in controllers.split(","):
            continue
        mount = _MOUNT / controller if controllers else _MOUNT
        group = mount / path.lstrip("/")
        while group != mount and mount in group.parents:
            yield group
            group = group.parent
        yield mount


def _numbers(folder: Path, *names: str) -> list[int]:
    """Return the integers in the first of some files that is there; [] where none is, or where it says "max"."""
    for name in names:
        with contextlib.suppress(OSError, ValueError):
            return [int(word) for word in (folder / name).read_text().split()]
    return []
