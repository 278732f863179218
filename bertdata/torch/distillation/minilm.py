"""MiniLM's loss: the relations of queries, of keys and of values in one layer (Wang et al. 2021, section 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from bertdata.errors import ConfigError
from bertdata.torch.distillation.base import OWN, Distillation
from bertdata.torch.distillation.reading import Reader, Rows, States

if TYPE_CHECKING:
    from bertdata.torch.distillation.settings import DistillationSettings

RELATIONS = {"query_relations": "query", "key_relations": "key", "value_relations": "value"}


class MiniLM(Distillation):
    """Divergences of the relations of queries, of keys and of values, in the last layer of the student and one of the
    teacher (MiniLMv2).

    A relation is softmax(x x^T / sqrt(d)) of the queries x of a row, cut into `relation_heads` heads; so widths, heads
    and numbers of layers may differ, and there is no projection. The student's head is not trained (weight 0 of `mlm`).
    """

    help = "relations of queries, keys and values in one layer (Wang et al. 2021)"
    weights: ClassVar[Mapping[str, float]] = dict.fromkeys(RELATIONS, 1.0) | {OWN: 0.0}

    def __init__(
        self, student: Reader, teacher: Reader, settings: DistillationSettings, weights: Mapping[str, float]
    ) -> None:
        super().__init__(student, teacher, settings, weights)
        self.used = [name for name in RELATIONS if weights[name]]
        self.heads, self.layer = settings.relation_heads, (settings.teacher_layer or teacher.layers) - 1
        if self.layer >= teacher.layers:
            raise ConfigError(f"--teacher-layer is {self.layer + 1}, and the teacher has {teacher.layers} layers")
        for model in (student, teacher):
            if model.width % self.heads:
                raise ConfigError(
                    f"--relation-heads {self.heads} does not divide the {model.role}'s hidden_size {model.width}; "
                    "expected a number that divides both models'"
                )
            model.need_attention()

    def terms(self, student: States, teacher: States, rows: Rows) -> Sequence[tuple[str, Tensor, str]]:
        ours, theirs = student.attention[-1], teacher.attention[self.layer]
        return [
            (name, self._divergence(getattr(ours, RELATIONS[name]), getattr(theirs, RELATIONS[name]), rows), "tokens")
            for name in self.used
        ]

    def _divergence(self, student: Tensor, teacher: Tensor, rows: Rows) -> Tensor:
        """Return the mean of KL(teacher || student) over heads and tokens that are not padding."""
        ours, theirs = (relations(rows.side_by_side(states), rows.taken, self.heads) for states in (student, teacher))
        each = functional.kl_div(ours, theirs, reduction="none", log_target=True)
        pairs = rows.taken[:, None, :, None] & rows.taken[:, None, None, :]
        return each.where(pairs, 0.0).sum() / (rows.taken.sum() * self.heads).clamp(min=1)


def relations(states: Tensor, taken: Tensor, heads: int) -> Tensor:
    """Return log softmax(x x^T / sqrt(d)) of states, (N, their heads, L, d), cut anew: (N, heads, L, L).

    taken: bool (N, L), False at padding.
    """
    rows, _, length, _ = states.shape
    x = states.float().transpose(1, 2).reshape(rows, length, heads, -1).transpose(1, 2)
    with torch.autocast(x.device.type, enabled=False):
        scores: Tensor = (x * x.shape[-1] ** -0.5) @ x.transpose(-1, -2)
    return scores.masked_fill(~taken[:, None, None, :], -1e9).log_softmax(-1)
