"""Encoders of transformers in the training loop: what `AutoModelFor...` makes of a `config.json`, with our batches.

`bertdata pretrain --library transformers --config CONFIG` uses the functions here in place of those of
`model_loading`. The model is saved as transformers saves it. Its dropout is from torch's generator, which is seeded by
step and process, so a resumed run has the same losses; another number of processes or of gradient accumulation steps
has other dropout.
"""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from torch import Tensor

from bertdata.errors import ConfigError, printable
from bertdata.io import files
from bertdata.io.os_errors import output_error
from bertdata.loader.padding import padded_length
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.schema import ShardInfo
from bertdata.tokenizers.base import Tokenizer
from bertdata.torch.data.dataset import PermutationLMCollator
from bertdata.torch.models.config import EncoderConfig
from bertdata.torch.models.mixed_loss import mixed_loss
from bertdata.torch.models.model_loading import Library, check_tokenizer
from bertdata.torch.models.outputs import PretrainingOutput
from bertdata.torch.models.places import labelled_places, taken_at
from bertdata.torch.models.pretraining import with_losses
from bertdata.torch.models.transformers_causal import causal_masks
from bertdata.torch.models.transformers_config import OFFSET, OFFSET_BY_PADDING, TransformersConfig
from bertdata.torch.models.transformers_library import (
    config_of,
    loaded,
    made,
    peer_config,
    peer_config_of,
    quietly,
    transformers_library,
    with_changes,
)
from bertdata.torch.models.transformers_probe import probe_model
from bertdata.torch.models.weight_files import main_file
from bertdata.torch.models.weights import PreTrainedModel

_LOG = logging.getLogger("bertdata")


