from __future__ import annotations

from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor

from bertdata.errors import ConfigError, InputError
from bertdata.io import files
from bertdata.torch import AlbertConfig, BertConfig, BertForPreTraining, ElectraConfig, ModernBertConfig
from bertdata.torch.models import FAMILIES
from bertdata.torch.models.bert import BertModel
from bertdata.torch.models.config import EncoderConfig
from bertdata.torch.models.heads import BertForSequenceClassification

CONFIG = BertConfig(
    vocab_size=60,
    hidden_size=32,
    num_hidden_layers=3,
    num_attention_heads=4,
    intermediate_size=64,
    max_position_embeddings=24,
)


def their_config() -> Any:
    return transformers.BertConfig(**{name: getattr(CONFIG, name) for name in CONFIG.__dataclass_fields__})


def strong(model: torch.nn.Module) -> None:
    """Draw weights, norms and biases so large that a wrong wire or a missing bias cannot hide below 1e-5."""
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.3, generator=generator)


def inputs() -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(1)
    lengths = torch.tensor([16, 9, 3])
    mask = (torch.arange(16) < lengths[:, None]).long()
    return {
        "input_ids": torch.randint(1, 60, (3, 16), generator=generator) * mask,
        "token_type_ids": torch.randint(0, 2, (3, 16), generator=generator) * mask,
        "attention_mask": mask,
    }


def close(left: Tensor, right: Tensor) -> bool:
    return left.shape == right.shape and float((left - right).detach().abs().max()) < 1e-5


def agree(ours: BertForPreTraining, theirs: Any) -> bool:
    ours.eval()
    theirs.eval()
    with torch.no_grad():
        result = ours(**inputs())
        expected = theirs(**inputs(), output_hidden_states=True)
    tokens = inputs()["attention_mask"].bool()
    assert expected.prediction_logits.abs().max() > 0.1
    return (
        close(result.hidden_states[tokens], expected.hidden_states[-1][tokens])
        and close(result.prediction_logits[tokens], expected.prediction_logits[tokens])
        and close(result.seq_relationship_logits, expected.seq_relationship_logits)
    )


@pytest.mark.parametrize(("config", "count"), [(BertConfig.base(), 109_482_240), (BertConfig.large(), 335_141_888)])
def test_encoders_have_as_many_parameters_as_the_published_ones(config: BertConfig, count: int) -> None:
    with torch.device("meta"):
        assert sum(parameter.numel() for parameter in BertModel(config).parameters()) == count


def test_state_dicts_load_both_ways() -> None:
    ours, theirs = BertForPreTraining(CONFIG), transformers.BertForPreTraining(their_config())
    assert ours.state_dict().keys() == theirs.state_dict().keys()
    strong(ours)
    theirs.load_state_dict(ours.state_dict())
    assert agree(ours, theirs)
    fresh = BertForPreTraining(CONFIG)
    assert not agree(fresh, theirs)
    fresh.load_state_dict(theirs.state_dict())
    assert agree(fresh, theirs)


def test_transformers_opens_what_we_save(tmp_path: Path) -> None:
    ours = BertForPreTraining(CONFIG)
    strong(ours)
    ours.save_pretrained(tmp_path)
    theirs, notes = transformers.BertForPreTraining.from_pretrained(tmp_path, output_loading_info=True)
    assert not notes["missing_keys"]
    assert not notes["unexpected_keys"]
    assert agree(ours, theirs)
    encoder = transformers.AutoModel.from_pretrained(tmp_path)
    assert isinstance(encoder, transformers.BertModel)
    assert close(encoder.pooler.dense.weight, ours.get_parameter("bert.pooler.dense.weight"))
    assert transformers.AutoConfig.from_pretrained(tmp_path).layer_norm_eps == CONFIG.layer_norm_eps


def test_we_open_what_transformers_saves(tmp_path: Path) -> None:
    theirs = transformers.BertForPreTraining(their_config())
    strong(theirs)
    theirs.save_pretrained(tmp_path)
    ours = BertForPreTraining.from_pretrained(tmp_path)
    assert ours.config == CONFIG
    assert agree(ours, theirs)


