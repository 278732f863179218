"""Replaced token detection (Clark et al. 2020): a generator fills in masked tokens, a discriminator finds them.

Here are the loss, and how both are trained and saved; the models are ELECTRA's (`models/electra.py`), or made by
transformers (`transformers_detection.py`). How they share embeddings is in `embedding_sharing.py`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, NamedTuple, Unpack

import torch
from torch import Tensor, nn
from torch.nn import functional

from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.torch.models.config import Counts
from bertdata.torch.models.dropout import Draws
from bertdata.torch.models.encoder import EncoderInputs
from bertdata.torch.models.objectives.settings import DETECTION
from bertdata.torch.models.outputs import Fraction, LossTerm, PretrainingOutput
from bertdata.torch.models.places import labelled_places, places_of, real_tokens, taken_at
from bertdata.torch.models.weights import PreTrainedModel, load_apart, save_apart

DISCRIMINATOR_WEIGHT = 50.0
"""The weight of the discriminator's loss (section 3.2; the same in DeBERTaV3)."""
GENERATOR = "generator"
"""The folder of the generator beside a saved discriminator."""


class ReplacedTokenOutput(NamedTuple):
    """The output of replaced token detection.

    loss: scalar, the generator's + 50 replaced_loss; replaced_logits, replaced: (K,), the discriminator's logits and
    the truth, bool, at the K tokens that are not padding.
    """

    loss: Tensor
    generator: PretrainingOutput
    replaced_loss: Tensor
    replaced_logits: Tensor
    replaced: Tensor

    @property
    def terms(self) -> Sequence[LossTerm]:
        """The terms of the loss: `mlm` and `replaced`.

        replaced_accuracy is the mean of the recalls of replaced and of original tokens, so 0.5 is chance;
        replaced_share is the share of replaced tokens.
        """
        truth, guess = self.replaced, self.replaced_logits.detach() > 0
        number = truth.sum()
        figures: dict[str, list[Fraction]] = {
            "replaced_accuracy": [((truth & guess).sum(), number), ((~truth & ~guess).sum(), len(truth) - number)],
            "replaced_share": [(number, len(truth))],
        }
        replaced = LossTerm("replaced", self.replaced_loss, "tokens", DISCRIMINATOR_WEIGHT, figures)
        return [*self.generator.terms, replaced]


def sampled(logits: Tensor, uniform: Tensor) -> Tensor:
    """Sample a token from the softmax of each row of logits (M, V), by a uniform number in [0, 1) for each.

    >>> sampled(torch.tensor([[0.0, 0.0], [0.0, 0.0]]), torch.tensor([0.25, 0.75]))
    tensor([0, 1])
    """
    sums = logits.float().softmax(-1).cumsum(-1)
    places = torch.searchsorted(sums, uniform.float()[:, None] * sums[:, -1:], right=True)
    return places[:, 0].clamp(max=logits.shape[-1] - 1)


@contextmanager
def of_generator() -> Iterator[None]:
    """Let an error in the generator's config say that it is in that, and which flag changes it."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError(f"the generator: {error}; --generator-overrides changes its config") from error


class ReplacedTokenDetection(PreTrainedModel):
    """A generator and a discriminator that are trained together; its children make both in their constructor.

    generator: a masked language model; discriminator: gives a logit for each token, (N, L), over 0 for a replaced one.
    The generator's tokens are sampled by `draws` where they are attached, else by torch's random numbers; no gradient
    flows through them. A token that the generator guesses correctly counts as original.

    embedding_sharing: shared, gdes or none; "" is the child's default. generator_changes: values of the generator's
    config, by name.
    """

    objective = DETECTION
    embedding_sharing: ClassVar[str] = ""
    generator_changes: ClassVar[Mapping[str, Any]] = {}

    generator: PreTrainedModel
    discriminator: PreTrainedModel
    draws: Draws | None = None

    @property
    def architecture(self) -> str:
        """The name of the discriminator's class in transformers."""
        return self.discriminator.architecture

    @property
    def folders(self) -> Sequence[str]:
        """That of the discriminator, and below it that of the generator."""
        return ("", GENERATOR)

    def training_flops(self, counts: Counts) -> float:
        """Return the operations of both models: the generator with its head, the discriminator without."""
        return self.generator.training_flops(counts) + self.discriminator.training_flops(counts._replace(labelled=0))

    def forward(
        self,
        input_ids: Tensor,
        labels: Tensor,
        labelled: Tensor | None = None,
        real: Tensor | None = None,
        **inputs: Unpack[EncoderInputs],
    ) -> ReplacedTokenOutput:
        """Take the tensors of a `PretrainingCollator` batch, padded or packed, with or without `with_places`."""
        places = labelled_places(labels, labelled)
        generator: PretrainingOutput = self.generator(input_ids, labels, labelled=places, **inputs)
        targets = generator.targets
        assert targets is not None
        with torch.no_grad():
            uniform = torch.rand(labels.shape, device=labels.device) if self.draws is None else self.draws.uniform()
            guesses = sampled(generator.prediction_logits, taken_at(uniform, places))
            corrupted = input_ids.flatten().index_copy(0, places, guesses).view_as(input_ids)
            replaced = torch.zeros_like(labels, dtype=torch.bool).flatten().index_copy(0, places, guesses != targets)
        if real is None:
            real = places_of(real_tokens({"input_ids": input_ids, **inputs}, self.config.pad_token_id))
        logits = taken_at(self.discriminator(corrupted, **inputs), real).float()
        truth = replaced.index_select(0, real)
        replaced_loss = functional.binary_cross_entropy_with_logits(logits, truth.float())
        assert generator.loss is not None
        loss = generator.loss + DISCRIMINATOR_WEIGHT * replaced_loss
        return ReplacedTokenOutput(loss, generator, replaced_loss, logits, truth)

    def apart(self) -> dict[str, nn.Parameter]:
        """Return the parameters that the saved models do not have: the differences of shared embeddings."""
        return {name: value for name, value in self.named_parameters() if name.endswith(".difference")}

    def save_pretrained(self, directory: str | os.PathLike[str], extra: Mapping[str, Any] | None = None) -> None:
        """Write the discriminator, in `generator` below it the generator, and what neither has; raises OutputError."""
        self.discriminator.save_pretrained(directory, extra)
        self.generator.save_pretrained(files.join(files.path_text(directory), GENERATOR), extra)
        save_apart(directory, self.apart())

    def load_apart(self, directory: str | os.PathLike[str]) -> None:
        """Load what is saved of neither model, where the directory has it; raises InputError where it is damaged."""
        load_apart(directory, self.apart())
