"""TinyBERT's loss in general distillation: embeddings, hidden states and attention (Jiao et al. 2020, section 3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor, nn

from bertdata.errors import ConfigError
from bertdata.torch.distillation.base import OWN, Distillation
from bertdata.torch.distillation.layers import uniform_map
from bertdata.torch.distillation.reading import Attended, Reader, Rows, States
from bertdata.torch.models.local_attention import near
from bertdata.torch.models.modernbert.config import GLOBAL, LOCAL

if TYPE_CHECKING:
    from bertdata.torch.distillation.settings import DistillationSettings

EMBEDDINGS, HIDDEN, ATTENTION = "embeddings", "hidden_states", "attention"


class TinyBert(Distillation):
    """Mean squared errors of embeddings, hidden states and scores of attention.

    Each layer of the student learns from the last of a block of the teacher's (`uniform_map`); the errors of all layers
    are summed. A learned projection, one for the embeddings and one for all layers, takes the student's states to the
    teacher's width. Scores are those before the softmax; attention does not keep them, so they are computed once more
    in each matched layer of both models, all (heads, L, L) of them, which takes memory that grows with L^2.

    The student's head is not trained (weight 0 of `mlm`), as in the paper's general distillation.
    """

    help = "embeddings, hidden states and attention scores of every so many layers (Jiao et al. 2020)"
    weights: ClassVar[Mapping[str, float]] = {EMBEDDINGS: 1.0, HIDDEN: 1.0, ATTENTION: 1.0, OWN: 0.0}

    def __init__(
        self, student: Reader, teacher: Reader, settings: DistillationSettings, weights: Mapping[str, float]
    ) -> None:
        super().__init__(student, teacher, settings, weights)
        self.used = [name for name in (EMBEDDINGS, HIDDEN, ATTENTION) if weights[name]]
        self.map = uniform_map(teacher.layers, student.layers)
        self.windows = _windows(student, teacher, self.map) if ATTENTION in self.used else []
        for model in (student, teacher):
            if EMBEDDINGS in self.used or HIDDEN in self.used:
                model.need_layers()
            if ATTENTION in self.used:
                model.need_attention()
        widths = {
            EMBEDDINGS: (student.embedding_width, teacher.embedding_width),
            HIDDEN: (student.width, teacher.width),
        }
        self.projections = nn.ModuleDict(
            {name: nn.Linear(*both, bias=False) for name, both in widths.items() if name in self.used}
        )
        for projection in self.projections.values():
            nn.init.normal_(projection.weight, std=student.model.config.initializer_range)  # type: ignore[arg-type]

    def terms(self, student: States, teacher: States, rows: Rows) -> Sequence[tuple[str, Tensor, str]]:
        terms = []
        if EMBEDDINGS in self.used:
            assert student.embeddings is not None
            assert teacher.embeddings is not None
            error = self._error(EMBEDDINGS, student.embeddings, teacher.embeddings, rows)
            terms.append((EMBEDDINGS, error, "tokens"))
        if HIDDEN in self.used:
            pairs = zip(student.layers, (teacher.layers[number] for number in self.map), strict=True)
            errors = [self._error(HIDDEN, ours, theirs, rows) for ours, theirs in pairs]
            terms.append((HIDDEN, torch.stack(errors).sum(), "tokens"))
        if ATTENTION in self.used:
            matched = (teacher.attention[number] for number in self.map)
            both = zip(student.attention, matched, self.windows, strict=True)
            errors = [score_error(ours, theirs, rows, window) for ours, theirs, window in both]
            terms.append((ATTENTION, torch.stack(errors).sum(), "squares"))
        return terms

    def _error(self, name: str, student: Tensor, teacher: Tensor, rows: Rows) -> Tensor:
        """Return the mean squared error of projected states (N, L, width), over tokens that are not padding."""
        difference = self.projections[name](student[rows.real]).float() - teacher[rows.real].float()
        mean: Tensor = difference.square().sum() / max(difference.numel(), 1)
        return mean


def _windows(student: Reader, teacher: Reader, layers: Sequence[int]) -> list[int | None]:
    """Return to how many tokens on each side both attend in each layer of the student, None for all.

    Raises ConfigError where the scores of the two models cannot be compared.
    """
    remedy = f"or --distillation-weights {ATTENTION}=0"
    if student.heads != teacher.heads:
        raise ConfigError(
            f"the student has {student.heads} heads, and the teacher {teacher.heads}, so their attention cannot be "
            f"compared; take num_attention_heads {teacher.heads}, {remedy}, or --distillation minilm"
        )
    ours = student.kinds or [GLOBAL] * student.layers
    theirs = teacher.kinds or [GLOBAL] * teacher.layers
    for number, other in enumerate(layers):
        if ours[number] != theirs[other]:
            raise ConfigError(
                f"layer {number} of the student has {ours[number]}, and layer {other} of the teacher, from which it "
                f"learns, {theirs[other]}; take --distillation minilm, {remedy}"
            )
    nearest = min(
        (model.model.config.window for model in (student, teacher) if LOCAL in (model.kinds or ())), default=None
    )
    return [nearest if kind == LOCAL else None for kind in ours]


def score_error(student: Attended, teacher: Attended, rows: Rows, window: int | None = None) -> Tensor:
    """Return the mean squared error of scores, query key / sqrt(d), over heads and pairs of tokens of a row.

    window: a token attends to so many on each side, and the error of other pairs is 0; None: to all.
    """
    taken = rows.taken
    both = taken[:, None, :, None] & taken[:, None, None, :]
    seen = both if window is None else both & near(None, window, both.shape[-1], both.device)
    ours, theirs = (
        _scores(rows.side_by_side(layer.query), rows.side_by_side(layer.key)) for layer in (student, teacher)
    )
    total: Tensor = ((ours - theirs).square() * seen).sum()
    return total / (both.sum() * ours.shape[1]).clamp(min=1)


def _scores(query: Tensor, key: Tensor) -> Tensor:
    with torch.autocast(query.device.type, enabled=False):
        scores: Tensor = (query.float() * query.shape[-1] ** -0.5) @ key.float().transpose(-1, -2)
    return scores
