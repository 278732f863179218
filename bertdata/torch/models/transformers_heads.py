"""Encoders of transformers with its own heads for fine-tuning, those of `AutoModelForSequenceClassification` and so on.

The loss is the one that transformers computes. The last layer is new whatever the checkpoint was trained for before; a
weight of the encoder that the checkpoint does not have, or has in another shape, is refused.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from bertdata.errors import ConfigError, InputError
from bertdata.io import files
from bertdata.loader.padding import padded_length
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.shards.schema import ShardInfo
from bertdata.torch.models.config import EncoderConfig
from bertdata.torch.models.encoder import mean_cross_entropy
from bertdata.torch.models.from_transformers import TransformersModel
from bertdata.torch.models.heads import (
    MULTI_LABEL,
    REGRESSION,
    SINGLE_LABEL,
    SpanOutput,
    TaskOutput,
    logits_by_choice,
)
from bertdata.torch.models.lora import Adapters, LoraShape, add_adapters
from bertdata.torch.models.sentence_encoder import SentenceEncoder
from bertdata.torch.models.sentence_folder import MODULES, SentenceSettings, saved_length, settings_of
from bertdata.torch.models.transformers_config import TransformersConfig
from bertdata.torch.models.transformers_library import loaded, made, names_of, transformers_library
from bertdata.torch.models.transformers_probe import PROBED, probe
from bertdata.torch.models.weight_files import main_file, weight_files

_POOLERS = ("pooler", "pooling", "sequence_summary")
"""Parts of encoders that masked language models are saved without."""


class TransformersTaskModel(TransformersModel):
    """An encoder of transformers with one of its heads.

    auto: the class that makes it; mapping: the name of the table of types that have such a head; peft_task: the task's
    type in peft; adapters: what of it is trained, None for all of it; outputs_of_last: how many its last layer has, 0
    for one of each label.
    """

    mapping: ClassVar[str]
    peft_task: ClassVar[str]
    adapters: Adapters | None = None
    outputs_of_last: ClassVar[int] = 0

    @classmethod
    def of(cls, directory: str, config: TransformersConfig, labels: Sequence[str] = ()) -> Self:
        """Load the encoder of a folder, with a new last layer for labels.

        Raises ConfigError where transformers has no such head for it, and InputError where the folder lacks a weight of
        the encoder or has it in another shape.
        """
        peer = cls.for_labels(config.peer, labels)
        if type(peer) not in getattr(transformers_library(), cls.mapping):
            raise ConfigError(
                f"transformers has no {peer.model_type} model for this task ({cls.auto}); expected a type that has "
                "one, such as roberta",
                path=directory,
            )
        weight_files(directory)  # raises InputError where there are none, which transformers says less clearly
        model, about = loaded(cls.auto, directory, peer, ignore_mismatched_sizes=True)
        last = last_layer(model, cls.outputs_of_last or peer.num_labels)
        _require_encoder(model, about, last, directory)
        if not {*about["missing_keys"]} >= last and not names_of(about["mismatched_keys"]) & last:
            fresh = made(peer, cls.auto).state_dict()
            with torch.no_grad():
                for name in sorted(last):
                    model.get_parameter(name).copy_(fresh[name])
        heads = cls(TransformersConfig.of(model.config), model)
        heads.missing = sorted({*about["missing_keys"], *last})
        return heads

    @classmethod
    def for_labels(cls, peer: Any, labels: Sequence[str]) -> Any:
        """Return a config of transformers for the labels of a task."""
        changed = copy.deepcopy(peer)
        changed.return_dict = True
        return changed

    def row_logits(self, **rows: Tensor) -> Any:
        """Return what the model makes of rows, int64 (N, L) each."""
        return self(**rows)

    def adapt(self, directory: str, shape: LoraShape) -> None:
        """Have adapters trained in place of the weights that were in a folder; raises ConfigError as `add_adapters`."""
        self.adapters = add_adapters(self.model, self.peft_task, self.missing, directory, shape)

    def save_pretrained(self, directory: str | os.PathLike[str], extra: Mapping[str, Any] | None = None) -> None:
        """Write what `AutoModelFor...` opens, or the adapters, which peft opens; raises OutputError."""
        if self.adapters is None:
            super().save_pretrained(directory, extra)
        else:
            self.adapters.save(files.path_text(directory), extra)

    @property
    def folders(self) -> Sequence[str]:
        return ("",) if self.adapters is None else self.adapters.folders


class TransformersClassifier(TransformersTaskModel):
    """A model with logits of classes, or with one label that of a number; labels of -100 have no part in the loss."""

    def forward(self, input_ids: Tensor, labels: Tensor | None = None, **inputs: Tensor) -> TaskOutput:  # type: ignore[override]
        """Take int64 (N, L) tensors, and labels int64 (N,), of tokens (N, L), in regression float32 (N,)."""
        given = {"input_ids": input_ids, **inputs}
        if labels is None:
            return TaskOutput(None, self.outputs(given).logits)
        if not labels.is_floating_point() and bool((labels == IGNORE_INDEX).all()):
            logits = self.outputs(given).logits
            return TaskOutput(logits.float().sum() * 0, logits)  # of which transformers makes 0 / 0
        output = self.outputs(given, labels=labels)
        return TaskOutput(output.loss, output.logits)


class TransformersForSequenceClassification(TransformersClassifier):
    """Classes of rows; of one label a regression."""

    auto, mapping = "AutoModelForSequenceClassification", "MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING"
    peft_task = "SEQ_CLS"
    problem_type = SINGLE_LABEL

    @classmethod
    def for_labels(cls, peer: Any, labels: Sequence[str]) -> Any:
        _require_first_token(peer)
        kind = REGRESSION if len(labels) == 1 and cls.problem_type != MULTI_LABEL else cls.problem_type
        return _with_labels(super().for_labels(peer, labels), labels, kind)


class TransformersForMultiLabelClassification(TransformersForSequenceClassification):
    """Any number of labels of rows; labels in a batch are float32 (N, labels)."""

    problem_type = MULTI_LABEL


class TransformersForTokenClassification(TransformersClassifier):
    """Classes of tokens."""

    auto, mapping = "AutoModelForTokenClassification", "MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING"
    peft_task = "TOKEN_CLS"

    @classmethod
    def for_labels(cls, peer: Any, labels: Sequence[str]) -> Any:
        return _with_labels(super().for_labels(peer, labels), labels, None)


class TransformersForMultipleChoice(TransformersTaskModel):
    """A logit for each choice of an example, those that it does not have left out."""

    auto, mapping = "AutoModelForMultipleChoice", "MODEL_FOR_MULTIPLE_CHOICE_MAPPING"
    peft_task = "SEQ_CLS"
    outputs_of_last = 1

    @classmethod
    def for_labels(cls, peer: Any, labels: Sequence[str]) -> Any:
        _require_first_token(peer)
        return _with_labels(super().for_labels(peer, labels), labels, None)

    def row_logits(self, **rows: Tensor) -> Tensor:
        logits: Tensor = self.outputs({name: values[:, None] for name, values in rows.items()}).logits
        return logits

    def forward(self, input_ids: Tensor, labels: Tensor | None = None, **inputs: Tensor) -> TaskOutput:  # type: ignore[override]
        """Take int64 (N, choices, L) tensors, and labels int64 (N,), the place of the right choice, -100 for none."""
        logits = logits_by_choice(self.row_logits, {"input_ids": input_ids, **inputs})
        return TaskOutput(None if labels is None else mean_cross_entropy(logits, labels), logits)


class TransformersForQuestionAnswering(TransformersTaskModel):
    """Where answers begin and end."""

    auto, mapping = "AutoModelForQuestionAnswering", "MODEL_FOR_QUESTION_ANSWERING_MAPPING"
    peft_task = "QUESTION_ANS"

    @classmethod
    def for_labels(cls, peer: Any, labels: Sequence[str]) -> Any:
        return _with_labels(super().for_labels(peer, labels), ("LABEL_0", "LABEL_1"), None)

    def forward(  # type: ignore[override]
        self,
        input_ids: Tensor,
        start_positions: Tensor | None = None,
        end_positions: Tensor | None = None,
        **inputs: Tensor,
    ) -> SpanOutput:
        """Take int64 (N, L) tensors, and positions int64 (N,)."""
        places: dict[str, Tensor] = {}
        if start_positions is not None and end_positions is not None:
            places = {"start_positions": start_positions, "end_positions": end_positions}
        output = self.outputs({"input_ids": input_ids, **inputs}, **places)
        return SpanOutput(output.loss if places else None, output.start_logits, output.end_logits)


class TransformersSentenceEncoder(SentenceEncoder, TransformersTaskModel):  # type: ignore[misc]
    """An encoder of transformers and the mean over the tokens of a text, which sentence-transformers opens."""

    auto, mapping = "AutoModel", "MODEL_MAPPING"
    peft_task = "FEATURE_EXTRACTION"

    def adapt(self, directory: str, shape: LoraShape) -> None:
        self.adapters = add_adapters(self.model, self.peft_task, (), directory, shape)  # its pooler has no part in it

    def __init__(self, config: TransformersConfig, model: Any = None) -> None:
        TransformersModel.__init__(self, config, model)
        self.loss, self.max_seq_length, self.settings = None, 128, SentenceSettings()

    @property
    def architecture(self) -> str:
        return type(self.model).__name__

    def states(self, input_ids: Tensor, **inputs: Any) -> Tensor:
        states: Tensor = self.outputs({"input_ids": input_ids, **inputs}).last_hidden_state
        return states

    @classmethod
    def from_pretrained(
        cls,
        directory: str | os.PathLike[str],
        loss: Any = None,
        *,
        max_seq_length: int | None = None,
        config: EncoderConfig | None = None,
    ) -> Self:
        """Load what this class or sentence-transformers saved; with `max_seq_length` any encoder of transformers."""
        place = files.path_text(directory)
        saved = max_seq_length is None or files.exists(files.join(place, MODULES))
        settings = settings_of(place) if saved else SentenceSettings()
        shape = config if isinstance(config, TransformersConfig) else TransformersConfig.load(place)
        model = cls.of(place, shape)
        model.max_seq_length = max_seq_length or saved_length(place, shape.max_position_embeddings)
        model.loss, model.settings = loss, settings
        return model


def check_rows(model: TransformersTaskModel, info: ShardInfo) -> None:
    """Raise ConfigError where a row of shards, of 512 tokens at most, cannot go through a model."""
    template = info.row_template
    types = 1 + max(template.second_type, template.last_type or 0)
    call = getattr(model, "embed", model.row_logits)  # of one text, where a row has several
    probe(model, min(padded_length(info.max_seq_length), PROBED), info.sep_token_id, types, call)


def last_layer(model: nn.Module, labels: int) -> set[str]:
    """Return the names of the weights of the last layer that has an output for each label, none without a head.

    >>> from transformers import BertConfig, BertForTokenClassification
    >>> sorted(last_layer(BertForTokenClassification(BertConfig.from_dict({"num_hidden_layers": 1})), 2))
    ['classifier.bias', 'classifier.weight']
    """
    last = ""
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear) and module.out_features == labels and not _in_encoder(model, name):
            last = name
    return {f"{last}.{name}" for name, _ in model.get_submodule(last).named_parameters()} if last else set()


def _require_first_token(peer: Any) -> None:
    if getattr(peer, "summary_type", "") == "last":
        raise ConfigError(
            f"a {peer.model_type} model classifies rows by their last token (summary_type), and the rows here have "
            "padding there; take another encoder"
        )


def _with_labels(peer: Any, labels: Sequence[str], problem: str | None) -> Any:
    peer.id2label = dict(enumerate(labels))
    peer.label2id = {name: number for number, name in enumerate(labels)}
    peer.problem_type = problem
    return peer


def _in_encoder(model: Any, name: str) -> bool:
    """Tell whether a name is of a module or weight of a model's encoder."""
    return model.base_model is model or name.startswith(f"{model.base_model_prefix}.")


def _require_encoder(model: Any, about: Mapping[str, Any], last: set[str], directory: str) -> None:
    """Raise InputError where a weight of the encoder is not in its folder, or has another shape there."""
    path = files.join(directory, main_file(directory))
    for name in sorted(names_of(about["missing_keys"])):
        if _in_encoder(model, name) and not any(part in name for part in _POOLERS):
            raise InputError(f"has no weight {name!r}; expected all of {type(model).__name__}'s encoder", path=path)
    for name in sorted(names_of(about["mismatched_keys"]) - last):
        raise InputError(
            f"the weight {name!r} has another shape than config.json makes it; the two files do not belong together",
            path=path,
        )