@pytest.mark.parametrize("prefixed", [True, False])
def test_a_classifier_goes_to_transformers_and_back_and_starts_from_an_encoder(tmp_path: Path, prefixed: bool) -> None:
    theirs = transformers.BertForPreTraining(their_config())
    (theirs if prefixed else theirs.bert).save_pretrained(tmp_path / "encoder")
    ours = BertForSequenceClassification.from_pretrained(tmp_path / "encoder", ["no", "perhaps", "yes"])
    assert close(ours.state_dict()["bert.pooler.dense.weight"], theirs.bert.pooler.dense.weight)
    strong(ours)
    ours.save_pretrained(tmp_path / "ours")
    opened = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path / "ours").eval()
    assert opened.config.id2label == {0: "no", 1: "perhaps", 2: "yes"}
    opened.save_pretrained(tmp_path / "theirs")
    again = BertForSequenceClassification.from_pretrained(tmp_path / "theirs").eval()
    assert again.labels == ["no", "perhaps", "yes"]
    with torch.no_grad():
        expected = opened(**inputs()).logits
        assert close(ours.eval()(**inputs()).logits, expected)
        assert close(again(**inputs()).logits, expected)


def test_the_losses_are_those_of_transformers() -> None:
    ours, theirs = BertForPreTraining(CONFIG).eval(), transformers.BertForPreTraining(their_config()).eval()
    strong(ours)
    theirs.load_state_dict(ours.state_dict())
    labels = torch.where(torch.rand(3, 16, generator=torch.Generator().manual_seed(2)) < 0.3, 7, -100)
    pairs = torch.tensor([0, 1, 1])
    result = ours(**inputs(), labels=labels, next_sentence_label=pairs)
    expected = theirs(**inputs(), labels=labels, next_sentence_label=pairs)
    assert abs(result.loss.item() - expected.loss.item()) < 1e-5
    assert close(result.prediction_logits, expected.prediction_logits[labels != -100])
    order = ours(**inputs(), labels=labels, sentence_order_label=pairs)
    assert order.loss.item() == result.loss.item()
    alone = ours(**inputs(), labels=labels)
    assert abs(result.loss.item() - alone.loss.item()) > 1e-3


def test_a_batch_without_labels_gives_a_loss_of_zero_and_not_nan() -> None:
    model = BertForPreTraining(CONFIG)
    result = model(**inputs(), labels=torch.full((3, 16), -100))
    result.loss.backward()
    assert result.loss.item() == 0
    assert all(torch.isfinite(parameter.grad).all() for parameter in model.parameters() if parameter.grad is not None)


def test_padding_changes_nothing() -> None:
    model = BertForPreTraining(CONFIG).eval()
    strong(model)
    batch = inputs()
    with torch.no_grad():
        whole = model(**batch).hidden_states[2, :3]
        alone = model(batch["input_ids"][2:, :3], token_type_ids=batch["token_type_ids"][2:, :3]).hidden_states[0]
    assert close(whole, alone)


def test_the_decoder_is_the_word_embedding_after_loading_too(tmp_path: Path) -> None:
    BertForPreTraining(CONFIG).save_pretrained(tmp_path)
    model = BertForPreTraining.from_pretrained(tmp_path)
    decoder = model.get_submodule("cls.predictions.decoder")
    assert decoder.weight is model.bert.embeddings.word_embeddings.weight
    assert decoder.bias is model.get_parameter("cls.predictions.bias")


def test_names_of_the_released_checkpoints_are_understood(tmp_path: Path) -> None:
    import safetensors.torch

    model = BertForPreTraining(CONFIG)
    strong(model)
    model.save_pretrained(tmp_path)
    path = tmp_path / "model.safetensors"
    old = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): value
        for name, value in safetensors.torch.load_file(path).items()
    }
    assert any("gamma" in name for name in old)
    safetensors.torch.save_file(old, path)
    again = BertForPreTraining.from_pretrained(tmp_path)
    assert all(torch.equal(again.state_dict()[name], value) for name, value in model.state_dict().items())


