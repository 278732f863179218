"""transformers, where it is installed: how it is called for files of others, and what its errors become.

No code that lies beside a model is run, whatever its config.json names.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch

from bertdata.errors import BertDataError, ConfigError, InputError, MissingExtraError, did_you_mean, nearest, shortened
from bertdata.io import files
from bertdata.torch.models.config import read_config
from bertdata.torch.models.weight_files import main_file, require_no_adapter

_OF_LAYERS = ("layer_types", "attention_window", "mlp_layer_types")
"""Keys of configs that are lists with an item for each layer."""


def transformers_library() -> Any:
    """Return the module; raises MissingExtraError where it is not installed."""
    try:
        import transformers
    except ModuleNotFoundError as error:
        raise MissingExtraError("transformers", "examples") from error
    return transformers


_LONGEST_LINE = 400
"""Characters of what transformers says; it may quote values of a file, however long these are."""


def _first_line(error: Exception) -> str:
    """Return the first line of what an error says, cut where it is long, or its type.

    >>> _first_line(ValueError("two\\nlines")), _first_line(ValueError()), len(_first_line(ValueError("x" * 1000)))
    ('two', 'ValueError', 403)
    """
    line = str(error).splitlines()[0] if str(error).strip() else type(error).__name__
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}..."


@contextmanager
def raising(kind: type[BertDataError], problem: str, path: str) -> Iterator[None]:
    """Raise an error of a kind for those of any kind that transformers raises for what is in a folder."""
    try:
        yield
    except Exception as error:
        raise kind(f"{problem} ({_first_line(error)}); expected what it saves", path=path) from error


@contextmanager
def quietly() -> Iterator[None]:
    """Have transformers print neither bars nor tables of weights inside of the block; errors are raised as ever."""
    logging = transformers_library().logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def config_of(values: Mapping[str, Any]) -> Any:
    """Return the config of transformers of a model_type and other keys; raises ConfigError where it refuses."""
    try:
        return transformers_library().AutoConfig.for_model(**values)
    except Exception as error:
        raise ConfigError(
            f"transformers makes no {shortened(values.get('model_type'))} config of these values "
            f"({in_one_line(error)}); change them"
        ) from error


def values_of(peer: Any) -> dict[str, Any]:
    """Return what the `config.json` of a config of transformers has; raises ConfigError where that is no JSON."""
    try:
        values: dict[str, Any] = json.loads(json.dumps(peer.to_dict()))
    except Exception as error:
        raise ConfigError(
            f"transformers writes no config.json of this {peer.model_type} config ({in_one_line(error)}); change it"
        ) from error
    return values


def with_changes(peer: Any, changes: Mapping[str, Any], flag: str, made_of: Mapping[str, Any] | None = None) -> Any:
    """Return a config with other values of some keys, which may be given as text: numbers, true, false, lists are JSON.

    made_of: the values that it was made of, where those which follow from them are to be made anew. Else lists with an
    item for each layer are cut to fewer layers, and for more layers made anew. Raises ConfigError for a key that
    configs of this type do not have, and for values that do not go together.

    >>> from transformers import ModernBertConfig
    >>> len(with_changes(ModernBertConfig(), {"num_hidden_layers": "4"}, "--config-overrides").layer_types)
    4
    """
    values, aliases = values_of(peer), dict(peer.attribute_map or {})
    settable = {*values, *aliases} - {"model_type", "transformers_version"}
    changed = {}
    for name, given in changes.items():
        if name not in settable:
            raise ConfigError(f"{flag} names {name}, which {peer.model_type} configs do not have")
        changed[aliases.get(name, name)] = parsed(given)
    if not changed:
        return peer
    if made_of is not None:
        return config_of({**made_of, **changed})
    layers = aliases.get("num_hidden_layers", "num_hidden_layers")
    before, after = values.get(layers), changed.get(layers)
    if type(before) is int and type(after) is int and after != before:
        for name in [name for name in _OF_LAYERS if isinstance(of := values.get(name), list) and len(of) == before]:
            values[name] = values[name][:after]
            if after > before:
                del values[name]
    return config_of({name: values[name] for name in values if name != "transformers_version"} | changed)


def parsed(given: Any) -> Any:
    """Return a value that a command line gives: a number, true, false or a list as JSON has it, else the text."""
    try:
        return json.loads(given) if isinstance(given, str) else given
    except (ValueError, RecursionError):
        return given


def in_one_line(error: Exception) -> str:
    """Return what an error says, in one line that is not too long."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 300 else f"{text[:300]}..."


