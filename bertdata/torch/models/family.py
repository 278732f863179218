"""`EncoderFamily`: what is needed of a kind of encoder.

A family is one file or folder that ends in an `EncoderFamily`, and one line in `FAMILIES`. A package outside bertdata
adds its own by `FAMILIES.add(config.model_type, family)` in a module that `bertdata.registry` finds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import nn

from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.torch.models.config import EncoderConfig
from bertdata.torch.models.encoder import Encoder, initialize


def linear_classifier(config: EncoderConfig, labels: int) -> nn.Module:
    """Return a linear layer from hidden states to classes."""
    return nn.Linear(config.hidden_size, labels)


@dataclass(frozen=True)
class EncoderFamily:
    """What training, saving and fine-tuning need of a family.

    config: its class of configs; presets: configs by their name in `--config`, each a function of changed fields;
    encoder: makes the encoder of (config, pooler=bool); pretraining: returns the `PreTrainedModel` for (config, info),
    whose output has `terms` (`models/outputs.py`), or raises ConfigError where there is none for such shards;
    classifier: makes the head on the pooled state for (config, number of classes); head: makes the layers that all
    tasks have in front of their last one, which is then `classifier` in every task; initialize: draws the weights of a
    model.

    A parameter is saved under its name in the model, the encoder's below `config.base_model_prefix`. old_names: parts
    of the names of weights in older files, such as the released checkpoints, and their names today. tied: names of
    weights of heads, and those of the encoder that they are the same as, so that an encoder is found by either. masked:
    the `MaskedLanguageModel` whose head predicts masked tokens, which sentences are scored by; None: there is none.
    """

    config: type[EncoderConfig]
    presets: Mapping[str, Callable[..., EncoderConfig]]
    encoder: Callable[..., Encoder]
    pretraining: Callable[[Any, PretrainingInfo], type[nn.Module]]
    classifier: Callable[[Any, int], nn.Module] = linear_classifier
    head: Callable[[Any], nn.Module] | None = None
    initialize: Callable[[nn.Module, Any], None] = initialize
    old_names: Mapping[str, str] = field(
        default_factory=lambda: {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}
    )
    tied: Mapping[str, str] = field(default_factory=dict)
    masked: type[nn.Module] | None = None
