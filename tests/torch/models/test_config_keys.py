"""Keys of a `config.json` that change what transformers computes: read, or refused by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor, nn

from bertdata.errors import ConfigError
from bertdata.torch.models.albert import AlbertConfig
from bertdata.torch.models.bert import BertConfig, BertForMaskedLM
from bertdata.torch.models.bert.config import ACTIVATIONS
from bertdata.torch.models.config import overridden
from bertdata.torch.models.heads import (
    BertForMultiLabelClassification,
    BertForSequenceClassification,
    BertForTokenClassification,
    Classifier,
)
from bertdata.torch.models.modernbert import ModernBertConfig
from bertdata.torch.models.weights import read_labels

SIZES: dict[str, Any] = {
    "vocab_size": 40,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": 16,
}
IDS = torch.randint(5, 40, (3, 9), generator=torch.Generator().manual_seed(1))


def change(folder: Path, **values: Any) -> Path:
    """Write other values of keys into a `config.json`."""
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))
    return folder


def saved(folder: Path, name: str, **values: Any) -> Any:
    """Save a model of a class of transformers with large weights, and return it."""
    family = name.partition("For")[0]
    sizes = SIZES | ({"embedding_size": 8} if family in ("Albert", "Electra") else {})
    model = getattr(transformers, name)(getattr(transformers, f"{family}Config")(**sizes, **values)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.3)
    model.save_pretrained(folder)
    return model


@pytest.mark.parametrize("key", ["is_causal", "quantization_config"])
@pytest.mark.parametrize("config", [BertConfig, AlbertConfig, ModernBertConfig])
def test_what_no_encoder_here_has_is_refused_by_name(key: str, config: type[Any], tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(config(**SIZES, pad_token_id=0).to_dict("Any")))
    config.load(change(tmp_path, **{key: None}))
    change(tmp_path, **{key: {"quant_method": "fp8"} if key == "quantization_config" else True})
    with pytest.raises(ConfigError, match=f"config.json: {key} is .*; this encoder has only"):
        config.load(tmp_path)


@pytest.mark.parametrize("name", ["BertForSequenceClassification", "ElectraForTokenClassification"])
@pytest.mark.parametrize("dropout", [None, 0.0, 0.35])
def test_the_dropout_of_a_classifier_is_that_of_transformers(name: str, dropout: float | None, tmp_path: Path) -> None:
    theirs = saved(tmp_path, name, classifier_dropout=dropout, hidden_dropout_prob=0.2)
    kind = BertForSequenceClassification if "Sequence" in name else BertForTokenClassification
    ours = kind.from_pretrained(tmp_path)
    expected = [module.p for module in theirs.modules() if isinstance(module, nn.Dropout)][-1]
    assert ours.dropout.p == expected == (0.2 if dropout is None else dropout)
    ours.save_pretrained(tmp_path)
    assert type(theirs).from_pretrained(tmp_path).config.classifier_dropout == dropout


def test_the_dropout_of_a_classifier_can_be_overridden_and_is_checked() -> None:
    assert overridden(BertConfig(), {"classifier_dropout": "0.25"}).head_dropout == 0.25
    with pytest.raises(ConfigError, match=r"classifier_dropout is 1\.0; expected .* less than 1"):
        overridden(BertConfig(), {"classifier_dropout": "1"})
    with pytest.raises(ConfigError, match="ALBERT has classifier_dropout_prob"):
        overridden(AlbertConfig(), {"classifier_dropout": "0.25"})


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_every_name_of_an_activation_is_that_of_transformers(activation: str) -> None:
    theirs = transformers.activations.ACT2FN[activation]
    numbers = torch.linspace(-4, 4, 801)
    assert torch.allclose(nn.GELU(ACTIVATIONS[activation])(numbers), theirs(numbers), atol=1e-6)


def test_the_activation_of_a_model_is_that_of_its_config(tmp_path: Path) -> None:
    theirs = saved(tmp_path, "BertForMaskedLM", hidden_act="gelu_pytorch_tanh")
    ours = BertForMaskedLM.from_pretrained(tmp_path).eval()
    assert torch.allclose(ours(IDS).prediction_logits, theirs(IDS).logits, atol=1e-5)


def test_a_classifier_whose_config_names_no_classes_has_those_of_transformers(tmp_path: Path) -> None:
    theirs = saved(tmp_path, "BertForSequenceClassification")
    assert "id2label" not in json.loads((tmp_path / "config.json").read_text())
    ours = BertForSequenceClassification.from_pretrained(tmp_path).eval()
    assert dict(enumerate(ours.labels)) == theirs.config.id2label
    assert torch.allclose(ours(IDS).logits, theirs(IDS).logits, atol=1e-5)
    change(tmp_path, num_labels=3)
    opened = transformers.AutoConfig.from_pretrained(tmp_path)
    assert dict(enumerate(read_labels(tmp_path))) == opened.id2label


def same_loss(ours: Classifier, theirs: Any, labels: Tensor) -> bool:
    return torch.allclose(ours(IDS, labels=labels).loss, theirs(IDS, labels=labels).loss, rtol=1e-5)


NUMBERS, CLASSES = torch.tensor([0.5, 2.0, -1.0]), torch.tensor([0, 2, 1])
SETS = torch.tensor([[0.0, 1.0, 1.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
PROBLEMS = {
    ("regression", 1): NUMBERS,
    ("regression", 3): SETS,
    ("single_label_classification", 3): CLASSES,
    ("multi_label_classification", 1): SETS[:, :1],
    ("multi_label_classification", 3): SETS,
    (None, 1): NUMBERS,
    (None, 3): CLASSES,
}


@pytest.mark.parametrize(("problem", "number"), PROBLEMS)
def test_the_loss_of_texts_is_that_of_the_problem_type(problem: str | None, number: int, tmp_path: Path) -> None:
    labels = PROBLEMS[problem, number]
    theirs = saved(tmp_path, "BertForSequenceClassification", num_labels=number, problem_type=problem)
    ours = BertForSequenceClassification.from_pretrained(tmp_path).eval()
    assert same_loss(ours, theirs, labels)
    ours.save_pretrained(tmp_path)
    assert same_loss(ours, type(theirs).from_pretrained(tmp_path), labels)


def test_a_problem_type_that_transformers_does_not_have_is_refused(tmp_path: Path) -> None:
    saved(tmp_path, "BertForSequenceClassification")
    with pytest.raises(ConfigError, match="problem_type is 'ranking'; expected regression, single_label_class"):
        BertForSequenceClassification.from_pretrained(change(tmp_path, problem_type="ranking"))


def test_tokens_of_one_class_are_no_regression(tmp_path: Path) -> None:
    theirs = saved(tmp_path, "BertForTokenClassification", num_labels=1)
    labels = torch.zeros_like(IDS)
    ours = BertForTokenClassification.from_pretrained(tmp_path).eval()
    assert same_loss(ours, theirs, labels)
    ours.save_pretrained(tmp_path)
    assert "problem_type" not in json.loads((tmp_path / "config.json").read_text())


def test_texts_with_one_label_or_none_are_no_regression(tmp_path: Path) -> None:
    ours = BertForMultiLabelClassification(BertConfig(**SIZES), ["good"]).eval()
    ours.save_pretrained(tmp_path)
    theirs = transformers.BertForSequenceClassification.from_pretrained(tmp_path).eval()
    assert theirs.config.problem_type == "multi_label_classification"
    assert same_loss(ours, theirs, SETS[:, :1])


def test_local_layers_without_a_base_of_their_own_have_that_of_the_global_ones(tmp_path: Path) -> None:
    values = ModernBertConfig(**SIZES, pad_token_id=0, global_rope_theta=500.0).to_dict("ModernBertModel")
    del values["rope_parameters"], values["layer_types"]
    (tmp_path / "config.json").write_text(json.dumps(values | {"local_rope_theta": None}))
    assert ModernBertConfig.load(tmp_path).local_rope_theta == 500.0


def test_a_null_for_the_padding_token_is_not_taken_for_the_id_0(tmp_path: Path) -> None:
    """Else the embedding of that token would not be trained, which transformers trains."""
    saved(tmp_path, "BertForMaskedLM", pad_token_id=None)
    with pytest.raises(ConfigError, match="pad_token_id is null; expected the id of"):
        BertForMaskedLM.from_pretrained(tmp_path)
    assert BertForMaskedLM.from_pretrained(change(tmp_path, pad_token_id=7)).config.pad_token_id == 7
