"""Another vocabulary for a trained encoder: a folder to go on from, with the rows of its tokens made of the old ones.

Weights are changed in the files, whatever made them. Of each weight that has a row (or a column, or a number) for each
token, the rows of tokens that both vocabularies have are copied, those of others are the mean of the rows of the pieces
that their text has in the old one, and the rest is drawn as for a fresh model. All other weights stay.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bertdata.counter_rng import key
from bertdata.engine.output_lock import output_lock
from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.options.option import require
from bertdata.tokenizers.base import Tokenizer
from bertdata.tokenizers.loading import load_tokenizer, replace_saved
from bertdata.tokenizers.matching import ROLES, Matches, match_tokens
from bertdata.torch.models.config import UNLIMITED, read_config
from bertdata.torch.models.objectives.replaced_tokens import GENERATOR
from bertdata.torch.models.transformers_config import OFFSET, OFFSET_BY_PADDING
from bertdata.torch.models.weight_files import WEIGHTS, main_file, read_tensors, read_weights, save_tensors
from bertdata.torch.models.weights import APART, remove_companions

_OF_LAYER = re.compile(r"\.\d+\.")
"""What is in the names of the weights of numbered layers, none of which has a row for each token."""
_ROLE_OF = {"bos": "cls", "eos": "sep"}
_NOT_SIZES = ("vocab_size", "intermediate_size")
"""Keys of configs: the size of the vocabulary, and one that only the weights of numbered layers have."""
_MULTIPLE = 64
_DEVIATION = 0.02
"""The standard deviation of the embeddings of a fresh model whose config does not say any, as BERT's."""


@dataclass(frozen=True, eq=False)
class Transferred:
    """What was made: the folder, its tokenizer, what its tokens are made of, and the rows after the last token."""

    output: str
    tokenizer: Tokenizer
    matches: Matches
    padding: int


