"""What models learn from in pretraining: the terms of their loss, and the masked language model with or without pairs.

The trainer knows a model by this: it is a `PreTrainedModel`, and its output has `terms`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from torch import Tensor
from torch.nn import functional

from bertdata.masking.masking import IGNORE_INDEX
from bertdata.torch.models.weights import PreTrainedModel

Fraction = tuple[Tensor, Tensor | int]


class LossTerm(NamedTuple):
    """A term of a loss.

    name: `mlm` is mlm_loss in the log. value: scalar, the mean over what `per` names of a batch: its `labelled` tokens,
    its `tokens` without padding, or its `pairs`. weight: by which it goes into the loss. figures: further ones for the
    log by name, each the mean of some fractions (numerator, denominator), which are summed over batches first.
    """

    name: str
    value: Tensor
    per: str
    weight: float
    figures: Mapping[str, Sequence[Fraction]]


class ModelOutput(Protocol):
    """What a model that is pretrained returns for a batch with labels."""

    @property
    def terms(self) -> Sequence[LossTerm]:
        """The terms of the loss."""


def mlm_term(loss: Tensor, logits: Tensor, targets: Tensor) -> LossTerm:
    """Return the term of a masked language model; logits: (M, vocab_size) at the M labelled tokens; targets: (M,)."""
    right = (logits.detach().argmax(-1) == targets).sum()
    return LossTerm("mlm", loss, "labelled", 1.0, {"mlm_accuracy": [(right, len(targets))]})


class PretrainingOutput(NamedTuple):
    """What a pretraining step gives.

    loss: scalar, the sum of mlm_loss and pair_loss; all None without labels, pair_loss also without pairs.
    prediction_logits: (N, L, vocab_size), or with labels (M, vocab_size), at the M labelled tokens in row order.
    seq_relationship_logits: (N, 2), None for a model without a pair head; where the last sequence of a packed row is
    its padding, N is the number of pair labels, or, without labels, counts the padding too. hidden_states: the last
    block's (N, L, hidden_size). targets, pair_targets: int64 (M,) and (N,), the labels.
    """

    loss: Tensor | None
    prediction_logits: Tensor
    seq_relationship_logits: Tensor | None
    hidden_states: Tensor
    mlm_loss: Tensor | None = None
    pair_loss: Tensor | None = None
    targets: Tensor | None = None
    pair_targets: Tensor | None = None

    @property
    def terms(self) -> Sequence[LossTerm]:
        """The terms of the loss: `mlm`, and `pair` where there are pairs."""
        assert self.mlm_loss is not None
        assert self.targets is not None
        mlm = mlm_term(self.mlm_loss, self.prediction_logits, self.targets)
        if self.pair_loss is None or self.seq_relationship_logits is None or self.pair_targets is None:
            return [mlm]
        right = (self.seq_relationship_logits.detach().argmax(-1) == self.pair_targets).sum()
        figures = {"pair_accuracy": [(right, len(self.pair_targets))]}
        return [mlm, LossTerm("pair", self.pair_loss, "pairs", 1.0, figures)]


def pretraining_output(
    hidden: Tensor,
    predict: Callable[[Tensor], Tensor],
    pairs: Tensor | None,
    labels: Tensor | None,
    pair_label: Tensor | None,
) -> PretrainingOutput:
    """Put the heads on hidden states; with labels, the vocabulary's logits are computed at the labelled tokens alone.

    These are about one token in seven. The losses are the mean cross-entropy of the labelled tokens (0 where there is
    none) and that of the pairs.
    """
    if labels is None:
        return PretrainingOutput(None, predict(hidden), pairs, hidden)
    labelled = labels != IGNORE_INDEX
    logits, targets = predict(hidden[labelled]), labels[labelled]
    count = labelled.sum().clamp(min=1)
    loss = mlm_loss = functional.cross_entropy(logits.float(), targets, reduction="sum") / count
    if pairs is None or pair_label is None:
        return PretrainingOutput(loss, logits, pairs, hidden, mlm_loss, None, targets)
    pairs = pairs[: len(pair_label)]
    pair_loss = functional.cross_entropy(pairs.float(), pair_label)
    return PretrainingOutput(loss + pair_loss, logits, pairs, hidden, mlm_loss, pair_loss, targets, pair_label)


class MaskedLanguageModel(PreTrainedModel):
    """An encoder with a head over the vocabulary, and one for pairs or none (Devlin et al. 2019, section 3.1).

    A family's own defines `predict`, and `predict_pairs` where it has a head for pairs.
    """

    def predict(self, hidden: Tensor) -> Tensor:
        """Return the logits over the vocabulary at hidden states: (..., hidden_size) to (..., vocab_size)."""
        raise NotImplementedError

    def predict_pairs(self, hidden: Tensor, cu_seqlens: Tensor | None) -> Tensor | None:
        """Return the logits of the pairs, (N, 2), None without a head for them."""
        return None

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
        hidden = self.encoder.encode(input_ids, token_type_ids, attention_mask, position_ids, cu_seqlens)
        pair_label = next_sentence_label if sentence_order_label is None else sentence_order_label
        return pretraining_output(hidden, self.predict, self.predict_pairs(hidden, cu_seqlens), labels, pair_label)
