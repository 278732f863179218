"""Weights on disk: `model.safetensors` and `config.json`, as transformers names and writes them.

Reads what this package, transformers, or Google's released checkpoints (`gamma` and `beta`) hold. What it does not do:
pickled weights, checkpoints cut into several files, optimizer state (see `checkpoint`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor, nn

from bertdata import files
from bertdata.errors import InputError, MissingExtraError
from bertdata.torch.config import BertConfig

WEIGHTS = "model.safetensors"
_TIED = {
    "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
    "cls.predictions.decoder.bias": "cls.predictions.bias",
}


def _safetensors() -> Any:
    try:
        import safetensors.torch
    except ModuleNotFoundError as error:
        raise MissingExtraError("safetensors", "torch") from error
    return safetensors.torch


def save(
    model: nn.Module,
    config: BertConfig,
    directory: str | os.PathLike[str],
    extra: Mapping[str, Any] | None = None,
) -> None:
    """Write a model's weights, tied ones once, and its configuration; each file is written whole or not at all."""
    state = {name: value.detach().cpu().contiguous() for name, value in model.state_dict().items() if name not in _TIED}
    data = _safetensors().save(state, metadata={"format": "pt"})
    files.write_bytes(files.join(os.fspath(directory), WEIGHTS), data)
    values = config.to_dict(type(model).__name__) | {"dtype": "float32"} | dict(extra or {})
    files.write_json(files.join(os.fspath(directory), "config.json"), values)


def load(model: nn.Module, directory: str | os.PathLike[str], new: Sequence[str] = ()) -> None:
    """Put the weights of a directory into a model; those that begin with a prefix in `new` keep their fresh values.

    What the checkpoint has and the model has not, such as the heads of another task, is left aside. Raises InputError
    where the file is missing or damaged, or a weight is missing or of another shape.
    """
    path = files.join(os.fspath(directory), WEIGHTS)
    found = _read(path)
    state = model.state_dict()
    chosen: dict[str, Tensor] = {}
    for name, value in state.items():
        source = name if name in found else _TIED.get(name, name)
        if name.startswith(tuple(new)):
            chosen[name] = value
        elif source not in found:
            raise InputError(
                f"has no weight {name!r} ({len(found)} weights are there); expected a checkpoint of "
                f"{type(model).__name__}, with all its heads",
                path=path,
            )
        elif found[source].shape != value.shape:
            raise InputError(
                f"the weight {name!r} has shape {tuple(found[source].shape)}, config.json makes it "
                f"{tuple(value.shape)}; the two files do not belong together",
                path=path,
            )
        else:
            chosen[name] = found[source].to(value.dtype)
    model.load_state_dict(chosen)


def _read(path: str) -> dict[str, Tensor]:
    library = _safetensors()
    with files.open_raw(path) as file:
        data = file.read()
    try:
        tensors: dict[str, Tensor] = library.load(data)
    except Exception as error:
        raise InputError(f"is not a safetensors file ({error}); save the model again", path=path) from error
    return {_name(name): value for name, value in tensors.items()}


def _name(name: str) -> str:
    """Return today's name of a weight: gamma and beta of the released checkpoints, an encoder saved without its prefix.

    >>> _name("bert.embeddings.LayerNorm.gamma"), _name("encoder.layer.0.output.dense.bias")
    ('bert.embeddings.LayerNorm.weight', 'bert.encoder.layer.0.output.dense.bias')
    """
    name = name.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias")
    return f"bert.{name}" if name.startswith(("embeddings.", "encoder.", "pooler.")) else name


def read_labels(directory: str | os.PathLike[str]) -> list[str]:
    """Return the class names that `config.json` gives, by number; raises InputError where there are none."""
    path = files.join(os.fspath(directory), "config.json")
    names = files.read_json(path).get("id2label")
    if not isinstance(names, Mapping) or sorted(names, key=int) != [str(number) for number in range(len(names))]:
        raise InputError("names no classes (id2label); expected the config.json of a classifier", path=path)
    return [str(names[str(number)]) for number in range(len(names))]


def parameter_count(model: nn.Module) -> int:
    """Return the number of parameters, tied ones once.

    >>> parameter_count(nn.Linear(3, 2))
    8
    """
    return sum(parameter.numel() for parameter in model.parameters())
