"""The masked language model, with or without a pair head, and its losses.

The trainer trains any `PreTrainedModel` whose output has `terms`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Unpack

from torch import Tensor, nn
from torch.nn import functional

from bertdata.torch.models.chunked_loss import chunked_cross_entropy
from bertdata.torch.models.encoder import EncoderInputs, mean_cross_entropy
from bertdata.torch.models.mixed_loss import mixed_loss
from bertdata.torch.models.outputs import PretrainingOutput
from bertdata.torch.models.places import labelled_places, taken_at
from bertdata.torch.models.weights import PreTrainedModel


class MaskedLanguageModel(PreTrainedModel):
    """An encoder with a head over the vocabulary, and optionally one for pairs (Devlin et al. 2019, section 3.1).

    head_name, pair_head_name: the names of the two heads in the model; "" where it has none for pairs. most_logits: of
    more, those of all labelled tokens together, the loss is taken in chunks and they are not kept; 0: never.
    """

    weighs_loss = True
    takes_causal_rows = True
    head_name: ClassVar[str]
    pair_head_name: ClassVar[str] = ""
    most_logits: int = 0

    def predict(self, hidden: Tensor) -> Tensor:
        """Return the logits over the vocabulary at hidden states: (..., hidden_size) to (..., vocab_size)."""
        logits: Tensor = self.get_submodule(self.head_name)(hidden)
        return logits

    def decoded(self, hidden: Tensor) -> tuple[Tensor, nn.Linear] | None:
        """Return what the decoder, the last layer of `predict`, takes of hidden states, and the decoder.

        None: the head has no such layer, and its loss is never taken in chunks.
        """
        if type(self).predict is not MaskedLanguageModel.predict:
            return None
        *layers, decoder = self.get_submodule(self.head_name).children()
        return (nn.Sequential(*layers)(hidden), decoder) if isinstance(decoder, nn.Linear) else None

    def predict_pairs(self, hidden: Tensor, cu_seqlens: Tensor | None) -> Tensor | None:
        """Return the logits of the pairs, (N, 2), None without a head for them."""
        if not self.pair_head_name:
            return None
        pairs: Tensor = self.get_submodule(self.pair_head_name)(self.encoder.pooled(hidden, cu_seqlens))
        return pairs

    def forward(
        self,
        input_ids: Tensor,
        labels: Tensor | None = None,
        next_sentence_label: Tensor | None = None,
        sentence_order_label: Tensor | None = None,
        labelled: Tensor | None = None,
        loss_weights: Tensor | None = None,
        maskable: Tensor | None = None,
        mask_rates: Tensor | None = None,
        causal_share: float = 0.0,
        **inputs: Unpack[EncoderInputs],
    ) -> Any:
        """Take the tensors of a `PretrainingCollator` batch, padded or packed, with or without `with_places`.

        Returns a `PretrainingOutput`; with causal_rows and labels, a `MixedOutput`.

        The encoder is not told the rates of rows (`mask_rates`): it sees how much is masked, as in LLaDA. With labels,
        logits over the vocabulary are computed at the labelled tokens alone, about one in seven.
        """
        hidden = self.encoder.encode(input_ids, **inputs)
        pairs = self.predict_pairs(hidden, inputs.get("cu_seqlens"))
        if labels is None:
            return PretrainingOutput(None, self.predict(hidden), pairs, hidden)
        if (rows := inputs.get("causal_rows")) is not None:
            parts = (labels, labelled, rows, causal_share, inputs.get("cu_seqlens"))
            return mixed_loss(*parts, lambda places: self.losses_at(places, hidden, labels))
        places = labelled_places(labels, labelled)
        pair_label = next_sentence_label if sentence_order_label is None else sentence_order_label
        weights = None if loss_weights is None or maskable is None else (taken_at(loss_weights, places), maskable)
        return self.losses_at(places, hidden, labels, pairs, pair_label, weights)

    def losses_at(
        self,
        places: Tensor,
        hidden: Tensor,
        labels: Tensor,
        pairs: Tensor | None = None,
        pair_label: Tensor | None = None,
        weights: tuple[Tensor, Tensor] | None = None,
    ) -> PretrainingOutput:
        """Return the output with the loss of the labels (N, L) at some places, int64 (M,); see `with_losses`."""
        states, targets, size = taken_at(hidden, places), taken_at(labels, places), self.config.vocab_size
        if 0 < self.most_logits < len(targets) * size and (parts := self.decoded(states)):
            rows, of_targets = max(1, self.most_logits // size), None if weights is None else weights[0]
            chunked = chunked_cross_entropy(*parts, targets, rows, of_targets)
            loss = chunked.total / (len(targets) if weights is None else weights[1].sum().clamp(min=1))
            output = with_pairs(loss, states.new_empty(0, size), targets, pairs, pair_label, hidden)
            if weights is None:
                return output._replace(right=chunked.right)
            return output._replace(right=chunked.right, mlm_loss=chunked.plain / len(targets), weighted_loss=loss)
        return with_losses(self.predict(states), targets, pairs, pair_label, hidden, weights)


def with_losses(
    logits: Tensor,
    targets: Tensor,
    pairs: Tensor | None,
    pair_label: Tensor | None,
    hidden: Tensor | None,
    weights: tuple[Tensor, Tensor] | None = None,
) -> PretrainingOutput:
    """Return the output of a model with its losses.

    logits: over the vocabulary at the labelled tokens, (M, vocab_size); targets: their labels, int64 (M,); pairs,
    pair_label: logits (N, 2) and labels (N,) of pairs, None where there are none; hidden: the hidden states; weights:
    of the labelled tokens, float32 (M,), and how many tokens of each example could be labelled, int64 (E,).
    """
    if weights is None:
        return with_pairs(mean_cross_entropy(logits, targets), logits, targets, pairs, pair_label, hidden)
    losses = functional.cross_entropy(logits.float(), targets, reduction="none")
    weighted = (losses * weights[0]).sum() / weights[1].sum().clamp(min=1)
    output = with_pairs(weighted, logits, targets, pairs, pair_label, hidden)
    return output._replace(mlm_loss=losses.sum() / max(len(targets), 1), weighted_loss=weighted)


def with_pairs(
    mlm_loss: Tensor,
    logits: Tensor,
    targets: Tensor,
    pairs: Tensor | None,
    pair_label: Tensor | None,
    hidden: Tensor | None,
) -> PretrainingOutput:
    """Return the output of a model whose loss of masked tokens is known; the others as in `with_losses`."""
    if pairs is None or pair_label is None:
        return PretrainingOutput(mlm_loss, logits, pairs, hidden, mlm_loss, None, targets)
    pairs = pairs[: len(pair_label)]
    pair_loss = mean_cross_entropy(pairs, pair_label)
    return PretrainingOutput(mlm_loss + pair_loss, logits, pairs, hidden, mlm_loss, pair_loss, targets, pair_label)
