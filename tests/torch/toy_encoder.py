"""A family of encoders as a package outside bertdata adds one: depthwise convolutions, no attention, no token types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from bertdata.torch.models import FAMILIES
from bertdata.torch.models.config import EncoderConfig
from bertdata.torch.models.dropout import Dropout
from bertdata.torch.models.encoder import Encoder, initialize
from bertdata.torch.models.family import EncoderFamily
from bertdata.torch.models.pretraining import MaskedLanguageModel


@dataclass
class ToyConfig(EncoderConfig):
    """The only setting of its own is the width of the convolution."""

    model_type: ClassVar[str] = "toy"
    family: ClassVar[str] = "Toy"

    hidden_size: int = 32
    kernel_size: int = 5


class ToyModel(Encoder):
    """Embeddings and one convolution over the neighbours of a token."""

    def __init__(self, config: ToyConfig, *, pooler: bool = True) -> None:
        super().__init__(config)
        self.embeddings = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=config.pad_token_id)
        size, width = config.hidden_size, config.kernel_size
        self.convolution = nn.Conv1d(size, size, width, padding=width // 2)
        self.dropout = Dropout(0.1)

    def encode(self, input_ids: Tensor, **inputs: Any) -> Tensor:
        embedded = self.embeddings(input_ids)
        mixed = torch.relu(self.convolution(embedded.transpose(1, 2)).transpose(1, 2))
        result: Tensor = self.dropout(mixed + embedded)
        return result


class ToyForMaskedLM(MaskedLanguageModel):
    """The encoder with a decoder over the vocabulary."""

    head_name = "decoder"

    def __init__(self, config: ToyConfig) -> None:
        super().__init__(config)
        self.toy, self.decoder = ToyModel(config), nn.Linear(config.hidden_size, config.vocab_size)
        initialize(self, config)


def model_for(config: ToyConfig, info: Any) -> type[ToyForMaskedLM]:
    """Learn masked words from any shards; a label for pairs is ignored."""
    return ToyForMaskedLM


FAMILIES.add(
    "toy",
    EncoderFamily(config=ToyConfig, presets={"toy-small": ToyConfig}, encoder=ToyModel, pretraining=model_for),
)
