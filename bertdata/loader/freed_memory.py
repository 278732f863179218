"""Memory of batches that is kept between them, not given back to the system and faulted in again for the next one."""

from __future__ import annotations

import functools

import numpy as np

KEPT = 16 << 20
"""Bytes of a block from which glibc learns to keep twice as many."""


@functools.cache
def keep_freed_memory() -> None:
    """Let `malloc` of glibc keep the memory that arrays of a batch give back.

    It gives memory at the top of the heap back to the system beyond twice the size of the largest block freed so far,
    at first 256 kB, and an array of a batch has a megabyte: then all pages of all arrays are faulted in again for each
    batch, a third of the time that a batch takes. A block that is allocated and freed once, and never written, takes no
    memory. Other allocators are not changed by it.
    """
    np.empty(KEPT, np.uint8)
