"""`MaskedLMWithPart`: a masked language model and a part for pretraining alone, which is saved in a file beside it."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from torch import nn

from bertdata.torch.models.config import EncoderConfig
from bertdata.torch.models.weights import PreTrainedModel, load_apart, save_apart


class MaskedLMWithPart(PreTrainedModel):
    """A masked language model, as which it is saved, and a part that uses its hidden states.

    `inner` is the class of the masked language model. A model that was saved without the part, such as any BERT, gets a
    fresh one.
    """

    inner: ClassVar[Any]
    masked_lm: PreTrainedModel

    def __init__(self, config: Any, masked_lm: Any = None) -> None:
        super().__init__(config)
        self.masked_lm = self.inner(config) if masked_lm is None else masked_lm

    @property
    def encoder(self) -> Any:
        """The encoder."""
        return self.masked_lm.encoder

    @property
    def architecture(self) -> str:
        """The name of the masked language model's class in transformers."""
        return self.masked_lm.architecture

    @abstractmethod
    def apart(self) -> dict[str, nn.Parameter]:
        """Return the parameters of the part, by the names in its file."""

    def save_pretrained(self, directory: str | os.PathLike[str], extra: Mapping[str, Any] | None = None) -> None:
        """Write the masked language model, and its part beside it; raises OutputError."""
        self.masked_lm.save_pretrained(directory, extra)
        save_apart(directory, self.apart())

    @classmethod
    def from_pretrained(cls, directory: str | os.PathLike[str], *, config: EncoderConfig | None = None) -> Self:
        """Load a masked language model, and its part where there is one, else a fresh one.

        config: another one than that of the directory. Raises InputError where a weight is misshapen.
        """
        masked_lm = cls.inner.from_pretrained(directory, config=config)
        model = cls(masked_lm.config, masked_lm)
        load_apart(directory, model.apart())
        return model
