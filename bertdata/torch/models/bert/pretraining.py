"""BERT in pretraining: the masked language model, with or without a pair head."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from torch import nn

from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.torch.models.bert.config import BertConfig
from bertdata.torch.models.bert.model import BertModel, transform
from bertdata.torch.models.encoder import initialize, sequential
from bertdata.torch.models.pretraining import MaskedLanguageModel


class BertForMaskedLM(MaskedLanguageModel):
    """BERT with its head for masked tokens only, for shards without a pair label (RoBERTa's recipe).

    The decoder's weight is the word embedding.

    >>> import torch
    >>> model = BertForMaskedLM(BertConfig.tiny(vocab_size=100))
    >>> model(torch.tensor([[2, 7, 3]])).seq_relationship_logits is None
    True
    """

    tied: ClassVar[Mapping[str, str]] = {
        "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
        "cls.predictions.decoder.bias": "cls.predictions.bias",
    }
    head_name = "cls.predictions"

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.bert = BertModel(config, pooler=bool(self.pair_head_name))
        decoder = nn.Linear(config.hidden_size, config.vocab_size)
        predictions = sequential(transform=transform(config, config.hidden_size), decoder=decoder)
        predictions.bias, decoder.weight = decoder.bias, self.bert.embeddings.word_embeddings.weight
        self.cls = nn.ModuleDict({"predictions": predictions})
        if self.pair_head_name:
            self.cls["seq_relationship"] = nn.Linear(config.hidden_size, 2)
        initialize(self, config)


class BertForPreTraining(BertForMaskedLM):
    """BERT with its heads for masked tokens and for pairs (next sentence, or ALBERT's sentence order).

    The loss is that of the labelled tokens plus, where there is a pair label, that of the pairs (section 3.1).

    >>> import torch
    >>> model = BertForPreTraining(BertConfig.tiny(vocab_size=100))
    >>> model(torch.tensor([[2, 7, 3]])).prediction_logits.shape
    torch.Size([1, 3, 100])
    """

    pair_head_name = "cls.seq_relationship"


def model_for(config: BertConfig, info: PretrainingInfo) -> type[BertForMaskedLM]:
    """Return the class that is pretrained on shards: with a pair head where the shards have a pair label."""
    config.check_token_types(info)
    return BertForMaskedLM if info.label is None else BertForPreTraining
