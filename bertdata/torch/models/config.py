"""`EncoderConfig`: what the configs of all encoder families share, and the `config.json` that transformers reads.

`training_flops` gives the operations of a batch by its `Counts`, for model FLOPs utilisation.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import Field, FrozenInstanceError, asdict, dataclass, fields, replace
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

from bertdata.errors import ConfigError, InputError, shortened
from bertdata.io import files

MOST_LAYERS = 1000
_MOST = {"num_hidden_layers": MOST_LAYERS}
_MOST_OF_ANY = 1 << 24
"""Far above any published encoder: a larger value is a mistake, and would take all memory."""
UNLIMITED = _MOST_OF_ANY
"""The max_position_embeddings of a model that takes rows of any length."""
UNREAD = {"is_causal": "attention to all tokens of a row", "quantization_config": "weights in floating point"}
"""Keys of any `config.json` that no field stands for, where they are not false or null: what every encoder has."""
_POSITIVE = {"_eps": "1e-12", "_theta": "10000", "_factor": "2"}
"""Endings of the names of numbers that cannot be 0, with an example of each."""

_OR_NONE = " | None"
"""What the types of fields end in that may be None."""

Config = TypeVar("Config", bound="EncoderConfig")


class Counts(NamedTuple):
    """Counts of batches: labelled tokens, pairs, tokens without padding, squares of the rows' lengths.

    maskable: the tokens that could be labelled, where the loss is weighted by drawn mask rates, else 0. masked, causal:
    the labelled tokens of masked and of causal rows, in a phase that has causal ones, else 0.
    """

    labelled: float = 0
    pairs: float = 0
    tokens: float = 0
    squares: float = 0
    maskable: float = 0
    masked: float = 0
    causal: float = 0


@dataclass
class EncoderConfig:
    """The settings that every encoder has, named as in transformers; a family's config adds its own in a subclass.

    Fields cannot be changed. Other attributes can be added, as the Trainer of transformers does.

    model_type: the name of the family, in `config.json`; family: the prefix of the names of its classes; fixed: keys of
    `config.json` that have one value. max_position_embeddings is the length of the longest sequence that the encoder
    takes. rope_field: the field with the base of the rotary positions that change with the length of rows, "" without
    any. Fields that are int or float are checked by their type and name.

    Raises ConfigError for values that no encoder can have.
    """

    model_type: ClassVar[str]
    family: ClassVar[str]
    fixed: ClassVar[Mapping[str, Any]] = {}
    rope_field: ClassVar[str] = ""

    vocab_size: int = 30522
    hidden_size: int = 768
    max_position_embeddings: int = 512
    initializer_range: float = 0.02
    pad_token_id: int = 0

    def __post_init__(self) -> None:
        for setting in fields(self):
            value = getattr(self, setting.name)
            if value is not None or not str(setting.type).endswith(_OR_NONE):
                _check(setting.name, _kind(setting), value)
        if self.pad_token_id >= self.vocab_size:
            raise ConfigError(f"pad_token_id {self.pad_token_id} is outside the vocabulary of {self.vocab_size}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name in vars(self) and any(setting.name == name for setting in fields(self)):
            raise FrozenInstanceError(f"{name} of a config does not change; make another with dataclasses.replace")
        super().__setattr__(name, value)

    @property
    def weights(self) -> int:
        """The number of weights in the encoder's matrices and embeddings; here those of the embeddings alone."""
        return (self.vocab_size + self.max_position_embeddings) * self.hidden_size

    @property
    def head_dropout(self) -> float:
        """The dropout in front of a classifier."""
        return 0.1

    @property
    def base_model_prefix(self) -> str:
        """What the names of the encoder's weights begin with, and the attribute of a model that is its encoder."""
        return self.model_type

    def training_flops(self, counts: Counts) -> float:
        """Return the operations of forward and backward passes: 6 for each weight and token (Kaplan et al. 2020)."""
        return 6.0 * self.weights * counts.tokens

    def settings(self) -> dict[str, Any]:
        """Return the settings that make the model, as JSON: what a checkpoint is compared by."""
        return asdict(self)

    def to_dict(self, architecture: str) -> dict[str, Any]:
        """Return the contents of `config.json` for a model class of this name."""
        return {"architectures": [architecture], "model_type": self.model_type, **self.fixed, **asdict(self)}

    @classmethod
    def translated(cls, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return what a `config.json` says, by the names of the fields; raises ConfigError for what no field can say.

        A family whose `config.json` changed its keys over the versions of transformers overrides it.
        """
        return values

    @classmethod
    def load(cls, directory: str | os.PathLike[str]) -> Self:
        """Read the `config.json` of a directory; raises InputError if it is missing, ConfigError for another family."""
        path, values = read_config(directory)
        for name, expected in {"model_type": cls.model_type, **cls.fixed}.items():
            if values.get(name, expected) != expected:
                raise ConfigError(f"{name} is {shortened(values[name])}; this encoder has only {expected!r}", path=path)
        require_read(values, path)
        if values.get("pad_token_id", 0) is None:
            raise ConfigError(
                "pad_token_id is null; expected the id of [PAD], whose embedding is not trained: write it there",
                path=path,
            )
        names = {setting.name for setting in fields(cls)}
        try:
            named = cls.translated(values)
            return cls(**{name: value for name, value in named.items() if name in names and value is not None})
        except ConfigError as error:
            raise ConfigError(str(error), path=path) from error


def overridden(config: Config, changes: Mapping[str, Any]) -> Config:
    """Return a config with other values of some fields, which may be given as text.

    Raises ConfigError for a name that is no field, and for a value that the field does not take.
    """
    kinds = {setting.name: _kind(setting) for setting in fields(config)}
    for name in changes:
        if name not in kinds:
            raise ConfigError(f"a {config.model_type} config has no {shortened(name)}; expected {', '.join(kinds)}")
    return replace(config, **{name: _parsed(value, kinds[name]) for name, value in changes.items()})


def _kind(setting: Field[Any]) -> str:
    """Return the name of a field's type, as `int`, also of one that may be None."""
    return getattr(setting.type, "__name__", str(setting.type)).removesuffix(_OR_NONE)


def _parsed(value: Any, kind: str) -> Any:
    """Return a number given as text; anything else as it is, for the config to check."""
    if isinstance(value, str) and kind in ("int", "float"):
        with suppress(ValueError):
            return int(value) if kind == "int" else float(value)
    return value


def read_config(directory: str | os.PathLike[str]) -> tuple[str, Mapping[str, Any]]:
    """Return the path of a directory's `config.json` and its contents; raises InputError or ConfigError."""
    folder = files.path_text(directory)
    path = files.join(folder, "config.json")
    if not files.exists(path) and files.exists(files.join(folder, "manifest.json")):
        raise InputError(
            "holds shards, and no model; expected a folder with a config.json, as `bertdata pretrain` writes",
            path=folder,
        )
    values = files.read_json(path)
    if not isinstance(values, Mapping):
        raise ConfigError(f"holds {type(values).__name__}; expected the settings of a model", path=path)
    return path, values


def require_read(values: Mapping[str, Any], path: str = "") -> None:
    """Raise ConfigError for a key of a `config.json` that asks for what no encoder here has."""
    for name, has in UNREAD.items():
        if values.get(name):
            raise ConfigError(f"{name} is {shortened(values[name])}; this encoder has only {has}", path=path or None)


def _check(name: str, kind: str, value: Any) -> None:
    """Raise ConfigError for a setting of another type or out of its bounds."""
    if kind == "int":
        least, most = int(not name.endswith("_token_id")), _MOST.get(name, _MOST_OF_ANY)
        if type(value) is not int or not least <= value <= most:
            raise ConfigError(f"{name} is {shortened(value)}; expected a whole number from {least} to {most:,}")
    elif kind == "float":
        share, positive = name.endswith(("_prob", "_dropout")), next(filter(name.endswith, _POSITIVE), None)
        number = type(value) in (int, float) and math.isfinite(value)
        if not number or value < 0 or (share and value >= 1) or (positive and not value):
            expected = "of 0 or more, and less than 1" if share else "of 0 or more, as 0.02"
            expected = f"more than 0, as {_POSITIVE[positive]}" if positive else expected
            raise ConfigError(f"{name} is {shortened(value)}; expected a number {expected}")
