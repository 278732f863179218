"""Sentence embeddings: the model of a task, and its scores, named as the evaluators of sentence-transformers name them.

cosine_recall@1: the share of the first texts whose own second text is the nearest of all second texts of the split;
cosine_accuracy: the share of triplets whose second text is nearer than the third; spearman_cosine, pearson_cosine: the
correlation of cosines and scores.
"""

from __future__ import annotations

from collections.abc import Callable
from string import ascii_uppercase
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertdata.errors import ConfigError, shortened
from bertdata.finetune.task_info import TaskInfo
from bertdata.tokenizers.loading import has_tokenizer, load_tokenizer
from bertdata.torch.data.dataset import ShardDataset
from bertdata.torch.models.sentence_encoder import SentenceEncoder
from bertdata.torch.models.sentence_folder import MODEL, TRANSFORMER
from bertdata.torch.models.weights import PreTrainedModel
from bertdata.torch.training import SENTENCE_LOSSES
from bertdata.torch.training.finetune_settings import FinetuneSettings
from bertdata.torch.training.metrics import pearson, spearman
from bertdata.torch.training.sentence_copies import numbers_of_texts
from bertdata.torch.training.sentence_losses import Embeddings, SentenceLoss
from bertdata.torch.training.split_batches import batches_of, moved
from bertdata.torch.training.tasks import Device, Head, adapted, require_labels, task_of

Vectors = NDArray[np.float32]
_AT_ONCE = 1024
_TIE = 1e-6
"""Cosines that differ by less are tied: those of equal texts may differ in their last digits."""


def loss_name(info: TaskInfo, settings: FinetuneSettings) -> str:
    """Return the name of the loss: that of the settings, or the task's default."""
    return settings.sentence_loss or ("cosine-similarity" if info.definition.scored else "multiple-negatives-ranking")


def _check(info: TaskInfo, settings: FinetuneSettings) -> None:
    name, task = loss_name(info, settings), info.definition
    loss = SENTENCE_LOSSES[name]
    if loss.scored != task.scored or task.texts not in loss.texts:
        suited = [
            other
            for other in SENTENCE_LOSSES
            if SENTENCE_LOSSES[other].scored == task.scored and task.texts in SENTENCE_LOSSES[other].texts
        ]
        raise ConfigError(f"--sentence-loss {name} is not for {info.task}; expected one of {', '.join(suited)}")
    if name == "multiple-negatives-ranking" and settings.batch_size < 2:
        raise ConfigError(
            "--batch-size is 1, and the negatives of a text are the other texts of the batch; expected 2 or more, as 64"
        )


def _loss(info: TaskInfo, settings: FinetuneSettings) -> Callable[..., Tensor]:
    chosen: SentenceLoss = SENTENCE_LOSSES[loss_name(info, settings)]

    def loss(embeddings: Embeddings, labels: Tensor | None, ids: Embeddings) -> Tensor:
        if not chosen.masks_copies:
            return chosen.compute(embeddings, labels, settings)
        return chosen.compute(embeddings, labels, settings, numbers=numbers_of_texts(ids, info.pad_token_id))

    return loss


def _make(directory: str, info: TaskInfo, settings: FinetuneSettings) -> SentenceEncoder:
    length = info.max_seq_length
    model = SentenceEncoder.from_pretrained(directory, _loss(info, settings), max_seq_length=length)
    _require_texts_as_encoded(model, directory)
    return model


def _make_of_transformers(directory: str, config: Any, info: TaskInfo, settings: FinetuneSettings) -> PreTrainedModel:
    from bertdata.torch.models.transformers_heads import TransformersSentenceEncoder

    of, loss = TransformersSentenceEncoder, _loss(info, settings)
    model = of.from_pretrained(directory, loss, max_seq_length=info.max_seq_length, config=config)
    _require_texts_as_encoded(model, directory)
    return adapted(model, directory, info, settings)


def _require_texts_as_encoded(model: SentenceEncoder, directory: str) -> None:
    if name := model.settings.default_prompt_name:
        raise ConfigError(
            f"{MODEL} names {shortened(name)} as the default prompt, which encode puts in front of every text, and the "
            "texts of these shards have none in front; take default_prompt_name out of it, or put the prompt in front "
            "of the texts as well, then take it out",
            path=directory,
        )
    if model.settings.do_lower_case and has_tokenizer(directory):
        tokenizer, capitals = load_tokenizer(directory), " ".join(ascii_uppercase)
        if tokenizer.encode(capitals) != tokenizer.encode(capitals.lower()):
            raise ConfigError(
                f"{TRANSFORMER} has do_lower_case, so encode lower-cases every text, and the texts of these shards "
                "were encoded as they are; set it to false, and where they were in lower case before, to true again "
                "in the output",
                path=directory,
            )


def _evaluate(model: SentenceEncoder, dataset: ShardDataset, batch_size: int, device: Device) -> dict[str, float]:
    task = task_of(dataset).definition
    by_text: list[list[Vectors]] = [[] for _ in range(task.texts)]
    labels: list[float] = []
    for batch in batches_of(dataset, batch_size):
        scores = batch.pop("labels", None)
        labels += [] if scores is None else scores.tolist()
        inputs: Any = moved(batch, device)
        for of_text, vectors in zip(by_text, model.embeddings(**inputs), strict=True):
            of_text.append(torch.nn.functional.normalize(vectors, dim=-1).cpu().numpy())
    texts = [np.concatenate(of_text) for of_text in by_text]
    if not task.scored:
        measured = triplet_accuracy(*texts) if task.texts == 3 else recall_at_1(*texts)
        return {task.metrics[0]: measured}
    has_label = np.isfinite(labels)
    require_labels(has_label.nonzero()[0].tolist(), dataset)
    cosines = (texts[0] * texts[1]).sum(1)[has_label]
    correlations = {"spearman_cosine": spearman, "pearson_cosine": pearson}
    return {name: correlations[name](np.asarray(labels)[has_label], cosines) for name in task.metrics}


def recall_at_1(first: Vectors, second: Vectors) -> float:
    """Return the share of rows of `first` to which their own row of `second` is the nearest; unit vectors (N, H).

    Of n rows that are tied as the nearest, each counts 1 / n, so that a model for which all texts are alike gets no
    more than by chance.

    >>> recall_at_1(np.eye(3, dtype=np.float32), np.eye(3, dtype=np.float32)[[0, 2, 1]])
    0.3333333333333333
    """
    right = 0.0
    for start in range(0, len(first), _AT_ONCE):
        cosines = first[start : start + _AT_ONCE] @ second.T
        diagonal = np.take_along_axis(cosines, np.arange(start, start + len(cosines))[:, None], 1)[:, 0]
        nearest = cosines >= cosines.max(1, keepdims=True) - _TIE
        right += float(((diagonal >= cosines.max(1) - _TIE) / nearest.sum(1)).sum())
    return right / len(first)


def triplet_accuracy(first: Vectors, second: Vectors, third: Vectors) -> float:
    """Return the share of triplets whose second text is nearer to the first than the third is; unit vectors (N, H)."""
    return float(((first * second).sum(1) > (first * third).sum(1)).mean())


SENTENCES = Head(make=_make, evaluate=_evaluate, check=_check, others={"transformers": _make_of_transformers})
