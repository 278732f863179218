"""ELECTRA (Clark et al. 2020): a small generator fills masks, a discriminator tells which tokens were replaced.

Named as in transformers. Both are made of BERT's blocks, behind embeddings of their own width; in pretraining they
share these embeddings (section 3.2). What is kept for tasks is the discriminator.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.nn import functional

from bertdata.io import files
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.torch.models.bert import BertEncoder, Encoder, activation_of, initialize
from bertdata.torch.models.config import BertConfig, ElectraConfig
from bertdata.torch.models.dropout import Draws
from bertdata.torch.models.weights import PreTrainedModel, load, save

DISCRIMINATOR_WEIGHT = 50.0
"""The discriminator's share in the loss (section 3.2)."""
GENERATOR = "generator"
"""The folder of the generator beside a saved discriminator."""


class ElectraModel(Encoder):
    """Embeddings and blocks: ids to hidden states (N, L, hidden_size)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config, BertEncoder(config))
        if config.embedding_size != config.hidden_size:
            self.embeddings_project = nn.Linear(config.embedding_size, config.hidden_size)

    def project(self, embedded: Tensor) -> Tensor:
        return self.embeddings_project(embedded) if hasattr(self, "embeddings_project") else embedded


class ElectraGeneratorPredictions(nn.Module):
    """Hidden states to the width of the embeddings, in front of the generator's decoder."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.LayerNorm = nn.LayerNorm(config.embedding_size, eps=config.layer_norm_eps)
        self.dense = nn.Linear(config.hidden_size, config.embedding_size)

    def forward(self, hidden: Tensor) -> Tensor:
        result: Tensor = self.LayerNorm(functional.gelu(self.dense(hidden)))
        return result


class ElectraForMaskedLM(PreTrainedModel):
    """The generator: logits over the vocabulary, its decoder the word embedding."""

    tied: ClassVar[Mapping[str, str]] = {"generator_lm_head.weight": "electra.embeddings.word_embeddings.weight"}

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.electra = ElectraModel(config)
        self.generator_predictions = ElectraGeneratorPredictions(config)
        self.generator_lm_head = nn.Linear(config.embedding_size, config.vocab_size)
        self.tie()
        initialize(self, config)

    def tie(self) -> None:
        """Make the word embedding the decoder's weight."""
        self.generator_lm_head.weight = self.electra.embeddings.word_embeddings.weight

    def predict(self, hidden: Tensor) -> Tensor:
        """Return the logits over the vocabulary at hidden states."""
        logits: Tensor = self.generator_lm_head(self.generator_predictions(hidden))
        return logits

    def forward(
        self, input_ids: Tensor, token_type_ids: Tensor | None = None, attention_mask: Tensor | None = None
    ) -> Tensor:
        """Return logits (N, L, vocab_size) of int64 (N, L) tensors."""
        return self.predict(self.electra.encode(input_ids, token_type_ids, attention_mask))


class ElectraDiscriminatorPredictions(nn.Module):
    """Hidden states to one logit a token: over 0, the token was replaced."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.dense_prediction = nn.Linear(config.hidden_size, 1)
        self.activation = activation_of(config)

    def forward(self, hidden: Tensor) -> Tensor:
        result: Tensor = self.dense_prediction(self.activation(self.dense(hidden))).squeeze(-1)
        return result


class ElectraForPreTraining(PreTrainedModel):
    """The discriminator: one logit a token, (N, L).

    >>> model = ElectraForPreTraining(ElectraConfig.tiny(vocab_size=100))
    >>> model(torch.tensor([[2, 7, 3]])).shape
    torch.Size([1, 3])
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.electra = ElectraModel(config)
        self.discriminator_predictions = ElectraDiscriminatorPredictions(config)
        initialize(self, config)

    def forward(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        cu_seqlens: Tensor | None = None,
    ) -> Tensor:
        """Take int64 (N, L) tensors, or those of a packed row."""
        hidden = self.electra.encode(input_ids, token_type_ids, attention_mask, position_ids, cu_seqlens)
        result: Tensor = self.discriminator_predictions(hidden)
        return result


