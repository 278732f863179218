"""`DistilledModel`: a student with its teacher, which the training loop trains as any model with `terms`."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import torch
from torch import Tensor

from bertdata.errors import ConfigError, InputError, printable
from bertdata.io import files
from bertdata.options.option import stored_values
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.tokenizers.base import Tokenizer
from bertdata.torch.distillation import DISTILLATIONS
from bertdata.torch.distillation.base import OWN
from bertdata.torch.distillation.layers import begin_with
from bertdata.torch.distillation.reading import Rows, reader_of
from bertdata.torch.distillation.settings import DistillationSettings
from bertdata.torch.distillation.teacher import identity, load_teacher
from bertdata.torch.models.config import Counts
from bertdata.torch.models.encoder import Encoder
from bertdata.torch.models.outputs import LossTerm
from bertdata.torch.models.pretraining import with_losses
from bertdata.torch.models.weight_files import main_file, read_tensors, save_tensors
from bertdata.torch.models.weights import PreTrainedModel
from bertdata.torch.training.settings import PretrainSettings

_LOG = logging.getLogger("bertdata")
PARAMETERS = "distillation.safetensors"
"""The file of a checkpoint with the parameters of the distillation, such as projections."""


class DistillationOutput(NamedTuple):
    """loss: scalar, the weighted sum of the terms."""

    loss: Tensor
    terms: Sequence[LossTerm]


class DistilledModel(PreTrainedModel):
    """A student that learns from a teacher.

    Only the student, and parameters of the distillation, are trained and saved. The teacher is frozen, always in eval
    mode, so it draws no dropout, and is in no checkpoint.
    """

    def __init__(self, student: PreTrainedModel, teacher: PreTrainedModel, settings: DistillationSettings) -> None:
        super().__init__(student.config)
        self.student, self.teacher = student, teacher
        self.collator = student.collator  # type: ignore[misc]
        self.has_unused = student.has_unused
        self.readers = reader_of(student, "student"), reader_of(teacher, "teacher")
        self.weights = settings.weights
        self.distillation = DISTILLATIONS[settings.distillation](*self.readers, settings, self.weights)

    @property
    def encoder(self) -> Encoder:
        return self.student.encoder

    @property
    def takes_types(self) -> bool:
        return self.student.takes_types

    @property
    def architecture(self) -> str:
        return self.student.architecture

    @property
    def final(self) -> PreTrainedModel:
        """The student."""
        return self.student

    @property
    def folders(self) -> Sequence[str]:
        return self.student.folders

    def train(self, mode: bool = True) -> Self:
        """Set the mode of the student; the teacher's is always eval."""
        super().train(mode)
        self.teacher.eval()
        return self

    def forward(self, **batch: Tensor) -> DistillationOutput:
        """Take the tensors of a `PretrainingCollator` batch with labels, padded or packed."""
        rows, (student, teacher) = Rows.of(batch, self.config.pad_token_id), self.readers
        labelled = rows.labelled
        chosen = rows.real | labelled if self.distillation.every_token else labelled
        with torch.no_grad():
            theirs = teacher.read(rows, chosen)
        ours = student.read(rows, chosen)
        output = with_losses(
            ours.logits[labelled[chosen]], rows.labels[labelled], ours.pairs, rows.pair_label, ours.hidden
        )
        terms = [term._replace(weight=term.weight * self.weights[OWN]) for term in output.terms]
        terms += self.distillation(ours, theirs, rows, self.weights)
        loss: Tensor = sum((term.weight * term.value for term in terms[1:]), terms[0].weight * terms[0].value)
        return DistillationOutput(loss, terms)

    def training_flops(self, counts: Counts) -> float:
        """Return the operations of both models: forward and backward passes of the student, forward of the teacher."""
        if self.distillation.every_token:
            counts = counts._replace(labelled=counts.tokens)
        return self.student.training_flops(counts) + self.teacher.training_flops(counts) / 3

    def save_pretrained(self, directory: str | os.PathLike[str], extra: Mapping[str, Any] | None = None) -> None:
        """Write the student, and the parameters of the distillation where it has any; raises OutputError."""
        self.student.save_pretrained(directory, extra)
        if state := self.distillation.state_dict():
            save_tensors(files.join(files.path_text(directory), PARAMETERS), state)

    def reload(self, directory: str) -> None:
        """Load the student and the parameters of the distillation from a checkpoint."""
        self.student.reload(directory)
        self.load_parameters(directory)

    def load_parameters(self, directory: str) -> None:
        """Load the parameters of the distillation from a checkpoint; raises InputError where they are not there."""
        if not self.distillation.state_dict():
            return
        path = files.join(directory, PARAMETERS)
        try:
            self.distillation.load_state_dict(read_tensors(path))
        except RuntimeError as error:
            raise InputError(f"has no parameters of this distillation ({error})", path=path) from error


@dataclass(frozen=True)
class Lesson:
    """A teacher and what is learned of it.

    said: what a resumed run is compared by; compiled: whether layers are compiled; quiet: whether nothing is logged.
    """

    teacher: PreTrainedModel
    settings: DistillationSettings
    said: dict[str, Any]
    compiled: bool = False
    quiet: bool = False

    @classmethod
    def of(
        cls,
        directory: str,
        settings: DistillationSettings,
        info: PretrainingInfo,
        tokenizer: Tokenizer,
        training: PretrainSettings,
        *,
        quiet: bool = False,
    ) -> Lesson:
        """Load a teacher; raises ConfigError or InputError, see `load_teacher`."""
        teacher = load_teacher(directory, info, tokenizer, training.packing)
        values = stored_values(settings) | {"distillation_weights": settings.weights}
        named = {f"distillation.{name}": value for name, value in values.items()}
        return cls(teacher, settings, named | identity(directory, teacher), training.compile, quiet)

    def distilled(self, student: PreTrainedModel, folder: str, checkpoint: str) -> DistilledModel:
        """Return a student with its teacher; a fresh one begins with weights of the teacher where shapes allow it.

        folder, checkpoint: where the weights of the student and of a run's last checkpoint are from, "" for none. What
        a fresh one begins with is logged. Raises ConfigError where the two models do not fit together.
        """
        model = DistilledModel(student, self.teacher, self.settings)
        if self.compiled and any(reader.hooked for reader in model.readers):
            raise ConfigError(
                f"--distillation {self.settings.distillation} reads what layers compute, and compiled ones do not show "
                "it; leave --compile out, or take --distillation distilbert"
            )
        if checkpoint:
            model.load_parameters(checkpoint)
        begun = checkpoint or (folder and main_file(folder.removesuffix("config.json")))
        if begun or self.settings.student_weights == "random":
            return model
        try:
            layers = ", ".join(map(str, begin_with(*model.readers)))
            beginning_text = f"the teacher's embeddings, head and layers {layers}, counted from 0"
        except ConfigError as error:
            beginning_text = f"random weights, for those of the teacher do not fit: {error}"
        _LOG.log(
            logging.DEBUG if self.quiet else logging.WARNING, "the student begins with %s", printable(beginning_text)
        )
        return model
