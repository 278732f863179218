"""Gradient-disentangled embedding sharing: whose loss moves which table, and what is saved of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor

from bertdata.errors import ConfigError, InputError
from bertdata.torch.models.electra import ElectraConfig, ElectraForReplacedTokenDetection
from bertdata.torch.models.objectives.embedding_sharing import DisentangledEmbedding
from bertdata.torch.models.objectives.replaced_tokens import ReplacedTokenDetection
from bertdata.torch.models.objectives.transformers_detection import TransformersForReplacedTokenDetection
from bertdata.torch.models.transformers_config import TransformersConfig
from bertdata.torch.models.weights import APART

CONFIG = ElectraConfig(
    vocab_size=100,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=64,
    max_position_embeddings=32,
    embedding_size=16,
    hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0,
)
TABLES = {"word_embeddings", "position_embeddings", "token_type_embeddings"}
IDS = torch.tensor([[2, 7, 4, 9, 12, 13, 3, 0], [2, 4, 8, 8, 9, 9, 9, 3]])
LABELS = torch.full_like(IDS, -100)
LABELS[0, 2], LABELS[1, 1] = 8, 7


class WithDifference(ElectraForReplacedTokenDetection):
    embedding_sharing = "gdes"


class Separate(ElectraForReplacedTokenDetection):
    embedding_sharing = "none"


def deberta_class(how: str) -> type[TransformersForReplacedTokenDetection]:
    return type("Kind", (TransformersForReplacedTokenDetection,), {"embedding_sharing": how})


def deberta(how: str) -> TransformersForReplacedTokenDetection:
    config = transformers.DebertaV2Config(
        vocab_size=100,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
        type_vocab_size=2,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    return deberta_class(how)(TransformersConfig.of(config))


def tables_of(encoder: Any) -> dict[str, Any]:
    parts = dict(encoder.embeddings.named_children())
    return {name: parts[name] for name in TABLES}


def encoders(model: ReplacedTokenDetection) -> list[dict[str, Any]]:
    """Return the tables of the generator, and of the discriminator."""
    both: list[Any] = [model.generator.encoder, model.discriminator.encoder]
    return [tables_of(one) for one in both]


def moved(model: ReplacedTokenDetection) -> None:
    """Give every parameter another value, with all bits of a float32 in use."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.05)


def gradient(value: Tensor | None) -> float:
    return 0.0 if value is None else float(value.abs().sum())


@pytest.mark.parametrize(
    "make", [lambda: WithDifference(CONFIG), lambda: deberta("gdes")], ids=["electra", "deberta-v2"]
)
def test_the_discriminators_loss_moves_the_difference_and_the_generators_its_own_table(make: Any) -> None:
    model = make()
    generator, discriminator = encoders(model)
    output = model(IDS, LABELS, attention_mask=(IDS != 0).long())
    output.replaced_loss.backward(retain_graph=True)
    for name in TABLES:
        assert isinstance(discriminator[name], DisentangledEmbedding)
        assert gradient(discriminator[name].difference.grad) > 0
        assert gradient(generator[name].weight.grad) == 0
        discriminator[name].difference.grad = None
    output.generator.loss.backward()
    for name in TABLES:
        assert gradient(discriminator[name].difference.grad) == 0
        assert gradient(generator[name].weight.grad) > 0


@pytest.mark.parametrize(
    "make", [lambda: ElectraForReplacedTokenDetection(CONFIG), lambda: deberta("shared")], ids=["electra", "deberta-v2"]
)
def test_shared_embeddings_are_moved_by_both_losses(make: Any) -> None:
    model = make()
    generator, discriminator = encoders(model)
    model(IDS, LABELS).replaced_loss.backward()
    for name in TABLES:
        assert generator[name].weight is discriminator[name].weight
        assert gradient(generator[name].weight.grad) > 0


@pytest.mark.parametrize("make", [lambda: Separate(CONFIG), lambda: deberta("none")], ids=["electra", "deberta-v2"])
def test_without_sharing_each_has_its_own(make: Any) -> None:
    model = make()
    generator, discriminator = encoders(model)
    model(IDS, LABELS).replaced_loss.backward()
    for name in TABLES:
        assert gradient(generator[name].weight.grad) == 0
        assert gradient(discriminator[name].weight.grad) > 0


