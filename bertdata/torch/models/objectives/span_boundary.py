"""SpanBERT's span boundary objective (Joshi et al. 2020, section 3.2), beside the loss of masked tokens.

Each token of a masked span is predicted from the hidden states of the two tokens next to the span, and from its place
in the span. The span is found from the labels: labelled tokens that follow one another. So two masked spans side by
side are one, as the authors' code merges them, whatever stands in for their tokens; their borders are never masked.
As there, a span's tokens after the twentieth have no such loss; a share of the labelled tokens in the log says how many
have it. In our rows the token before the first word is [CLS], and the one after the last is [SEP]; these are
borders like others, where the authors leave out a span at the edge of a row.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from bertdata.errors import ConfigError
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.masking.units import find_unit
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.torch.models.config import Counts, EncoderConfig
from bertdata.torch.models.encoder import mean_cross_entropy, sequential
from bertdata.torch.models.from_transformers import TransformersForPreTraining, TransformersModel
from bertdata.torch.models.norm import LayerNorm
from bertdata.torch.models.objectives.settings import ObjectiveSettings, TrainingObjective
from bertdata.torch.models.objectives.with_part import MaskedLMWithPart
from bertdata.torch.models.outputs import LossTerm, PretrainingOutput
from bertdata.torch.models.places import labelled_places, places_of, sequence_of_each, taken_at
from bertdata.torch.models.pretraining import MaskedLanguageModel
from bertdata.torch.models.weights import PreTrainedModel

_LOG = logging.getLogger("bertdata")
MOST_TOKENS, POSITION_WIDTH = 20, 200
"""Tokens of a span that are predicted, and the width of the embedding of their place (the authors' code)."""


class Spans(NamedTuple):
    """The tokens of spans that have a border on both sides, K of them.

    left, right: the places of the borders, int64 (K,); offset: the place in the span, from 0, int64 (K,); predicted:
    which of the M labelled tokens they are, bool (M,).
    """

    left: Tensor
    right: Tensor
    offset: Tensor
    predicted: Tensor


def find_spans(labelled: Tensor, sequences: Tensor, most: int = MOST_TOKENS) -> Spans:
    """Return the first `most` tokens of each span, and where its borders are.

    labelled: bool (T,), over all rows; sequences: the number of the sequence of each token, int64 (T,), another one for
    padding. A span ends with its sequence; one without a token on both sides of it in its sequence is left out.

    >>> found = find_spans(torch.tensor([False, True, True, False, True, False]), torch.tensor([0, 0, 0, 0, 1, 1]))
    >>> found.left.tolist(), found.right.tolist(), found.offset.tolist(), found.predicted.tolist()
    ([0, 0], [3, 3], [0, 1], [True, True, False])
    """
    places = places_of(labelled)
    of = sequences[places]
    first, last = torch.ones_like(places, dtype=torch.bool), torch.ones_like(places, dtype=torch.bool)
    first[1:] = places[1:] != places[:-1] + 1
    last[:-1] = first[1:]
    span = first.cumsum(0) - 1
    start, end = places[first][span], places[last][span]
    left, right, offset = start - 1, end + 1, places - start
    inside = (left >= 0) & (right < len(sequences))
    inside &= (sequences[left.clamp(min=0)] == of) & (sequences[right.clamp(max=len(sequences) - 1)] == of)
    predicted = inside & (offset < most)
    return Spans(left[predicted], right[predicted], offset[predicted], predicted)


def sequence_numbers(shape: tuple[int, ...], inputs: Mapping[str, Tensor | None], device: torch.device) -> Tensor:
    """Return the number of the sequence of each token of a padded or packed batch, int64 (N * L,); -1 is padding."""
    offsets, mask = inputs.get("cu_seqlens"), inputs.get("attention_mask")
    if offsets is not None:
        return sequence_of_each(offsets, shape[1])
    rows = torch.arange(shape[0], device=device)[:, None].expand(shape)
    return (rows if mask is None else rows.where(mask.bool(), -1)).flatten()


class SpanBoundaryHead(nn.Module):
    """Two layers with GELU and LayerNorm on both borders and the place in the span, then the word embeddings.

    hidden_size: of the encoder; width: of the word embeddings, which are given to each call; a bias is the head's own.
    """

    def __init__(self, hidden_size: int, width: int, vocab_size: int) -> None:
        super().__init__()
        self.position_embeddings = nn.Embedding(MOST_TOKENS, POSITION_WIDTH)
        first, second = nn.Linear(2 * hidden_size + POSITION_WIDTH, hidden_size), nn.Linear(hidden_size, width)
        self.transform = sequential(
            dense1=first,
            activation1=nn.GELU(),
            LayerNorm1=LayerNorm(hidden_size, eps=1e-12),
            dense2=second,
            activation2=nn.GELU(),
            LayerNorm2=LayerNorm(width, eps=1e-12),
        )
        self.bias = nn.Parameter(torch.zeros(vocab_size))
        for layer in (first, second, self.position_embeddings):
            nn.init.normal_(layer.weight, std=0.02)
        for linear in (first, second):
            nn.init.zeros_(linear.bias)

    def forward(self, hidden: Tensor, spans: Spans, embeddings: Tensor) -> Tensor:
        """Return logits (K, vocab_size), of hidden states (T, hidden_size) and word embeddings (vocab_size, width)."""
        places = self.position_embeddings(spans.offset)
        borders = torch.cat([hidden[spans.left], hidden[spans.right], places.to(hidden.dtype)], dim=-1)
        return nn.functional.linear(self.transform(borders), embeddings, self.bias)


class SpanBoundaryOutput(NamedTuple):
    """The output of a model with the span boundary objective.

    loss: scalar, the sum of the masked language model's and sbo_loss; sbo_loss: scalar, the sum of the cross-entropies
    at the K predicted tokens divided by the number of all labelled ones; sbo_logits: (K, vocab_size); sbo_targets:
    int64 (K,).
    """

    loss: Tensor
    masked_lm: PretrainingOutput
    sbo_loss: Tensor
    sbo_logits: Tensor
    sbo_targets: Tensor

    @property
    def terms(self) -> Sequence[LossTerm]:
        """The terms of the loss: those of masked tokens, and `sbo`.

        sbo_accuracy is that of the predicted tokens; sbo_share their share of the labelled ones.
        """
        assert self.masked_lm.targets is not None
        right, count = (self.sbo_logits.detach().argmax(-1) == self.sbo_targets).sum(), len(self.sbo_targets)
        labelled = len(self.masked_lm.targets)
        figures = {"sbo_accuracy": [(right, count)], "sbo_share": [(torch.full_like(right, count), labelled)]}
        return [*self.masked_lm.terms, LossTerm("sbo", self.sbo_loss, "labelled", 1.0, figures)]


class SpanBoundaryModel(MaskedLMWithPart):
    """A masked language model and the head of the span boundary objective, which use the same hidden states."""

    objective = "span-boundary"

    def __init__(self, config: EncoderConfig, masked_lm: PreTrainedModel | None = None) -> None:
        super().__init__(config, masked_lm)
        self.has_unused = self.masked_lm.has_unused
        if isinstance(self.masked_lm, TransformersModel):
            self.masked_lm.keeps_hidden = True
        width = self.masked_lm.word_embeddings.weight.shape[1]
        self.head = SpanBoundaryHead(config.hidden_size, width, config.vocab_size)

    def training_flops(self, counts: Counts) -> float:
        """Return the operations of the masked language model and of the head at the labelled tokens."""
        weights = sum(layer.weight.numel() for layer in self.head.modules() if isinstance(layer, nn.Linear))
        weights += self.masked_lm.word_embeddings.weight.numel()
        return self.masked_lm.training_flops(counts) + 6.0 * weights * counts.labelled

    def forward(
        self, input_ids: Tensor, labels: Tensor, labelled: Tensor | None = None, **inputs: Any
    ) -> SpanBoundaryOutput:
        """Take the tensors of a `PretrainingCollator` batch, padded or packed, with or without `with_places`."""
        places = labelled_places(labels, labelled)
        output: PretrainingOutput = self.masked_lm(input_ids, labels, labelled=places, **inputs)
        assert output.loss is not None
        assert output.hidden_states is not None
        spans = find_spans(labels.flatten() != IGNORE_INDEX, sequence_numbers(labels.shape, inputs, labels.device))
        targets = taken_at(labels, places)[spans.predicted]
        logits = self.head(output.hidden_states.flatten(0, 1), spans, self.masked_lm.word_embeddings.weight)
        loss = mean_cross_entropy(logits, targets) * (len(targets) / max(len(spans.predicted), 1))
        return SpanBoundaryOutput(output.loss + loss, output, loss, logits, targets)

    def apart(self) -> dict[str, nn.Parameter]:
        """Return the parameters of the head."""
        return {f"sbo.{name}": value for name, value in self.head.named_parameters()}


def _model_class(
    kind: type[PreTrainedModel], infos: Sequence[PretrainingInfo], settings: ObjectiveSettings
) -> type[PreTrainedModel]:
    if not issubclass(kind, MaskedLanguageModel) and kind not in (TransformersModel, TransformersForPreTraining):
        raise ConfigError(
            f"the span boundary objective is for masked language models, and {kind.__name__} is none; take a "
            "BERT config"
        )
    for info in infos:
        unit = find_unit(info.masking)
        if unit.is_token(info.masking):
            raise ConfigError(
                f"the span boundary objective predicts masked spans from their borders, and these shards mask single "
                f"tokens (--mask-unit {info.masking.mask_unit}); build with --mask-unit span, as --recipe spanbert does"
            )
        if len(unit.weights(info.masking)) == 1:
            _LOG.warning(
                "the span boundary objective is for spans of several words, and these shards mask one word at a time "
                "(--mask-unit %s): a span is a word, or some that happen to be side by side",
                info.masking.mask_unit,
            )
    return type(f"SpanBoundary{kind.__name__}", (SpanBoundaryModel,), {"inner": kind, "collator": kind.collator})


OBJECTIVE = TrainingObjective(
    "masked tokens, and each token of a masked span also from its borders (SpanBERT)", _model_class
)
