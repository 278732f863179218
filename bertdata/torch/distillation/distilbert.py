"""DistilBERT's loss: soft targets, masked tokens, and the direction of the last hidden states (Sanh et al. 2019)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from torch import Tensor
from torch.nn import functional

from bertdata.errors import ConfigError
from bertdata.torch.distillation.base import OWN, Distillation
from bertdata.torch.distillation.reading import Reader, Rows, States

if TYPE_CHECKING:
    from bertdata.torch.distillation.settings import DistillationSettings

SOFT_TARGETS, COSINE = "soft_targets", "cosine"


class DistilBert(Distillation):
    """Soft targets, with a temperature, at all tokens or the labelled ones, and the cosine of the last hidden states.

    The weights are those with which the authors trained DistilBERT, and so are the tokens: all but padding, for their
    command leaves `--restrict_ce_to_mask` out.
    """

    help = "soft targets of the teacher, masked tokens, and the cosine of the last hidden states (Sanh et al. 2019)"
    weights: ClassVar[Mapping[str, float]] = {SOFT_TARGETS: 5.0, OWN: 2.0, COSINE: 1.0}

    def __init__(
        self, student: Reader, teacher: Reader, settings: DistillationSettings, weights: Mapping[str, float]
    ) -> None:
        super().__init__(student, teacher, settings, weights)
        self.temperature, self.used = settings.temperature, [name for name in (SOFT_TARGETS, COSINE) if weights[name]]
        self.every_token = SOFT_TARGETS in self.used and settings.soft_targets_at == "all"
        if SOFT_TARGETS in self.used and student.vocab_size != teacher.vocab_size:
            raise ConfigError(
                f"the student predicts {student.vocab_size} tokens, and the teacher {teacher.vocab_size}; expected one "
                "vocab_size in both configs"
            )
        if COSINE in self.used and student.width != teacher.width:
            raise ConfigError(
                f"the hidden states of the student have {student.width} numbers, and those of the teacher "
                f"{teacher.width}, so they have no cosine; take a student of hidden_size {teacher.width}, or "
                f"--distillation-weights {COSINE}=0"
            )

    def terms(self, student: States, teacher: States, rows: Rows) -> Sequence[tuple[str, Tensor, str]]:
        terms = []
        if SOFT_TARGETS in self.used:
            value = soft_target_loss(student.logits, teacher.logits, self.temperature)
            terms.append((SOFT_TARGETS, value, "tokens" if self.every_token else "labelled"))
        if COSINE in self.used:
            terms.append((COSINE, cosine_loss(student.hidden[rows.real], teacher.hidden[rows.real]), "tokens"))
        return terms


def soft_target_loss(student: Tensor, teacher: Tensor, temperature: float) -> Tensor:
    """Return the mean divergence KL(teacher || student) of softmax(logits / T), times T^2 (Hinton et al. 2015).

    student, teacher: logits (M, vocab_size). With the factor T^2 the gradient keeps its size when T is changed (their
    section 2). 0 for no rows.

    >>> import torch
    >>> round(soft_target_loss(torch.zeros(1, 2), torch.tensor([[2.0, 0.0]]), 2.0).item(), 4)
    0.4438
    """
    log_student = functional.log_softmax(student.float() / temperature, dim=-1)
    log_teacher = functional.log_softmax(teacher.float() / temperature, dim=-1)
    total = functional.kl_div(log_student, log_teacher, reduction="sum", log_target=True)
    return total * (temperature**2 / max(len(student), 1))


def cosine_loss(student: Tensor, teacher: Tensor) -> Tensor:
    """Return the mean of 1 - cosine of pairs of hidden states, (M, hidden_size) both.

    >>> import torch
    >>> cosine_loss(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 2.0]])).item()
    1.0
    """
    cosines = functional.cosine_similarity(student.float(), teacher.float(), dim=-1)
    return (1 - cosines).sum() / max(len(student), 1)
