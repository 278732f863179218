"""Batches in, trained weights out."""

from __future__ import annotations

from typing import Any

from bertdata.registry import Registry

OPTIMIZERS: Registry[Any] = Registry(
    "optimizer",
    {
        "adamw": "bertdata.torch.training.optimization:ADAMW",
        "muon": "bertdata.torch.training.muon:MUON",
        "stable_adamw": "bertdata.torch.training.stable_adamw:STABLE_ADAMW",
    },
)
"""What `--optimizer` names, each an `optimization.OptimizerKind`."""

SENTENCE_LOSSES: Registry[Any] = Registry(
    "sentence loss",
    {
        "multiple-negatives-ranking": "bertdata.torch.training.sentence_losses:MULTIPLE_NEGATIVES",
        "cosine-similarity": "bertdata.torch.training.sentence_losses:COSINE_SIMILARITY",
        "triplet": "bertdata.torch.training.sentence_losses:TRIPLET",
    },
)
"""What `--sentence-loss` names, each a `sentence_losses.SentenceLoss`."""

SCHEDULES: Registry[Any] = Registry(
    "schedule",
    {
        "linear": "bertdata.torch.training.schedules:LINEAR",
        "cosine": "bertdata.torch.training.schedules:COSINE",
        "constant_with_warmup": "bertdata.torch.training.schedules:CONSTANT",
        "warmup_stable_decay": "bertdata.torch.training.schedules:WARMUP_STABLE_DECAY",
    },
)
"""What `--schedule` names, each a `schedules.Schedule`."""

TRACKERS: Registry[Any] = Registry(
    "tracker",
    {
        "tensorboard": "bertdata.torch.training.trackers:TENSORBOARD",
        "trackio": "bertdata.torch.training.trackers:TRACKIO",
        "wandb": "bertdata.torch.training.trackers:WANDB",
    },
)
"""What `--tracker` names, each a `trackers.TrackerKind`."""

HEADS: Registry[Any] = Registry(
    "head",
    {
        "SequenceClassification": "bertdata.torch.training.tasks:TEXTS",
        "MultiLabelClassification": "bertdata.torch.training.multi_label:SETS",
        "MultipleChoice": "bertdata.torch.training.multiple_choice:CHOICES",
        "TokenClassification": "bertdata.torch.training.tasks:TOKENS",
        "QuestionAnswering": "bertdata.torch.training.tasks:QUESTIONS",
        "SentenceEmbedding": "bertdata.torch.training.sentence_embedding:SENTENCES",
    },
)
"""How each head is trained, by what a task names, each a `tasks.Head`."""
