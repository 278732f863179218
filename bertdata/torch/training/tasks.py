"""The head of each fine-tuning task, and its scores on a split."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertdata.errors import ConfigError
from bertdata.finetune.answers import answers_from_logits, read_originals
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.shards.tasks import TaskInfo
from bertdata.torch.data.dataset import PretrainingCollator, ShardDataset
from bertdata.torch.models.heads import (
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    TaskModel,
)
from bertdata.torch.training.metrics import (
    answer_scores,
    are_entity_tags,
    classification_scores,
    require_seqeval,
    tag_scores,
)

Logits = NDArray[np.float32]
_HEADS: dict[str, type[TaskModel]] = {
    "SequenceClassification": BertForSequenceClassification,
    "TokenClassification": BertForTokenClassification,
    "QuestionAnswering": BertForQuestionAnswering,
}


def task_of(dataset: ShardDataset) -> TaskInfo:
    """Return the task of shards; raises ConfigError for those of pretraining and for tasks without scores here."""
    if not isinstance(dataset.info, TaskInfo):
        raise ConfigError(
            "holds shards for pretraining; expected a folder that `bertdata encode-task` wrote",
            path=dataset.shards.build,
        )
    task = dataset.info.definition
    if task.head not in _HEADS or not task.metrics:
        raise ConfigError(
            f"holds {dataset.info.task}, for which there is no model or no metric here; expected classification, "
            "token-classification or question-answering: encode with classes as labels, or train with transformers",
            path=dataset.shards.build,
        )
    return dataset.info


def head_of(info: TaskInfo) -> type[TaskModel]:
    """Return the class of model for a task; raises MissingExtraError where its metric is not installed."""
    head = _HEADS[info.definition.head]
    if head is BertForTokenClassification and are_entity_tags(info.labels):
        require_seqeval()
    return head


def evaluate(model: TaskModel, dataset: ShardDataset, batch_size: int, device: torch.device) -> dict[str, float]:
    """Return the scores of a model on a split.

    classification: accuracy, macro_f1; token-classification: accuracy, and of entities precision, recall, f1;
    question-answering: exact_match, f1, with "" as the answer where SQuAD 2.0 has none.
    """
    info = task_of(dataset)
    head = info.definition.head
    model.eval()
    with torch.no_grad():
        if head == "QuestionAnswering":
            return _questions(model, dataset, batch_size, device)
        truth: list[list[int]] = []
        found: list[list[int]] = []
        for batch in _batches(dataset, batch_size):
            labels = batch.pop("labels")
            guesses = model(**_moved(batch, device)).logits.argmax(-1).cpu()
            for row, guess in zip(labels, guesses, strict=True):
                known = row != IGNORE_INDEX
                truth.append(row[known].tolist() if row.ndim else [int(row)] * int(known))
                found.append(guess[known].tolist() if row.ndim else [int(guess)] * int(known))
    if head == "SequenceClassification":
        return classification_scores([*chain(*truth)], [*chain(*found)])
    tags, guessed = ([[info.labels[label] for label in row] for row in rows] for rows in (truth, found))
    return tag_scores(tags, guessed)


def _questions(model: TaskModel, dataset: ShardDataset, batch_size: int, device: torch.device) -> dict[str, float]:
    starts: list[Logits] = []
    ends: list[Logits] = []
    for batch in _batches(dataset, batch_size):
        moved = _moved({name: value for name, value in batch.items() if not name.endswith("_positions")}, device)
        result = model(**moved)
        for kept, logits in ((starts, result.start_logits), (ends, result.end_logits)):
            kept.extend(logits.float().cpu().numpy())
    originals = read_originals(dataset.shards)
    answers = {
        question: answer["text"]
        for question, answer in zip(originals["id"].to_pylist(), originals["answers"].to_pylist(), strict=True)
    }
    threshold = 0.0 if any(not texts for texts in answers.values()) else None
    found = answers_from_logits(_stacked(starts), _stacked(ends), dataset.shards, null_threshold=threshold)
    return answer_scores({question: answer.text for question, answer in found.items()}, answers)


def _stacked(rows: list[Logits]) -> Logits:
    stacked = np.zeros((len(rows), max(map(len, rows))), np.float32)
    for row, values in zip(stacked, rows, strict=True):
        row[: len(values)] = values
    return stacked


def _batches(dataset: ShardDataset, batch_size: int) -> Iterator[dict[str, Tensor]]:
    collator = PretrainingCollator(dataset)
    for start in range(0, len(dataset), batch_size):
        yield collator(dataset.__getitems__(range(start, min(start + batch_size, len(dataset)))))


def _moved(batch: dict[str, Tensor], device: torch.device) -> dict[str, Tensor]:
    return {name: value.to(device) for name, value in batch.items()}
