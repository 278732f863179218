"""The loss of batches with causal rows: the mean over their tokens and that over masked ones, by the share of rows.

A causal row has a label at each token and a masked one at about one in seven, so a mean over all labels together would
be mostly of causal rows. GPT-BERT's loss, of which each rank has one kind of rows, is the mean of each kind, weighted
by its share (`train_multi_gpu.py`, and `train_100m.py` in one process), and so is this.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from torch import Tensor

from bertdata.torch.models.outputs import LossTerm, PretrainingOutput
from bertdata.torch.models.places import labelled_places, places_of, sequence_of_each


class MixedOutput(NamedTuple):
    """The output of a model for a batch of which some rows, or all, are causal.

    loss: scalar, (1 - share) times the mean over masked tokens plus share times that over the labelled ones of causal
    rows; masked: the output at the masked tokens, None where all rows are causal; causal: that at the others; share: of
    causal rows in the phase.
    """

    loss: Tensor
    masked: PretrainingOutput | None
    causal: PretrainingOutput
    share: float

    @property
    def terms(self) -> Sequence[LossTerm]:
        """The terms of the loss: `mlm`, where there are masked rows, and `clm`."""
        (term,) = self.causal.terms
        figures = {"clm_accuracy": term.figures["mlm_accuracy"]}
        terms = [term._replace(name="clm", per="causal", weight=self.share, figures=figures)]
        if self.masked is not None:
            (masked,) = self.masked.terms
            terms.insert(0, masked._replace(per="masked", weight=1 - self.share))
        return terms


def mixed_loss(
    labels: Tensor,
    labelled: Tensor | None,
    causal_rows: Tensor,
    share: float,
    cu_seqlens: Tensor | None,
    losses_at: Callable[[Tensor], PretrainingOutput],
) -> MixedOutput:
    """Return the output of a batch of which some rows are causal, bool (N,), given what the output at some places is.

    labels: int64 (N, L), or of a packed row (1, T); labelled: the places of those that are not -100, where known;
    share: of causal rows in the phase; losses_at: returns the output at places int64 (M,).
    """
    places = labelled_places(labels, labelled)
    if share == 1:
        causal = losses_at(places)
        assert causal.loss is not None
        return MixedOutput(causal.loss, None, causal, share)
    flags = tokens_of(causal_rows, labels, cu_seqlens).flatten()[places]
    masked, causal = (losses_at(places[places_of(chosen)]) for chosen in (~flags, flags))
    assert masked.loss is not None
    assert causal.loss is not None
    return MixedOutput((1 - share) * masked.loss + share * causal.loss, masked, causal, share)


def tokens_of(causal_rows: Tensor, labels: Tensor, cu_seqlens: Tensor | None) -> Tensor:
    """Return which tokens are of causal rows, or of such sequences of a packed row: bool (N, L)."""
    if cu_seqlens is None:
        return causal_rows[:, None].expand_as(labels)
    return causal_rows[sequence_of_each(cu_seqlens, labels.shape[1])][None]
