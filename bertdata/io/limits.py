"""Limits of the machine: which error means that memory, files or space ran out, and what the user can do."""

from __future__ import annotations

import errno
import re
import resource

MEMORY = "there is not enough memory; give it more (ulimit -v says what it may use), or use fewer --workers"

_LIMITS = (
    (
        (errno.EMFILE, errno.ENFILE),
        re.compile("Too many open files"),
        "too many files are open; allow more (ulimit -n 4096), or use fewer --workers",
    ),
    (
        (errno.ENOMEM,),
        re.compile(
            "MemoryError|Cannot allocate memory|can't start new thread|failed to map segment|"
            "malloc of size .* failed|bad_alloc|LLVM.*memory|Out of memory"
        ),
        MEMORY,
    ),
    ((errno.EIO,), None, "the disk or the network drive failed (input/output error); check it, and copy the file"),
    (
        (errno.ENOSPC, errno.EDQUOT),
        None,
        "there is no space left; make room (TMPDIR says where temporary files go) and run the same command again",
    ),
)


def limit_of(error: BaseException) -> str | None:
    """Return what ran out or failed on this machine and what to do; None where no error in the chain of causes says so.

    >>> limit_of(OSError(errno.EMFILE, "Too many open files"))
    'too many files are open; allow more (ulimit -n 4096), or use fewer --workers'
    """
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        number = cause.errno if isinstance(cause, OSError) else None
        text = f"{type(cause).__name__}: {cause}"
        for numbers, pattern, message in _LIMITS:
            if number in numbers or (pattern and pattern.search(text)):
                return message
        if isinstance(cause, SystemError) and "without" in text and _memory_is_limited():
            return MEMORY
        cause = cause.__cause__ or cause.__context__
    return None


def _memory_is_limited() -> bool:
    """Tell whether `ulimit -v` is set: an extension module that gets no memory then often fails without a reason."""
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
