"""Weights on disk: `model.safetensors` and `config.json`, as transformers names and writes them.

Reads models of this package and of transformers, and Google's released checkpoints (`gamma` and `beta`), in one file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from bertdata.errors import ConfigError, InputError, MissingExtraError
from bertdata.io import files
from bertdata.tokenizers.base import Tokenizer
from bertdata.torch.data.dataset import PretrainingCollator
from bertdata.torch.models.config import Counts, EncoderConfig
from bertdata.torch.models.encoder import Encoder
from bertdata.torch.models.families import FAMILIES, load_config

WEIGHTS = "model.safetensors"
APART = "pretraining.safetensors"
"""The file, beside a saved model, of the weights that only its pretraining needs; transformers does not read it."""


_PICKLED = "pytorch_model.bin"


def safetensors_torch() -> Any:
    """Return the module `safetensors.torch`; raises MissingExtraError where it is not installed."""
    try:
        import safetensors.torch
    except ModuleNotFoundError as error:
        raise MissingExtraError("safetensors", "torch") from error
    return safetensors.torch


class PreTrainedModel(nn.Module):
    """A model that is saved and loaded: an encoder under the name of its family, and a head.

    `collator` makes the batches of its pretraining; `objective` is what it is trained for where that is not masked
    tokens, by its name in `TRAINING_OBJECTIVES`; `has_unused` says that weights may have no part in its loss. `tied`
    maps weights to others that they are the same as, which are saved in their place. The encoder is the attribute that
    the config's `base_model_prefix` names. `accepts_loss_kwargs` tells the Trainer of transformers not to hand over
    `num_items_in_batch`, as it does to a `forward` with keywords of any name.
    """

    tied: ClassVar[Mapping[str, str]] = {}
    collator: ClassVar[type[PretrainingCollator]] = PretrainingCollator
    objective: ClassVar[str] = ""
    has_unused = False
    accepts_loss_kwargs: ClassVar[bool] = False

    def __init__(self, config: Any) -> None:
        super().__init__()
        check_memory(config)
        self.config: EncoderConfig = config

    @property
    def encoder(self) -> Encoder:
        """The encoder."""
        found: Encoder = getattr(self, self.config.base_model_prefix)
        return found

    @property
    def word_embeddings(self) -> nn.Embedding:
        """The module with the embeddings of tokens as its `weight`, (vocab_size, width)."""
        modules = self.encoder.modules()
        size = self.config.vocab_size
        return next(one for one in modules if isinstance(one, nn.Embedding) and one.num_embeddings == size)

    @property
    def architecture(self) -> str:
        """The name of the class in transformers."""
        return type(self).__name__

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
        save_tensors(files.join(os.fspath(directory), WEIGHTS), state)
        values = self.config.to_dict(self.architecture) | {"dtype": "float32"} | dict(extra or {})
        files.write_json(files.join(os.fspath(directory), "config.json"), values)

    @classmethod
    def from_pretrained(cls, directory: str | os.PathLike[str], *, config: EncoderConfig | None = None) -> Self:
        """Load what this class or transformers saved; raises InputError where a weight is missing or misshapen.

        config: another one than that of the directory.
        """
        model = cls(config or load_config(directory))
        load(model, directory)
        return model

    def reload(self, directory: str) -> None:
        """Load the weights of a checkpoint of this model; raises InputError as `from_pretrained`."""
        self.load_state_dict(type(self).from_pretrained(directory).state_dict())


def save_with_tokenizer(
    model: PreTrainedModel,
    directory: str | os.PathLike[str],
    tokenizer: Tokenizer,
    extra: Mapping[str, Any] | None = None,
) -> None:
    """Write a model, and its tokenizer into each folder that AutoTokenizer may be pointed at; raises OutputError.

    Beside a `config.json` without a tokenizer, transformers 5 makes one of special tokens alone, without a word.
    """
    model.save_pretrained(directory, extra)
    for folder in model.folders:
        tokenizer.save_pretrained(files.join(os.fspath(directory), folder) if folder else directory)


def check_memory(config: EncoderConfig) -> None:
    """Raise ConfigError where the weights of a model in float32 take more than the machine's memory."""
    needed, there = 4 * config.weights, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if needed > there and torch.get_default_device().type != "meta":
        raise ConfigError(
            f"the model has {config.weights:,} weights, which take {needed / 2**30:,.0f} GiB, and this machine has "
            f"{there / 2**30:,.0f} GiB of memory; expected a smaller vocab_size, hidden_size, intermediate_size or "
            "num_hidden_layers"
        )


