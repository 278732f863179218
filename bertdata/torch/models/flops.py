"""For model FLOPs utilisation: the counts that `training_flops` of a config takes, and the peak of a device."""

from __future__ import annotations

from typing import NamedTuple

import torch

PEAK_TFLOPS = {
    "H200": 989.0,
    "H100 PCIe": 756.0,
    "H100": 989.0,
    "A100": 312.0,
    "L40S": 362.0,
    "L4": 121.0,
    "RTX 4090": 165.0,
}
"""Dense bfloat16 with float32 accumulation, by words of the device's name, from NVIDIA's data sheets."""


class Counts(NamedTuple):
    """Counts of batches: labelled tokens, pairs, tokens without padding, squares of the rows' lengths."""

    labelled: float = 0
    pairs: float = 0
    tokens: float = 0
    squares: float = 0


def peak_flops(device: torch.device) -> float | None:
    """Return the peak operations per second of a device, None where it is not known."""
    if device.type != "cuda":
        return None
    return peak_of(torch.cuda.get_device_name(device))


def peak_of(name: str) -> float | None:
    """Return the peak of a device by its name, which must contain the words of a known one.

    >>> peak_of("NVIDIA L4"), peak_of("NVIDIA L40"), peak_of("NVIDIA A100-SXM4-80GB")
    (121000000000000.0, None, 312000000000000.0)
    """
    words = f" {name.replace('-', ' ')} "
    return next((peak * 1e12 for part, peak in PEAK_TFLOPS.items() if f" {part} " in words), None)
