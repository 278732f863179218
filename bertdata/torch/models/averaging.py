"""Averages of checkpoints: a model each of whose weights is the mean of those of several models of one shape.

Weights are read from the files, whatever made them, and added up in float64. Companions with weights of their own, such
as ELECTRA's generator, are averaged too; the other files are those of the last model.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

import torch
from torch import Tensor

from bertdata.engine.output_lock import output_lock
from bertdata.errors import ConfigError
from bertdata.io import files, listing
from bertdata.options.option import require
from bertdata.torch.models.config import read_config
from bertdata.torch.models.objectives.replaced_tokens import GENERATOR
from bertdata.torch.models.weight_files import WEIGHTS, main_file, read_weights, save_tensors, weight_files
from bertdata.torch.models.weights import remove_companions

_OF_A_RUN = ("optimizer.pt", "state.json")
_NOT_OF_THE_SHAPE = ("_name_or_path", "transformers_version")
_TOKENIZER = ("tokenizer.json", "vocab.txt")


def average(models: Sequence[str | os.PathLike[str]], output: str | os.PathLike[str]) -> int:
    """Write the mean of the weights of several models, each a folder as checkpoints are; returns how many weights.

    The weights of a tensor are added up in float64, in the order given, and have the type of the first. Raises
    ConfigError for fewer than two models, or models of other configs, tokenizers or weights, and InputError for damaged
    files.
    """
    places = [files.path_text(model) for model in models]
    require(len(places) > 1, f"there is {len(places)} model; expected two or more to take the mean of")
    require(len({*map(files.real_path, places)}) == len(places), "a model is named twice; expected each once")
    target = files.path_text(output)
    require(
        files.real_path(target) not in map(files.real_path, places), "the output is one of the models; name another"
    )
    for name in ("", GENERATOR):
        _check_alike([files.join(place, name) if name else place for place in places])
    with output_lock(target, "an average of models"):
        remove_companions(target)
        count = 0
        if main_file(files.join(places[0], GENERATOR)):
            count += _write([files.join(place, GENERATOR) for place in places], files.join(target, GENERATOR))
        return count + _write(places, target)


def _check_alike(places: Sequence[str]) -> None:
    """Raise ConfigError where the models of folders have other configs or tokenizers than the first."""
    if not any(map(main_file, places)):
        return
    shapes = [_shape(place) for place in places]
    for place, shape in zip(places, shapes, strict=True):
        if other := next((key for key in {*shape, *shapes[0]} if shape.get(key) != shapes[0].get(key)), None):
            raise ConfigError(
                f"has another {other} than {places[0]}; expected checkpoints of one run, or of runs of one config and "
                "tokenizer",
                path=place,
            )


def _shape(place: str) -> dict[str, str]:
    _, config = read_config(place)
    tokenizer = {name: files.sha256(path) for name in _TOKENIZER if files.exists(path := files.join(place, name))}
    return {key: json.dumps(value) for key, value in config.items() if key not in _NOT_OF_THE_SHAPE} | tokenizer


def _write(places: Sequence[str], target: str) -> int:
    """Write the mean of the weights of folders, and the other files of the last; returns how many weights there are."""
    tensors = mean_of(places)
    save_tensors(files.join(target, WEIGHTS), tensors)
    skipped = {*weight_files(places[-1]), *_OF_A_RUN}
    names = [name for name in listing.names(places[-1]) if name not in skipped]
    for name in sorted(names, key=lambda name: (name == "config.json", name)):
        path = files.join(places[-1], name)
        if not os.path.isdir(path):
            files.write_bytes(files.join(target, name), files.read_bytes(path))
    return sum(tensor.numel() for tensor in tensors.values())


def mean_of(places: Sequence[str]) -> dict[str, Tensor]:
    """Return the means of the weights of folders by name; raises ConfigError where these differ in name or shape."""
    sums: dict[str, Tensor] = {}
    kinds: dict[str, torch.dtype] = {}
    for place in places:
        weights = read_weights(place)
        if sums and (other := sorted({*weights} ^ {*sums})):
            raise ConfigError(f"has other weights than {places[0]}, such as {other[0]}; expected the same", path=place)
        for name, value in weights.items():
            kinds.setdefault(name, value.dtype)
            if name in sums and sums[name].shape != value.shape:
                shapes = f"{tuple(value.shape)} and {tuple(sums[name].shape)}"
                raise ConfigError(f"the weight {name} has the shapes {shapes}; expected one", path=place)
            if not value.is_floating_point() and name in sums and not torch.equal(sums[name], value.double()):
                raise ConfigError(
                    f"the whole numbers of {name} differ, and have no mean; expected the same", path=place
                )
            if value.is_floating_point() and not bool(torch.isfinite(value).all()):
                raise ConfigError(f"the weight {name} has values that are not finite; leave this one out", path=place)
            first = name not in sums
            sums[name] = value.double() if first else sums[name] + value.double() * value.is_floating_point()
    number = len(places)
    return {
        name: (total / number if kinds[name].is_floating_point else total).to(kinds[name])
        for name, total in sums.items()
    }
