"""Models for fine-tuning: sequence classification, token classification, question answering (BERT section 4).

Each takes the encoder of any family, has the name of that family's class in transformers when it is saved, and can
start from any checkpoint of the encoder.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self, Unpack

import torch
from torch import Tensor, nn
from torch.nn import functional

from bertdata.errors import ConfigError, shortened
from bertdata.torch.models import FAMILIES
from bertdata.torch.models.config import EncoderConfig, read_config
from bertdata.torch.models.configs import load_config
from bertdata.torch.models.encoder import EncoderInputs, mean_cross_entropy, without_unknown_types
from bertdata.torch.models.family import linear_classifier
from bertdata.torch.models.weights import PreTrainedModel, load, read_labels

REGRESSION, SINGLE_LABEL = "regression", "single_label_classification"
MULTI_LABEL = "multi_label_classification"
"""What transformers calls a classifier of any number of labels."""
PROBLEMS = (REGRESSION, SINGLE_LABEL, MULTI_LABEL)
"""What `problem_type` says in transformers that a classifier of texts learns."""


class TaskOutput(NamedTuple):
    """loss: scalar, None without labels; logits: (N, labels) for texts, (N, L, labels) for tokens."""

    loss: Tensor | None
    logits: Tensor


class SpanOutput(NamedTuple):
    """loss: scalar, None without positions; start_logits, end_logits: (N, L)."""

    loss: Tensor | None
    start_logits: Tensor
    end_logits: Tensor


class TaskModel(PreTrainedModel):
    """An encoder, its family's `head` where it has one, and a last layer of the task.

    labels: the names of the classes, empty for question answering; last: the name of the last layer; problem_type: what
    its config says that is learnt, "" for one class of several.
    """

    task: ClassVar[str]
    last = "classifier"
    problem_type = ""

    def __init__(self, config: EncoderConfig, labels: Sequence[str] = (), *, pooler: bool = False) -> None:
        super().__init__(config)
        self.labels, family = list(labels), FAMILIES[config.model_type]
        setattr(self, config.base_model_prefix, family.encoder(config, pooler=pooler))
        self.head = nn.Identity() if family.head is None else family.head(config)
        self.dropout = nn.Dropout(config.head_dropout)

    @property
    def architecture(self) -> str:
        """The name of the class in transformers."""
        return f"{self.config.family}For{self.task}"

    def save_pretrained(self, directory: str | os.PathLike[str], extra: Mapping[str, Any] | None = None) -> None:
        """Write what `PreTrainedModel` writes, and the names of the classes; raises OutputError."""
        id2label = {str(number): name for number, name in enumerate(self.labels)}
        label2id = {name: number for number, name in enumerate(self.labels)}
        names: dict[str, Any] = {"id2label": id2label, "label2id": label2id} if self.labels else {}
        if self.problem_type:
            names["problem_type"] = self.problem_type
        super().save_pretrained(directory, {**names, **(extra or {})})

    @classmethod
    def from_pretrained(
        cls,
        directory: str | os.PathLike[str],
        labels: Sequence[str] | None = None,
        *,
        config: EncoderConfig | None = None,
    ) -> Self:
        """Load what this class or transformers saved; raises InputError where a weight is missing or misshapen.

        With `labels` (an empty list for question answering), load only the encoder, of any checkpoint; the last layer
        is new, and so are the pooler and the family's head where the checkpoint has none. config: another one than that
        of the directory.
        """
        config = config or load_config(directory)
        if labels is None:
            model = cls(config, read_labels(directory) if issubclass(cls, Classifier) else ())
            model.read_problem(directory)
            load(model, directory)
            return model
        model = cls(config, labels)
        load(model, directory, new=(f"{model.last}.",), optional=(f"{config.base_model_prefix}.pooler.", "head."))
        return model

    def read_problem(self, directory: str | os.PathLike[str]) -> None:
        """Take what the `config.json` of a saved model says that it learns, where this class learns several things."""


class Classifier(TaskModel):
    """An encoder and a classifier of rows, or `of_tokens`; labels of -100 are ignored in the loss.

    A classifier of rows with one label is a regression where nothing else is said, as in transformers: one logit, and
    the mean squared error of numbers.
    """

    of_tokens: ClassVar[bool]

    def __init__(self, config: EncoderConfig, labels: Sequence[str]) -> None:
        super().__init__(config, labels, pooler=not self.of_tokens)
        family = FAMILIES[config.model_type]
        self.classifier = (linear_classifier if self.of_tokens else family.classifier)(config, len(self.labels))
        family.initialize(self, config)

    def forward(self, input_ids: Tensor, labels: Tensor | None = None, **inputs: Unpack[EncoderInputs]) -> TaskOutput:
        """Take int64 (N, L) tensors, and labels int64 (N,), of tokens (N, L), in regression float32 (N,).

        Labels of texts that may have several are float32 (N, labels).
        """
        hidden = self.encoder.encode(input_ids, **without_unknown_types(inputs, self.config))
        ends, mask = inputs.get("cu_seqlens"), inputs.get("attention_mask")
        states = hidden if self.of_tokens else self.encoder.pooled(hidden, ends, mask)
        logits = self.classifier(self.dropout(self.head(states)))
        if labels is None:
            return TaskOutput(None, logits)
        if self.problem_type == REGRESSION:
            return TaskOutput(functional.mse_loss(logits.float().view_as(labels), labels), logits)
        if self.problem_type == MULTI_LABEL or (not self.problem_type and labels.is_floating_point()):
            return TaskOutput(functional.binary_cross_entropy_with_logits(logits.float(), labels), logits)
        return TaskOutput(mean_cross_entropy(logits, labels), logits)


class BertForSequenceClassification(Classifier):
    """An encoder with its family's classifier on the pooled state (section 4.1); of one label, a regression.

    >>> import torch
    >>> from bertdata.torch import BertConfig
    >>> model = BertForSequenceClassification(BertConfig.tiny(vocab_size=100), ["no", "yes"])
    >>> model(torch.tensor([[2, 7, 3]])).logits.shape
    torch.Size([1, 2])
    """

    task, of_tokens = "SequenceClassification", False

    def __init__(self, config: EncoderConfig, labels: Sequence[str]) -> None:
        super().__init__(config, labels)
        if len(self.labels) == 1 and not self.problem_type:
            self.problem_type = REGRESSION

    def read_problem(self, directory: str | os.PathLike[str]) -> None:
        path, values = read_config(directory)
        if (problem := values.get("problem_type")) is not None:
            if problem not in PROBLEMS:
                raise ConfigError(f"problem_type is {shortened(problem)}; expected {', '.join(PROBLEMS)}", path=path)
            self.problem_type = problem


class BertForMultiLabelClassification(BertForSequenceClassification):
    """A sequence classifier of any number of labels: a logit for each, which is over 0 where the text has the label.

    labels: float32 (N, labels), 0 or 1; the loss is the mean of binary cross-entropies, as in transformers with the
    `problem_type` that it is saved with.
    """

    problem_type = MULTI_LABEL


class BertForTokenClassification(Classifier):
    """An encoder with a linear classifier on each token (section 5.3).

    >>> import torch
    >>> from bertdata.torch import BertConfig
    >>> model = BertForTokenClassification(BertConfig.tiny(vocab_size=100), ["O", "B-PER", "I-PER"])
    >>> model(torch.tensor([[2, 7, 3]])).logits.shape
    torch.Size([1, 3, 3])
    """

    task, of_tokens = "TokenClassification", True


class BertForMultipleChoice(TaskModel):
    """An encoder with one logit on the pooled state of each choice of an example; a softmax is over the choices.

    >>> import torch
    >>> from bertdata.torch import BertConfig
    >>> model = BertForMultipleChoice(BertConfig.tiny(vocab_size=100), ["A", "B"])
    >>> model(torch.tensor([[[2, 7, 3], [2, 8, 3]]])).logits.shape
    torch.Size([1, 2])
    """

    task = "MultipleChoice"

    def __init__(self, config: EncoderConfig, labels: Sequence[str] = ()) -> None:
        super().__init__(config, labels, pooler=True)
        family = FAMILIES[config.model_type]
        if family.classifier is not linear_classifier:
            raise ConfigError(
                f"there is no {config.model_type} model for multiple choice here; expected --library transformers"
            )
        self.classifier = linear_classifier(config, 1)
        family.initialize(self, config)

    def row_logits(self, input_ids: Tensor, **inputs: Unpack[EncoderInputs]) -> Tensor:
        """Return the logits of choices, (N, 1), of which each is a row; int64 (N, L)."""
        hidden = self.encoder.encode(input_ids, **without_unknown_types(inputs, self.config))
        states = self.encoder.pooled(hidden, None, inputs.get("attention_mask"))
        logits: Tensor = self.classifier(self.dropout(self.head(states)))
        return logits

    def forward(self, input_ids: Tensor, labels: Tensor | None = None, **inputs: Unpack[EncoderInputs]) -> TaskOutput:
        """Take int64 (N, choices, L) tensors, and labels int64 (N,), the place of the right choice, -100 for none."""
        given: Any = {"input_ids": input_ids, **inputs}
        logits = logits_by_choice(self.row_logits, given)
        return TaskOutput(None if labels is None else mean_cross_entropy(logits, labels), logits)


def logits_by_choice(logits_of: Callable[..., Tensor], inputs: Mapping[str, Tensor]) -> Tensor:
    """Return the logits of choices, (N, choices): -inf for those that an example does not have, which have no tokens.

    logits_of: returns logits (M, 1) for tensors (M, L) by name; inputs: tensors (N, choices, L), attention_mask among
    them where some have padding.

    >>> import torch
    >>> mask = torch.tensor([[[1, 1], [1, 0]], [[1, 1], [0, 0]]])
    >>> logits_by_choice(lambda attention_mask: attention_mask.sum(-1, keepdim=True).float(), {"attention_mask": mask})
    tensor([[2., 1.],
            [2., -inf]])
    """
    mask = inputs.get("attention_mask")
    shape = next(iter(inputs.values())).shape[:2]
    if mask is None or bool((there := mask.any(-1)).all()):
        return logits_of(**{name: values.flatten(0, 1) for name, values in inputs.items()}).view(shape)
    logits = logits_of(**{name: values[there] for name, values in inputs.items()}).squeeze(-1)
    return logits.new_full(shape, -torch.inf).masked_scatter(there, logits)


class BertForQuestionAnswering(TaskModel):
    """An encoder with two logits for each token: that the answer begins, or ends, there (section 4.2).

    As in transformers, dropout is in front of the last layer only where the family has a head of its own.

    >>> import torch
    >>> from bertdata.torch import BertConfig
    >>> model = BertForQuestionAnswering(BertConfig.tiny(vocab_size=100))
    >>> model(torch.tensor([[2, 7, 3]])).start_logits.shape
    torch.Size([1, 3])
    """

    task = "QuestionAnswering"

    def __init__(self, config: EncoderConfig, labels: Sequence[str] = ()) -> None:
        super().__init__(config, labels)
        family = FAMILIES[config.model_type]
        if family.head is None:
            self.last, self.dropout.p = "qa_outputs", 0.0
        self.add_module(self.last, nn.Linear(config.hidden_size, 2))
        family.initialize(self, config)

    def forward(
        self,
        input_ids: Tensor,
        start_positions: Tensor | None = None,
        end_positions: Tensor | None = None,
        **inputs: Unpack[EncoderInputs],
    ) -> SpanOutput:
        """Take int64 (N, L) tensors, and positions int64 (N,); the loss is the mean of the two cross-entropies."""
        hidden = self.encoder.encode(input_ids, **without_unknown_types(inputs, self.config))
        start, end = self.get_submodule(self.last)(self.dropout(self.head(hidden))).unbind(-1)
        if start_positions is None or end_positions is None:
            return SpanOutput(None, start, end)
        loss = functional.cross_entropy(start.float(), start_positions)
        loss = (loss + functional.cross_entropy(end.float(), end_positions)) / 2
        return SpanOutput(loss, start, end)
