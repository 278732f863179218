"""An update of the weights: the optimizer, without decay on biases and norms (BERT appendix A.2), and clipping; and the
device and its peak operations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from bertdata.counter_rng import bits, key
from bertdata.errors import BertDataError, ConfigError
from bertdata.torch.models.encoder import Encoder
from bertdata.torch.training import OPTIMIZERS

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

_NORMS_FIRST, _NORMS_KEPT, _MOST_SKIPPED = 20, 100, 5
"""After how many norms an update can be left out, of how many their mean is, and how many in a row are left out."""


class DivergenceError(BertDataError):
    """A loss or a gradient that is not a finite number."""


class SpikeError(DivergenceError):
    """A spike of the loss from which the run goes back (`rewind`)."""


@dataclass(frozen=True)
class OptimizerKind:
    """An optimizer: makes one of groups of parameters, with `betas` and `eps`.

    apart: whether the matrices inside of the layers are a group of their own, which is `HIDDEN`.
    """

    help: str
    make: Callable[..., torch.optim.Optimizer]
    apart: bool = False


HIDDEN = "hidden"
"""The key of the group of those matrices."""


def make_adamw(
    groups: Sequence[dict[str, Any]], *, betas: tuple[float, float], eps: float, fused: bool | None = None
) -> torch.optim.AdamW:
    """Return torch's AdamW; fused: as one kernel for all tensors, by default where they are all on CUDA."""
    if fused is None:
        fused = all(parameter.is_cuda for group in groups for parameter in group["params"])
    return torch.optim.AdamW(groups, betas=betas, eps=eps, fused=fused or None)


ADAMW = OptimizerKind("torch's AdamW, fused on CUDA", make_adamw)


def make_optimizer(
    model: nn.Module, weight_decay: float, beta2: float = 0.999, optim: str = "adamw"
) -> torch.optim.Optimizer:
    """Return an optimizer without decay on biases and norms, which are the parameters of less than two dimensions."""
    kind: OptimizerKind = OPTIMIZERS[optim]
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    hidden = {id(parameter) for parameter in hidden_matrices(model)} if kind.apart else set()
    others = [parameter for parameter in trained if id(parameter) not in hidden]
    groups: list[dict[str, Any]] = [
        {"params": [parameter for parameter in others if parameter.ndim >= 2], "weight_decay": weight_decay},
        {"params": [parameter for parameter in others if parameter.ndim < 2], "weight_decay": 0.0},
    ]
    if len(others) < len(trained):
        inside = [parameter for parameter in trained if id(parameter) in hidden]
        groups.insert(0, {"params": inside, "weight_decay": weight_decay, HIDDEN: True})
    return kind.make(groups, betas=(0.9, beta2), eps=1e-6)


def hidden_matrices(model: nn.Module) -> list[Tensor]:
    """Return the weights of the linear layers of an encoder; not of embeddings, nor of the heads outside of it."""
    encoders: list[nn.Module] = [module for module in model.modules() if isinstance(module, Encoder)]
    embedded = {id(module.weight) for module in model.modules() if isinstance(module, nn.Embedding)}
    layers = (
        layer
        for encoder in encoders or [getattr(model, "encoder", model)]
        for layer in encoder.modules()
        if isinstance(layer, nn.Linear) and id(layer.weight) not in embedded
    )
    return [*{id(layer.weight): layer.weight for layer in layers}.values()]


class Unread:
    """Losses and gradients that nobody has read yet, for a device that is not to be waited for at each step.

    `note` keeps the first step whose loss or gradient was not finite, on the device; `check` reads it.
    """

    def __init__(self, device: torch.device) -> None:
        self._first = torch.zeros((), dtype=torch.int64, device=device)
        self._seen = torch.zeros(2, device=device)

    def note(self, loss: Tensor, norm: Tensor, step: int) -> None:
        """Note the loss of a step, and its gradient's norm."""
        seen = torch.stack([loss.detach().float(), norm.float()])
        new = (self._first == 0) & ~seen.isfinite().all()
        self._seen = torch.where(new, seen, self._seen)
        self._first = torch.where(new, step, self._first)

    def check(self) -> None:
        """Raise DivergenceError for the first step whose loss or gradient was not finite."""
        if step := int(self._first):
            loss, norm = self._seen.tolist()
            raise diverged(loss, norm, step)


def diverged(loss: float, norm: float, step: int) -> DivergenceError:
    """Return the error of a step whose loss or gradient is not finite."""
    return DivergenceError(
        f"{_figures(loss, norm, step)}; lower the learning rate, or lengthen the warm-up; the last checkpoint is kept"
    )


def _figures(loss: float, norm: float, step: int) -> str:
    return f"the loss is {loss:.6} and its gradient has norm {norm:.6} at step {step}"


