"""Weights on disk: `model.safetensors` and `config.json`, as transformers names and writes them.

Reads models of this package and of transformers, and Google's released checkpoints (`gamma` and `beta`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from bertdata.errors import ConfigError, InputError
from bertdata.io import files, machine
from bertdata.tokenizers.base import Tokenizer
from bertdata.tokenizers.loading import replace_saved
from bertdata.torch.data.dataset import PretrainingCollator
from bertdata.torch.models import FAMILIES
from bertdata.torch.models.config import UNLIMITED, Counts, EncoderConfig
from bertdata.torch.models.configs import load_config
from bertdata.torch.models.encoder import Encoder
from bertdata.torch.models.weight_files import (
    ADAPTER,
    ADAPTER_WEIGHTS,
    WEIGHTS,
    main_file,
    read_tensors,
    read_weights,
    save_tensors,
)

APART = "pretraining.safetensors"
"""The file, beside a saved model, of the weights that only its pretraining needs; transformers does not read it."""

_LABELS = 2
"""How many classes a classifier has whose `config.json` says nothing of them."""

_COMPANIONS = (
    APART,
    "1_Pooling",
    "adapter",
    ADAPTER,
    ADAPTER_WEIGHTS,
    "config_sentence_transformers.json",
    "distillation.safetensors",
    "generator",
    "modules.json",
    "sentence_bert_config.json",
    "task_config.json",
)
"""What some models have beside their weights, and another model in their folder must not find."""


class PreTrainedModel(nn.Module):
    """A model that is saved and loaded: an encoder under the name of its family, and a head.

    `collator` makes the batches of its pretraining; `objective` is what it is trained for where that is not masked
    tokens, by its name in `TRAINING_OBJECTIVES`; `has_unused` says that weights may have no part in its loss,
    `weighs_loss` that its loss takes weights of tokens, as batches have them where mask rates are drawn;
    `takes_causal_rows` that batches may have causal rows, and labels at the position before. `tied` maps
    weights to others that they are the same as, which are saved in their place. The encoder is the attribute that the
    config's `base_model_prefix` names. `accepts_loss_kwargs` tells the Trainer of transformers not to hand over
    `num_items_in_batch`, as it does to a `forward` with keywords of any name.
    """

    tied: ClassVar[Mapping[str, str]] = {}
    collator: ClassVar[type[PretrainingCollator]] = PretrainingCollator
    objective: ClassVar[str] = ""
    has_unused = False
    weighs_loss = False
    takes_causal_rows = False
    accepts_loss_kwargs: ClassVar[bool] = False

    def __init__(self, config: Any) -> None:
        super().__init__()
        check_memory(config)
        self.config: EncoderConfig = config

    @property
    def encoder(self) -> Encoder:
        """The encoder."""
        encoder: Encoder = getattr(self, self.config.base_model_prefix)
        return encoder

    @property
    def word_embeddings(self) -> nn.Embedding:
        """The module with the embeddings of tokens as its `weight`, (vocab_size, width)."""
        modules = self.encoder.modules()
        size = self.config.vocab_size
        return next(module for module in modules if isinstance(module, nn.Embedding) and module.num_embeddings == size)

    @property
    def architecture(self) -> str:
        """The name of the class in transformers."""
        return type(self).__name__

    @property
    def takes_types(self) -> bool:
        """Whether token types make a difference to the model."""
        return bool(getattr(self.config, "type_vocab_size", 1) > 1)

    @property
    def final(self) -> PreTrainedModel:
        """The model that training ends with and saves: this one; of a student with its teacher the student."""
        return self

    @property
    def folders(self) -> Sequence[str]:
        """The folders that `save_pretrained` makes a model in, below its directory, which is "" itself."""
        return ("",)

    def training_flops(self, counts: Counts) -> float:
        """Return the operations of forward and backward passes over batches of these counts."""
        return self.config.training_flops(counts)

    def save_pretrained(self, directory: str | os.PathLike[str], extra: Mapping[str, Any] | None = None) -> None:
        """Write `model.safetensors`, tied weights once, and `config.json`, which transformers opens.

        `extra` goes into `config.json` beside the shape. Each file is written whole or not at all. Raises OutputError.
        """
        state = {name: value for name, value in self.state_dict().items() if name not in self.tied}
        save_tensors(files.join(files.path_text(directory), WEIGHTS), state)
        values = self.config.to_dict(self.architecture) | {"dtype": "float32"} | dict(extra or {})
        files.write_json(files.join(files.path_text(directory), "config.json"), values)

    @classmethod
    def from_pretrained(cls, directory: str | os.PathLike[str], *, config: EncoderConfig | None = None) -> Self:
        """Load what this class or transformers saved; raises InputError where a weight is missing or misshapen.

        config: another one than that of the directory.
        """
        config = config or load_config(directory)
        require_config_of(cls, config, files.path_text(directory))
        model = cls(config)
        load(model, directory)
        return model

    def reload(self, directory: str) -> None:
        """Load the weights of a checkpoint of this model; raises InputError as `from_pretrained`."""
        self.load_state_dict(type(self).from_pretrained(directory).state_dict())


def require_config_of(model: type[PreTrainedModel], config: EncoderConfig, directory: str) -> None:
    """Raise ConfigError where a class of models takes the config of another family than that of a folder."""
    taken = str(model.__init__.__annotations__.get("config", "Any"))
    if taken.isidentifier() and taken != "Any" and taken not in (base.__name__ for base in type(config).__mro__):
        raise ConfigError(
            f"is a model of the type {config.model_type}, of which {model.__name__} is none; load it with the class "
            "that config.json names, or check its model_type",
            path=files.join(directory, "config.json"),
        )


def save_with_tokenizer(
    model: PreTrainedModel,
    directory: str | os.PathLike[str],
    tokenizer: Tokenizer,
    extra: Mapping[str, Any] | None = None,
) -> None:
    """Write a model, and its tokenizer into each folder that AutoTokenizer may be pointed at; raises OutputError.

    Beside a `config.json` without a tokenizer, transformers 5 makes one of special tokens alone, without a word. The
    `model_max_length` of the tokenizer is what the model takes, and `model_input_names` has token types where the model
    has them. Nothing stays of a former model that is read beside the weights.
    """
    place = files.path_text(directory)
    remove_companions(place)
    model.save_pretrained(place, extra)
    for folder in model.folders:
        where = files.join(place, folder) if folder else place
        taken = model.config.max_position_embeddings
        replace_saved(tokenizer, where, taken=taken if taken < UNLIMITED else 0, takes_types=model.takes_types)


def remove_companions(directory: str) -> None:
    """Remove what is read beside the weights of a model, such as a generator; raises OutputError."""
    for name in _COMPANIONS:
        files.remove(files.join(directory, name))


def check_memory(config: EncoderConfig) -> None:
    """Raise ConfigError where the weights of a model in float32 take more than the memory that this process may use."""
    needed, there = 4 * config.weights, machine.memory()
    if needed > there and torch.get_default_device().type != "meta":
        raise ConfigError(
            f"the model has {config.weights:,} weights, which take {needed / 2**30:,.0f} GiB, and this process may use "
            f"{there / 2**30:,.0f} GiB of memory; expected a smaller vocab_size, hidden_size, intermediate_size or "
            "num_hidden_layers"
        )


def load(
    model: PreTrainedModel, directory: str | os.PathLike[str], new: Sequence[str] = (), optional: Sequence[str] = ()
) -> None:
    """Load the weights of a directory into a model.

    Weights that begin with a prefix in `new` are not loaded, and those in `optional` only where the directory has them.
    Weights that the model does not have, such as the heads of another task, are ignored. Of tied weights one is enough.
    Raises InputError where a file is missing or damaged, a weight is missing or of another shape, or tied weights, or
    two names that are one weight here, differ.
    """
    place, state = files.path_text(directory), model.state_dict()
    path = files.join(place, main_file(place) or WEIGHTS)
    weights = _under_todays_names(read_weights(place), path, model.config, state)
    tied = {**FAMILIES[model.config.model_type].tied, **model.tied}
    chosen: dict[str, Tensor] = {}
    for name, value in state.items():
        sources = [source for source in _same_weight(name, tied) if source in weights]
        if name.startswith(tuple(new)) or (not sources and name.startswith(tuple(optional))):
            chosen[name] = value
            continue
        if not sources:
            raise InputError(
                f"has no weight {name!r} ({len(weights)} weights are there); expected a checkpoint of "
                f"{model.architecture}, with all its heads",
                path=path,
            )
        _require_fit(weights[sources[0]], value, sources[0], path)
        for source in sources[1:]:
            if source in state:
                _require_equal(weights, sources[0], source, path)
        chosen[name] = weights[sources[0]].to(value.dtype)
    model.load_state_dict(chosen)


def _same_weight(name: str, tied: Mapping[str, str]) -> Iterator[str]:
    """Yield the names that a weight may have in a file: its own, then those of the weights it is tied to.

    >>> list(_same_weight("embeddings", {"decoder": "embeddings"}))
    ['embeddings', 'decoder']
    """
    yield name
    first = tied.get(name, name)
    yield from (
        other for other in (first, *(tied_name for tied_name in tied if tied[tied_name] == first)) if other != name
    )


def _require_equal(weights: Mapping[str, Tensor], name: str, other: str, path: str) -> None:
    """Raise InputError where two tied weights have different values."""
    if not torch.equal(weights[name].double(), weights[other].double()):
        raise InputError(
            f"the weights {name!r} and {other!r} differ, and the model has one for both (they are tied); take a "
            "checkpoint whose head is tied, or open this one with transformers, which keeps the two apart "
            "(`bertdata pretrain --library transformers`)",
            path=path,
        )


def _require_fit(read: Tensor, expected: Tensor, name: str, path: str) -> None:
    """Raise InputError where a weight that was read is of another shape or kind than the model's, or not finite."""
    if read.shape != expected.shape:
        raise InputError(
            f"the weight {name!r} has shape {tuple(read.shape)}, config.json makes it {tuple(expected.shape)}; the two "
            "files do not belong together",
            path=path,
        )
    if read.is_floating_point() != expected.is_floating_point():
        raise InputError(
            f"the weight {name!r} is of {read.dtype}; expected {expected.dtype}: save the model again", path=path
        )
    if not bool(torch.isfinite(read.to(expected.dtype)).all()):
        raise InputError(f"the weight {name!r} has values that are not finite; take another checkpoint", path=path)


