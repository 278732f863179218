"""How fast a training step could be on a GPU at most, counted without one: `python benchmarks/roofline.py`.

A step of BERT-base and of ModernBERT-base is taken with tensors that have shapes and types but no values, in the
arithmetic of `--precision reference` and in that of today. Counted are the kernels that torch launches without
compilation, the bytes that each reads and writes, and its operations. From these come two bounds on the time, by the
device's peak and its memory:

- eager: each kernel takes as long as its operations or its bytes do, whichever is longer;
- fused: products of matrices and attention alone, as if all else were done inside of them. No compiler reaches it.

The device is one H200 by its data sheet: 989 TFLOPS of bfloat16, 4.8 TB/s.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import torch
from _harness import table
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from bertdata.torch import BertConfig, BertForMaskedLM, ModernBertConfig, ModernBertForMaskedLM
from bertdata.torch.models.attention import packed_sequences
from bertdata.torch.models.config import Counts
from bertdata.torch.models.norm import LayerNorm
from bertdata.torch.training.arithmetic import set_precision
from bertdata.torch.training.settings import PretrainSettings

PEAK, BANDWIDTH = 989e12, 4.8e12
PRODUCTS = ("mm", "addmm", "bmm", "baddbmm")
ATTENTION = "scaled_dot_product"


@dataclass
class Cost:
    """The kernels of a step, what they read and write, their operations, and the bounds on their time in seconds."""

    kernels: int = 0
    bytes: float = 0.0
    operations: float = 0.0
    eager: float = 0.0
    fused: float = 0.0
    largest: dict[str, float] = field(default_factory=dict)

    def add(self, name: str, moved: float, operations: float) -> None:
        """Add a kernel."""
        seconds = max(moved / BANDWIDTH, operations / PEAK)
        self.kernels, self.bytes, self.operations = self.kernels + 1, self.bytes + moved, self.operations + operations
        self.eager += seconds
        self.fused += seconds if operations else 0.0
        self.largest[name] = self.largest.get(name, 0.0) + seconds


class Counting(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts what each operation of torch costs."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.cost = Cost()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        given = [value for value in torch.utils._pytree.tree_leaves((args, kwargs)) if isinstance(value, Tensor)]
        made = [value for value in torch.utils._pytree.tree_leaves(result) if isinstance(value, Tensor)]
        name = func._schema.name.removeprefix("aten::")
        storages = {value.untyped_storage()._cdata for value in given}
        is_view = not func._schema.is_mutable and all(value.untyped_storage()._cdata in storages for value in made)
        if made and not is_view and name not in ("empty", "empty_like", "empty_strided", "new_empty", "detach"):
            moved = sum(value.numel() * value.element_size() for value in given + made)
            self.cost.add(name, moved, operations_of(func, name, args, kwargs or {}, result))
        return result


def operations_of(func: Any, name: str, args: Any, kwargs: Any, result: Any) -> float:
    """Return the operations of a product of matrices or of attention, 0 for all others."""
    if ATTENTION in name:
        query, key = (args[1], args[2]) if "backward" in name else (args[0], args[1])
        products = 5 if "backward" in name else 2
        return float(2 * products * query.numel() * key.shape[-2])
    if name in PRODUCTS:
        return float(flop_registry[func._overloadpacket](*args, **kwargs, out_val=result))
    return 0.0


def near_kernel(query: Tensor, key: Tensor, value: Tensor, ends: Tensor, *rest: Any, window_size: Any = None) -> Tensor:
    """Stand in for torch's `varlen_attn` on sequences of one length, with as many operations."""
    number = len(ends) - 1
    apart = [states.unflatten(0, (number, -1)).transpose(1, 2) for states in (query, key, value)]  # type: ignore[no-untyped-call]
    most = apart[1].shape[2] if window_size is None else sum(window_size) + 1
    mixed = functional.scaled_dot_product_attention(apart[0], apart[1][:, :, :most], apart[2][:, :, :most])
    return mixed.transpose(1, 2).flatten(0, 1)


def without_values(model: nn.Module, mode: FakeTensorMode) -> None:
    """Put parameters without values in the place of a model's."""
    new: dict[int, nn.Parameter] = {}
    for module in model.modules():
        for name, parameter in module._parameters.items():
            if parameter is not None:
                made = new.setdefault(id(parameter), nn.Parameter(mode.from_tensor(parameter.detach())))
                module._parameters[name] = made


def wide_norm(self: LayerNorm, input: Tensor) -> Tensor:  # noqa: A002
    """Return what a norm does under autocast on CUDA: float32."""
    with torch.autocast("cpu", enabled=False):
        return functional.layer_norm(input.float(), self.normalized_shape, self.weight, self.bias, self.eps)


