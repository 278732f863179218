"""The head of texts with any number of labels: a logit for each label, which is predicted where it is over 0."""

from __future__ import annotations

import json

import numpy as np
import torch
from numpy.typing import NDArray

from bertdata.finetune.task_info import TaskInfo
from bertdata.torch.data.dataset import ShardDataset
from bertdata.torch.models.heads import BertForMultiLabelClassification, TaskModel
from bertdata.torch.training.finetune_settings import FinetuneSettings
from bertdata.torch.training.metrics import set_scores
from bertdata.torch.training.split_batches import batches_of, moved
from bertdata.torch.training.tasks import Head, of_transformers, require_labels


def _make(directory: str, info: TaskInfo, settings: FinetuneSettings) -> TaskModel:
    return BertForMultiLabelClassification.from_pretrained(directory, info.labels)


def _evaluate(model: TaskModel, dataset: ShardDataset, batch_size: int, device: torch.device) -> dict[str, float]:
    truth: list[NDArray[np.bool_]] = []
    predicted: list[NDArray[np.bool_]] = []
    for batch in batches_of(dataset, batch_size):
        labels = batch.pop("labels")
        logits = model(**moved(batch, device)).logits.float().cpu()
        is_known = labels[:, 0].isfinite()
        truth.extend((labels[is_known] > 0).numpy())
        predicted.extend((logits[is_known] > 0).numpy())
    require_labels(truth, dataset)
    return set_scores(np.array(truth), np.array(predicted))


def predicted_sets(model: TaskModel, dataset: ShardDataset, batch_size: int, device: torch.device) -> str:
    """Return the labels of each row of a split as a list of JSON, with a line of names before."""
    assert isinstance(dataset.info, TaskInfo)
    names, lines = dataset.info.labels, ["index\tprediction"]
    for batch in batches_of(dataset, batch_size):
        batch.pop("labels")
        for row in (model(**moved(batch, device)).logits.float().cpu() > 0).tolist():
            labels = [name for name, there in zip(names, row, strict=True) if there]
            lines.append(f"{len(lines) - 1}\t{json.dumps(labels, ensure_ascii=False)}")
    return "".join(f"{line}\n" for line in lines)


SETS = Head(
    make=_make,
    evaluate=_evaluate,
    predict=predicted_sets,
    predictions=".tsv",
    others={"transformers": of_transformers("TransformersForMultiLabelClassification")},
)
