"""The heads of fine-tuning tasks: which model learns a task, and its scores on a split.

A head is an object `Head`, and a line in `HEADS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from bertdata.errors import ConfigError
from bertdata.finetune import TASKS
from bertdata.finetune.answers import read_originals
from bertdata.finetune.tag_schemes import scheme_of, why_no_entities
from bertdata.finetune.task_info import TaskInfo
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.torch.data.dataset import ShardDataset
from bertdata.torch.models.heads import (
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
    TaskModel,
)
from bertdata.torch.models.weights import PreTrainedModel
from bertdata.torch.training import HEADS
from bertdata.torch.training.finetune_settings import FinetuneSettings
from bertdata.torch.training.metrics import (
    TEXT_METRICS,
    answer_scores,
    require_seqeval,
    tag_scores,
    text_scores,
)
from bertdata.torch.training.predictions import predicted_answers, predicted_labels, predicted_tags, question_answers
from bertdata.torch.training.split_batches import batches_of, moved

Logits = NDArray[np.float32]
Device = torch.device
SENTENCES = "SentenceEmbedding"
"""The name of the head of sentence embeddings."""
REGRESSION_LABEL = "LABEL_0"
"""The name of the one output of a regression, which transformers gives it."""


@dataclass(frozen=True, kw_only=True)
class Head:
    """How the tasks with a `head` of this name are learnt.

    make: returns the model, an encoder of the directory with a new last layer, for (directory, info, settings);
    others: do that for other libraries than bertdata, by their names in `LIBRARIES`, for (directory, config, info,
    settings);
    evaluate: returns the scores of (model, split, batch size, device);
    main: the score by which one model is better than another, "" for the first of the task's metrics;
    check: raises ConfigError or MissingExtraError, before anything is loaded, for (info, settings) that do not go
    together;
    doubt: returns what the user should know about the scores of a task, "" for nothing;
    predict: returns the text of the file of predictions of (model, split, batch size, device), whose name ends as
    `predictions` says, "" where a split lacks what they need; None of tasks that have none.
    """

    make: Callable[[str, TaskInfo, FinetuneSettings], PreTrainedModel]
    evaluate: Callable[[Any, ShardDataset, int, Device], dict[str, float]]
    main: str = ""
    check: Callable[[TaskInfo, FinetuneSettings], None] = lambda info, settings: None
    doubt: Callable[[TaskInfo], str] = lambda info: ""
    predict: Callable[[Any, ShardDataset, int, Device], str] | None = None
    predictions: str = ""
    others: Mapping[str, Callable[[str, Any, TaskInfo, FinetuneSettings], PreTrainedModel]] = field(
        default_factory=dict
    )


def task_of(dataset: ShardDataset) -> TaskInfo:
    """Return the task of shards; raises ConfigError for those of pretraining and for tasks without scores here."""
    if not isinstance(dataset.info, TaskInfo):
        raise ConfigError(
            "holds shards for pretraining; expected a folder that `bertdata encode-task` wrote",
            path=dataset.shards.build,
        )
    task = dataset.info.definition
    if task.head not in HEADS or not task.metrics:
        learnt = ", ".join(name for name in TASKS if TASKS[name].head in HEADS and TASKS[name].metrics)
        raise ConfigError(
            f"holds {dataset.info.task}, for which there is no model or no metric here; expected one of {learnt}: "
            "encode as one of these, or train with transformers",
            path=dataset.shards.build,
        )
    return dataset.info


def evaluate(model: PreTrainedModel, dataset: ShardDataset, batch_size: int, device: Device) -> dict[str, float]:
    """Return the scores of a model on a split, which are the metrics of its task.

    classification: accuracy, macro_f1; multi-label-classification: micro_f1, macro_f1, exact_match, where a logit over
    0 predicts its label; regression: pearson, spearman; token-classification: accuracy, and of entities (tags of a
    scheme of `bertdata.finetune.tag_schemes`) precision, recall, f1; question-answering: exact_match, f1, with "" as
    the answer where SQuAD 2.0 has none; sentence-pairs: cosine_recall@1; sentence-triplets: cosine_accuracy;
    sentence-similarity: spearman_cosine, pearson_cosine; a task of GLUE those of GLUE. Texts without a label are left
    out. Raises ConfigError where none has one.
    """
    model.eval()
    with torch.no_grad():
        head: Head = HEADS[task_of(dataset).definition.head]
        return head.evaluate(model, dataset, batch_size, device)


def _check_texts(info: TaskInfo, settings: FinetuneSettings) -> None:
    for name in info.definition.metrics:
        if name not in TEXT_METRICS:
            raise ConfigError(
                f"the task {info.task} has the metric {name!r}; expected some of {', '.join(TEXT_METRICS)}"
            )


def _make_texts(directory: str, info: TaskInfo, settings: FinetuneSettings) -> TaskModel:
    return BertForSequenceClassification.from_pretrained(directory, info.labels or (REGRESSION_LABEL,))


def evaluate_texts(model: PreTrainedModel, dataset: ShardDataset, batch_size: int, device: Device) -> dict[str, float]:
    """Return the scores of a model whose highest logit, or whose number, is what it predicts of a row."""
    truth: list[float] = []
    guessed: list[float] = []
    for batch in batches_of(dataset, batch_size):
        labels = batch.pop("labels")
        logits = model(**moved(batch, device)).logits.float().cpu()
        has_label = labels.isfinite() if labels.is_floating_point() else labels != IGNORE_INDEX
        guesses = logits.squeeze(-1) if labels.is_floating_point() else logits.argmax(-1)
        truth += labels[has_label].tolist()
        guessed += guesses[has_label].tolist()
    require_labels(truth, dataset)
    return text_scores(task_of(dataset).definition.metrics, truth, guessed)


def require_labels(truth: Sequence[Any], dataset: ShardDataset) -> None:
    """Raise ConfigError where a split has nothing to measure by."""
    if not len(truth):
        raise ConfigError(
            f"the split {dataset.shards.split} has no labels; expected a split with labels, to measure a model by",
            path=dataset.shards.build,
        )


def _make_tokens(directory: str, info: TaskInfo, settings: FinetuneSettings) -> TaskModel:
    return BertForTokenClassification.from_pretrained(directory, info.labels)


def _check_tokens(info: TaskInfo, settings: FinetuneSettings) -> None:
    if scheme_of(info.labels):
        require_seqeval()


def _tokens(model: TaskModel, dataset: ShardDataset, batch_size: int, device: Device) -> dict[str, float]:
    names = task_of(dataset).labels
    truth: list[list[str]] = []
    guessed: list[list[str]] = []
    for batch in batches_of(dataset, batch_size):
        labels = batch.pop("labels")
        guesses = model(**moved(batch, device)).logits.argmax(-1).cpu()
        for row, guess in zip(labels, guesses, strict=True):
            has_label = row != IGNORE_INDEX
            for target, ids in ((truth, row), (guessed, guess)):
                target.append([names[label] for label in ids[has_label].tolist()])
    return tag_scores(truth, guessed, names)


def _make_questions(directory: str, info: TaskInfo, settings: FinetuneSettings) -> TaskModel:
    return BertForQuestionAnswering.from_pretrained(directory, info.labels)


def _questions(model: TaskModel, dataset: ShardDataset, batch_size: int, device: Device) -> dict[str, float]:
    originals = read_originals(dataset.shards)
    answers = {
        question: answer["text"]
        for question, answer in zip(originals["id"].to_pylist(), originals["answers"].to_pylist(), strict=True)
    }
    answers_by_id = question_answers(
        model, dataset, batch_size, device, may_have_none=any(not texts for texts in answers.values())
    )
    return answer_scores({question: answer.text for question, answer in answers_by_id.items()}, answers)


def of_transformers(name: str) -> Callable[[str, Any, TaskInfo, FinetuneSettings], PreTrainedModel]:
    """Return what makes the model of a class of `transformers_heads`, with adapters where the settings say so."""

    def make(directory: str, config: Any, info: TaskInfo, settings: FinetuneSettings) -> PreTrainedModel:
        from bertdata.torch.models import transformers_heads

        labels = info.labels or (REGRESSION_LABEL,)
        model: transformers_heads.TransformersTaskModel = getattr(transformers_heads, name).of(
            directory, config, labels
        )
        return adapted(model, directory, info, settings)

    return make


def adapted(model: Any, directory: str, info: TaskInfo, settings: FinetuneSettings) -> PreTrainedModel:
    """Return a model of transformers whose rows are tried, with adapters where the settings say so."""
    from bertdata.torch.models.lora import LoraShape
    from bertdata.torch.models.transformers_heads import check_rows

    check_rows(model, info)
    if settings.lora:
        alpha = settings.lora_alpha or 2 * settings.lora
        targets, merge = settings.lora_targets, settings.lora_merge
        model.adapt(directory, LoraShape(settings.lora, alpha, settings.lora_dropout, targets, merge))
    made: PreTrainedModel = model
    return made


TEXTS = Head(
    make=_make_texts,
    evaluate=evaluate_texts,
    check=_check_texts,
    predict=predicted_labels,
    predictions=".tsv",
    others={"transformers": of_transformers("TransformersForSequenceClassification")},
)
TOKENS = Head(
    make=_make_tokens,
    evaluate=_tokens,
    main="f1",
    check=_check_tokens,
    doubt=lambda info: why_no_entities(info.labels),
    predict=predicted_tags,
    predictions=".txt",
    others={"transformers": of_transformers("TransformersForTokenClassification")},
)
QUESTIONS = Head(
    make=_make_questions,
    evaluate=_questions,
    main="f1",
    predict=predicted_answers,
    predictions=".json",
    others={"transformers": of_transformers("TransformersForQuestionAnswering")},
)
