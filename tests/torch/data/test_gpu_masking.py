from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.counter_rng import bits
from bertdata.errors import ConfigError
from bertdata.masking.law import RowLaw
from bertdata.masking.masking import Masker
from bertdata.masking.settings import MaskingConfig
from bertdata.masking.smoothing import delays
from bertdata.torch import DeviceCollator, PretrainingCollator, ShardDataset
from bertdata.torch.data.gpu_masking import mask_tokens, tensor_bits
from tests.masking.masker import masker_of
from tests.oracles.masking import mask_row

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


def law_on(device: str, masker: Masker, example_ids: Any, epochs: Any, levels: Any = None) -> RowLaw:
    """Return the law of rows as tensors on a device."""
    law = masker.law(example_ids, epochs, levels)
    return RowLaw.of_columns(torch.from_numpy(law.columns(len(example_ids))).to(device))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "masking",
    [
        MaskingConfig(),
        MaskingConfig(masked_lm_prob=0.9, mask_token_prob=0.3, random_token_prob=0.6),
        MaskingConfig(masked_lm_prob=0.4, max_predictions_per_seq=3),
        MaskingConfig(mask_token_prob=1.0, random_token_prob=0.0, replace_unit="unit"),
        MaskingConfig(random_tokens="vocabulary", random_token_prob=0.2),
        *(
            MaskingConfig(mask_unit=unit, replace_unit=replaced, max_predictions_per_seq=limit, masked_lm_prob=rate)
            for unit in ("word", "ngram", "span")
            for replaced, limit, rate in (("token", 0, 0.15), ("unit", 2, 0.4), ("token", 5, 0.9))
        ),
    ],
)
def test_the_batch_is_that_of_the_cpu_bit_for_bit(dynamic_build: Path, masking: MaskingConfig, device: str) -> None:
    dataset = ShardDataset(dynamic_build)
    keywords: Any = {"masking": masking, "seed": 11, "pad_to_multiple_of": 16}
    here, there = PretrainingCollator(dataset, **keywords), DeviceCollator(dataset, **keywords)
    examples = dataset.__getitems__([(epoch, number) for epoch in (0, 1, 2**40) for number in range(len(dataset))])
    expected = here(examples)
    batch = there.finish({name: tensor.to(device) for name, tensor in there(examples).items()})
    assert batch.keys() == expected.keys()
    for name, tensor in expected.items():
        assert batch[name].dtype == torch.int64
        assert torch.equal(batch[name].cpu(), tensor), name


@pytest.mark.parametrize("collator", [PretrainingCollator, DeviceCollator])
def test_no_examples_and_those_without_a_column_are_refused(dynamic_build: Path, collator: Any) -> None:
    dataset = ShardDataset(dynamic_build)
    with pytest.raises(ConfigError, match="a batch of no examples cannot be collated; expected at least one"):
        collator(dataset)([])
    for name in ("input_ids", "token_type_ids", "example_id", "next_sentence_label"):
        examples: Any = [{key: value for key, value in dataset[(0, 3)].items() if key != name}]
        with pytest.raises(ConfigError, match=f"an example has no '{name}', it has '.*set remove_unused_columns=False"):
            collator(dataset)(examples)
    with pytest.raises(ConfigError, match="an example has no 'input_ids', it has nothing"):
        collator(dataset)([{}])


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
        ours = tensor_bits(seed, counters, counters.flip(0)).numpy().view("uint64")
        assert ours.tolist() == bits(seed, counters.numpy(), counters.flip(0).numpy()).tolist()


def test_what_is_drawn_on_the_cpu_only_is_refused(dynamic_build: Path, static_build: Path) -> None:
    with pytest.raises(ConfigError, match="masks of these shards are static"):
        DeviceCollator(static_build)
    with pytest.raises(ConfigError, match="packing is done on the CPU"):
        DeviceCollator(dynamic_build, packing=True)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("rate", "limit"), [(0.15, 0), (0.6, 0), (0.6, 7)])
