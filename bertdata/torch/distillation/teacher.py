"""A teacher is loaded from a folder, and what does not fit the shards is told before the first step."""

from __future__ import annotations

from typing import Any

from bertdata.errors import BertDataError, ConfigError, InputError
from bertdata.io import files
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.tokenizers.base import Tokenizer
from bertdata.torch.models import FAMILIES, configs, from_transformers, model_loading
from bertdata.torch.models.config import read_config
from bertdata.torch.models.weight_files import WEIGHTS, digest_of_weights, main_file
from bertdata.torch.models.weights import PreTrainedModel


def load_teacher(directory: str, info: PretrainingInfo, tokenizer: Tokenizer, packing: bool) -> PreTrainedModel:
    """Return the model of a folder, frozen and without dropout.

    It is bertdata's own for a family that bertdata has, else that of transformers. packing: whether rows are packed.
    Raises ConfigError or InputError where it has no weights or no head over the vocabulary, another tokenizer, too few
    positions, or a head for other pairs than the shards have.
    """
    lacking = "" if files.exists(files.join(directory, "config.json")) else "config.json"
    if lacking := lacking or ("" if main_file(directory) else WEIGHTS):
        raise ConfigError(f"--teacher is a folder without {lacking}; expected one with a trained model", path=directory)
    try:
        is_own = read_config(directory)[1].get("model_type", "bert") in FAMILIES
        model = _own(directory, info, tokenizer) if is_own else _of_transformers(directory, info, tokenizer)
    except BertDataError as error:
        kind = type(error) if isinstance(error, ConfigError | InputError) else ConfigError
        raise kind(f"the teacher cannot teach on these shards: {error}") from error
    if packing and not is_own:
        raise ConfigError("--packing is not for a teacher of transformers; leave it out", path=directory)
    return model.requires_grad_(False).eval()


def _own(directory: str, info: PretrainingInfo, tokenizer: Tokenizer) -> PreTrainedModel:
    config = configs.resolve_config(configs.load_config(directory), info)
    return model_loading.from_pretrained(directory, info, tokenizer, config)


def _of_transformers(directory: str, info: PretrainingInfo, tokenizer: Tokenizer) -> PreTrainedModel:
    config = from_transformers.resolve_config(directory, info)
    model = from_transformers.from_pretrained(directory, info, tokenizer, config)
    assert isinstance(model, from_transformers.TransformersModel)
    if model.missing:
        raise InputError(
            f"has no weight {model.missing[0]!r}; expected a checkpoint of {model.architecture}, with its head",
            path=files.join(directory, main_file(directory)),
        )
    return model


def identity(directory: str, model: PreTrainedModel) -> dict[str, Any]:
    """Return what a resumed run is compared by: the SHA-256 of the teacher's weights, and its config."""
    config = {f"teacher.{name}": value for name, value in model.config.settings().items()}
    return {"teacher": digest_of_weights(directory)} | config
