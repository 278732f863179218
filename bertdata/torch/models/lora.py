"""Low-rank adapters (LoRA, Hu et al. 2021) by peft: what of a model of transformers is trained, and how it is saved.

Trained are the adapters, and whole the layers that the checkpoint had no weights for: the head, and a pooler that
masked language models are saved without. peft by itself keeps the last layer alone, and a pooler that began at random
would be another one when the adapters are opened.
"""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bertdata.errors import ConfigError, MissingExtraError
from bertdata.io import files
from bertdata.io.os_errors import output_error
from bertdata.torch.models.transformers_library import in_one_line, quietly
from bertdata.torch.models.weight_files import remove_whole

FOLDER = "adapter"
"""The folder of the adapters beside the model that they are merged with."""
TASK_CONFIG = "task_config.json"
"""The file beside adapters with the config of the model that they belong to: a config.json would be taken for that of a
whole model."""
ALL_LINEAR = "all-linear"
"""peft's word for all linear layers but those of the head."""


@dataclass(frozen=True)
class LoraShape:
    """What adapters are like: rank 1 or more; alpha: their sum is scaled by alpha / rank; dropout in front of them.

    targets: the layers that get one, by the ends of their names, or ("all-linear",); empty: peft's for the type of
    model, all linear ones where it has none. merge: whether the model is saved with the adapters merged into its
    weights, and they in a folder beside it.
    """

    rank: int
    alpha: float
    dropout: float
    targets: Sequence[str] = ()
    merge: bool = False


@dataclass(frozen=True)
class Adapters:
    """The adapters of a model. model: the `PeftModel` around it, whose layers they are in."""

    model: Any
    merge: bool

    @property
    def folders(self) -> Sequence[str]:
        """The folders that `save` makes a model or adapters in."""
        return ("", FOLDER) if self.merge else ("",)

    def save(self, directory: str, extra: Mapping[str, Any] | None = None) -> None:
        """Write the adapters, and the model with them where they are merged; raises OutputError.

        extra: goes into the config of the model.
        """
        place = files.join(directory, FOLDER) if self.merge else directory
        peer = self.model.base_model.model
        try:
            with quietly():
                self.model.save_pretrained(place, save_embedding_layers=False)
                if not self.merge:
                    remove_whole(directory)
                else:
                    copy.deepcopy(self.model).merge_and_unload(safe_merge=True).save_pretrained(directory)
        except OSError as error:
            raise output_error(error, place) from error
        values = peer.config.to_diff_dict() | {"architectures": [type(peer).__name__], **(extra or {})}
        files.write_json(files.join(place, TASK_CONFIG), values)
        if self.merge:
            path = files.join(directory, "config.json")
            files.write_json(path, files.read_json(path) | dict(extra or {}))


def peft_library() -> Any:
    """Return the module; raises MissingExtraError where it is not installed."""
    try:
        import peft
    except ModuleNotFoundError as error:
        raise MissingExtraError("peft", "lora") from error
    return peft


def add_adapters(peer: Any, task: str, new: Iterable[str], directory: str, shape: LoraShape) -> Adapters:
    """Put adapters into a model of transformers, in place, and freeze all else but its new layers.

    task: the name of peft's task type; new: the names of weights that the checkpoint, which was in `directory`, did not
    have. Raises ConfigError for targets that the model does not have.
    """
    library = peft_library()
    targets = default_targets(peer.config.model_type) if not shape.targets else [*shape.targets]
    config = library.LoraConfig(
        task_type=task,
        r=shape.rank,
        lora_alpha=shape.alpha,
        lora_dropout=shape.dropout,
        target_modules=ALL_LINEAR if targets == [ALL_LINEAR] else targets,
        modules_to_save=new_layers(peer, new) or None,
    )
    names = sorted({name.rpartition(".")[2] for name, module in peer.named_modules() if hasattr(module, "in_features")})
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of transformers, for what peft asks it
            model = library.get_peft_model(peer, config)
    except ValueError as error:
        raise ConfigError(
            f"--lora-targets {' '.join(targets)} do not go with {type(peer).__name__} ({in_one_line(error)}); expected "
            f"some of its linear layers, which end in {', '.join(names)}, or {ALL_LINEAR}"
        ) from error
    config.base_model_name_or_path = os.path.abspath(directory)
    if config.modules_to_save:
        config.modules_to_save = list(dict.fromkeys(config.modules_to_save))
    model.create_or_update_model_card = lambda place: None  # it would change a README.md that is there
    return Adapters(model, shape.merge)


def default_targets(kind: str) -> list[str]:
    """Return the ends of the names of the layers that get adapters in a type of model, as peft has them, or all.

    >>> default_targets("roberta"), default_targets("eurobert")
    (['query', 'value'], ['all-linear'])
    """
    targets = peft_library().utils.TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING
    return [*targets.get(kind, [ALL_LINEAR])]


def new_layers(peer: Any, new: Iterable[str]) -> list[str]:
    """Return the layers, right below a model or its encoder, that weights of these names are in, each once."""
    prefix = peer.base_model_prefix
    parts = [name.split(".") for name in new]
    return sorted({".".join(names[: 2 if names[0] == prefix else 1]) for names in parts})
