"""What a folder of sentence-transformers says of how texts become vectors: its modules, pooling, prompts and length.

`settings_of` reads it all. A setting that changes vectors is honoured or refused, also one that is not known here, for
then nobody can tell what it changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bertdata.errors import ConfigError, InputError, expected_one_of, shortened
from bertdata.io import files

MODULES, POOLING, TRANSFORMER = "modules.json", "1_Pooling", "sentence_bert_config.json"
MODEL = "config_sentence_transformers.json"
_TRANSFORMERS = (TRANSFORMER, *(f"sentence_{kind}_config.json" for kind in (
    "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet"
)))  # fmt: skip
"""The file of the settings of the encoder has the name of one of these kinds in older folders, of any encoder."""
_MODES = ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken")
_WITHOUT_EFFECT = ("unpad_inputs",)
_TEXT_BY_ENCODER = {"method": "forward", "method_output_name": "last_hidden_state"}


@dataclass(frozen=True)
class SentenceSettings:
    """How texts become vectors, beside the mean over the tokens.

    prompts: texts by name that go in front of a text; default_prompt_name: the one that goes in front of every text for
    which none is named, "" for none; include_prompt: whether the mean is also over the tokens of the prompt;
    do_lower_case: whether texts are lower-cased before they are tokenized.
    """

    prompts: Mapping[str, str] = field(default_factory=dict)
    default_prompt_name: str = ""
    include_prompt: bool = True
    do_lower_case: bool = False

    def prompt(self, prompt: str | None = None, prompt_name: str | None = None) -> str:
        """Return what goes in front of texts, as sentence-transformers chooses it; raises ConfigError for no name.

        >>> settings = SentenceSettings({"query": "search: "}, "query")
        >>> settings.prompt(), settings.prompt("find: "), settings.prompt("")
        ('search: ', 'find: ', '')
        """
        if prompt is not None:
            return prompt
        name = self.default_prompt_name if prompt_name is None else prompt_name
        if name and name not in self.prompts:
            none = "; no prompts are saved with the model: give the text as prompt"
            raise ConfigError(f"prompt_name is {name!r}{expected_one_of(name, self.prompts) if self.prompts else none}")
        return self.prompts[name] if name else ""

    def files(self, width: int, max_seq_length: int) -> dict[str, Any]:
        """Return the files of sentence-transformers, by their paths, for an encoder of this width and mean pooling."""
        kinds = {"": "sentence_transformers.models.Transformer", POOLING: "sentence_transformers.models.Pooling"}
        modules = [
            {"idx": number, "name": str(number), "path": path, "type": kind}
            for number, (path, kind) in enumerate(kinds.items())
        ]
        pooling = {f"pooling_mode_{mode}": mode == "mean_tokens" for mode in _MODES}
        shape = {"word_embedding_dimension": width, **pooling, "include_prompt": self.include_prompt}
        model = {"__version__": {}, "prompts": dict(self.prompts), "similarity_fn_name": "cosine"}
        named = {"default_prompt_name": self.default_prompt_name} if self.default_prompt_name else {}
        return {
            MODULES: modules,
            TRANSFORMER: {"max_seq_length": max_seq_length, "do_lower_case": self.do_lower_case},
            f"{POOLING}/config.json": shape,
            MODEL: model | named,
        }


def settings_beside(directory: str) -> SentenceSettings:
    """Return how the model of a folder makes vectors of texts; of one that is not of sentence-transformers, as usual.

    Raises InputError and ConfigError as `settings_of` does.
    """
    return settings_of(directory) if files.exists(files.join(directory, MODULES)) else SentenceSettings()


def settings_of(directory: str) -> SentenceSettings:
    """Return how a folder of sentence-transformers makes vectors of texts.

    Raises InputError where it does not say so, or says what cannot be, and ConfigError for another pooling, other
    modules, or a setting that is not honoured here.
    """
    include_prompt = _pooling(directory)
    path, encoder = _encoder_settings(directory)
    lower = encoder.get("do_lower_case", False)
    if not isinstance(lower, bool | None):
        raise InputError(f"do_lower_case is {shortened(lower)}; expected true or false", path=path)
    for name, value in encoder.items():
        _require_without_effect(name, value, path)
    return SentenceSettings(*_prompts(directory), include_prompt, bool(lower))


def saved_length(directory: str, most: int) -> int:
    """Return the tokens that a model reads of a text, at most as many as it has positions.

    sentence-transformers 6 writes it into the tokenizer's settings alone.
    """
    path = files.join(directory, "tokenizer_config.json")
    tokenizer = files.read_json_object(path) if files.exists(path) else {}
    for length in (_encoder_settings(directory)[1].get("max_seq_length"), tokenizer.get("model_max_length")):
        if type(length) is int and length > 0:
            return min(length, most)
    return most


def _encoder_settings(directory: str) -> tuple[str, dict[str, Any]]:
    """Return the first file of settings of the encoder that says anything, and what it says."""
    for name in _TRANSFORMERS:
        path = files.join(directory, name)
        if files.exists(path) and (values := files.read_json_object(path)):
            return path, values
    return files.join(directory, TRANSFORMER), {}


def _require_without_effect(name: str, value: Any, path: str) -> None:
    """Raise ConfigError for a setting of the encoder that may make other vectors."""
    if name in ("max_seq_length", "do_lower_case", *_WITHOUT_EFFECT) or not value:
        return
    if name.endswith(("_args", "_kwargs")) and isinstance(value, Mapping) and {*value} <= {"trust_remote_code"}:
        return
    expected = {"transformer_task": "feature-extraction", "module_output_name": "token_embeddings"}.get(name)
    if name == "modality_config" and isinstance(value, Mapping):
        value, expected = value.get("text"), _TEXT_BY_ENCODER  # type: ignore[assignment]
    if value != expected:
        raise ConfigError(
            f"{name} is {shortened(value)}, which this encoder does not have; take it out if vectors do not depend on "
            "it, or open the model with sentence-transformers",
            path=path,
        )


def _prompts(directory: str) -> tuple[dict[str, str], str]:
    """Return the prompts of a model by name, and the name of the default one, "" for none."""
    path = files.join(directory, MODEL)
    values = files.read_json_object(path) if files.exists(path) else {}
    if (kind := values.get("model_type") or "SentenceTransformer") != "SentenceTransformer":
        raise ConfigError(f"is a model of the type {shortened(kind)}; expected SentenceTransformer", path=path)
    prompts, name = values.get("prompts") or {}, values.get("default_prompt_name") or ""
    if not isinstance(prompts, Mapping) or not all(isinstance(text, str | None) for text in prompts.values()):
        raise InputError(f"has the prompts {shortened(prompts)}; expected texts by name", path=path)
    texts = {prompt: text for prompt, text in prompts.items() if text is not None}
    if name and not (isinstance(name, str) and name in texts):
        raise InputError(f"names the prompt {shortened(name)}, which is not among its prompts; name one", path=path)
    return texts, name


def _pooling(directory: str) -> bool:
    """Check that a folder is an encoder and mean pooling, and return whether this is also over prompts."""
    path = files.join(directory, MODULES)
    if not files.exists(path):
        raise InputError(
            f"has no {MODULES}, which says how states become an embedding; expected a model that was fine-tuned on "
            "sentence-pairs, sentence-triplets or sentence-similarity, or one of sentence-transformers",
            path=directory,
        )
    try:
        kinds = [(module["type"].rpartition(".")[2], module["path"]) for module in files.read_json(path)]
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"is not a list of modules ({error}); save the model again", path=path) from error
    names = [kind for kind, _ in kinds]
    if names == ["Transformer", "Pooling"] and kinds[0][1]:
        raise ConfigError(
            f"has its encoder in the folder {shortened(kinds[0][1])}, as old versions of sentence-transformers saved "
            f'it; move the files of that folder beside {MODULES}, and make its path there ""',
            path=path,
        )
    if names != ["Transformer", "Pooling"]:
        raise ConfigError(f"has the modules {', '.join(names)}; this encoder has only Transformer, Pooling", path=path)
    folder = kinds[1][1]
    if not files.is_below(folder):
        raise InputError(
            f"names the folder {shortened(folder)}, which is not a path below its own, such as {POOLING}; get the "
            "model again",
            path=path,
        )
    place = files.join(directory, *folder.split("/"), "config.json")
    values = files.read_json_object(place)
    modes = [name.removeprefix("pooling_mode_") for name in values if name.startswith("pooling_mode_") and values[name]]
    mode = values.get("pooling_mode") or modes
    mode = mode if isinstance(mode, str) else ", ".join(map(str, mode)) if isinstance(mode, list) else shortened(mode)
    if mode not in ("mean", "mean_tokens"):
        raise ConfigError(f"pools by {mode or 'nothing'}; this encoder has only the mean of the tokens", path=place)
    expected = ("word_embedding_dimension", "embedding_dimension", "pooling_mode", "include_prompt")
    for name, value in values.items():
        if value and name not in (*expected, *(f"pooling_mode_{mode}" for mode in _MODES)):
            raise ConfigError(
                f"{name} is {shortened(value)}, which this encoder does not have; open the model with "
                "sentence-transformers",
                path=place,
            )
    include_prompt = values.get("include_prompt", True)
    if not isinstance(include_prompt, bool):
        raise InputError(f"include_prompt is {shortened(include_prompt)}; expected true or false", path=place)
    return include_prompt