@contextmanager
def as_before() -> Iterator[None]:
    """Have norms return float32, and query, key and value be products of their storages."""

    def apart(hidden: Tensor, layers: Sequence[nn.Module]) -> list[Tensor]:
        return [layer(hidden) for layer in layers]

    with ExitStack() as stack:
        stack.enter_context(patch.object(LayerNorm, "forward", wide_norm))
        stack.enter_context(patch("bertdata.torch.models.bert.model.side_by_side", apart))
        yield


def step_of(kind: str, *, rows: int, length: int, share: float, before: bool) -> tuple[Cost, float]:
    """Return the cost of a step on full rows without its update, and the operations that MFU counts."""
    torch.manual_seed(0)
    dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    with patch("torch.nn.init.trunc_normal_", lambda tensor, **_: tensor):
        model: Any = (
            BertForMaskedLM(BertConfig.base(vocab_size=30_528, **dropout))
            if kind == "bert"
            else ModernBertForMaskedLM(ModernBertConfig.base(vocab_size=50_368))
        )
    model.train()
    set_precision(model, PretrainSettings(bf16=True, precision="reference" if before else "fast"))
    mode, tokens = FakeTensorMode(allow_non_fake_inputs=True), rows * length
    labelled = torch.arange(0, tokens, round(1 / share))
    ids = torch.full((rows, length), 7)
    labels = torch.full((tokens,), -100).index_fill(0, labelled, 7).view(rows, length)
    batch: dict[str, Any] = {"input_ids": ids, "labels": labels, "labelled": labelled}
    if before and kind == "bert":
        batch["attention_mask"] = torch.ones_like(ids)
    if kind != "bert":
        ends = torch.arange(0, tokens + 1, length, dtype=torch.int32)
        batch = {name: value.view(1, -1) if value.ndim == 2 else value for name, value in batch.items()}
        batch |= {"cu_seqlens": ends, "position_ids": torch.arange(length).repeat(rows)[None], "longest": length}
    without_values(model, mode)
    batch = {name: mode.from_tensor(value) if isinstance(value, Tensor) else value for name, value in batch.items()}
    counting = Counting()

    def packed(*given: Any) -> Any:
        return packed_sequences(*given)._replace(kernel=near_kernel)

    def windows(window: int | None) -> Any:
        return lambda *given: near_kernel(*given, window_size=(window, window) if window else None)

    with ExitStack() as stack:
        stack.enter_context(patch("bertdata.torch.models.modernbert.model.packed_sequences", packed))
        stack.enter_context(patch("bertdata.torch.models.attention.varlen_kernel", windows))
        if before:
            stack.enter_context(as_before())
        stack.enter_context(mode)
        stack.enter_context(counting)
        with torch.autocast("cpu", torch.bfloat16):
            loss = model(**batch).loss
        loss.backward()
    wanted = model.training_flops(Counts(len(labelled), 0, tokens, tokens * length))
    return counting.cost, wanted


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=int, default=0, help="also name so many of the kernels that take longest")
    largest = parser.parse_args().largest
    cases: Mapping[str, dict[str, Any]] = {
        "BERT-base, 64 rows of 512": {"kind": "bert", "rows": 64, "length": 512, "share": 0.15},
        "ModernBERT-base, 64 packed rows of 1,024": {"kind": "modernbert", "rows": 64, "length": 1024, "share": 0.3},
    }
    lines = []
    for name, case in cases.items():
        for before in (True, False):
            cost, wanted = step_of(**case, before=before)
            lines.append(
                [
                    name,
                    "reference" if before else "fast",
                    f"{cost.kernels:,}",
                    f"{cost.bytes / 1e9:,.0f}",
                    f"{cost.operations / 1e12:.1f}",
                    f"{1e3 * cost.eager:.0f}",
                    f"{wanted / PEAK / cost.eager:.0%}",
                    f"{1e3 * cost.fused:.0f}",
                    f"{wanted / PEAK / cost.fused:.0%}",
                ]
            )
            for kernel, seconds in sorted(cost.largest.items(), key=lambda item: -item[1])[:largest]:
                print(f"{name}, {'reference' if before else 'fast'}: {kernel} {1e3 * seconds:.1f} ms")
    heads = [
        "step",
        "--precision",
        "kernels",
        "GB moved",
        "TFLOP",
        "eager, ms",
        "MFU at most",
        "fused, ms",
        "MFU at most",
    ]
    print(table(heads, lines))


if __name__ == "__main__":
    main()
