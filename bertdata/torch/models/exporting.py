"""Whether torch makes a program of a model, for ONNX and others, which has to be right for rows of any length."""

from __future__ import annotations

import torch


def is_traced() -> bool:
    """Tell whether torch.jit makes a trace, in which nothing remains of a `torch.autograd.Function` for ONNX."""
    return bool(torch.jit.is_tracing())  # type: ignore[attr-defined, no-untyped-call]


def is_exported() -> bool:
    """Tell whether a trace is made, or a program of torch.export: these keep one side of an `if` on a length."""
    is_exporting = getattr(torch.compiler, "is_exporting", None)  # from torch 2.7 on
    return is_traced() or bool(is_exporting and is_exporting())
