from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor, nn

from bertdata.torch.models import FAMILIES
from bertdata.torch.models.albert import AlbertConfig, AlbertForPreTraining
from bertdata.torch.models.bert import BertConfig, BertForMaskedLM, BertForPreTraining
from bertdata.torch.models.config import EncoderConfig
from bertdata.torch.models.electra import ElectraConfig, ElectraForMaskedLM, ElectraForPreTraining
from bertdata.torch.models.heads import (
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    SpanOutput,
    TaskModel,
    TaskOutput,
)
from bertdata.torch.models.modernbert import ModernBertConfig, ModernBertForMaskedLM
from bertdata.torch.models.weights import PreTrainedModel

SIZES: dict[str, Any] = {
    "vocab_size": 60,
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 24,
}
MODERNBERT = ModernBertConfig(
    **SIZES,
    pad_token_id=0,
    cls_token_id=2,
    sep_token_id=3,
    local_attention=4,
    global_rope_theta=500.0,
    local_rope_theta=20.0,
    classifier_pooling="mean",
)
CONFIGS: dict[str, EncoderConfig] = {
    "bert": BertConfig(**SIZES),
    "albert": AlbertConfig(**SIZES, embedding_size=12),
    "electra": ElectraConfig(**SIZES, embedding_size=12),
    "electra of one width": ElectraConfig(**SIZES, embedding_size=32),
    "modernbert": MODERNBERT,
    "modernbert of [CLS]": replace(MODERNBERT, classifier_pooling="cls", global_attn_every_n_layers=2),
}
LABELS = ["no", "perhaps", "yes"]
PRETRAINING: list[tuple[str, type[PreTrainedModel]]] = [
    ("bert", BertForPreTraining),
    ("bert", BertForMaskedLM),
    ("albert", AlbertForPreTraining),
    ("electra", ElectraForPreTraining),
    ("electra of one width", ElectraForPreTraining),
    ("electra", ElectraForMaskedLM),
    ("modernbert", ModernBertForMaskedLM),
    ("modernbert of [CLS]", ModernBertForMaskedLM),
]
KIN: dict[str, type[PreTrainedModel]] = {
    "bert": BertForMaskedLM,
    "albert": AlbertForPreTraining,
    "electra": ElectraForPreTraining,
    "modernbert": ModernBertForMaskedLM,
}
TASKS: list[type[TaskModel]] = [
    BertForSequenceClassification,
    BertForTokenClassification,
    BertForQuestionAnswering,
]
HEADS: list[tuple[str, Callable[..., PreTrainedModel]]] = [
    *PRETRAINING,
    *((family, task) for family in CONFIGS for task in TASKS),
]


def strong(model: nn.Module, seed: int = 3) -> None:
    """Draw weights, norms and biases so large that a wrong wire or a missing bias cannot hide below 1e-5."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.3, generator=generator)


def inputs() -> dict[str, Any]:
    generator = torch.Generator().manual_seed(1)
    mask = (torch.arange(16) < torch.tensor([16, 9, 3])[:, None]).long()
    return {
        "input_ids": torch.randint(1, 60, (3, 16), generator=generator) * mask,
        "token_type_ids": torch.randint(0, 2, (3, 16), generator=generator) * mask,
        "attention_mask": mask,
    }


def made(family: str, head: Callable[..., PreTrainedModel]) -> PreTrainedModel:
    config = CONFIGS[family]
    model = head(config, LABELS) if head in TASKS and head is not BertForQuestionAnswering else head(config)
    strong(model)
    return model.eval()


def inputs_of(config: EncoderConfig) -> dict[str, Tensor]:
    """Return what a model of transformers takes: without token types where it has none."""
    return {
        name: value for name, value in inputs().items() if name != "token_type_ids" or isinstance(config, BertConfig)
    }


def their_config(config: EncoderConfig) -> Any:
    values = {name: getattr(config, name) for name in config.__dataclass_fields__}
    return getattr(transformers, f"{config.family}Config")(**values)


def logits(output: Any) -> list[Tensor]:
    """Return all logits of a model's output, ours or theirs, at tokens that are no padding."""
    if isinstance(output, Tensor):
        tensors = [output]
    elif isinstance(output, TaskOutput | SpanOutput):
        tensors = [tensor for tensor in output[1:] if isinstance(tensor, Tensor)]
    else:
        names = ("prediction_logits", "seq_relationship_logits", "sop_logits", "logits", "start_logits", "end_logits")
        tensors = [tensor for name in names if (tensor := getattr(output, name, None)) is not None]
    tokens = inputs()["attention_mask"].bool()
    return [tensor[tokens] if tensor.shape[:2] == tokens.shape else tensor for tensor in tensors]


def close(left: Tensor, right: Tensor) -> bool:
    return left.shape == right.shape and float((left - right).detach().abs().max()) < 1e-5


def agree(ours: PreTrainedModel, theirs: Any) -> bool:
    with torch.no_grad():
        pairs = list(zip(logits(ours.eval()(**inputs())), logits(theirs.eval()(**inputs_of(ours.config))), strict=True))
    assert pairs
    assert all(expected.abs().max() > 0.1 for _, expected in pairs)
    return all(close(*pair) for pair in pairs)


