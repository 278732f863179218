"""The settings of distillation, and what of a teacher can be learned."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bertdata.options.option import Settings, option, require
from bertdata.torch.distillation import DISTILLATIONS


@dataclass(frozen=True)
class DistillationSettings(Settings):
    """What a student learns of its teacher, with --teacher.

    Raises ConfigError for values out of bounds.
    """

    distillation: str = option("distilbert", "what of the teacher is learned", DISTILLATIONS, items=DISTILLATIONS)
    distillation_weights: tuple[str, ...] = option(
        (),
        "other weights of the terms of the loss than those of its paper, as soft_targets=5 mlm=2 cosine=1",
        metavar="TERM=WEIGHT",
    )
    temperature: float = option(2.0, "distilbert: logits are divided by it for soft targets", above=0)
    soft_targets_at: str = option("all", "distilbert: the tokens with soft targets, padding aside", ("all", "labelled"))
    relation_heads: int = option(48, "minilm: how many heads queries, keys and values are split into", at_least=1)
    teacher_layer: int = option(0, "minilm: the layer of the teacher, counted from 1; 0: the last", at_least=0)
    student_weights: str = option(
        "teacher",
        "what a fresh student begins with: layers of the teacher from the first to the last, its embeddings and head, "
        "where shapes allow it; or random weights",
        ("teacher", "random"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.weights  # noqa: B018  # raises ConfigError

    @property
    def weights(self) -> dict[str, float]:
        """The weights of the terms, by name; `mlm` is that of the student's own loss.

        >>> DistillationSettings(distillation_weights=("cosine=0",)).weights
        {'soft_targets': 5.0, 'mlm': 2.0, 'cosine': 0.0}
        """
        weights = dict(DISTILLATIONS[self.distillation].weights)
        for given in self.distillation_weights:
            name, sign, value = given.partition("=")
            require(
                bool(sign) and name in weights,
                f"--distillation-weights {given!r} names no term of {self.distillation}; expected TERM=WEIGHT, with "
                f"one of {', '.join(weights)}",
            )
            try:
                weights[name] = float(value)
            except ValueError:
                weights[name] = math.nan
            require(
                0 <= weights[name] < math.inf, f"--distillation-weights {given!r} has no weight; expected 0 or more"
            )
        require(any(weights.values()), "--distillation-weights are all 0; expected one that is more")
        return weights
