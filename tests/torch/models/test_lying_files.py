"""Checkpoints of others: files that name others outside, weights that are no weights, and pickles are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from bertdata.errors import ConfigError, InputError
from bertdata.torch import BertConfig, BertForPreTraining
from bertdata.torch.models.configs import load_config
from bertdata.torch.models.sentence_encoder import SentenceEncoder
from bertdata.torch.models.sentence_folder import MODULES, settings_of
from bertdata.torch.models.weight_files import read_tensors, save_tensors
from bertdata.torch.models.weights import read_labels

EMBEDDINGS = "bert.embeddings.word_embeddings.weight"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    BertForPreTraining(BertConfig.tiny(vocab_size=20)).save_pretrained(tmp_path)
    return tmp_path


@pytest.fixture
def sentences(tmp_path: Path) -> Path:
    SentenceEncoder(BertConfig.tiny(vocab_size=20)).save_pretrained(tmp_path)
    return tmp_path


@pytest.mark.parametrize("path", ["..", "/etc", "1_Pooling/../..", "s3://bucket/x", "", 7, None, "a\0b"])
def test_a_module_outside_of_its_model_is_refused(path: Any, sentences: Path) -> None:
    settings_of(str(sentences))
    modules = json.loads((sentences / MODULES).read_text())
    modules[1]["path"] = path
    (sentences / MODULES).write_text(json.dumps(modules))
    with pytest.raises(InputError, match=r"modules\.json: names the folder .* not a path below its own"):
        settings_of(str(sentences))


@pytest.mark.parametrize("value", [7, [], None])
def test_settings_that_are_not_an_object_are_named(value: Any, sentences: Path) -> None:
    for name in ("sentence_bert_config.json", "1_Pooling/config.json"):
        whole = (sentences / name).read_text()
        (sentences / name).write_text(json.dumps(value))
        with pytest.raises(InputError, match=rf"{name}: is .*; expected a JSON object"):
            SentenceEncoder.from_pretrained(sentences)
        (sentences / name).write_text(whole)
    (sentences / "config.json").write_text(json.dumps(value))
    with pytest.raises(InputError, match=r"config\.json: is .*; expected a JSON object"):
        read_labels(sentences)


@pytest.mark.parametrize("kind", [["bert"], {}, None, 7])
def test_a_model_type_that_is_not_a_name_is_refused(kind: Any, model: Path) -> None:
    values = json.loads((model / "config.json").read_text()) | {"model_type": kind}
    (model / "config.json").write_text(json.dumps(values))
    with pytest.raises(ConfigError, match="model_type is"):
        load_config(model)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda weight: weight.int(), r"is of torch\.int32; expected torch\.float32"),
        (lambda weight: torch.where(weight == weight.max(), torch.nan, weight), "has values that are not finite"),
        (lambda weight: torch.where(weight == weight.max(), torch.inf, weight), "has values that are not finite"),
    ],
)
def test_weights_are_finite_and_of_floating_point(change: Any, message: str, model: Path) -> None:
    path = str(model / "model.safetensors")
    tensors = read_tensors(path)
    save_tensors(path, tensors | {EMBEDDINGS: change(tensors[EMBEDDINGS])})
    with pytest.raises(InputError, match=rf"model\.safetensors: the weight '{EMBEDDINGS}' {message}"):
        BertForPreTraining.from_pretrained(model)


def test_weights_of_half_precision_are_read(model: Path) -> None:
    path = str(model / "model.safetensors")
    save_tensors(path, {name: tensor.bfloat16() for name, tensor in read_tensors(path).items()})
    assert BertForPreTraining.from_pretrained(model).bert.embeddings.word_embeddings.weight.dtype == torch.float32
