"""The head of questions with choices: one logit for each choice, of which the highest is predicted."""

from __future__ import annotations

from bertdata.finetune.task_info import TaskInfo
from bertdata.torch.models.heads import BertForMultipleChoice
from bertdata.torch.training.finetune_settings import FinetuneSettings
from bertdata.torch.training.predictions import predicted_labels
from bertdata.torch.training.tasks import Head, evaluate_texts, of_transformers


def _make(directory: str, info: TaskInfo, settings: FinetuneSettings) -> BertForMultipleChoice:
    return BertForMultipleChoice.from_pretrained(directory, info.labels)


CHOICES = Head(
    make=_make,
    evaluate=evaluate_texts,
    predict=predicted_labels,
    predictions=".tsv",
    others={"transformers": of_transformers("TransformersForMultipleChoice")},
)
