"""Flash attention of transformers keeps the examples of a packed row apart with `attention_mask="varlen"`."""

from __future__ import annotations

import pickle
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, get_type_hints

import numpy as np
import pytest
import torch
import transformers
from transformers.modeling_flash_attention_utils import FlashAttentionKwargs

from bertdata.errors import ConfigError
from bertdata.loader import BatchCollator, ShardExamples
from bertdata.loader.block_mask import varlen_keys
from bertdata.objectives.settings import ExamplesConfig
from bertdata.torch import PretrainingCollator, ShardDataset
from tests.small_build import write_build
from tests.tokenizers.of_models import tokenizer_of
from tests.torch.data.flash_on_cpu import flash_on_cpu  # noqa: F401

FLASH = SimpleNamespace(_attn_implementation="flash_attention_2")
FAMILIES = {
    "albert": 0,
    "bert": 0,
    "camembert": 2,
    "distilbert": 0,
    "electra": 0,
    "ernie": 0,
    "esm": 2,
    "eurobert": 0,
    "gte": 0,
    "jina_embeddings_v3": 0,
    "modernbert": 0,
    "nomic_bert": 0,
    "roberta": 2,
    "ultrabert": 0,
    "xlm-roberta": 2,
}
"""The model types of docs/loader.md, and where their position ids begin with a pad_token_id of 1."""