class TransformersModel(PreTrainedModel):
    """A masked language model of transformers with the loss that the training loop takes.

    auto: the name of the class of transformers that makes it; keeps_hidden: whether the output has hidden states;
    missing: the weights that the directory it was loaded from did not have, which are random.
    """

    auto: ClassVar[str] = "AutoModelForMaskedLM"
    keeps_hidden = False
    has_unused = True
    weighs_loss = True
    takes_causal_rows = True
    missing: Sequence[str] = ()

    def __init__(self, config: TransformersConfig, model: Any = None) -> None:
        super().__init__(config)
        self.model = made(config.peer, self.auto) if model is None else model
        taken = {*inspect.signature(self.model.forward).parameters}
        types = getattr(self.model.config, "type_vocab_size", 2)
        if isinstance(types, int) and types < 2:
            taken.discard("token_type_ids")
        self._taken = taken

    @property
    def encoder(self) -> Any:
        """The encoder, as `AutoModel` makes it."""
        return self.model.base_model

    @property
    def word_embeddings(self) -> Any:
        return self.model.get_input_embeddings()

    @property
    def takes_types(self) -> bool:
        return "token_type_ids" in self._taken

    @property
    def architecture(self) -> str:
        return type(self.model).__name__

    def taken(self, inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return those of a batch's tensors that the model takes."""
        return {name: inputs[name] for name in inputs if name in self._taken}

    def forward(
        self,
        input_ids: Tensor,
        labels: Tensor | None = None,
        next_sentence_label: Tensor | None = None,
        sentence_order_label: Tensor | None = None,
        labelled: Tensor | None = None,
        loss_weights: Tensor | None = None,
        maskable: Tensor | None = None,
        mask_rates: Tensor | None = None,
        causal_rows: Tensor | None = None,
        causal_share: float = 0.0,
        **inputs: Any,
    ) -> Any:
        """Take the tensors of a padded batch of its collator, with or without `with_places`.

        Returns a `PretrainingOutput`; with causal_rows and labels, a `MixedOutput`.
        """
        if causal_rows is not None:
            parts = (inputs.get("attention_mask"), causal_rows, input_ids.shape[1])
            inputs["attention_mask"] = causal_masks(self.model.config, *parts)
        options = {"output_hidden_states": True} if self.keeps_hidden else {}
        output = self.outputs({"input_ids": input_ids, **inputs}, **options)
        hidden = output.hidden_states[-1] if self.keeps_hidden else None
        logits, pairs = self.logits_of(output)
        if labels is None:
            return PretrainingOutput(None, logits, pairs, hidden)
        if causal_rows is not None:

            def losses_at(places: Tensor) -> PretrainingOutput:
                return with_losses(taken_at(logits, places), taken_at(labels, places), None, None, hidden)

            return mixed_loss(labels, labelled, causal_rows, causal_share, None, losses_at)
        places = labelled_places(labels, labelled)
        pair_label = next_sentence_label if sentence_order_label is None else sentence_order_label
        weights = None if loss_weights is None or maskable is None else (taken_at(loss_weights, places), maskable)
        return with_losses(taken_at(logits, places), taken_at(labels, places), pairs, pair_label, hidden, weights)

    def outputs(self, inputs: Mapping[str, Tensor], **keywords: Any) -> Any:
        """Return the output of the model of transformers for those of the inputs that it takes."""
        return self.model(**self.taken(inputs), **keywords)

    def logits_of(self, output: Any) -> tuple[Tensor, Tensor | None]:
        """Return the logits over the vocabulary, (N, L, vocab_size), and of the pairs, (N, 2) or None."""
        logits = output.logits if "logits" in output else output.prediction_logits
        return logits, output.get("seq_relationship_logits", output.get("sop_logits"))

    def save_pretrained(self, directory: str | os.PathLike[str], extra: Mapping[str, Any] | None = None) -> None:
        """Write what `AutoModel.from_pretrained` opens, and `extra` into its `config.json`; raises OutputError."""
        place = files.path_text(directory)
        try:
            with quietly():
                self.model.save_pretrained(place)
        except OSError as error:
            raise output_error(error, place) from error
        path = files.join(place, "config.json")
        files.write_json(path, files.read_json(path) | dict(extra or {}))

    @classmethod
    def from_pretrained(cls, directory: str | os.PathLike[str], *, config: EncoderConfig | None = None) -> Self:
        """Load what this class or transformers saved, as float32; config: another one than the directory's."""
        place = files.path_text(directory)
        model_config = config if isinstance(config, TransformersConfig) else TransformersConfig.load(place)
        peer, about = loaded(cls.auto, place, model_config.peer)
        model = cls(model_config, peer)
        model.missing = sorted(about["missing_keys"])
        return model


class TransformersForPreTraining(TransformersModel):
    """A model with a head for pairs, as `BertForPreTraining` and `AlbertForPreTraining`."""

    auto = "AutoModelForPreTraining"


class TransformersForPermutationLM(TransformersModel):
    """XLNet: predicted in the drawn orders of `PermutationLMCollator`."""

    auto = "AutoModelForCausalLM"
    collator = PermutationLMCollator
    weighs_loss = False
    takes_causal_rows = False


def presets() -> dict[str, Any]:
    """Return no configs: every one is of transformers."""
    return {}


def resolve_config(
    config: str | EncoderConfig, info: PretrainingInfo, overrides: Mapping[str, Any] | None = None
) -> TransformersConfig:
    """Return the config of a folder or file, of a name that transformers finds, or the default one of a model type.

    overrides: other values of some of its keys, as JSON or as text that may be JSON. The config of a type, such as
    deberta-v2, gets the vocabulary of the shards. Raises ConfigError for what is none, and where it does not fit the
    shards.
    """
    if isinstance(config, EncoderConfig):
        raise ConfigError(f"--library transformers takes the path of a config.json; found a {type(config).__name__}")
    library = transformers_library()
    if config in library.CONFIG_MAPPING and not files.exists(files.join(config, "config.json")):
        ids = {f"{name}_token_id": getattr(info, f"{name}_token_id") for name in ("pad", "cls", "sep")}
        ids |= {"bos_token_id": info.cls_token_id, "eos_token_id": info.sep_token_id, "vocab_size": info.vocab_size}
        values = {"model_type": config, **ids}
        peer = with_changes(config_of(values), overrides or {}, "--config-overrides", values)
    else:
        peer = with_changes(peer_config(config), overrides or {}, "--config-overrides")
    if getattr(peer, "pad_token_id", None) is None:
        peer.pad_token_id = info.pad_token_id
    read_config = TransformersConfig.of(peer)
    if read_config.vocab_size < info.vocab_size or read_config.pad_token_id != info.pad_token_id:
        raise ConfigError(
            f"the config is for {read_config.vocab_size:,} tokens with padding {read_config.pad_token_id}, the shards "
            f"have {info.vocab_size:,} with padding {info.pad_token_id}; change vocab_size and pad_token_id in "
            "config.json, or take shards of its tokenizer"
        )
    padded = padded_length(info.max_seq_length)
    if padded > read_config.max_position_embeddings:
        raise ConfigError(
            f"the rows have up to {info.max_seq_length} tokens, padded to a multiple of 8, and the model takes "
            f"{read_config.max_position_embeddings}; build shorter rows, or raise max_position_embeddings"
        )
    return read_config


def model_class(config: TransformersConfig, info: PretrainingInfo) -> type[TransformersModel]:
    """Return the class that is pretrained on shards; raises ConfigError where the config has no model for them."""
    library, kind = transformers_library(), config.values["model_type"]
    if kind == "xlnet":
        return TransformersForPermutationLM
    peer = type(config.peer)
    if info.label:
        peer_class = library.MODEL_FOR_PRETRAINING_MAPPING.get(peer, None)
        if peer_class is None or info.label not in inspect.signature(peer_class.forward).parameters:
            raise ConfigError(
                f"transformers has no {kind} model with a head for {info.label}, which these shards "
                f"({info.examples.objective}) have; build with --objective full-sentences, or take bert or albert"
            )
        return TransformersForPreTraining
    if peer not in library.MODEL_FOR_MASKED_LM_MAPPING:
        raise ConfigError(f"transformers has no {kind} model for masked tokens; take an encoder, such as deberta-v2")
    return TransformersModel


def from_pretrained(
    directory: str,
    info: PretrainingInfo,
    tokenizer: Tokenizer,
    config: TransformersConfig | None = None,
    kind: type[PreTrainedModel] | None = None,
) -> PreTrainedModel:
    """Return the model of a config: with the weights beside it, else fresh ones.

    config: another one than that there; kind: another class than that of `model_class`.

    Raises ConfigError where the tokenizer beside it is not that of the shards, and for a model that cannot take their
    rows, before the first step.
    """
    config = config or resolve_config(directory, info)
    kind, place = kind or model_class(config, info), directory.removesuffix("config.json") or "."
    if main_file(place):
        check_tokenizer(place, info.tokenizer, tokenizer.vocab_size)
        model = kind.from_pretrained(place, config=config)
        if missing := getattr(model, "missing", ()):
            _LOG.warning(
                "%s has no weights for %s of %s, which begin with random ones",
                printable(place),
                ", ".join(missing),
                model.architecture,
            )
    else:
        model = kind(config)
    probe_model(model, info)
    return model


def load_config(directory: str, info: ShardInfo) -> TransformersConfig:
    """Return the config of a folder's encoder of transformers, for shards of fine-tuning.

    A config without a padding token has that of the shards. Raises ConfigError for what is no encoder of text, and
    where padding is another token than that of the shards and says where positions begin.
    """
    peer = peer_config_of(directory)
    library, kind, path = transformers_library(), peer.model_type, files.join(directory, "config.json")
    if getattr(peer, "is_encoder_decoder", False):
        raise ConfigError(f"{kind} is an encoder with a decoder; expected an encoder, such as roberta", path=path)
    mappings = (library.MODEL_FOR_MASKED_LM_MAPPING, library.MODEL_FOR_CAUSAL_LM_MAPPING)
    masked, causal = (type(peer) in mapping for mapping in mappings)
    if getattr(peer, "is_decoder", False) or (causal and not masked and kind != "xlnet"):
        raise ConfigError(f"{kind} is a decoder here; expected an encoder, such as roberta", path=path)
    padding = getattr(peer, "pad_token_id", None)
    if padding is not None and padding != info.pad_token_id and (kind in OFFSET_BY_PADDING or kind in OFFSET):
        raise ConfigError(
            f"pad_token_id is {padding}, after which the positions of {kind} begin, and the shards pad with "
            f"{info.pad_token_id}; encode with the tokenizer that the model was trained with",
            path=path,
        )
    peer.pad_token_id = info.pad_token_id
    return TransformersConfig.of(peer)


TRANSFORMERS = Library(presets, resolve_config, model_class, from_pretrained, load_config=load_config)
