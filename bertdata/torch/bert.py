"""The companion encoder: BERT (Devlin et al. 2019, section 3; Vaswani et al. 2017, section 3), plain and exact.

Modules and parameters have the names they have in transformers, so a state dict loads both ways; saving and loading is
in `weights`. Learned positions, blocks normalised behind each residual (post-norm), GELU, and attention by
`scaled_dot_product_attention`. What this module does not do: decoding, other activations, relative positions.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from bertdata.examples.masking import IGNORE_INDEX
from bertdata.torch import weights
from bertdata.torch.config import BertConfig


class BertEmbeddings(nn.Module):
    """The sum of word, position and token type embeddings, normalised: (N, L) int64 to (N, L, hidden_size)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=config.pad_token_id)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.hidden_size)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids: Tensor, token_type_ids: Tensor) -> Tensor:
        positions = torch.arange(input_ids.shape[1], device=input_ids.device)
        summed = (
            self.word_embeddings(input_ids)
            + self.token_type_embeddings(token_type_ids)
            + self.position_embeddings(positions)
        )
        result: Tensor = self.dropout(self.LayerNorm(summed))
        return result


class BertSelfAttention(nn.Module):
    """Scaled dot-product attention of all heads: (N, L, hidden_size) to the same."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.heads, self.dropout_prob = config.num_attention_heads, config.attention_probs_dropout_prob
        self.query = nn.Linear(config.hidden_size, config.hidden_size)
        self.key = nn.Linear(config.hidden_size, config.hidden_size)
        self.value = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        query, key, value = (
            projected.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for projected in (self.query(hidden), self.key(hidden), self.value(hidden))
        )
        dropout = self.dropout_prob if self.training else 0.0
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropout)
        return mixed.transpose(1, 2).flatten(2)


class BertResidual(nn.Module):
    """The end of a sub-layer: a projection, dropout, and the norm of its sum with what the sub-layer began with."""

    def __init__(self, size: int, config: BertConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(size, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, inner: Tensor, residual: Tensor) -> Tensor:
        result: Tensor = self.LayerNorm(self.dropout(self.dense(inner)) + residual)
        return result


class BertAttention(nn.Module):
    """The attention sub-layer of a block."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.self = BertSelfAttention(config)
        self.output = BertResidual(config.hidden_size, config)

    def forward(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        result: Tensor = self.output(self.self(hidden, mask), hidden)
        return result


class BertIntermediate(nn.Module):
    """The widening half of the feed-forward sub-layer."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.intermediate_size)

    def forward(self, hidden: Tensor) -> Tensor:
        return functional.gelu(self.dense(hidden))


class BertLayer(nn.Module):
    """One block: attention, then feed-forward."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.attention = BertAttention(config)
        self.intermediate = BertIntermediate(config)
        self.output = BertResidual(config.intermediate_size, config)

    def forward(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        attended = self.attention(hidden, mask)
        result: Tensor = self.output(self.intermediate(attended), attended)
        return result


class BertEncoder(nn.Module):
    """The blocks, one after another."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.layer = nn.ModuleList(BertLayer(config) for _ in range(config.num_hidden_layers))

    def forward(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        for layer in self.layer:
            hidden = layer(hidden, mask)
        return hidden


class BertPooler(nn.Module):
    """The hidden state of [CLS] through a dense layer and tanh: (N, L, hidden_size) to (N, hidden_size)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, hidden: Tensor) -> Tensor:
        return torch.tanh(self.dense(hidden[:, 0]))


class BertModel(nn.Module):
    """Embeddings, blocks and pooler: ids to hidden states (N, L, hidden_size) and the pooled [CLS] (N, hidden_size)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.config = config
        self.embeddings = BertEmbeddings(config)
        self.encoder = BertEncoder(config)
        self.pooler = BertPooler(config)

    def forward(
        self, input_ids: Tensor, token_type_ids: Tensor | None = None, attention_mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Encode int64 (N, L) ids; attention_mask is 1 at tokens and 0 at padding, None where there is no padding."""
        types = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
        mask = None if attention_mask is None else attention_mask[:, None, None, :].bool()
        hidden = self.encoder(self.embeddings(input_ids, types), mask)
        return hidden, self.pooler(hidden)


class BertTransform(nn.Module):
    """Dense, GELU and norm in front of the masked language model's decoder."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, hidden: Tensor) -> Tensor:
        result: Tensor = self.LayerNorm(functional.gelu(self.dense(hidden)))
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
    """The two heads of pretraining, under the names of transformers."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.predictions = BertPredictions(config)
        self.seq_relationship = nn.Linear(config.hidden_size, 2)


class PretrainingOutput(NamedTuple):
    """What a pretraining step gives.

    loss: scalar, None without labels; prediction_logits: (N, L, vocab_size), or with labels (M, vocab_size), at the M
    labelled tokens in row order; seq_relationship_logits: (N, 2); hidden_states: the last block's (N, L, hidden_size).
    """

    loss: Tensor | None
    prediction_logits: Tensor
    seq_relationship_logits: Tensor
    hidden_states: Tensor


class BertForPreTraining(nn.Module):
    """BERT with its masked language model and its pair head (next sentence, or ALBERT's sentence order).

    The decoder's weight is the word embedding. With labels, logits are computed at the labelled tokens alone, which are
    about one in seven. The loss is the mean cross-entropy of those tokens plus, where a pair label is given, that of
    the pairs (section 3.1). Weights are drawn from torch's own generator: normal, `initializer_range`.

    >>> model = BertForPreTraining(BertConfig.tiny(vocab_size=100))
    >>> model(torch.tensor([[2, 7, 3]])).prediction_logits.shape
    torch.Size([1, 3, 100])
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.config = config
        self.bert = BertModel(config)
        self.cls = BertPretrainingHeads(config)
        self.cls.predictions.decoder.weight = self.bert.embeddings.word_embeddings.weight
        _initialize(self, config)

    def forward(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        labels: Tensor | None = None,
        next_sentence_label: Tensor | None = None,
        sentence_order_label: Tensor | None = None,
    ) -> PretrainingOutput:
        """Take the tensors of a `PretrainingCollator` batch, all int64."""
        hidden, pooled = self.bert(input_ids, token_type_ids, attention_mask)
        pairs = self.cls.seq_relationship(pooled)
        if labels is None:
            return PretrainingOutput(None, self.cls.predictions(hidden), pairs, hidden)
        labelled = labels != IGNORE_INDEX
        logits = self.cls.predictions(hidden[labelled])
        count = labelled.sum().clamp(min=1)
        loss = functional.cross_entropy(logits.float(), labels[labelled], reduction="sum") / count
        pair_label = next_sentence_label if sentence_order_label is None else sentence_order_label
        if pair_label is not None:
            loss = loss + functional.cross_entropy(pairs.float(), pair_label)
        return PretrainingOutput(loss, logits, pairs, hidden)

    def save_pretrained(self, directory: str | os.PathLike[str]) -> None:
        """Write `model.safetensors` and `config.json`, which transformers opens; raises OutputError."""
        weights.save(self, self.config, directory)

    @classmethod
    def from_pretrained(cls, directory: str | os.PathLike[str]) -> Self:
        """Load what this class or transformers saved; raises InputError where a weight is missing or misshapen."""
        model = cls(BertConfig.load(directory))
        weights.load(model, directory)
        return model


class ClassificationOutput(NamedTuple):
    """loss: scalar, None without labels; logits: (N, number of labels)."""

    loss: Tensor | None
    logits: Tensor


class BertForSequenceClassification(nn.Module):
    """BERT with a linear layer on the pooled [CLS] (section 4.1); `labels` are the names of the classes.

    >>> model = BertForSequenceClassification(BertConfig.tiny(vocab_size=100), ["no", "yes"])
    >>> model(torch.tensor([[2, 7, 3]])).logits.shape
    torch.Size([1, 2])
    """

    def __init__(self, config: BertConfig, labels: list[str]) -> None:
        super().__init__()
        self.config, self.labels = config, labels
        self.bert = BertModel(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.classifier = nn.Linear(config.hidden_size, len(labels))
        _initialize(self, config)

    def forward(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        labels: Tensor | None = None,
    ) -> ClassificationOutput:
        """Take int64 (N, L) tensors, and labels int64 (N,)."""
        _, pooled = self.bert(input_ids, token_type_ids, attention_mask)
        logits = self.classifier(self.dropout(pooled))
        loss = None if labels is None else functional.cross_entropy(logits.float(), labels)
        return ClassificationOutput(loss, logits)

    def save_pretrained(self, directory: str | os.PathLike[str]) -> None:
        """Write `model.safetensors` and `config.json`, which transformers opens; raises OutputError."""
        names: dict[str, Any] = {
            "id2label": {str(number): name for number, name in enumerate(self.labels)},
            "label2id": {name: number for number, name in enumerate(self.labels)},
        }
        weights.save(self, self.config, directory, names)

    @classmethod
    def from_pretrained(cls, directory: str | os.PathLike[str], labels: list[str] | None = None) -> Self:
        """Load a classifier; with `labels`, load only the encoder of any BERT checkpoint and draw a new classifier."""
        model = cls(BertConfig.load(directory), weights.read_labels(directory) if labels is None else labels)
        weights.load(model, directory, new=() if labels is None else ("classifier.",))
        return model


def _initialize(model: nn.Module, config: BertConfig) -> None:
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=config.initializer_range)
        if isinstance(module, nn.Linear):
            nn.init.zeros_(module.bias)
        if isinstance(module, nn.Embedding) and module.padding_idx is not None:
            with torch.no_grad():
                module.weight[module.padding_idx].zero_()
