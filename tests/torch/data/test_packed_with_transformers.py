"""Models of transformers have the same loss on packed rows as on padded ones, token by token."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from bertdata.errors import ConfigError
from bertdata.loader import BatchCollator, ShardExamples
from bertdata.objectives.settings import ExamplesConfig
from bertdata.torch import PretrainingCollator, ShardDataset
from tests.small_build import write_build
from tests.tokenizers.of_models import tokenizer_of

ROW = 64
WINDOW = 4
"""Tokens on each side that a local layer sees: fewer than a row has."""


def options_of(name: str, dataset: ShardDataset) -> dict[str, Any]:
    """Return what a model needs of packed rows beside the mask."""
    offset = {"position_offset": dataset.info.pad_token_id + 1}
    return offset if name == "RoBERTa" else {"sliding_window": WINDOW}


@pytest.fixture(scope="module", params=["ModernBERT", "RoBERTa"])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def builds(name: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[ShardDataset, ShardDataset]:
    """The same examples one a row, and packed."""
    folder, made = tmp_path_factory.mktemp("packed"), []
    for packed in ({}, {"pack": True, "pack_length": 2 * ROW}):
        examples = ExamplesConfig("doc-sentences", max_seq_length=ROW, **packed)  # type: ignore[arg-type]
        made.append(
            ShardDataset(write_build(folder / str(bool(packed)), examples, documents=12, pieces=tokenizer_of(name)))
        )
    return made[0], made[1]


def model_of(name: str, dataset: ShardDataset, attention: str) -> Any:
    """Return a small model without dropout, the same for every call."""
    info = dataset.info
    settings: dict[str, Any] = {
        "vocab_size": info.vocab_size,
        "pad_token_id": info.pad_token_id,
        "bos_token_id": info.cls_token_id,
        "eos_token_id": info.sep_token_id,
        "hidden_size": 32,
        "num_hidden_layers": 4,
        "num_attention_heads": 2,
        "intermediate_size": 48,
        "max_position_embeddings": ROW + 2,
        "attn_implementation": attention,
        "initializer_range": 0.2,
    }
    with torch.random.fork_rng():
        torch.manual_seed(0)
        if name == "RoBERTa":
            none = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "type_vocab_size": 1}
            return transformers.RobertaForMaskedLM(transformers.RobertaConfig(**settings, **none))
        own = {"cls_token_id": info.cls_token_id, "sep_token_id": info.sep_token_id, "local_attention": 2 * WINDOW}
        return transformers.ModernBertForMaskedLM(transformers.ModernBertConfig(**settings, **own))


def trained(name: str, dataset: ShardDataset, attention: str, **options: Any) -> tuple[float, float]:
    """Return the sum of the losses over the predicted tokens before and after a step on all examples."""
    batch = PretrainingCollator(dataset, **options)(dataset.__getitems__([(0, n) for n in range(len(dataset))]))
    model, sums = model_of(name, dataset, attention), []
    for _ in range(2):
        logits = model(**batch).logits
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch["labels"].flatten(), reduction="sum")
        sums.append(loss.item())
        model.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.optim.SGD(model.parameters(), lr=1e-5).step()
    return sums[0], sums[1]


@pytest.mark.costly
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
def test_packed_batches_and_packed_shards_train_as_padded_ones(
    name: str, builds: tuple[ShardDataset, ShardDataset], attention: str
) -> None:
    plain, packed = builds
    assert max(plain.lengths) > 3 * WINDOW
    assert len(packed) < len(plain) > 5
    expected = trained(name, plain, attention)
    assert expected[1] < expected[0]
    for dataset in builds:
        losses = trained(name, dataset, attention, packing=True, attention_mask="blocks", **options_of(name, dataset))
        assert losses == pytest.approx(expected, rel=1e-5)
    assert trained(name, packed, attention) == pytest.approx(expected, rel=1e-5)


@pytest.mark.costly
def test_a_packed_row_without_its_mask_or_without_the_models_own_option_gives_another_loss(
    name: str, builds: tuple[ShardDataset, ShardDataset]
) -> None:
    expected = trained(name, builds[0], "sdpa")
    offset = options_of(name, builds[0]).get("position_offset", 0)
    for options in ({"position_offset": offset}, {"attention_mask": "blocks"}):
        losses = trained(name, builds[0], "sdpa", packing=True, **options)
        assert losses[0] != pytest.approx(expected[0], rel=1e-4)


def test_arrays_have_the_masks_and_positions_of_tensors(name: str, builds: tuple[ShardDataset, ShardDataset]) -> None:
    dataset, rows = builds[1], [(0, 0), (0, 1)]
    options: dict[str, Any] = {"packing": True, "attention_mask": "blocks"} | options_of(name, dataset)
    tensors = PretrainingCollator(dataset, **options)(dataset.__getitems__(rows))
    examples = ShardExamples(dataset.shards)
    arrays = BatchCollator(examples, **options).arrays(examples.__getitems__(rows))

    def plain(value: Any) -> Any:
        return {key: plain(inner) for key, inner in value.items()} if isinstance(value, dict) else value.tolist()

    assert plain(tensors) == plain(arrays)
    begins = arrays["cu_seqlens"][:-1]
    assert set(arrays["position_ids"][0][begins].tolist()) == {options.get("position_offset", 0)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"attention_mask": "blocks"}, "are for packing=True"),
        ({"position_offset": 2}, "are for packing=True"),
        ({"packing": True, "position_offset": -1}, "position_offset is -1; expected 0, or padding_idx"),
        ({"packing": True, "attention_mask": "full"}, "attention_mask is 'full'; expected 'blocks'"),
        ({"packing": True, "sliding_window": 64}, "sliding_window is 64, with attention_mask=None"),
        ({"packing": True, "attention_mask": "blocks", "sliding_window": 0}, "sliding_window is 0"),
    ],
)
def test_settings_of_packed_batches_that_do_not_fit_are_refused(
    dynamic_build: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        PretrainingCollator(dynamic_build, **options)
