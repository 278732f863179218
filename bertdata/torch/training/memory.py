"""The memory that training takes, for the log: of the process, and on CUDA of the device, as torch counts it."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import torch

from bertdata.torch.training.metrics_log import LogRecord

_GIB = 1 << 30
_STATM = Path("/proc/self/statm")


def reset_peak(device: torch.device) -> None:
    """Begin an interval, whose peak on CUDA `memory_figures` then gives."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)


def memory_figures(device: torch.device) -> LogRecord:
    """Return the memory of this process in GiB.

    rss_gib: its resident set now, where the system tells it (Linux); peak_rss_gib: the largest so far; on CUDA
    cuda_allocated_gib and cuda_reserved_gib: the most since `reset_peak` that tensors took, and that torch held.

    >>> figures = memory_figures(torch.device("cpu"))
    >>> sorted(figures), 0 < figures["rss_gib"] < 1000
    (['peak_rss_gib', 'rss_gib'], True)
    """
    figures = {}
    if _STATM.exists():
        figures["rss_gib"] = int(_STATM.read_text().split()[1]) * resource.getpagesize() / _GIB
    unit = 1 if sys.platform == "darwin" else 1024
    figures["peak_rss_gib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / _GIB
    if device.type == "cuda":
        figures["cuda_allocated_gib"] = torch.cuda.max_memory_allocated(device) / _GIB
        figures["cuda_reserved_gib"] = torch.cuda.max_memory_reserved(device) / _GIB
    return figures