def update_unread(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    loss: Tensor,
    rate: float,
    max_grad_norm: float,
    step: int,
    unread: Unread,
) -> Tensor:
    """Update the weights as `update` does without spikes, and return the norm on its device, waiting for nothing.

    A loss or gradient that is not finite is noted in `unread`, and the weights are then lost.
    """
    norm = nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm or float("inf"))
    unread.note(loss, norm, step)
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.step()
    return norm


def update(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    loss: float,
    rate: float,
    max_grad_norm: float,
    step: int,
    spike_ratio: float = 0.0,
    on_spike: str = "skip",
) -> float:
    """Update the weights by their gradients, clipped to `max_grad_norm` (0: no clipping); returns the gradient's norm.

    A spike is a loss or norm that is not finite, or, with a `spike_ratio`, a norm over so many times the mean of those
    before (`is_spike`). With `on_spike` "rewind" it raises SpikeError; with "skip" and a `spike_ratio` the update is
    left out (`skips`). Else raises DivergenceError where the loss or the gradient is not finite. The weights are as
    they were after each of these.
    """
    norm = float(nn.utils.clip_grad_norm_(model.parameters(), max_grad_norm or float("inf")))
    finite = abs(loss) < float("inf") and norm < float("inf")
    if on_spike == "rewind":
        if not finite or (spike_ratio and is_spike(optimizer, norm, spike_ratio)):
            raise SpikeError(_figures(loss, norm, step))
        note_norm(optimizer, norm)
    elif spike_ratio and skips(optimizer, norm if finite else float("inf"), spike_ratio):
        return norm
    elif not finite:
        raise diverged(loss, norm, step)
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.step()
    return norm


def is_spike(optimizer: torch.optim.Optimizer, norm: float, ratio: float) -> bool:
    """Return whether a norm is over `ratio` times the mean of those before; those of the first 20 updates never are.

    The mean of the norms (of the last hundred or so) and their number are in the optimizer's first group, so that
    checkpoints have them.
    """
    group = optimizer.param_groups[0]
    return bool(group.get("norms", 0) >= _NORMS_FIRST and norm > ratio * group.get("norm_mean", 0.0))


def note_norm(optimizer: torch.optim.Optimizer, norm: float) -> None:
    """Add a norm to those that later ones are compared with."""
    group = optimizer.param_groups[0]
    mean, number = group.get("norm_mean", 0.0), group.get("norms", 0)
    group["norms"] = number + 1
    group["norm_mean"] = mean + (norm - mean) / min(number + 1, _NORMS_KEPT)


def skips(optimizer: torch.optim.Optimizer, norm: float, ratio: float) -> bool:
    """Return whether an update is to be left out, for its norm is a spike, and note the norm where it is not.

    The sixth of a row is not left out, for then it is no spike. The updates left out are counted in the optimizer's
    first group, so that a resumed run leaves out the same.
    """
    group = optimizer.param_groups[0]
    row = group.get("skipped_in_a_row", 0)
    if row < _MOST_SKIPPED and is_spike(optimizer, norm, ratio):
        group["skipped"], group["skipped_in_a_row"] = group.get("skipped", 0) + 1, row + 1
        return True
    if norm < float("inf"):
        group["skipped_in_a_row"] = 0
        note_norm(optimizer, norm)
    return False


def own_randomness(device: torch.device) -> AbstractContextManager[None]:
    """Return a context that restores the caller's torch generators after its block."""
    return torch.random.fork_rng(devices=[device] if device.type == "cuda" else [])


def seed_step(seed: int, step: int, rank: int = 0) -> None:
    """Seed torch's generator by step and process, so that a resumed run draws what an uninterrupted one does.

    Fine-tuning draws all dropout from it, pretraining only that of attention on CUDA (`dropout`).
    """
    number = int(bits(key(seed, "dropout"), step, rank)) >> 1
    torch.default_generator.manual_seed(number)
    # Where CUDA is not initialized, torch.manual_seed keeps each call, with its stack, for the time when it is.
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.cuda.manual_seed_all(number)


def choose_device(name: str) -> torch.device:
    """Return the device of a name; `auto` is CUDA where there is one, else the CPU. Raises ConfigError."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ConfigError(f"--device is {name!r}; expected auto, cpu or cuda") from error
    if device.type not in ("cpu", "cuda"):
        raise ConfigError(f"--device is {name!r}; expected auto, cpu or cuda")
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ConfigError(f"--device is {name!r}, but torch finds no CUDA here; use auto or cpu")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise ConfigError(f"--device is {name!r}, but there are {torch.cuda.device_count()}, counted from cuda:0")
    return device


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
