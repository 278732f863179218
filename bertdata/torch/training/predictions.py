"""What a fine-tuned model predicts of a split, as the files that transformers' recipes write.

Labels and numbers: a line for each row with its place, from 0, and the name of the label, or the number with three
digits after the point, as `run_glue`; tags: a line for each sentence, as `run_ner`; answers: JSON, the text by the id
of the question, as `run_qa` and SQuAD's scorer have it.
"""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from bertdata.finetune.answers import Answer, answers_from_logits, predictions_json, read_originals
from bertdata.finetune.task_info import TaskInfo
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.shards import open_shards
from bertdata.torch.data.dataset import ShardDataset
from bertdata.torch.training.split_batches import batches_of, moved

Logits = NDArray[np.float32]


def predicted_labels(model: Any, dataset: ShardDataset, batch_size: int, device: torch.device) -> str:
    """Return the label, or the number, of each row of a split, with a line of names before."""
    lines = io.StringIO()
    writer = csv.writer(lines, delimiter="\t", lineterminator="\n")
    writer.writerow(("index", "prediction"))
    names, place = _labels_of(dataset), 0
    for batch in batches_of(dataset, batch_size):
        batch.pop("labels")
        logits = model(**moved(batch, device)).logits.float().cpu()
        if names:
            predictions = [names[label] for label in logits.argmax(-1).tolist()]
        else:
            predictions = [f"{number:.3f}" for number in logits.squeeze(-1).tolist()]
        writer.writerows(enumerate(predictions, place))
        place += len(predictions)
    return lines.getvalue()


def predicted_tags(model: Any, dataset: ShardDataset, batch_size: int, device: torch.device) -> str:
    """Return the tags of the words of each row of a split, "" where it has no tags, so words are not known."""
    names, lines, words = _labels_of(dataset), [], 0
    for batch in batches_of(dataset, batch_size):
        labels = batch.pop("labels")
        predictions = model(**moved(batch, device)).logits.argmax(-1).cpu()
        for row, prediction in zip(labels, predictions, strict=True):
            of_words = prediction[row != IGNORE_INDEX].tolist()
            words += len(of_words)
            lines.append(" ".join(names[label] for label in of_words) + "\n")
    return "".join(lines) if words else ""


def predicted_answers(model: Any, dataset: ShardDataset, batch_size: int, device: torch.device) -> str:
    """Return the answers to the questions of a split; there may be none where the training has such questions."""
    learned = read_originals(open_shards(dataset.shards.build, "train"))["answers"].to_pylist()
    may_have_none = any(not answer["text"] for answer in learned)
    answers = question_answers(model, dataset, batch_size, device, may_have_none=may_have_none)
    return predictions_json(answers) + "\n"


def question_answers(
    model: Any, dataset: ShardDataset, batch_size: int, device: torch.device, *, may_have_none: bool
) -> dict[str, Answer]:
    """Return the answers of a model to the questions of a split by their ids."""
    starts: list[Logits] = []
    ends: list[Logits] = []
    for batch in batches_of(dataset, batch_size):
        inputs = {name: value for name, value in batch.items() if not name.endswith("_positions")}
        result = model(**moved(inputs, device))
        for target, logits in ((starts, result.start_logits), (ends, result.end_logits)):
            target.extend(logits.float().cpu().numpy())
    threshold = 0.0 if may_have_none else None
    return answers_from_logits(_stacked(starts), _stacked(ends), dataset.shards, null_threshold=threshold)


def _labels_of(dataset: ShardDataset) -> tuple[str, ...]:
    assert isinstance(dataset.info, TaskInfo)
    return dataset.info.labels


def _stacked(rows: list[Logits]) -> Logits:
    stacked = np.zeros((len(rows), max(map(len, rows))), np.float32)
    for row, values in zip(stacked, rows, strict=True):
        row[: len(values)] = values
    return stacked