def save_apart(directory: str | os.PathLike[str], parameters: Mapping[str, Tensor]) -> None:
    """Write parameters that only pretraining needs beside a saved model, if there are any; raises OutputError."""
    if parameters:
        save_tensors(files.join(files.path_text(directory), APART), parameters)


def load_apart(directory: str | os.PathLike[str], parameters: Mapping[str, Tensor]) -> None:
    """Load what `save_apart` wrote into the parameters of these names; they stay as they are where it wrote nothing.

    Raises InputError where the file is damaged, or has one of them in another shape or not at all.
    """
    path = files.join(files.path_text(directory), APART)
    if not parameters or not files.exists(path):
        return
    tensors = read_tensors(path)
    for name, parameter in parameters.items():
        if name not in tensors or tensors[name].shape != parameter.shape:
            there = f"has {tuple(tensors[name].shape)}" if name in tensors else "has none"
            raise InputError(
                f"{there} for the weight {name!r} of {tuple(parameter.shape)}; expected the file of a run with the "
                "same config and objective: delete it to begin with fresh weights",
                path=path,
            )
        with torch.no_grad():
            parameter.copy_(tensors[name])


def _under_todays_names(
    weights: Mapping[str, Tensor], path: str, config: EncoderConfig, state: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """Return tensors under the names they have in a model of the config's family.

    An encoder that was saved alone has no prefix in the names of its weights, and one that was wrapped for several
    processes or compiled has that of the wrapper. Raises InputError where two that differ get one name.
    """
    named: dict[str, Tensor] = {}
    written: dict[str, str] = {}
    for name, value in weights.items():
        today = name.replace("_orig_mod.", "").removeprefix("module.")
        for old, new in FAMILIES[config.model_type].old_names.items():
            today = today.replace(old, new)
        prefixed = f"{config.base_model_prefix}.{today}"
        today = prefixed if prefixed in state else today
        if today in named and not torch.equal(named[today], value):
            raise InputError(
                f"the weights {written[today]!r} and {name!r} differ, and are one weight of the model; leave out the "
                "one that does not belong to it, and save the others again",
                path=path,
            )
        named[today], written[today] = value, name
    return named


def read_labels(directory: str | os.PathLike[str]) -> list[str]:
    """Return the class names that `config.json` gives, by number; raises InputError where these are none.

    Where it gives none they are `LABEL_0`, `LABEL_1` and so on, two if it has no `num_labels`: transformers writes
    neither of a classifier whose classes have these names.
    """
    path = files.join(files.path_text(directory), "config.json")
    values = files.read_json_object(path)
    names, number = values.get("id2label"), values.get("num_labels", _LABELS)
    if names is None and type(number) is int and 0 < number <= UNLIMITED:
        return [f"LABEL_{place}" for place in range(number)]
    if not isinstance(names, Mapping) or not names or set(names) != {str(number) for number in range(len(names))}:
        raise InputError("names no classes (id2label); expected the config.json of a classifier", path=path)
    return [str(names[str(number)]) for number in range(len(names))]
