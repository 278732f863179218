"""The files that hold the weights of a model: one safetensors file, several with an index, or a pickle of torch.

They are found in the order in which transformers finds them, so that both read the same weights of a folder.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from bertdata.errors import ConfigError, InputError, MissingExtraError, shortened
from bertdata.io import files

WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
PICKLED, PICKLED_INDEX = "pytorch_model.bin", "pytorch_model.bin.index.json"
_IN_ORDER = (WEIGHTS, INDEX, PICKLED, PICKLED_INDEX)
ADAPTER, ADAPTER_WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
_SAFE_PICKLES = (2, 6)
"""The first version of torch whose `weights_only` is without known ways to run code (CVE-2025-32434)."""


def safetensors_torch() -> Any:
    """Return the module `safetensors.torch`; raises MissingExtraError where it is not installed."""
    try:
        import safetensors.torch
    except ModuleNotFoundError as error:
        raise MissingExtraError("safetensors", "torch") from error
    return safetensors.torch


def main_file(directory: str | os.PathLike[str]) -> str:
    """Return the name of the file that a folder's weights begin with, an index where there are several; "" for none."""
    place = files.path_text(directory)
    return next((name for name in _IN_ORDER if files.exists(files.join(place, name))), "")


def trained_files(directory: str | os.PathLike[str]) -> list[str]:
    """Return the names of the files with the adapters of a folder, else of those with its weights; [] for neither."""
    place = files.path_text(directory)
    if files.exists(files.join(place, ADAPTER_WEIGHTS)):
        return [ADAPTER_WEIGHTS]
    return weight_files(place) if main_file(place) else []


def remove_whole(directory: str | os.PathLike[str]) -> None:
    """Remove the config and the weights of a whole model from a folder, such as one that gets adapters alone."""
    place = files.path_text(directory)
    files.remove_files(files.join(place, name) for name in ("config.json", *_IN_ORDER))


def weight_files(directory: str | os.PathLike[str]) -> list[str]:
    """Return the names of all files of a folder's weights, their index first.

    Raises InputError where there are none, or the index names what is no file beside it.
    """
    place = files.path_text(directory)
    begin = main_file(place)
    if not begin:
        raise InputError(
            f"there is no such file, nor {', '.join(_IN_ORDER[1:-1])} or {_IN_ORDER[-1]}; check the path, and save "
            "weights of other formats with the library that made them: model.save_pretrained(FOLDER)",
            path=files.join(place, WEIGHTS),
        )
    if not begin.endswith(".json"):
        return [begin]
    path = files.join(place, begin)
    places = files.read_json_object(path).get("weight_map")
    if not isinstance(places, Mapping) or not places:
        raise InputError("has no weight_map with the file of each weight; save the model again", path=path)
    for name in places.values():
        if not files.is_below(name):
            raise InputError(f"names the file {shortened(name)}, which is not a path below its folder", path=path)
    return [begin, *sorted(set(places.values()))]


def read_weights(directory: str | os.PathLike[str]) -> dict[str, Tensor]:
    """Return the tensors of a folder's weights by their names.

    Raises InputError where a file is missing or damaged, the index names a weight that its file does not have, or a
    weight is in two files with different values.
    """
    place = files.path_text(directory)
    names = weight_files(place)
    require_no_adapter(place)
    if len(names) == 1:
        return _read(files.join(place, names[0]))
    path, weights = files.join(place, names[0]), dict[str, Tensor]()
    for name in names[1:]:
        for weight, value in _read(files.join(place, name)).items():
            if weight in weights and not torch.equal(weights[weight], value):
                raise InputError(
                    f"the weight {shortened(weight)} is in two files, one of them {name}, with different values; save "
                    "the model again",
                    path=path,
                )
            weights[weight] = value
    if missing := sorted(str(weight) for weight in {*files.read_json_object(path)["weight_map"]} - {*weights}):
        raise InputError(
            f"names the weight {shortened(missing[0])}, which no file has; get all files of the model", path=path
        )
    return weights


def require_no_adapter(directory: str) -> None:
    """Raise ConfigError for a folder with an adapter, beside the weights of a model or alone."""
    if files.exists(files.join(directory, ADAPTER)):
        raise ConfigError(
            f"has an adapter of peft ({ADAPTER}), which changes the weights of a model and is not read here; merge it "
            "with peft (merge_and_unload), and save the model",
            path=directory,
        )


_LONGEST_REASON = 300


def read_tensors(path: str) -> dict[str, Tensor]:
    """Return the tensors of a safetensors file; raises InputError where it is missing or damaged."""
    library = safetensors_torch()
    with files.open_raw(path) as file:
        data = file.read()
    try:
        tensors: dict[str, Tensor] = library.load(data)
    except Exception as error:
        reason = str(error)[:_LONGEST_REASON]  # it quotes the header
        raise InputError(f"is not a safetensors file ({reason}); save the model again", path=path) from error
    return tensors


def save_tensors(path: str, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors as a safetensors file, whole or not at all; raises OutputError."""
    state = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    files.write_bytes(path, safetensors_torch().save(state, metadata={"format": "pt"}))


def digests_of_weights(directory: str | os.PathLike[str]) -> dict[str, str]:
    """Return the SHA-256 of each file of a folder's weights by its name; raises InputError where there are none."""
    place = files.path_text(directory)
    return {name: files.sha256(files.join(place, name)) for name in weight_files(place)}


def digest_of_weights(directory: str | os.PathLike[str]) -> str | dict[str, str]:
    """Return the SHA-256 of a folder's weights, of several files by their names; "" where there are none."""
    digests = digests_of_weights(directory) if main_file(directory) else {"": ""}
    return next(iter(digests.values())) if len(digests) == 1 else digests


def _read(path: str) -> dict[str, Tensor]:
    return _read_pickle(path) if path.endswith(".bin") else read_tensors(path)


def _read_pickle(path: str) -> dict[str, Tensor]:
    """Return the tensors of what `torch.save` wrote of a state dict; nothing but tensors is made of the pickle."""
    if tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2]) < _SAFE_PICKLES:
        raise ConfigError(
            f"is a pickle, which torch {torch.__version__} cannot open without running what is in it; install torch "
            "2.6 or later, or save the model as safetensors where it was made",
            path=path,
        )
    with files.open_raw(path) as file:
        data = io.BytesIO(file.read())
    try:
        state = torch.load(data, map_location="cpu", weights_only=True)
    except Exception as error:
        reason = re.split(r"\.\s|\n", str(error))[0]
        raise InputError(
            f"is not a state dict of torch ({reason}); save the model again, as safetensors", path=path
        ) from error
    if not isinstance(state, Mapping):
        raise InputError(f"holds a {type(state).__name__}; expected a state dict: tensors by their names", path=path)
    for name, value in state.items():
        dense = isinstance(value, Tensor) and value.layout == torch.strided and value.device.type == "cpu"
        if not isinstance(name, str) or not dense:
            raise InputError(
                f"holds {shortened(name)}, which is no dense tensor with a name; save model.state_dict() alone",
                path=path,
            )
    return dict(state)