def test_the_difference_begins_at_0_and_decides_the_discriminators_output() -> None:
    model = WithDifference(CONFIG)
    generator, discriminator = encoders(model)
    for name in TABLES:
        assert torch.equal(discriminator[name].weight, generator[name].weight)
    moved(model)
    plain = transformers.ElectraForPreTraining(transformers.ElectraConfig(**CONFIG.to_dict(""))).eval()
    state = model.discriminator.state_dict()
    plain.load_state_dict(state)
    for name in TABLES:
        summed = generator[name].weight + discriminator[name].difference
        assert torch.equal(state[f"electra.embeddings.{name}.weight"], summed)
    model.eval()
    assert torch.allclose(model.discriminator(IDS), plain(IDS).logits, atol=1e-6)


def test_a_saved_electra_opens_in_transformers_and_loads_to_the_last_bit(tmp_path: Path) -> None:
    model = WithDifference(CONFIG).eval()
    moved(model)
    model.save_pretrained(tmp_path)
    opened, notes = transformers.ElectraForPreTraining.from_pretrained(tmp_path, output_loading_info=True)
    assert not notes["missing_keys"]
    assert not notes["unexpected_keys"]
    assert torch.allclose(opened(IDS).logits, model.discriminator(IDS), atol=1e-6)
    again = WithDifference.from_pretrained(tmp_path)
    for name, value in model.named_parameters():
        assert torch.equal(dict(again.named_parameters())[name], value), name


@pytest.mark.parametrize("how", ["gdes", "shared", "none"])
def test_a_saved_deberta_opens_in_transformers_and_loads_to_the_last_bit(how: str, tmp_path: Path) -> None:
    model = deberta(how).eval()
    moved(model)
    model.save_pretrained(tmp_path)
    opened, notes = transformers.AutoModel.from_pretrained(tmp_path, output_loading_info=True)
    assert not notes["missing_keys"]
    assert not notes["unexpected_keys"]
    hidden = model.discriminator.model(IDS).last_hidden_state
    assert torch.allclose(opened(IDS).last_hidden_state, hidden, atol=1e-6)
    generator = transformers.AutoModelForMaskedLM.from_pretrained(tmp_path / "generator")
    assert (generator.config.num_hidden_layers, opened.config.num_hidden_layers) == (1, 2)
    again = type(model).from_pretrained(tmp_path)
    for name, value in model.named_parameters():
        assert torch.equal(dict(again.named_parameters())[name], value), name


@pytest.mark.parametrize(
    ("make", "kind"), [(lambda: Separate(CONFIG), WithDifference), (lambda: deberta("none"), deberta_class("gdes"))]
)
def test_a_model_that_was_trained_without_sharing_goes_on_with_a_difference(
    make: Any, kind: type[ReplacedTokenDetection], tmp_path: Path
) -> None:
    """Without the file of the differences they are what is left after subtracting the generator's tables."""
    model = make().eval()
    moved(model)
    model.save_pretrained(tmp_path)
    (tmp_path / APART).unlink(missing_ok=True)
    again = kind.from_pretrained(tmp_path).eval()
    own, before = encoders(again)[1], encoders(model)[1]
    for name in TABLES:
        assert isinstance(own[name], DisentangledEmbedding)
        assert torch.allclose(own[name].weight, before[name].weight, atol=1e-6)


def test_a_file_of_differences_of_another_shape_is_refused(tmp_path: Path) -> None:
    WithDifference(CONFIG).save_pretrained(tmp_path)
    other = (tmp_path / APART).read_bytes()
    WithDifference(replace(CONFIG, vocab_size=99)).save_pretrained(tmp_path / "other")
    (tmp_path / "other" / APART).write_bytes(other)
    with pytest.raises(InputError, match=r"has \(100, 16\) for the weight 'discriminator.*' of \(99, 16\)"):
        WithDifference.from_pretrained(tmp_path / "other")


def test_embeddings_of_two_widths_cannot_be_shared() -> None:
    for how in ("shared", "gdes"):
        kind = type("Kind", (ElectraForReplacedTokenDetection,), {"embedding_sharing": how})
        with pytest.raises(ConfigError, match=r"is \(100, 16\), the generator's \(100, 8\), so .* cannot be shared"):
            kind(CONFIG, replace(CONFIG.generator(), embedding_size=8))
    Separate(CONFIG, replace(CONFIG.generator(), embedding_size=8))
