from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from bertdata.config import MaskingConfig
from bertdata.draws import bits
from bertdata.errors import ConfigError
from bertdata.torch import DeviceCollator, PretrainingCollator, ShardDataset
from bertdata.torch.device import _bits

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "masking",
    [
        MaskingConfig(),
        MaskingConfig(masked_lm_prob=0.9, mask_token_prob=0.3, random_token_prob=0.6),
        MaskingConfig(masked_lm_prob=0.4, max_predictions_per_seq=3),
        MaskingConfig(mask_token_prob=1.0, random_token_prob=0.0, replace_unit="unit"),
    ],
)
def test_the_batch_is_that_of_the_cpu_bit_for_bit(dynamic_build: Path, masking: MaskingConfig, device: str) -> None:
    dataset = ShardDataset(dynamic_build)
    keywords: Any = {"masking": masking, "seed": 11, "pad_to_multiple_of": 16}
    here, there = PretrainingCollator(dataset, **keywords), DeviceCollator(dataset, **keywords)
    examples = dataset.__getitems__([(epoch, number) for epoch in (0, 1, 2**40) for number in range(len(dataset))])
    expected = here(examples)
    found = there.finish({name: tensor.to(device) for name, tensor in there(examples).items()})
    assert found.keys() == expected.keys()
    for name, tensor in expected.items():
        assert found[name].dtype == torch.int64
        assert torch.equal(found[name].cpu(), tensor), name


def test_two_bytes_a_token_cross_the_bus(dynamic_build: Path) -> None:
    dataset = ShardDataset(dynamic_build)
    small = DeviceCollator(dataset)(dataset.__getitems__(range(40)))
    rows = small["input_ids"]
    assert rows.dtype == torch.uint16
    rest = sum(tensor.nbytes for name, tensor in small.items() if name != "input_ids")
    assert rest == 40 * (4 + 4 + 8 + 8 + 8)


def test_draws_on_int64_are_the_draws_on_uint64() -> None:
    counters = torch.tensor([0, 1, -1, 2**62, -(2**63), 77])
    for seed in (0, 2**63 + 5, 2**64 - 1):
        ours = _bits(seed, counters, counters.flip(0)).numpy().view("uint64")
        assert ours.tolist() == bits(seed, counters.numpy(), counters.flip(0).numpy()).tolist()


def test_what_is_drawn_on_the_cpu_only_is_refused(dynamic_build: Path, static_build: Path) -> None:
    with pytest.raises(ConfigError, match="masks of these shards are static"):
        DeviceCollator(static_build)
    with pytest.raises(ConfigError, match="packing is done on the CPU"):
        DeviceCollator(dynamic_build, packing=True)
    with pytest.raises(ConfigError, match="--mask-unit word is parted on the CPU"):
        DeviceCollator(dynamic_build, masking=MaskingConfig(mask_unit="word"))