def peer_config(config: str) -> Any:
    """Return the config of a folder or file, or of a name that transformers finds: in its cache, else on its hub.

    A name like that of a model type is not looked up on the hub. Raises ConfigError where there is none.
    """
    library, place = transformers_library(), config.removesuffix("config.json") or "."
    near = nearest(config, library.CONFIG_MAPPING, 0.75)
    misspelt = near and "/" not in config and not config.startswith(f"{near}-") and not files.exists(config)
    try:
        return library.AutoConfig.from_pretrained(place, local_files_only=bool(misspelt), trust_remote_code=False)
    except Exception as error:
        reason = _first_line(error)
        problem = "which is no model type" if misspelt else f"of which transformers makes nothing ({reason})"
        hint = did_you_mean(config, library.CONFIG_MAPPING, 0.75)
        raise ConfigError(
            f"--config is {config!r}, {problem}; expected a folder with a config.json, or a model type such as "
            f"deberta-v2{hint}"
        ) from error


def peer_config_of(directory: str) -> Any:
    """Return the config of the model in a folder; raises ConfigError where transformers has none of its type."""
    path, values = read_config(directory)
    library, kind = transformers_library(), values.get("model_type", "bert")
    if not isinstance(kind, str) or kind not in library.CONFIG_MAPPING:
        code = "; its own code (auto_map) is not run here" if "auto_map" in values else ""
        raise ConfigError(
            f"model_type is {shortened(kind)}, which transformers {library.__version__} does not have{code}; expected "
            "an encoder of transformers, such as roberta",
            path=path,
        )
    with raising(ConfigError, "transformers makes no config of it", directory):
        return library.AutoConfig.from_pretrained(directory, trust_remote_code=False)


def made(peer: Any, auto: str) -> Any:
    """Return a fresh model of a config of transformers, in float32; auto: the class that makes it.

    Raises ConfigError.
    """
    try:
        return getattr(transformers_library(), auto).from_config(_in_float32(peer), trust_remote_code=False)
    except Exception as error:
        raise ConfigError(
            f"transformers cannot make a model of this {peer.model_type} config: {in_one_line(error)}"
        ) from error


def loaded(auto: str, directory: str, peer: Any, **options: Any) -> tuple[Any, dict[str, Any]]:
    """Return the model of a folder in float32, and what transformers says of its weights: `missing_keys` and so on.

    auto: the class that opens it; peer: its config. Raises ConfigError for a folder with an adapter, and InputError
    where it cannot be opened, where the folder has no weight of the model, and where layers have weights there that
    they do not have in this version of transformers.
    """
    require_no_adapter(directory)
    load = getattr(transformers_library(), auto).from_pretrained
    pickled = main_file(directory).startswith("pytorch_model")  # which it opens with weights_only
    safely = {"use_safetensors": not pickled, "trust_remote_code": False}  # no code beside the weights
    with raising(InputError, "transformers cannot load its weights", directory), quietly():
        model, about = load(directory, config=_in_float32(peer), output_loading_info=True, **safely, **options)
    if names_of(about["missing_keys"]) >= {name for name, _ in model.named_parameters()}:
        raise InputError(
            f"has none of the weights of {type(model).__name__}, such as {next(iter(model.state_dict()))!r}; save them "
            "under the names that transformers gives them",
            path=files.join(directory, main_file(directory)),
        )
    _require_taken(model, names_of(about["unexpected_keys"]), directory)
    return model.float(), about


def _in_float32(peer: Any) -> Any:
    """Return a config whose model has weights in float32, whatever type they were saved in or are to be opened in."""
    changed = copy.deepcopy(peer)
    setattr(changed, "dtype" if hasattr(changed, "dtype") else "torch_dtype", torch.float32)
    return changed


def names_of(keys: Any) -> set[str]:
    """Return the names among what transformers tells of weights: names, or tuples that begin with one."""
    return {key if isinstance(key, str) else key[0] for key in keys}


_OF_LAYER = re.compile(r"(?P<layer>\D*\d+)\..*\.(weight|bias)")


def _require_taken(model: Any, names: Iterable[str], directory: str) -> None:
    """Raise InputError where a layer that a model has was saved with more weights than it has here.

    Layers after the last, and heads of other models, are passed over.
    """
    encoder = model.base_model
    layers = {name for name, _ in encoder.named_modules()}
    for name in sorted(names):
        match = _OF_LAYER.fullmatch(name.removeprefix(f"{model.base_model_prefix}."))
        if match and match["layer"] in layers:
            raise InputError(
                f"the weight {name!r} is of a layer of {type(encoder).__name__}, which has no such weight in "
                f"transformers {transformers_library().__version__} and would compute something else without it; open "
                "it with the version that saved it, as relative positions of BERT with transformers 4",
                path=files.join(directory, main_file(directory)),
            )
