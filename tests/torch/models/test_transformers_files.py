"""Folders of transformers whose values it would lose without a word: read as they are, or refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from bertdata.errors import ConfigError, InputError
from bertdata.torch.models.from_transformers import TransformersModel
from bertdata.torch.models.transformers_config import TransformersConfig
from bertdata.torch.models.transformers_heads import TransformersForTokenClassification
from bertdata.torch.models.transformers_library import made
from bertdata.torch.models.weight_files import WEIGHTS, read_tensors, save_tensors
from tests.torch.training.peer_models import saved_peer, small_config

IDS = torch.randint(5, 100, (2, 9), generator=torch.Generator().manual_seed(1))


def change(folder: Path, **values: Any) -> Path:
    """Write other values of keys into a `config.json`."""
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))
    return folder


def rename(folder: Path, prefix: str = "", more: Mapping[str, torch.Tensor] | None = None) -> Path:
    """Write the weights of a folder with a prefix in front of their names, and some more."""
    weights = read_tensors(str(folder / WEIGHTS))
    renamed = {f"{prefix}{name}": value for name, value in weights.items()}
    save_tensors(str(folder / WEIGHTS), {**renamed, **(more or {})})
    return folder


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_weights_are_read_as_they_are_whatever_type_the_config_names(kind: str, tmp_path: Path) -> None:
    saved_peer(tmp_path, "roberta")
    weights = read_tensors(str(tmp_path / WEIGHTS))
    change(tmp_path, dtype=kind, torch_dtype=kind)
    model = TransformersModel.from_pretrained(tmp_path)
    head = TransformersForTokenClassification.of(str(tmp_path), TransformersConfig.load(tmp_path), ["a", "b", "c"])
    for state in (model.model.state_dict(), head.model.state_dict()):
        encoder = [name for name in weights if name.startswith("roberta.")]
        assert encoder
        assert all(torch.equal(state[name], weights[name]) for name in encoder)
    fresh = made(small_config("roberta", dtype=kind), "AutoModelForMaskedLM")
    assert {parameter.dtype for parameter in fresh.parameters()} == {torch.float32}


def test_a_model_whose_config_asks_for_tuples_is_trained(tmp_path: Path) -> None:
    saved_peer(tmp_path, "distilbert")
    expected = TransformersModel.from_pretrained(tmp_path).eval()(IDS, labels=IDS).loss
    model = TransformersModel.from_pretrained(change(tmp_path, return_dict=False)).eval()
    assert torch.equal(model(IDS, labels=IDS).loss, expected)


@pytest.mark.parametrize("value", [{"is_causal": True}, {"quantization_config": {"quant_method": "fp8"}}])
def test_what_no_encoder_here_has_is_refused_by_name(value: dict[str, Any], tmp_path: Path) -> None:
    change(saved_peer(tmp_path, "roberta"), **value)
    with pytest.raises(ConfigError, match=f"{next(iter(value))} is .*; this encoder has only"):
        TransformersConfig.load(tmp_path)


@pytest.mark.skipif(transformers.__version__ < "5", reason="transformers 4 has relative positions")
def test_relative_positions_that_the_library_does_not_have_are_refused(tmp_path: Path) -> None:
    saved_peer(tmp_path, "roberta")
    distances = {"roberta.encoder.layer.0.attention.self.distance_embedding.weight": torch.randn(127, 8)}
    rename(change(tmp_path, position_embedding_type="relative_key"), more=distances)
    for load in (TransformersModel.from_pretrained, _tokens):
        with pytest.raises(InputError, match=r"distance_embedding.weight' is of a layer of RobertaModel, which has no"):
            load(tmp_path)


def _tokens(folder: Path) -> Any:
    return TransformersForTokenClassification.of(str(folder), TransformersConfig.load(folder), ["a", "b", "c"])


def test_layers_after_the_last_and_other_heads_are_passed_over(tmp_path: Path) -> None:
    saved_peer(tmp_path, "roberta")
    others = {
        "roberta.encoder.layer.7.attention.self.query.weight": torch.randn(16, 16),
        "roberta.pooler.dense.weight": torch.randn(16, 16),
        "classifier.2.weight": torch.randn(2, 16),
    }
    expected = TransformersModel.from_pretrained(tmp_path).eval()(IDS).prediction_logits
    rename(tmp_path, more=others)
    assert torch.equal(TransformersModel.from_pretrained(tmp_path).eval()(IDS).prediction_logits, expected)


def test_a_folder_without_any_weight_of_the_model_is_refused(tmp_path: Path) -> None:
    rename(saved_peer(tmp_path, "roberta"), prefix="module.")
    with pytest.raises(InputError, match=r"has none of the weights of RobertaForMaskedLM, such as 'roberta\."):
        TransformersModel.from_pretrained(tmp_path)