def transfer(
    model: str | os.PathLike[str],
    vocab: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    pad_vocab_to: int = 0,
    seed: int = 0,
) -> Transferred:
    """Write the model of a folder with another vocabulary into a folder of its own, for `pretrain --config`.

    model: a folder with `config.json`, weights and a tokenizer, of bertdata or transformers; vocab: a tokenizer of any
    family, as `load_tokenizer` takes it; pad_vocab_to: a multiple for the rows of the model, 0 for 64 where it has more
    rows than tokens, else for none; seed: of what is drawn.

    The config gets the size of the vocabulary and the ids of special tokens. A model whose positions begin after the id
    of its padding token gets these moved where that id is another. Raises ConfigError where the weights of the
    vocabulary cannot be told from others, or the tokenizer lacks what rows need, and InputError for damaged files.
    """
    place, target = files.path_text(model), files.path_text(output)
    old, new = load_tokenizer(place), load_tokenizer(vocab)
    path, read = read_config(place)
    config = {**read, "pad_token_id": old.pad_token_id if read.get("pad_token_id") is None else read["pad_token_id"]}
    size = config.get("vocab_size")
    if type(size) is not int or size < old.vocab_size:
        raise ConfigError(
            f"vocab_size is {size!r}, and the tokenizer beside it has {old.vocab_size:,} tokens; expected the one that "
            "the model was trained with",
            path=path,
        )
    require(pad_vocab_to >= 0, f"--pad-vocab-to is {pad_vocab_to}; expected 0, or a multiple as 64")
    matches = match_tokens(old, new)
    multiple = pad_vocab_to or (_MULTIPLE if size > old.vocab_size else 1)
    rows = -(-new.vocab_size // multiple) * multiple
    if old.fingerprint == new.fingerprint and not pad_vocab_to:
        rows = size
    changed = _config(config, old, new, rows, path)
    with output_lock(target, "a model with another vocabulary"):
        _write_all(place, target, config, changed, matches, seed, new)
    return Transferred(target, new, matches, rows - new.vocab_size)


def _write_all(
    place: str,
    target: str,
    config: Mapping[str, Any],
    changed: Mapping[str, Any],
    matches: Matches,
    seed: int,
    new: Tokenizer,
) -> None:
    """Write the model, its generator if it has one, and the tokenizer beside each."""
    remove_companions(target)
    generator = files.join(place, GENERATOR)
    if files.exists(files.join(generator, "config.json")):
        _, of_generator = read_config(generator)
        values = {**of_generator, **{name: changed[name] for name in of_generator if _of_vocabulary(name, changed)}}
        _write(generator, files.join(target, GENERATOR), of_generator, values, matches, seed)
        replace_saved(new, files.join(target, GENERATOR), taken=_taken(values))
    _write(place, target, config, changed, matches, seed)
    replace_saved(new, target, taken=_taken(changed))


def _of_vocabulary(name: str, config: Mapping[str, Any]) -> bool:
    return name in config and (name == "vocab_size" or name.endswith("_token_id"))


def _taken(config: Mapping[str, Any]) -> int:
    """Return the most tokens that a model takes, 0 where that is not known."""
    most = config.get("max_position_embeddings")
    if type(most) is not int or not 0 < most < UNLIMITED:
        return 0
    return most - _positions_before(config)


def _positions_before(config: Mapping[str, Any]) -> int:
    """Return how many rows of the positions stand before that of the first token."""
    kind = config.get("model_type", "bert")
    return int(config.get("pad_token_id") or 0) + 1 if kind in OFFSET_BY_PADDING else OFFSET.get(kind, 0)


def _config(config: Mapping[str, Any], old: Tokenizer, new: Tokenizer, rows: int, path: str) -> dict[str, Any]:
    """Return a config with the size and the special ids of another vocabulary."""
    changed: dict[str, Any] = {**config, "vocab_size": rows}
    for name, value in config.items():
        if not name.endswith("_token_id") or type(value) is not int:
            continue
        role = _ROLE_OF.get(name.removesuffix("_token_id"), name.removesuffix("_token_id"))
        token_id = new.id_of_role(role) if role in ROLES else -1
        if token_id < 0 and 0 <= value < old.vocab_size and old.tokens[value] in new.special_tokens:
            token_id = new.tokens.index(old.tokens[value])
        changed[name] = token_id if token_id >= 0 else None
    kind = config.get("model_type", "bert")
    if kind in OFFSET and new.pad_token_id != config.get("pad_token_id"):
        raise ConfigError(
            f"a {kind} model has its padding token at {config.get('pad_token_id')}, and this vocabulary has it at "
            f"{new.pad_token_id}; make one whose special tokens stand in the order of the model's",
            path=path,
        )
    changed["pad_token_id"] = new.pad_token_id
    if kind in OFFSET_BY_PADDING and type(config.get("max_position_embeddings")) is int:
        changed["max_position_embeddings"] += _positions_before(changed) - _positions_before(config)
    return changed


def _write(
    source: str, target: str, config: Mapping[str, Any], changed: Mapping[str, Any], matches: Matches, seed: int
) -> None:
    """Write the weights and the config of a folder into another."""
    path = files.join(source, main_file(source) or WEIGHTS)
    weights = _made(read_weights(source), config, changed, matches, seed, path)
    save_tensors(files.join(target, WEIGHTS), weights)
    apart = files.join(source, APART)
    if files.exists(apart):
        save_tensors(
            files.join(target, APART), _made(read_tensors(apart), config, changed, matches, seed, apart, required=False)
        )
    files.write_json(files.join(target, "config.json"), dict(changed))


def _made(
    weights: Mapping[str, Tensor],
    config: Mapping[str, Any],
    changed: Mapping[str, Any],
    matches: Matches,
    seed: int,
    path: str,
    *,
    required: bool = True,
) -> dict[str, Tensor]:
    """Return weights with the rows of another vocabulary, and positions that begin after its padding token."""
    axes = vocabulary_axes(weights, config, path)
    if required and not axes:
        raise ConfigError(
            f"no weight has a row for each of the {config['vocab_size']:,} tokens of config.json", path=path
        )
    made = dict(weights)
    drawn_as: dict[str, str] = {}
    for name, axis in axes.items():
        same = next(
            (drawn_name for drawn_name in drawn_as if torch.equal(weights[drawn_name], weights[name])), name
        )  # tied weights stay so
        drawn_as[name] = drawn_as.get(same, same)
        generator = torch.Generator().manual_seed(key(seed, f"transfer {drawn_as[name]}") >> 1)
        made[name] = with_rows(weights[name], axis, matches, config, changed["vocab_size"], generator)
    before, after = _positions_before(config), _positions_before(changed)
    if before != after:
        for name, weight in weights.items():
            if name.endswith("position_embeddings.weight") and weight.shape[0] == config["max_position_embeddings"]:
                none = weight.new_zeros((after, weight.shape[1]))
                none[: min(before, after)] = weight[: min(before, after)]
                made[name] = torch.cat([none, weight[before:]])
            elif name.endswith("position_ids"):
                del made[name]
    return made


def vocabulary_axes(weights: Mapping[str, Tensor], config: Mapping[str, Any], path: str = "") -> dict[str, int]:
    """Return the weights that have something for each token, by name, and the axis along which they have it.

    They are those of the size of the vocabulary along one axis, those of numbered layers aside. Raises ConfigError
    where another size of the model is the same number, so that they cannot be told from others.

    >>> vocabulary_axes({"decoder.bias": torch.zeros(9), "layer.0.bias": torch.zeros(9)}, {"vocab_size": 9})
    {'decoder.bias': 0}
    """
    size = config["vocab_size"]
    axes = {
        name: list(weight.shape).index(size)
        for name, weight in weights.items()
        if size in weight.shape and not _OF_LAYER.search(name) and weight.is_floating_point()
    }
    others = [
        name
        for name, value in config.items()
        if type(value) is int and value == size and name not in _NOT_SIZES and not name.endswith("_token_id")
    ]
    if axes and others:
        raise ConfigError(
            f"vocab_size and {', '.join(others)} of the model are both {size:,}, so it cannot be told which weights "
            "have a row for each token; pad the vocabulary of the model to another size first, with "
            "resize_token_embeddings of transformers",
            path=path,
        )
    return axes


def with_rows(
    weight: Tensor, axis: int, matches: Matches, config: Mapping[str, Any], size: int, generator: torch.Generator
) -> Tensor:
    """Return a weight with `size` rows along an axis, made of its rows as the tokens match.

    Means are taken in float64. Rows after the last token are those after the last token of the old vocabulary, again
    and again; where it has none, they are drawn, as the rows of tokens without a match: from a normal distribution with
    the config's `initializer_range`, cut off at its `initializer_cutoff_factor` if it has one; numbers of a bias are 0.
    """
    rows, tokens, counts = weight.movedim(axis, 0), len(matches.kinds), matches.counts
    made = _drawn((size, *rows.shape[1:]), config, generator).to(weight.dtype)
    single, several = np.flatnonzero(counts == 1), np.flatnonzero(counts > 1)
    made[torch.from_numpy(single)] = rows[torch.from_numpy(matches.ids[matches.ends[single]])]
    pieces = rows[torch.from_numpy(matches.ids[np.repeat(counts, counts) > 1])].double()
    owners = torch.from_numpy(np.repeat(np.arange(len(several)), counts[several]))
    sums = torch.zeros((len(several), *rows.shape[1:]), dtype=torch.float64).index_add_(0, owners, pieces)
    divisors = torch.from_numpy(counts[several]).double().reshape(-1, *[1] * (rows.dim() - 1))
    made[torch.from_numpy(several)] = (sums / divisors).to(weight.dtype)
    spare = rows[matches.old_size :]
    if len(spare):
        made[tokens:] = spare[torch.arange(size - tokens) % len(spare)]
    return made.movedim(0, axis).contiguous()


def _drawn(shape: Sequence[int], config: Mapping[str, Any], generator: torch.Generator) -> Tensor:
    """Return rows as a fresh model has them, float32."""
    drawn = torch.zeros(tuple(shape))
    if len(shape) < 2:
        return drawn
    deviation = float(config.get("initializer_range") or _DEVIATION)
    if (cut := config.get("initializer_cutoff_factor")) is None:
        return drawn.normal_(0, deviation, generator=generator)
    most = float(cut) * deviation
    return torch.nn.init.trunc_normal_(drawn, std=deviation, a=-most, b=most, generator=generator)