def test_checkpoints_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    BertModelSaver = transformers.BertModel(their_config())  # noqa: N806
    BertModelSaver.save_pretrained(tmp_path)
    with pytest.raises(InputError, match=r"has no weight 'cls\.predictions"):
        BertForPreTraining.from_pretrained(tmp_path)
    BertForPreTraining(CONFIG).save_pretrained(tmp_path)
    values = files.read_json(str(tmp_path / "config.json"))
    files.write_json(str(tmp_path / "config.json"), values | {"intermediate_size": 128})
    with pytest.raises(InputError, match="has shape"):
        BertForPreTraining.from_pretrained(tmp_path)
    files.write_json(str(tmp_path / "config.json"), values | {"hidden_act": "relu"})
    with pytest.raises(ConfigError, match="hidden_act is 'relu'"):
        BertForPreTraining.from_pretrained(tmp_path)
    files.write_json(str(tmp_path / "config.json"), values)
    (tmp_path / "model.safetensors").write_bytes(b"cut off")
    with pytest.raises(InputError, match="not a safetensors file"):
        BertForPreTraining.from_pretrained(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        BertForPreTraining.from_pretrained(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hidden_size": 30}, "hidden_size 30 is not a multiple of num_attention_heads 12"),
        ({"num_hidden_layers": 0}, "num_hidden_layers is 0; expected a whole number from 1 to 1,000"),
        ({"num_hidden_layers": 1_000_000_000}, "num_hidden_layers is 1000000000; expected .* to 1,000"),
        ({"num_hidden_layers": -1}, "num_hidden_layers is -1"),
        ({"num_hidden_layers": True}, "num_hidden_layers is True; expected a whole number"),
        ({"num_hidden_layers": "12"}, "num_hidden_layers is '12'; expected a whole number"),
        ({"hidden_size": 768.0}, r"hidden_size is 768\.0; expected a whole number"),
        ({"hidden_size": [768]}, r"hidden_size is \[768\]; expected"),
        ({"vocab_size": 10**5000}, "vocab_size is a whole number of 16610 bits; expected"),
        ({"intermediate_size": "9" * 5000}, r"intermediate_size is '9{59}\.\.\.; expected"),
        ({"num_attention_heads": float("nan")}, "num_attention_heads is nan"),
        ({"hidden_dropout_prob": 1.0}, r"hidden_dropout_prob is 1\.0; expected a number of 0 or more, and less than 1"),
        ({"hidden_dropout_prob": -0.1}, r"hidden_dropout_prob is -0\.1"),
        ({"hidden_dropout_prob": float("nan")}, "hidden_dropout_prob is nan"),
        ({"attention_probs_dropout_prob": "0.1"}, r"attention_probs_dropout_prob is '0\.1'; expected a number"),
        ({"attention_probs_dropout_prob": False}, "attention_probs_dropout_prob is False"),
        ({"initializer_range": float("inf")}, "initializer_range is inf; expected a number of 0 or more"),
        ({"initializer_range": -1}, "initializer_range is -1"),
        ({"layer_norm_eps": 0}, "layer_norm_eps is 0; expected a number more than 0"),
        ({"pad_token_id": 60}, "pad_token_id 60 is outside the vocabulary of 60"),
        ({"pad_token_id": -1}, "pad_token_id is -1; expected a whole number from 0"),
        ({"hidden_act": ["gelu"]}, r"hidden_act is \['gelu'\]; this encoder has gelu, "),
    ],
)
def test_settings_that_make_no_encoder_are_refused_with_what_was_expected(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=f"^{message}"):
        BertConfig(**{"vocab_size": 60} | changes)
    if 10**5000 in changes.values():
        return
    values = {"model_type": "bert", "vocab_size": 60} | changes
    files.write_json(str(tmp_path / "config.json"), values)
    with pytest.raises(ConfigError, match=rf"config\.json: {message}"):
        BertConfig.load(tmp_path)


def test_fields_of_a_config_do_not_change_and_others_can_be_added() -> None:
    config: Any = BertConfig.tiny()
    with pytest.raises(FrozenInstanceError, match="hidden_size of a config does not change"):
        config.hidden_size = 64
    config.use_cache = False
    assert config == BertConfig.tiny()
    assert "use_cache" not in config.to_dict("BertModel")


def test_the_least_and_the_most_are_taken() -> None:
    config = BertConfig(vocab_size=1, hidden_size=1, num_hidden_layers=1000, num_attention_heads=1, pad_token_id=0)
    assert config.num_hidden_layers == 1000
    assert BertConfig(layer_norm_eps=1, initializer_range=0, hidden_dropout_prob=0).layer_norm_eps == 1


def test_a_model_larger_than_memory_is_refused_before_it_is_made() -> None:
    with pytest.raises(ConfigError, match=r"the model has 7,7[0-9,]+ weights, .* GiB of memory"):
        BertForPreTraining(BertConfig(vocab_size=1 << 24, hidden_size=1 << 18, num_attention_heads=1))
    albert = AlbertConfig(vocab_size=60, num_hidden_layers=1000)
    with torch.device("meta"):
        configs: tuple[EncoderConfig, ...] = (
            BertConfig.base(),
            albert,
            ElectraConfig.small(),
            ModernBertConfig.base(),
        )
        for config in configs:
            encoder = FAMILIES[config.model_type].encoder(config, pooler=False)
            made = sum(parameter.numel() for parameter in encoder.parameters())
            assert config.weights == pytest.approx(made, rel=0.02)


@pytest.mark.parametrize("names", [[], {}, {"a": "no"}, {"0": "no", "2": "yes"}, {"1": "no"}])
def test_a_classifier_without_names_of_its_classes_is_refused(tmp_path: Path, names: Any) -> None:
    BertForPreTraining(CONFIG).save_pretrained(tmp_path, {"id2label": names})
    with pytest.raises(InputError, match="names no classes"):
        BertForSequenceClassification.from_pretrained(tmp_path)
