"""Causal batches in models: a token's output depends on no later token."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from bertdata.errors import ConfigError
from bertdata.objectives.settings import ExamplesConfig
from bertdata.torch import BertConfig, BertForMaskedLM, DeviceCollator, PretrainingCollator, ShardDataset
from tests.torch.build import WORDS, write_build


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_build(tmp_path_factory.mktemp("b"), ExamplesConfig(objective="doc-sentences", max_seq_length=24))


def companion() -> Any:
    model = BertForMaskedLM(BertConfig.tiny(vocab_size=WORDS + 5)).eval()
    encoder: Any = model.bert
    return lambda batch: encoder.encode(batch["input_ids"], attention_mask=batch["attention_mask"])


def of_transformers(implementation: str) -> Any:
    transformers: Any = pytest.importorskip("transformers")
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    config = transformers.BertConfig(vocab_size=WORDS + 5, attn_implementation=implementation, **sizes)
    model = transformers.BertModel(config).eval()
    return lambda batch: model(batch["input_ids"], attention_mask=batch["attention_mask"]).last_hidden_state


@pytest.mark.parametrize("model", [companion, lambda: of_transformers("sdpa"), lambda: of_transformers("eager")])
@torch.no_grad()
def test_an_output_depends_on_the_tokens_up_to_it_alone(build: Path, model: Any) -> None:
    torch.manual_seed(0)
    dataset, run = ShardDataset(build), model()
    batch = PretrainingCollator(dataset, causal=True, shifted=True)([dataset[0], dataset[1]])
    before: Tensor = run(batch)
    for place in range(1, int((batch["attention_mask"][0, 0, -1] == 0).sum())):
        ids = batch["input_ids"].clone()
        ids[0, place] = 5 + (int(ids[0, place]) + 7) % WORDS
        changed = (run(batch | {"input_ids": ids}) != before).any(-1)
        assert changed[0, place]
        assert not changed[0, :place].any()
        assert not changed[1].any()


def test_tensors_of_packed_batches_have_the_flag(build: Path) -> None:
    dataset = ShardDataset(build)
    batch = PretrainingCollator(dataset, causal=True, packing=True)([dataset[0], dataset[1]])
    assert batch["is_causal"].dtype == torch.bool
    assert batch["labels"][0, batch["cu_seqlens"][:-1].long()].tolist() == [-100] * (len(batch["cu_seqlens"]) - 1)


def test_the_device_collator_refuses_them(build: Path) -> None:
    for keywords in ({"shifted": True}, {"causal": True}):
        with pytest.raises(ConfigError, match="shifted and causal labels are made on the CPU"):
            DeviceCollator(build, **keywords)
