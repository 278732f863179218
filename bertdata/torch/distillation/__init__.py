"""Distillation: a student learns from the outputs of a trained teacher, as well as from its own labels.

settings.py      DISTILLATIONS, what of a teacher can be learned; DistillationSettings
base.py          Distillation: what a kind of distillation defines
distilbert.py, tinybert.py, minilm.py   a kind each
reading.py       what is read of a forward pass: logits, hidden states, queries, keys and values
teacher.py       a teacher is loaded and checked
layers.py        which layers of the teacher are for which of the student; the weights a student begins with
distilled_model.py  DistilledModel, which the training loop trains
"""

from __future__ import annotations

from typing import Any

from bertdata.registry import Registry

DISTILLATIONS: Registry[Any] = Registry(
    "distillation",
    {
        "distilbert": "bertdata.torch.distillation.distilbert:DistilBert",
        "tinybert": "bertdata.torch.distillation.tinybert:TinyBert",
        "minilm": "bertdata.torch.distillation.minilm:MiniLM",
    },
    "bertdata.torch.distillation.base:adapted",
)
"""What of a teacher is learned, each a class of `base.Distillation`."""
