"""RetroMAE (Xiao et al. 2022): a decoder of one layer rebuilds each row from the state of [CLS], beside masked tokens.

So that this state says much of the row, the decoder gets little else: a query of the state and the position, and a
part of the other tokens, another one at each position (`bertdata.masking.decoder_masks`). It predicts every token of
the row with the head of the masked language model. As in the authors' code, the decoder takes the embeddings of the
encoder, and the loss is the sum of both means. The decoder is for pretraining alone: what is saved is the encoder with
its head, and the decoder in a file beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from bertdata.errors import ConfigError
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.torch.data.dataset import PretrainingCollator
from bertdata.torch.models.bert.config import BertConfig
from bertdata.torch.models.bert.model import BertLayer
from bertdata.torch.models.bert.pretraining import BertForMaskedLM
from bertdata.torch.models.config import Counts
from bertdata.torch.models.encoder import initialize
from bertdata.torch.models.objectives.settings import RETROMAE, ObjectiveSettings, TrainingObjective
from bertdata.torch.models.objectives.with_part import MaskedLMWithPart
from bertdata.torch.models.outputs import LossTerm, PretrainingOutput
from bertdata.torch.models.places import labelled_places, places_of
from bertdata.torch.models.weights import PreTrainedModel

RATE = 0.5
"""The share of tokens that hide from the decoder, unless another one is given (the authors': 0.5 to 0.7)."""


def visible(decoder_masks: Tensor, decoder_sets: Tensor, attention_mask: Tensor | None) -> Tensor:
    """Return which tokens the decoder sees at each position, bool (N, 1, L, L).

    decoder_masks: bool (N, S, L), decoder_sets: int64 (N, L), as batches have them; attention_mask: int64 (N, L), None
    where there is no padding. A position does not see its own token, and sees the first one, which is the sentence.

    >>> masks = torch.tensor([[[False, True, False], [False, False, False]]])
    >>> visible(masks, torch.tensor([[0, 1, 1]]), None)[0, 0].int()
    tensor([[1, 0, 1],
            [1, 0, 1],
            [1, 1, 0]], dtype=torch.int32)
    """
    rows, length = decoder_sets.shape
    hidden = decoder_masks[torch.arange(rows, device=decoder_sets.device)[:, None], decoder_sets]
    seen = ~hidden & ~torch.eye(length, dtype=torch.bool, device=hidden.device)
    seen[:, :, 0] = True
    return (seen if attention_mask is None else seen & attention_mask.bool()[:, None])[:, None]


class DecoderLayer(BertLayer):
    """A layer of BERT whose queries are other states than its keys and values: (N, L, hidden_size) to the same."""

    def forward(self, query: Tensor, mask: Any, states: Tensor | None = None) -> Tensor:
        attention: Any = self.attention["self"]
        assert states is not None
        parts = (attention.query(query), attention.key(states), attention.value(states))
        query_heads, keys, values = (part.unflatten(-1, (attention.heads, -1)).transpose(1, 2) for part in parts)
        dropout = attention.dropout_prob if self.training else 0.0
        drawn = attention.draws.attention(attention.heads, query.device) if dropout and attention.draws else None
        mixed = attention.attend(query_heads, keys, values, mask, dropout, drawn)
        attended: Tensor = self.attention["output"](mixed.transpose(1, 2).flatten(2), query)
        result: Tensor = self.output(self.intermediate(attended), attended)
        return result


class RetroMaeOutput(NamedTuple):
    """The output of RetroMAE: loss, scalar, the sum of those of the masked language model and of the decoder."""

    loss: Tensor
    masked_lm: PretrainingOutput
    decoder: PretrainingOutput

    @property
    def terms(self) -> Sequence[LossTerm]:
        """The terms of the loss: those of masked tokens, and `decoder`."""
        (decoder,) = self.decoder.terms
        accuracy = {"decoder_accuracy": decoder.figures["mlm_accuracy"]}
        return [*self.masked_lm.terms, LossTerm("decoder", decoder.value, "maskable", 1.0, accuracy)]


class RetroMaeModel(MaskedLMWithPart):
    """A masked language model of BERT, and a decoder."""

    objective = RETROMAE
    inner: ClassVar[type[BertForMaskedLM]] = BertForMaskedLM
    masked_lm: BertForMaskedLM
    collator: ClassVar[Any] = staticmethod(partial(PretrainingCollator, decoder_masks=RATE))

    def __init__(self, config: BertConfig, masked_lm: BertForMaskedLM | None = None) -> None:
        super().__init__(config, masked_lm)
        self.decoder = DecoderLayer(config)
        initialize(self.decoder, config)

    def training_flops(self, counts: Counts) -> float:
        """Return the operations of the masked language model, of the decoder, and of the head at all its tokens."""
        layer = sum(weight.numel() for weight in self.decoder.parameters())
        head = sum(weight.numel() for weight in self.masked_lm.cls.parameters())
        of_decoder = 6.0 * (layer * counts.tokens + head * counts.maskable)
        of_decoder += 12.0 * self.config.hidden_size * counts.squares
        return self.masked_lm.training_flops(counts) + of_decoder

    def forward(
        self,
        input_ids: Tensor,
        labels: Tensor,
        decoder_input_ids: Tensor,
        decoder_labels: Tensor,
        decoder_masks: Tensor,
        decoder_sets: Tensor,
        labelled: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        **inputs: Any,
    ) -> RetroMaeOutput:
        """Take the tensors of a `PretrainingCollator` batch with `decoder_masks`, with or without `with_places`."""
        inputs |= {"token_type_ids": token_type_ids, "attention_mask": attention_mask}
        output = self.masked_lm(input_ids, labels, labelled=labelled_places(labels, labelled), **inputs)
        embeddings = self.encoder.embeddings
        types = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
        sentence = output.hidden_states[:, :1]
        states = torch.cat([sentence, embeddings(decoder_input_ids, types)[:, 1:].to(sentence.dtype)], dim=1)
        query = sentence + embeddings.position_embeddings.weight[: input_ids.shape[1]].to(sentence.dtype)
        decoded = self.decoder(query, visible(decoder_masks, decoder_sets, attention_mask), states)
        of_decoder = self.masked_lm.losses_at(places_of(decoder_labels != IGNORE_INDEX), decoded, decoder_labels)
        assert of_decoder.loss is not None
        return RetroMaeOutput(output.loss + of_decoder.loss, output, of_decoder)

    def apart(self) -> dict[str, nn.Parameter]:
        """Return the parameters of the decoder."""
        return {f"retromae.{name}": value for name, value in self.decoder.named_parameters()}


def _model_class(
    kind: type[PreTrainedModel], infos: Sequence[PretrainingInfo], settings: ObjectiveSettings
) -> type[PreTrainedModel]:
    if not issubclass(kind, BertForMaskedLM):
        raise ConfigError(
            f"RetroMAE's decoder takes the word and position embeddings of a BERT, and {kind.__name__} has other ones; "
            "take a BERT config of --library bertdata"
        )
    for info in infos:
        if not info.draws_masks:
            raise ConfigError(
                "RetroMAE draws a second mask of each row in each epoch, and the masks of these shards are static: "
                "written into them; build with --masking dynamic"
            )
    collator = staticmethod(partial(PretrainingCollator, decoder_masks=settings.decoder_masked_lm_prob or RATE))
    return type(f"RetroMae{kind.__name__}", (RetroMaeModel,), {"inner": kind, "collator": collator})


OBJECTIVE = TrainingObjective(
    "masked tokens, and the whole row from the state of [CLS] and a second mask (RetroMAE)", _model_class
)
