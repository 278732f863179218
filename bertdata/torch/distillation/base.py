"""`Distillation`: what of a teacher a student learns, as terms of the loss (Hinton et al. 2015, section 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from torch import Tensor, nn

from bertdata.errors import ConfigError
from bertdata.torch.distillation.reading import Reader, Rows, States
from bertdata.torch.distillation.settings import DistillationSettings
from bertdata.torch.models.outputs import LossTerm

OWN = "mlm"
"""The name of the weight of the student's own loss: of masked tokens, and of pairs where the shards have them."""


class Distillation(nn.Module):
    """A kind of distillation, a line of `DISTILLATIONS`.

    help: for --help. weights: the weight of each of its terms, and of the student's own loss, `mlm`; the user may
    give others. every_token: whether logits are needed at all tokens, not at the labelled ones alone. Parameters, such
    as projections, are trained and in checkpoints, but not in the final model.

    `__init__` says by `Reader.need_layers` and `need_attention` what it reads of the models, and raises ConfigError
    where they do not fit.
    """

    help: ClassVar[str]
    weights: ClassVar[Mapping[str, float]]
    every_token: bool = False

    def __init__(
        self, student: Reader, teacher: Reader, settings: DistillationSettings, weights: Mapping[str, float]
    ) -> None:
        super().__init__()

    def terms(self, student: States, teacher: States, rows: Rows) -> Sequence[tuple[str, Tensor, str]]:
        """Return the terms: name, value, and what it is a mean over, a field of `Counts` such as `tokens`."""
        raise NotImplementedError

    def forward(self, student: States, teacher: States, rows: Rows, weights: Mapping[str, float]) -> Sequence[LossTerm]:
        """Return the terms with their weights."""
        return [
            LossTerm(name, value, per, weights[name], {}) for name, value, per in self.terms(student, teacher, rows)
        ]


def adapted(name: str, given: Any) -> type[Distillation]:
    """Return the class that is named as `module:NAME`; raises ConfigError for what is no `Distillation`."""
    if not (isinstance(given, type) and issubclass(given, Distillation)):
        raise ConfigError(
            f"the distillation {name!r} is of the type {type(given).__name__}; expected a child of Distillation, as in "
            f"{Distillation.__module__}"
        )
    return given
