"""The companion encoder: BERT (Devlin et al. 2019, section 3; Vaswani et al. 2017, section 3), plain and exact.

Modules and parameters have the names they have in transformers, so a state dict loads both ways; saving and loading is
in `weights`. Learned positions, blocks normalised behind each residual (post-norm), GELU. Batches are padded, or packed
rows with their borders (`attention`). ALBERT and ELECTRA are made of the same parts (`albert`, `electra`); heads for
tasks are in `heads`. What this module does not do: decoding, relative positions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from bertdata.examples.masking import IGNORE_INDEX
from bertdata.torch.attention import Mask, attention, borders_of
from bertdata.torch.config import BertConfig
from bertdata.torch.weights import PreTrainedModel


def activation_of(config: BertConfig) -> Callable[[Tensor], Tensor]:
    """Return the function that `hidden_act` names."""
    return partial(functional.gelu, approximate="tanh" if config.hidden_act == "gelu_new" else "none")


class BertEmbeddings(nn.Module):
    """The sum of word, position and token type embeddings, normalised: (N, L) int64 to (N, L, embedding_size)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.embedding_size, padding_idx=config.pad_token_id)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.embedding_size)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, config.embedding_size)
        self.LayerNorm = nn.LayerNorm(config.embedding_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids: Tensor, token_type_ids: Tensor, position_ids: Tensor | None = None) -> Tensor:
        positions = torch.arange(input_ids.shape[1], device=input_ids.device) if position_ids is None else position_ids
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

    def forward(self, hidden: Tensor, mask: Mask) -> Tensor:
        query, key, value = (
            projected.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for projected in (self.query(hidden), self.key(hidden), self.value(hidden))
        )
        dropout = self.dropout_prob if self.training else 0.0
        return attention(query, key, value, mask, dropout).transpose(1, 2).flatten(2)


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

    def forward(self, hidden: Tensor, mask: Mask) -> Tensor:
        result: Tensor = self.output(self.self(hidden, mask), hidden)
        return result


class BertIntermediate(nn.Module):
    """The widening half of the feed-forward sub-layer."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.intermediate_size)
        self.activation = activation_of(config)

    def forward(self, hidden: Tensor) -> Tensor:
        return self.activation(self.dense(hidden))


class BertLayer(nn.Module):
    """One block: attention, then feed-forward."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.attention = BertAttention(config)
        self.intermediate = BertIntermediate(config)
        self.output = BertResidual(config.intermediate_size, config)

    def forward(self, hidden: Tensor, mask: Mask) -> Tensor:
        attended = self.attention(hidden, mask)
        result: Tensor = self.output(self.intermediate(attended), attended)
        return result


class BertEncoder(nn.Module):
    """The blocks, one after another."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.layer = nn.ModuleList(BertLayer(config) for _ in range(config.num_hidden_layers))

    def forward(self, hidden: Tensor, mask: Mask) -> Tensor:
        for layer in self.layer:
            hidden = layer(hidden, mask)
        return hidden


class BertPooler(nn.Module):
    """The hidden state of [CLS] through a dense layer and tanh: (N, hidden_size) to the same."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, hidden: Tensor) -> Tensor:
        return torch.tanh(self.dense(hidden))


class Encoder(nn.Module):
    """What the encoders of the family share: embeddings, then blocks, over padded or packed rows."""

    def __init__(self, config: BertConfig, blocks: nn.Module) -> None:
        super().__init__()
        self.config = config
        self.embeddings = BertEmbeddings(config)
        self.encoder = blocks

    def encode(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        cu_seqlens: Tensor | None = None,
    ) -> Tensor:
        """Return the hidden states (N, L, hidden_size) of int64 (N, L) ids.

        attention_mask is 1 at tokens and 0 at padding, None where there is no padding. Packed rows are (1, T), with
        position_ids that begin anew in each sequence, and cu_seqlens int32 (N + 1,), the borders.
        """
        types = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
        mask: Mask = None if attention_mask is None else attention_mask[:, None, None, :].bool()
        if cu_seqlens is not None:
            mask = borders_of(cu_seqlens)
        hidden: Tensor = self.encoder(self.project(self.embeddings(input_ids, types, position_ids)), mask)
        return hidden

    def project(self, embedded: Tensor) -> Tensor:
        """Bring embeddings to the width of the blocks, where it is another."""
        return embedded


def first_states(hidden: Tensor, cu_seqlens: Tensor | None) -> Tensor:
    """Return the hidden state of the first token of each row, or of each packed sequence: (N, hidden_size)."""
    return hidden[:, 0] if cu_seqlens is None else hidden[0, cu_seqlens[:-1].long()]


class BertModel(Encoder):
    """Embeddings, blocks and pooler: ids to hidden states (N, L, hidden_size) and the pooled [CLS] (N, hidden_size).

    Models without a head on [CLS] have no pooler.
    """

    def __init__(self, config: BertConfig, *, pooler: bool = True) -> None:
        super().__init__(config, BertEncoder(config))
        if pooler:
            self.pooler = BertPooler(config)

    def forward(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        cu_seqlens: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Take what `encode` takes."""
        hidden = self.encode(input_ids, token_type_ids, attention_mask, position_ids, cu_seqlens)
        return hidden, self.pooler(first_states(hidden, cu_seqlens))


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


def initialize(model: nn.Module, config: BertConfig) -> None:
    """Draw the weights of linear layers and embeddings anew; biases and the embedding of [PAD] become 0."""
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=config.initializer_range)
        if isinstance(module, nn.Linear):
            nn.init.zeros_(module.bias)
        if isinstance(module, nn.Embedding) and module.padding_idx is not None:
            with torch.no_grad():
                module.weight[module.padding_idx].zero_()