def load(
    model: PreTrainedModel, directory: str | os.PathLike[str], new: Sequence[str] = (), optional: Sequence[str] = ()
) -> None:
    """Load the weights of a directory into a model.

    Weights that begin with a prefix in `new` are not loaded, and those in `optional` only where the directory has them.
    Weights that the model does not have, such as the heads of another task, are ignored. Raises InputError where the
    file is missing or damaged, or a weight is missing or of another shape.
    """
    path = files.join(os.fspath(directory), WEIGHTS)
    state = model.state_dict()
    found = _read(path, model.config, state)
    chosen: dict[str, Tensor] = {}
    for name, value in state.items():
        source = name if name in found else model.tied.get(name, name)
        if name.startswith(tuple(new)) or (source not in found and name.startswith(tuple(optional))):
            chosen[name] = value
        elif source not in found:
            raise InputError(
                f"has no weight {name!r} ({len(found)} weights are there); expected a checkpoint of "
                f"{model.architecture}, with all its heads",
                path=path,
            )
        elif found[source].shape != value.shape:
            raise InputError(
                f"the weight {name!r} has shape {tuple(found[source].shape)}, config.json makes it "
                f"{tuple(value.shape)}; the two files do not belong together",
                path=path,
            )
        else:
            _require_numbers(found[source], value, source, path)
            chosen[name] = found[source].to(value.dtype)
    model.load_state_dict(chosen)


def _require_numbers(read: Tensor, expected: Tensor, name: str, path: str) -> None:
    """Raise InputError where a weight that was read is not of floating point, as the model's, or not finite."""
    if read.is_floating_point() != expected.is_floating_point():
        raise InputError(
            f"the weight {name!r} is of {read.dtype}; expected {expected.dtype}: save the model again", path=path
        )
    if not bool(torch.isfinite(read).all()):
        raise InputError(f"the weight {name!r} has values that are not finite; take another checkpoint", path=path)


def save_tensors(path: str, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors as a safetensors file, whole or not at all; raises OutputError."""
    state = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    files.write_bytes(path, safetensors_torch().save(state, metadata={"format": "pt"}))


def save_apart(directory: str | os.PathLike[str], parameters: Mapping[str, Tensor]) -> None:
    """Write parameters that only pretraining needs beside a saved model, if there are any; raises OutputError."""
    if parameters:
        save_tensors(files.join(os.fspath(directory), APART), parameters)


def load_apart(directory: str | os.PathLike[str], parameters: Mapping[str, Tensor]) -> None:
    """Load what `save_apart` wrote into the parameters of these names; they stay as they are where it wrote nothing.

    Raises InputError where the file is damaged, or has one of them in another shape or not at all.
    """
    path = files.join(os.fspath(directory), APART)
    if not parameters or not files.exists(path):
        return
    found = read_tensors(path)
    for name, parameter in parameters.items():
        if name not in found or found[name].shape != parameter.shape:
            there = f"has {tuple(found[name].shape)}" if name in found else "has none"
            raise InputError(
                f"{there} for the weight {name!r} of {tuple(parameter.shape)}; expected the file of a run with the "
                "same config and objective: delete it to begin with fresh weights",
                path=path,
            )
        with torch.no_grad():
            parameter.copy_(found[name])


def read_tensors(path: str) -> dict[str, Tensor]:
    """Return the tensors of a safetensors file; raises InputError where it is missing or damaged."""
    library = safetensors_torch()
    pickled = files.join(os.path.dirname(path), _PICKLED)
    if not files.exists(path) and files.exists(pickled):
        raise InputError(
            f"is missing; {_PICKLED} beside it is not read, as opening a pickle can run code: save the model as "
            "safetensors with what made it",
            path=path,
        )
    with files.open_raw(path) as file:
        data = file.read()
    try:
        tensors: dict[str, Tensor] = library.load(data)
    except Exception as error:
        raise InputError(f"is not a safetensors file ({error}); save the model again", path=path) from error
    return tensors


def _read(path: str, config: EncoderConfig, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors of a file under the names they have in a model of the config's family.

    An encoder that was saved alone has no prefix in the names of its weights.
    """
    found = {}
    for name, value in read_tensors(path).items():
        for old, today in FAMILIES[config.model_type].old_names.items():
            name = name.replace(old, today)  # noqa: PLW2901
        prefixed = f"{config.base_model_prefix}.{name}"
        found[prefixed if prefixed in state else name] = value
    return found


def read_labels(directory: str | os.PathLike[str]) -> list[str]:
    """Return the class names that `config.json` gives, by number; raises InputError where there are none."""
    path = files.join(os.fspath(directory), "config.json")
    names = files.read_json_object(path).get("id2label")
    if not isinstance(names, Mapping) or not names or set(names) != {str(number) for number in range(len(names))}:
        raise InputError("names no classes (id2label); expected the config.json of a classifier", path=path)
    return [str(names[str(number)]) for number in range(len(names))]
