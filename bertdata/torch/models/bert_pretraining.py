"""BERT in pretraining: the masked language model, with the head for pairs or without, and their loss.

The encoder below is in `bert`. What this module does not do: replaced tokens (`electra`), ALBERT's heads (`albert`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

from torch import Tensor, nn
from torch.nn import functional

from bertdata.masking.masking import IGNORE_INDEX
from bertdata.torch.models.bert import BertModel, activation_of, initialize
from bertdata.torch.models.config import BertConfig
from bertdata.torch.models.weights import PreTrainedModel


class BertTransform(nn.Module):
    """Dense, GELU and norm in front of the masked language model's decoder."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.activation = activation_of(config)

    def forward(self, hidden: Tensor) -> Tensor:
        result: Tensor = self.LayerNorm(self.activation(self.dense(hidden)))
        return result


class BertPredictions(nn.Module):
    """The masked language model's head: hidden states to logits over the vocabulary; the model ties its decoder."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.transform = BertTransform(config)
        self.decoder = nn.Linear(config.hidden_size, config.vocab_size)
        self.bias = self.decoder.bias

    def forward(self, hidden: Tensor) -> Tensor:
        result: Tensor = self.decoder(self.transform(hidden))
        return result


class BertPretrainingHeads(nn.Module):
    """The heads of pretraining, under the names of transformers: the masked language model, and one for pairs."""

    def __init__(self, config: BertConfig, *, pairs: bool = True) -> None:
        super().__init__()
        self.predictions = BertPredictions(config)
        if pairs:
            self.seq_relationship = nn.Linear(config.hidden_size, 2)


class PretrainingOutput(NamedTuple):
    """What a pretraining step gives.

    loss: scalar, the sum of mlm_loss and pair_loss; all None without labels, pair_loss also without pairs.
    prediction_logits: (N, L, vocab_size), or with labels (M, vocab_size), at the M labelled tokens in row order.
    seq_relationship_logits: (N, 2), None for a model without a pair head; where the last sequence of a packed row is
    its padding, N is the number of pair labels, or, without labels, counts the padding too. hidden_states: the last
    block's (N, L, hidden_size).
    """

    loss: Tensor | None
    prediction_logits: Tensor
    seq_relationship_logits: Tensor | None
    hidden_states: Tensor
    mlm_loss: Tensor | None
    pair_loss: Tensor | None


def pretraining_output(
    hidden: Tensor,
    predictions: nn.Module,
    pairs: Tensor | None,
    labels: Tensor | None,
    pair_label: Tensor | None,
) -> PretrainingOutput:
    """Put the heads on hidden states; with labels, the vocabulary's logits are computed at the labelled tokens alone.

    These are about one token in seven. The losses are the mean cross-entropy of the labelled tokens (0 where there is
    none) and that of the pairs.
    """
    if labels is None:
        return PretrainingOutput(None, predictions(hidden), pairs, hidden, None, None)
    labelled = labels != IGNORE_INDEX
    logits = predictions(hidden[labelled])
    count = labelled.sum().clamp(min=1)
    loss = mlm_loss = functional.cross_entropy(logits.float(), labels[labelled], reduction="sum") / count
    pair_loss = None
    if pairs is not None and pair_label is not None:
        pairs = pairs[: len(pair_label)]
        pair_loss = functional.cross_entropy(pairs.float(), pair_label)
        loss = loss + pair_loss
    return PretrainingOutput(loss, logits, pairs, hidden, mlm_loss, pair_loss)


class BertForPreTraining(PreTrainedModel):
    """BERT with its masked language model and its pair head (next sentence, or ALBERT's sentence order).

    The decoder's weight is the word embedding. The loss is that of the labelled tokens plus, where a pair label is
    given, that of the pairs (section 3.1). Weights are drawn from torch's own generator: normal, `initializer_range`.

    >>> import torch
    >>> model = BertForPreTraining(BertConfig.tiny(vocab_size=100))
    >>> model(torch.tensor([[2, 7, 3]])).prediction_logits.shape
    torch.Size([1, 3, 100])
    """

    tied: ClassVar[Mapping[str, str]] = {
        "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
        "cls.predictions.decoder.bias": "cls.predictions.bias",
    }

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.bert = BertModel(config)
        self.cls = BertPretrainingHeads(config)
        self.cls.predictions.decoder.weight = self.bert.embeddings.word_embeddings.weight
        initialize(self, config)

    def forward(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        labels: Tensor | None = None,
        next_sentence_label: Tensor | None = None,
        sentence_order_label: Tensor | None = None,
        position_ids: Tensor | None = None,
        cu_seqlens: Tensor | None = None,
    ) -> PretrainingOutput:
        """Take the tensors of a `PretrainingCollator` batch, padded or packed."""
        hidden, pooled = self.bert(input_ids, token_type_ids, attention_mask, position_ids, cu_seqlens)
        pair_label = next_sentence_label if sentence_order_label is None else sentence_order_label
        pairs = self.cls.seq_relationship(pooled)
        return pretraining_output(hidden, self.cls.predictions, pairs, labels, pair_label)


class BertForMaskedLM(PreTrainedModel):
    """BERT with its masked language model alone, for shards without pairs (RoBERTa's recipe).

    >>> import torch
    >>> model = BertForMaskedLM(BertConfig.tiny(vocab_size=100))
    >>> model(torch.tensor([[2, 7, 3]])).seq_relationship_logits is None
    True
    """

    tied = BertForPreTraining.tied

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.bert = BertModel(config, pooler=False)
        self.cls = BertPretrainingHeads(config, pairs=False)
        self.cls.predictions.decoder.weight = self.bert.embeddings.word_embeddings.weight
        initialize(self, config)

    def forward(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        labels: Tensor | None = None,
        position_ids: Tensor | None = None,
        cu_seqlens: Tensor | None = None,
    ) -> PretrainingOutput:
        """Take the tensors of a `PretrainingCollator` batch, padded or packed."""
        hidden = self.bert.encode(input_ids, token_type_ids, attention_mask, position_ids, cu_seqlens)
        return pretraining_output(hidden, self.cls.predictions, None, labels, None)
