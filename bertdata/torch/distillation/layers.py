"""Which layers of a teacher are for which of a student, and the weights of a teacher that a student begins with."""

from __future__ import annotations

import re
from collections.abc import Mapping

import torch
from torch import Tensor

from bertdata.errors import ConfigError
from bertdata.torch.distillation.reading import Reader
from bertdata.torch.models.from_transformers import TransformersModel
from bertdata.torch.models.weights import PreTrainedModel

_LAYER = re.compile(r"\.layers?\.(\d+)\.")
_POSITIONS = "embeddings.position_embeddings.weight"
_DISTILBERT = {
    "distilbert.embeddings": "bert.embeddings",
    "distilbert.transformer": "bert.encoder",
    "attention.q_lin": "attention.self.query",
    "attention.k_lin": "attention.self.key",
    "attention.v_lin": "attention.self.value",
    "attention.out_lin": "attention.output.dense",
    "sa_layer_norm": "attention.output.LayerNorm",
    "ffn.lin1": "intermediate.dense",
    "ffn.lin2": "output.dense",
    "output_layer_norm": "output.LayerNorm",
    "vocab_transform": "cls.predictions.transform.dense",
    "vocab_layer_norm": "cls.predictions.transform.LayerNorm",
    "vocab_projector": "cls.predictions.decoder",
}
"""Parts of the names of weights in transformers' DistilBERT, and in BERT."""


def uniform_map(teacher: int, student: int) -> list[int]:
    """Return the teacher's layer for each layer of the student: the last of each of `student` equal blocks.

    Layers are counted from 0 (Jiao et al. 2020, section 4.1: g(m) = 3m for 4 of 12, counted from 1). Raises ConfigError
    where they cannot be divided.

    >>> uniform_map(12, 4)
    [2, 5, 8, 11]
    """
    if not student or teacher % student:
        raise ConfigError(
            f"the teacher's {teacher} layers cannot be divided into blocks for the student's {student}; expected a "
            "student whose num_hidden_layers divides them, or --distillation distilbert"
        )
    step = teacher // student
    return list(range(step - 1, teacher, step))


def spread_layers(teacher: int, student: int, kinds: tuple[list[str], list[str]] | None = None) -> list[int]:
    """Return layers of a teacher, from the first to the last, that a student begins with (Sanh et al. 2019, section 3).

    For 6 of 12 they are those of the authors' code. kinds: of the layers of teacher and student, as `layer_types` has
    them; then each is the nearest of its kind.

    >>> spread_layers(12, 6), spread_layers(4, 2)
    ([0, 2, 4, 7, 9, 11], [0, 3])
    >>> spread_layers(4, 2, (["full", "local", "local", "full"], ["full", "local"]))
    [0, 2]
    """
    gaps = max(student - 1, 1)
    chosen = [(2 * number * (teacher - 1) + gaps) // (2 * gaps) for number in range(student)]
    if kinds is None:
        return chosen
    theirs, ours = kinds
    return [
        min(
            (other for other in range(teacher) if theirs[other] == kind),
            key=lambda other: abs(other - near),
            default=near,
        )
        for near, kind in zip(chosen, ours, strict=True)
    ]


def begin_with(student: Reader, teacher: Reader) -> list[int]:
    """Give a student layers of a teacher, its embeddings and its head, and return the numbers of the layers.

    Position embeddings of a shorter student are the first of the teacher's. Raises ConfigError, with the student as it
    was, where a weight of the student has none of its shape in the teacher.
    """
    if student.layers > teacher.layers:
        raise ConfigError(f"it has {student.layers} layers, and the teacher {teacher.layers}")
    kinds = (teacher.kinds, student.kinds) if teacher.kinds and student.kinds else None
    layers = spread_layers(teacher.layers, student.layers, kinds)
    teacher_weights = _named(teacher.model)
    chosen = {}
    for name, weight in _named(student.model).items():
        source = _LAYER.sub(lambda match: match[0].replace(match[1], str(layers[int(match[1])])), name, count=1)
        for part, other in _DISTILBERT.items() if source not in teacher_weights else ():
            source = source.replace(part, other)
        value = teacher_weights.get(source)
        if value is not None and name.endswith(_POSITIONS):
            value = value[: len(weight)]
        if value is None or value.shape != weight.shape:
            theirs = "the teacher has none" if value is None else f"the teacher's {tuple(value.shape)}"
            raise ConfigError(f"its {name} has the shape {tuple(weight.shape)}, and {theirs}")
        chosen[name] = value
    with torch.no_grad():
        for name, weight in _named(student.model).items():
            weight.copy_(chosen[name])
    return layers


def _named(model: PreTrainedModel) -> Mapping[str, Tensor]:
    """Return the weights of a model by their names in transformers."""
    inner = model.model if isinstance(model, TransformersModel) else model
    return dict(inner.state_dict())