def model_of(family: str, **settings: Any) -> Any:
    """Return a small model without dropout; its local attention, where it has some, sees 4 tokens on each side."""
    sizes = {"hidden_size": 32, "num_hidden_layers": 4, "num_attention_heads": 2, "num_key_value_heads": 2}
    of_distilbert = {"dim": 32, "n_layers": 4, "n_heads": 2, "hidden_dim": 48, "dropout": 0.0, "attention_dropout": 0.0}
    config = transformers.AutoConfig.for_model(
        family,
        **{"vocab_size": 100, "pad_token_id": 1, "mask_token_id": 4} | settings,
        **of_distilbert if family == "distilbert" else sizes | {"intermediate_size": 48},
        bos_token_id=2,
        eos_token_id=3,
        cls_token_id=2,
        sep_token_id=3,
        max_position_embeddings=96,
        local_attention=8,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.2,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return transformers.AutoModelForMaskedLM.from_config(config, attn_implementation="sdpa").eval()


@pytest.mark.parametrize("family", FAMILIES)
def test_examples_of_a_packed_row_have_the_logits_that_they_have_apart(
    family: str,
    flash_on_cpu: list[int],  # noqa: F811
) -> None:
    if family not in transformers.models.auto.configuration_auto.CONFIG_MAPPING:
        pytest.skip(f"transformers {transformers.__version__} has no {family}")
    model, offsets = model_of(family), np.array([0, 11, 25, 40], np.int32)
    ids = torch.randint(5, 100, (1, 40), generator=torch.Generator().manual_seed(1))
    apart = torch.cat([model(input_ids=ids[:, begin:end]).logits for begin, end in pairwise(offsets)], 1)
    places = [torch.arange(size) + FAMILIES[family] for size in np.diff(offsets)]
    keys = {name: torch.from_numpy(key) if name[:2] == "cu" else key for name, key in varlen_keys(offsets).items()}
    model.config._attn_implementation = "flash_attention_2"
    packed = model(input_ids=ids, position_ids=torch.cat(places)[None], **keys).logits
    assert flash_on_cpu == [3] * 4
    torch.testing.assert_close(packed, apart, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("family", ["distilbert", "esm", "gte", "jina_embeddings_v3", "modernbert"])
def test_without_the_keys_these_attend_to_the_whole_row(
    family: str,
    flash_on_cpu: list[int],  # noqa: F811
) -> None:
    if family not in transformers.models.auto.configuration_auto.CONFIG_MAPPING:
        pytest.skip(f"transformers {transformers.__version__} has no {family}")
    model = model_of(family)
    model.config._attn_implementation = "flash_attention_2"
    positions = torch.cat([torch.arange(5), torch.arange(7)])[None] + FAMILIES[family]
    with pytest.raises(AssertionError, match="attended to as a whole"):
        model(input_ids=torch.arange(5, 17)[None], position_ids=positions)


@pytest.mark.parametrize(("family", "pieces"), [("modernbert", "ModernBERT"), ("roberta", "RoBERTa")])
def test_a_packed_batch_trains_as_the_padded_one(
    family: str,
    pieces: str,
    tmp_path: Any,
    flash_on_cpu: list[int],  # noqa: F811
) -> None:
    examples = ExamplesConfig("doc-sentences", max_seq_length=64, pack=True, pack_length=128)
    dataset = ShardDataset(write_build(tmp_path, examples, documents=12, pieces=tokenizer_of(pieces)))
    info, rows = dataset.info, dataset.__getitems__([(0, row) for row in range(len(dataset))])
    special = {"pad_token_id": info.pad_token_id, "mask_token_id": info.mask_token_id}

    def loss_and_step(attention: str, **options: Any) -> list[float]:
        model = model_of(family, vocab_size=info.vocab_size, **special)
        model.config._attn_implementation = attention
        if attention != "sdpa":
            options["model_config"] = model.config
        batch = PretrainingCollator(dataset, **options)(rows)
        losses = []
        for _ in range(2):
            loss = model(**batch).loss
            losses.append(loss.item())
            model.zero_grad()
            loss.backward()
            torch.optim.SGD(model.parameters(), lr=1e-3).step()
        return losses

    offset = info.pad_token_id + 1 if family == "roberta" else 0
    expected = loss_and_step("sdpa")
    packed = loss_and_step("flash_attention_2", packing=True, attention_mask="varlen", position_offset=offset)
    assert expected[1] < expected[0]
    assert packed == pytest.approx(expected, rel=1e-5)
    assert min(flash_on_cpu, default=0) > 3


def test_the_keys_are_those_of_transformers() -> None:
    assert set(varlen_keys(np.array([0, 2], np.int32))) == set(get_type_hints(FlashAttentionKwargs))


def test_a_batch_has_the_keys_beside_all_that_a_packed_one_has(dynamic_build: Any) -> None:
    dataset, rows = ShardDataset(dynamic_build), [(0, 0), (0, 1), (0, 2)]
    options: dict[str, Any] = {"packing": True, "attention_mask": "varlen", "model_config": FLASH}
    collator = PretrainingCollator(dataset, **options)
    batch, plain = (
        each_collator(dataset.__getitems__(rows))
        for each_collator in (pickle.loads(pickle.dumps(collator)), PretrainingCollator(dataset, packing=True))
    )
    added = set(batch) - set(plain)
    assert added == {"cu_seq_lens_q", "cu_seq_lens_k", "max_length_q", "max_length_k"}
    for name, column in plain.items():
        assert torch.equal(batch[name], column)
    for name in ("cu_seq_lens_q", "cu_seq_lens_k"):
        assert batch[name].dtype == torch.int32
        assert torch.equal(batch[name], batch["cu_seqlens"])
    assert type(batch["max_length_q"]) is int
    assert batch["max_length_q"] == batch["max_length_k"] == int(batch["cu_seqlens"].diff().max())
    arrays = BatchCollator(ShardExamples(dynamic_build), **options).arrays(dataset.__getitems__(rows))
    assert arrays["max_length_q"] == batch["max_length_q"]
    assert arrays["cu_seq_lens_k"].tolist() == batch["cu_seq_lens_k"].tolist()


@pytest.mark.parametrize("attention", ["sdpa", "eager", "flex_attention", None])
def test_attention_that_would_not_read_the_keys_is_refused(dynamic_build: Any, attention: str | None) -> None:
    config = SimpleNamespace(_attn_implementation=attention)
    with pytest.raises(ConfigError, match=f"that of the model is {attention!r}, .*'flash_attention_2', or take"):
        PretrainingCollator(dynamic_build, packing=True, attention_mask="varlen", model_config=config)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"packing": True}, "needs model_config=model.config"),
        ({"model_config": FLASH}, "are for packing=True"),
        ({"packing": True, "model_config": FLASH, "sliding_window": 4}, "sliding_window is 4, .*'varlen'"),
        ({"packing": True, "model_config": FLASH, "causal": True}, "'varlen' lets tokens attend to later ones"),
        ({"packing": True, "model_config": FLASH, "attention_mask": "blocks"}, "model_config is for attention_mask='v"),
    ],
)
def test_settings_that_do_not_fit_are_refused(dynamic_build: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        PretrainingCollator(dynamic_build, **{"attention_mask": "varlen"} | options)
