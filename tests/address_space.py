"""Python code run with a limit of its address space (`ulimit -v`): what it needs for a small input, and more."""

from __future__ import annotations

import os
import subprocess
import sys

_LIMIT = "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)\n"
_PEAK = "\nprint(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmPeak')))"
_ENVIRONMENT = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1", "OMP_NUM_THREADS": "1"}
"""Allocators that take what they are asked for: others reserve address space a gigabyte at a time."""


def run_limited(code: str, limit: int | None, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run code, which has its arguments in `sys.argv[2:]`, with so many bytes of address space."""
    return subprocess.run(
        [sys.executable, "-c", (_LIMIT if limit else "import sys\n") + code, str(limit), *arguments],
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | _ENVIRONMENT,
    )


def peak_of(code: str, *arguments: str) -> int:
    """Return the bytes of address space that code takes."""
    done = run_limited(code + _PEAK, None, *arguments)
    assert done.returncode == 0, done.stderr
    return 1024 * int(done.stdout.split()[-1])