def test_tokens_drawn_by_weights_are_those_of_the_plain_loop(device: str, rate: float, limit: int) -> None:
    generator = np.random.default_rng(0)
    ids, special = generator.integers(0, 45, (30, 40)), generator.random((30, 40)) < 0.15
    counts, examples = generator.integers(0, 10 ** generator.integers(0, 12, 40)), generator.integers(0, 2**62, 30)
    config = MaskingConfig(rate, max_predictions_per_seq=limit, mask_smoothing=0.7)
    later = delays(counts, [3, 7], 0.7)
    given, barred, numbers = (torch.from_numpy(array).to(device) for array in (ids, special, examples))
    masker = masker_of(config, 3, 4, np.arange(5, 30), delays=later)
    epochs = torch.full((30,), 2, device=device)
    masked, labels = mask_tokens(given, barred, numbers, epochs, masker, law_on(device, masker, examples, 2))
    named: Any = {"config": config, "seed": 3, "epoch": 2, "mask_token_id": 4, "replacement_ids": range(5, 30)}
    for row in range(30):
        row_values = ids[row].tolist(), special[row].tolist(), int(examples[row])
        expected = mask_row(*row_values, **named, delays=later.tolist())
        assert (masked[row].tolist(), labels[row].tolist()) == expected[:2]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("schedule", [(), ("0=0.5", "1=0.1")])
@pytest.mark.parametrize("unit", ["token", "token-ngram", "word", "span"])
def test_positions_masked_in_turn_are_those_of_the_plain_loop(
    device: str, unit: str, schedule: tuple[str, ...]
) -> None:
    generator = np.random.default_rng(0)
    ids, special = generator.integers(5, 40, (20, 40)), generator.random((20, 40)) < 0.1
    examples, epochs = generator.integers(0, 2**62, 20), generator.integers(0, 40, 20)
    levels, continuation = generator.integers(0, 1001, 20), generator.random(40) < 0.4
    config = MaskingConfig(mask_unit=unit, mask_in_turn=True, mask_schedule=schedule, replace_unit="unit")
    given: Any = [torch.from_numpy(array).to(device) for array in (ids, special, examples, epochs)]
    masker = masker_of(config, 3, 4, np.arange(5, 30), continuation)
    law = law_on(device, masker, examples, epochs, levels)
    masked, labels = mask_tokens(given[0], given[1], given[2], given[3], masker, law)
    named: Any = {"seed": 3, "mask_token_id": 4, "replacement_ids": range(5, 30), "continuation": continuation.tolist()}
    named["schedule"] = config if schedule else None
    for row in range(20):
        expected = mask_row(
            ids[row].tolist(),
            special[row].tolist(),
            int(examples[row]),
            config=config.at(int(levels[row])),
            epoch=int(epochs[row]),
            **named,
        )
        assert (masked[row].tolist(), labels[row].tolist()) == expected[:2]


@pytest.mark.parametrize("device", DEVICES)
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_units_of_words_are_masked_as_the_plain_loop_masks_them(device: str, data: st.DataObject) -> None:
    rows, length = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 24))
    generator = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    ids, special = generator.integers(5, 40, (rows, length)), generator.random((rows, length)) < 0.15
    special[0] |= bool(data.draw(st.booleans()))
    continuation = generator.random(36) < data.draw(st.sampled_from([0.0, 0.4, 1.0]))
    config = MaskingConfig(
        data.draw(st.sampled_from([0.01, 0.15, 0.5, 0.99])),
        max_predictions_per_seq=data.draw(st.sampled_from([0, 1, 3])),
        mask_unit=data.draw(st.sampled_from(["word", "ngram", "span"])),
        replace_unit=data.draw(st.sampled_from(["token", "unit"])),
        max_ngram=data.draw(st.integers(1, 5)),
    )
    example_ids, epoch = generator.integers(0, 2**62, rows), data.draw(st.integers(0, 3))
    masker = masker_of(config, 3, 4, np.arange(5, 30), continuation)
    masked, labels = mask_tokens(
        torch.from_numpy(ids).to(device),
        torch.from_numpy(special).to(device),
        torch.from_numpy(example_ids).to(device),
        torch.full((rows,), epoch, device=device),
        masker,
        law_on(device, masker, example_ids, epoch),
    )
    for row in range(rows):
        expected = mask_row(
            ids[row].tolist(),
            special[row].tolist(),
            int(example_ids[row]),
            config=config,
            seed=3,
            epoch=epoch,
            mask_token_id=4,
            replacement_ids=range(5, 30),
            continuation=continuation.tolist(),
        )
        assert (masked[row].tolist(), labels[row].tolist()) == expected[:2]