class ReplacedTokenOutput(NamedTuple):
    """What a step of replaced token detection gives.

    loss: scalar, mlm_loss + 50 replaced_loss; prediction_logits: (M, vocab_size), the generator's at the M labelled
    tokens; replaced_logits, replaced: (K,), the discriminator's logits and the truth, bool, at the K tokens that are no
    padding.
    """

    loss: Tensor
    prediction_logits: Tensor
    mlm_loss: Tensor
    replaced_loss: Tensor
    replaced_logits: Tensor
    replaced: Tensor


def sampled(logits: Tensor, uniform: Tensor) -> Tensor:
    """Return a token for each row of logits (M, V), with the probabilities of their softmax, by a number in [0, 1).

    >>> sampled(torch.tensor([[0.0, 0.0], [0.0, 0.0]]), torch.tensor([0.25, 0.75]))
    tensor([0, 1])
    """
    sums = logits.float().softmax(-1).cumsum(-1)
    places = torch.searchsorted(sums, uniform.float()[:, None] * sums[:, -1:], right=True)
    return places[:, 0].clamp(max=logits.shape[-1] - 1)


class ElectraForReplacedTokenDetection(nn.Module):
    """A generator and a discriminator of one embedding, trained together.

    The generator's tokens are drawn by `draws` where they are attached, else from torch's generator; no gradient goes
    through them. A token that the generator guesses right counts as not replaced.
    """

    draws: Draws | None = None

    def __init__(self, config: ElectraConfig, generator: ElectraConfig | None = None) -> None:
        super().__init__()
        self.config = config
        self.generator = ElectraForMaskedLM(config.generator() if generator is None else generator)
        self.discriminator = ElectraForPreTraining(config)
        self._share()

    def _share(self) -> None:
        self.generator.electra.embeddings = self.discriminator.electra.embeddings
        self.generator.tie()

    def forward(
        self,
        input_ids: Tensor,
        labels: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        cu_seqlens: Tensor | None = None,
    ) -> ReplacedTokenOutput:
        """Take the tensors of a `PretrainingCollator` batch, padded or packed."""
        shape = (token_type_ids, attention_mask, position_ids, cu_seqlens)
        labelled = labels != IGNORE_INDEX
        targets = labels[labelled]
        logits = self.generator.predict(self.generator.electra.encode(input_ids, *shape)[labelled]).float()
        mlm_loss = functional.cross_entropy(logits, targets, reduction="sum") / labelled.sum().clamp(min=1)
        with torch.no_grad():
            uniform = torch.rand(labels.shape, device=labels.device) if self.draws is None else self.draws.uniform()
            guesses = sampled(logits, uniform[labelled])
            corrupted, replaced = input_ids.clone(), torch.zeros_like(labelled)
            corrupted[labelled], replaced[labelled] = guesses, guesses != targets
        kept = torch.ones_like(labelled) if attention_mask is None else attention_mask.bool()
        if cu_seqlens is not None:
            kept = input_ids != self.config.pad_token_id
        found, truth = self.discriminator(corrupted, *shape)[kept].float(), replaced[kept]
        replaced_loss = functional.binary_cross_entropy_with_logits(found, truth.float())
        loss = mlm_loss + DISCRIMINATOR_WEIGHT * replaced_loss
        return ReplacedTokenOutput(loss, logits, mlm_loss, replaced_loss, found, truth)

    def save_pretrained(self, directory: str | os.PathLike[str], extra: Mapping[str, Any] | None = None) -> None:
        """Write the discriminator, and in `generator` below it the generator; raises OutputError."""
        save(self.discriminator, directory, extra)
        save(self.generator, files.join(os.fspath(directory), GENERATOR), extra)

    @classmethod
    def from_pretrained(cls, directory: str | os.PathLike[str]) -> Self:
        """Load what `save_pretrained` wrote; raises InputError where a weight is missing or misshapen."""
        beside = files.join(os.fspath(directory), GENERATOR)
        model = cls(ElectraConfig.load(directory), ElectraConfig.load(beside))
        load(model.generator, beside)
        load(model.discriminator, directory)
        return model


__all__ = ["ElectraConfig", "ElectraForMaskedLM", "ElectraForPreTraining", "ElectraForReplacedTokenDetection"]
