"""Whole words on tensors, where the ids alone do not tell where words begin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader

from bertdata.loader import BatchCollator, ShardExamples
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig
from bertdata.torch import DeviceCollator, PretrainingCollator, ResumableBatchSampler, ShardDataset
from tests.small_build import write_build
from tests.tokenizers.made import made

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
MASKINGS = [
    *(MaskingConfig(mask_unit=unit) for unit in ("token", "word", "ngram", "span")),
    MaskingConfig(0.5, mask_unit="span", replace_unit="unit", max_predictions_per_seq=6),
]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = ExamplesConfig("nsp", max_seq_length=48)
    return write_build(tmp_path_factory.mktemp("words"), config, pieces=made("byte-level"))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("masking", MASKINGS, ids=str)
def test_masks_on_a_device_are_those_of_numpy(build: Path, masking: MaskingConfig, device: str) -> None:
    dataset = ShardDataset(build)
    indices = [(epoch, number) for epoch in (0, 7) for number in range(len(dataset))]
    expected = BatchCollator(ShardExamples(build), masking=masking)(dataset.__getitems__(indices))
    collator = DeviceCollator(dataset, masking=masking)
    small = collator(dataset.__getitems__(indices))
    assert ("word_starts" in small) == (masking.mask_unit != "token")
    batch = collator.finish({name: tensor.to(device) for name, tensor in small.items()})
    assert batch.keys() == expected.keys()
    for name, array in expected.items():
        assert torch.equal(batch[name].cpu(), torch.from_numpy(array)), name


@pytest.mark.costly
@pytest.mark.parametrize("collator_type", [PretrainingCollator, DeviceCollator])
def test_workers_hand_on_the_flags_and_models_do_not_get_them(build: Path, collator_type: Any) -> None:
    dataset = ShardDataset(build)
    collator = collator_type(dataset, masking=MaskingConfig(mask_unit="word"))
    samplers = [(workers, ResumableBatchSampler(dataset, 16, epochs=1, seed=3)) for workers in (0, 2)]
    batches = [
        list(DataLoader(dataset, batch_sampler=sampler, collate_fn=collator, num_workers=workers))
        for workers, sampler in samplers
    ]
    assert len(batches[0]) == len(batches[1]) > 5
    for batch_here, two in zip(*batches, strict=True):
        assert all(torch.equal(batch_here[name], two[name]) for name in batch_here)
        whole = collator.finish(batch_here) if isinstance(collator, DeviceCollator) else batch_here
        assert whole.keys() == {
            *("input_ids", "token_type_ids", "attention_mask", "labels", "next_sentence_label"),
        }
