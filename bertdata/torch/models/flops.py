"""How much arithmetic a training step is, and how much a device can do: for model FLOPs utilisation.

Counted as in Chowdhery et al. 2022, appendix B: two operations for each weight of a matrix product and token, the
backward pass twice the forward one; attention's two products beside. Padding does not count, and neither do embedding
look-ups. What this module does not do: measuring; devices it does not know have no peak.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from bertdata.torch.models.config import BertConfig, ElectraConfig

PEAK_TFLOPS = {
    "H200": 989.0,
    "H100 PCIe": 756.0,
    "H100": 989.0,
    "A100": 312.0,
    "L40S": 362.0,
    "L4": 121.0,
    "RTX 4090": 165.0,
}
"""Dense bfloat16 with float32 sums, by words of the device's name, from NVIDIA's data sheets."""


@dataclass(frozen=True)
class Work:
    """What was learned from: tokens, the sum of the squares of the rows' lengths, labelled tokens."""

    tokens: float = 0.0
    squares: float = 0.0
    labelled: float = 0.0

    def __add__(self, other: Work) -> Work:
        return Work(self.tokens + other.tokens, self.squares + other.squares, self.labelled + other.labelled)


def training_flops(config: BertConfig, work: Work) -> float:
    """Return the operations of forward and backward passes; for ELECTRA of both models.

    >>> round(training_flops(BertConfig.base(), Work(128, 128 * 128, 19)) / 1e9)
    70
    """
    if isinstance(config, ElectraConfig):
        small = config.generator()
        return _training(small, work) + _training(config, Work(work.tokens, work.squares))
    return _training(config, work)


def _training(config: BertConfig, work: Work) -> float:
    hidden, embedding = config.hidden_size, config.embedding_size
    block = 4 * hidden * hidden + 2 * hidden * config.intermediate_size
    projection = embedding * hidden if embedding != hidden else 0
    products = 2.0 * (config.num_hidden_layers * block + projection) * work.tokens
    attention = 4.0 * config.num_hidden_layers * hidden * work.squares
    head = 2.0 * (hidden * embedding + embedding * config.vocab_size) * work.labelled
    return 3 * (products + attention + head)


def peak_flops(device: torch.device) -> float | None:
    """Return the operations per second a device is capable of, None where it is not known."""
    if device.type != "cuda":
        return None
    return peak_of(torch.cuda.get_device_name(device))


def peak_of(name: str) -> float | None:
    """Return the peak of a device by its name, of which a word or several are those of a known device.

    >>> peak_of("NVIDIA L4"), peak_of("NVIDIA L40"), peak_of("NVIDIA A100-SXM4-80GB")
    (121000000000000.0, None, 312000000000000.0)
    """
    words = f" {name.replace('-', ' ')} "
    return next((peak * 1e12 for part, peak in PEAK_TFLOPS.items() if f" {part} " in words), None)
