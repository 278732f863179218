"""Checkpoints of others: files that name others outside, weights that are no weights, and pickles are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from bertdata.errors import ConfigError, InputError
from bertdata.torch import BertConfig, BertForPreTraining, ModernBertConfig, ModernBertForMaskedLM
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


@pytest.mark.parametrize("value", [None, 7, ["a"], {"": {}}, "../model.safetensors", "s3://bucket/x"])
def test_an_index_that_names_no_file_beside_it_is_refused(value: Any, model: Path) -> None:
    names = dict.fromkeys(read_tensors(str(model / "model.safetensors")), "model.safetensors")
    (model / "model.safetensors").rename(model / "weights.safetensors")
    (model / "model.safetensors.index.json").write_text(json.dumps({"weight_map": names | {EMBEDDINGS: value}}))
    with pytest.raises(InputError, match=r"names the file .*, which is not a path below its folder"):
        BertForPreTraining.from_pretrained(model)


@pytest.mark.parametrize("value", [7, ["query"], {"query": 1}, "query"])
def test_a_default_prompt_that_is_not_there_is_refused(value: Any, sentences: Path) -> None:
    path = sentences / "config_sentence_transformers.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"default_prompt_name": value}))
    with pytest.raises(InputError, match=r"names the prompt .*, which is not among its prompts"):
        settings_of(str(sentences))


def test_a_header_of_a_megabyte_is_not_quoted_whole(model: Path) -> None:
    path = model / "model.safetensors"
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    header[EMBEDDINGS]["shape"] = "x" * 1_000_000
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data[8 + size :])
    with pytest.raises(InputError, match="is not a safetensors file") as caught:
        BertForPreTraining.from_pretrained(model)
    assert len(str(caught.value)) < 600


def test_a_model_of_another_family_is_named(model: Path, tmp_path: Path) -> None:
    message = "is a model of the type {}, of which {} is none; load it with the class that config.json names"
    with pytest.raises(ConfigError, match=message.format("bert", "ModernBertForMaskedLM")):
        ModernBertForMaskedLM.from_pretrained(model)
    ModernBertForMaskedLM(ModernBertConfig.tiny(vocab_size=20)).save_pretrained(tmp_path / "other")
    with pytest.raises(ConfigError, match=message.format("modernbert", "BertForPreTraining")):
        BertForPreTraining.from_pretrained(tmp_path / "other")
