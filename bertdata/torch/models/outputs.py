"""What a pretrained model gives for a batch: the loss as a sum of terms, and what it was computed from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from torch import Tensor

Fraction = tuple[Tensor, Tensor | int]


class LossTerm(NamedTuple):
    """A term of a loss.

    name: `mlm` is mlm_loss in the log. value: scalar, the mean over the `labelled` tokens, the `tokens` without
    padding, the `maskable` ones or the `pairs` of a batch, as `per` says. weight: its factor in the loss. figures:
    further ones for the log by name, each the mean of some fractions (numerator, denominator), which are summed over
    batches first.
    """

    name: str
    value: Tensor
    per: str
    weight: float
    figures: Mapping[str, Sequence[Fraction]]


class PretrainingOutput(NamedTuple):
    """The output of a masked language model.

    loss: scalar, the sum of mlm_loss and pair_loss; all None without labels, pair_loss also without pairs. Where the
    batch has weights, weighted_loss takes the place of mlm_loss in the sum: the weighted losses of the labelled tokens
    over the number of maskable ones.
    prediction_logits: (N, L, vocab_size), or with labels (M, vocab_size), at the M labelled tokens in row order; none
    where the loss was taken in chunks (`most_logits`). right: how many labels have the largest logit, where known.
    seq_relationship_logits: (N, 2), None for a model without a pair head; where the last sequence of a packed row is
    its padding, N is the number of pair labels, or, without labels, counts the padding too. hidden_states: the last
    block's (N, L, hidden_size), None where the model
    does not keep them. targets, pair_targets: the labels, int64 (M,) and (N,).
    """

    loss: Tensor | None
    prediction_logits: Tensor
    seq_relationship_logits: Tensor | None
    hidden_states: Tensor | None
    mlm_loss: Tensor | None = None
    pair_loss: Tensor | None = None
    targets: Tensor | None = None
    pair_targets: Tensor | None = None
    right: Tensor | None = None
    weighted_loss: Tensor | None = None

    @property
    def terms(self) -> Sequence[LossTerm]:
        """The terms of the loss: `mlm`, or `weighted` in its place, and `pair` where there are pairs."""
        assert self.mlm_loss is not None
        assert self.targets is not None
        right = self.right
        if right is None:
            right = (self.prediction_logits.detach().argmax(-1) == self.targets).sum()
        labelled = len(self.targets)
        mlm = LossTerm("mlm", self.mlm_loss, "labelled", 1.0, {"mlm_accuracy": [(right, labelled)]})
        if self.weighted_loss is not None:
            plain = {"mlm_loss": [(self.mlm_loss.detach() * labelled, labelled)], **mlm.figures}
            mlm = LossTerm("weighted", self.weighted_loss, "maskable", 1.0, plain)
        if self.pair_loss is None or self.seq_relationship_logits is None or self.pair_targets is None:
            return [mlm]
        right = (self.seq_relationship_logits.detach().argmax(-1) == self.pair_targets).sum()
        figures = {"pair_accuracy": [(right, len(self.pair_targets))]}
        return [mlm, LossTerm("pair", self.pair_loss, "pairs", 1.0, figures)]