@pytest.mark.costly
@pytest.mark.parametrize(("family", "head"), HEADS)
def test_transformers_opens_what_we_save(tmp_path: Path, family: str, head: Callable[..., PreTrainedModel]) -> None:
    ours = made(family, head)
    ours.save_pretrained(tmp_path)
    theirs, notes = getattr(transformers, ours.architecture).from_pretrained(tmp_path, output_loading_info=True)
    assert not notes["missing_keys"]
    assert not notes["unexpected_keys"]
    assert theirs.state_dict().keys() == ours.state_dict().keys()
    assert agree(ours, theirs)


@pytest.mark.costly
@pytest.mark.parametrize(("family", "head"), HEADS)
def test_we_open_what_transformers_saves(tmp_path: Path, family: str, head: Callable[..., PreTrainedModel]) -> None:
    config, ours = their_config(CONFIGS[family]), made(family, head)
    if getattr(ours, "labels", []):
        config.id2label = dict(enumerate(LABELS))
    theirs = getattr(transformers, ours.architecture)(config)
    strong(theirs, seed=4)
    theirs.save_pretrained(tmp_path)
    opened = type(ours).from_pretrained(tmp_path)
    assert opened.config == CONFIGS[family]
    assert agree(opened, theirs)
    assert not agree(ours, theirs)
    assert getattr(opened, "labels", LABELS) in (LABELS, [])


@pytest.mark.costly
@pytest.mark.parametrize(("family", "head"), HEADS)
def test_the_hidden_states_are_those_of_auto_model(
    tmp_path: Path, family: str, head: Callable[..., PreTrainedModel]
) -> None:
    ours = made(family, head)
    ours.save_pretrained(tmp_path)
    encoder = transformers.AutoModel.from_pretrained(tmp_path).eval()
    tokens = inputs()["attention_mask"].bool()
    with torch.no_grad():
        expected = encoder(**inputs_of(ours.config)).last_hidden_state[tokens]
        states = ours.encoder.encode(**inputs())[tokens]
    assert expected.abs().max() > 0.1
    assert close(states, expected)


@pytest.mark.parametrize("family", CONFIGS)
@pytest.mark.parametrize("task", TASKS)
def test_a_head_starts_from_any_checkpoint_of_its_encoder(tmp_path: Path, family: str, task: type[TaskModel]) -> None:
    start = made(family, KIN[CONFIGS[family].model_type])
    start.save_pretrained(tmp_path)
    model = task.from_pretrained(tmp_path, LABELS).eval()
    tokens = inputs()["attention_mask"].bool()
    with torch.no_grad():
        before = start.encoder.encode(**inputs())
        assert close(model.encoder.encode(**inputs())[tokens], before[tokens])


@pytest.mark.parametrize(
    ("config", "theirs"),
    [
        (AlbertConfig.base(), {"hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072}),
        (ElectraConfig.small(), {}),
        (ModernBertConfig.base(), {}),
    ],
)
def test_encoders_have_as_many_parameters_as_those_of_transformers(
    config: EncoderConfig, theirs: dict[str, Any]
) -> None:
    with torch.device("meta"):
        expected = getattr(transformers, f"{config.family}Model")(
            getattr(transformers, f"{config.family}Config")(**theirs)
        )
        encoder = FAMILIES[config.model_type].encoder(config, pooler=True)
        counts = [sum(parameter.numel() for parameter in model.parameters()) for model in (encoder, expected)]
        assert counts[0] == counts[1]


def test_the_task_losses_are_those_of_transformers() -> None:
    labels = torch.randint(0, 3, (3, 16), generator=torch.Generator().manual_seed(2))
    labels[inputs()["attention_mask"] == 0] = -100
    places = torch.tensor([1, 5, 2])
    tasks: dict[type[TaskModel], dict[str, Tensor]] = {
        BertForSequenceClassification: {"labels": labels[:, 0]},
        BertForTokenClassification: {"labels": labels},
        BertForQuestionAnswering: {"start_positions": places, "end_positions": places},
    }
    for family, (task, given) in product(("bert", "modernbert"), tasks.items()):
        ours = made(family, task)
        config = their_config(CONFIGS[family])
        config.num_labels = 2 if task is BertForQuestionAnswering else 3
        theirs = getattr(transformers, ours.architecture)(config).eval()
        theirs.load_state_dict(ours.state_dict())
        batch = inputs_of(CONFIGS[family])
        if family == "modernbert":  # what padding attends to differs, and positions of answers are softmaxed over it
            batch["attention_mask"] = torch.ones_like(batch["attention_mask"])
        assert abs(ours(**batch, **given).loss.item() - theirs(**batch, **given).loss.item()) < 1e-5


def test_answers_are_found_without_dropout_unless_the_family_has_a_head_of_its_own() -> None:
    """As in transformers: all other dropout is 0 here, so what differs comes from that in front of the last layer."""
    albert = AlbertConfig(**SIZES, embedding_size=12, classifier_dropout_prob=0.5)
    modernbert = replace(MODERNBERT, classifier_dropout=0.5)
    for config, drops in ((albert, False), (modernbert, True)):
        model = BertForQuestionAnswering(config).train()
        with torch.random.fork_rng():
            torch.manual_seed(0)
            first, again = (model(**inputs()).start_logits for _ in range(2))
        assert torch.equal(first, again) != drops
