"""`SentenceEncoder`: texts to vectors, the mean of the encoder's states over the tokens (Sentence-BERT section 3).

It is saved as sentence-transformers saves a model of two modules, a transformer and mean pooling, and opens there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Self, Unpack

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertdata.errors import ConfigError, InputError, shortened
from bertdata.finetune.sentence_embedding import encode_sentences
from bertdata.io import files
from bertdata.tokenizers.base import Tokenizer
from bertdata.torch.models.config import EncoderConfig
from bertdata.torch.models.encoder import EncoderInputs
from bertdata.torch.models.families import FAMILIES, load_config
from bertdata.torch.models.weights import PreTrainedModel, load

MODULES, POOLING, TRANSFORMER = "modules.json", "1_Pooling", "sentence_bert_config.json"
_MODES = ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken")


class SentenceOutput(NamedTuple):
    """loss: scalar, None without a loss function; embeddings: float32 (N, hidden_size) of each text of the examples."""

    loss: Tensor | None
    embeddings: tuple[Tensor, ...]


class SentenceEncoder(PreTrainedModel):
    """An encoder and the mean over the tokens of a text, special ones among them.

    loss: of the embeddings of each text of the examples, and the labels, which may be None. max_seq_length: the tokens
    that are read of a text.

    >>> from bertdata.torch import BertConfig
    >>> model = SentenceEncoder(BertConfig.tiny(vocab_size=100))
    >>> model(torch.tensor([[2, 7, 3]])).embeddings[0].shape
    torch.Size([1, 128])
    """

    def __init__(
        self,
        config: EncoderConfig,
        loss: Callable[[Sequence[Tensor], Tensor | None], Tensor] | None = None,
        *,
        max_seq_length: int = 128,
    ) -> None:
        super().__init__(config)
        family = FAMILIES[config.model_type]
        setattr(self, config.base_model_prefix, family.encoder(config, pooler=True))
        family.initialize(self, config)
        self.loss, self.max_seq_length = loss, max_seq_length

    @property
    def architecture(self) -> str:
        """The name of the class in transformers."""
        return f"{self.config.family}Model"

    def forward(
        self,
        input_ids: Tensor,
        input_ids_2: Tensor | None = None,
        input_ids_3: Tensor | None = None,
        labels: Tensor | None = None,
        **inputs: Unpack[EncoderInputs],
    ) -> SentenceOutput:
        """Take what `embeddings` takes, and labels float32 (N,) where the loss needs them."""
        found = self.embeddings(input_ids, input_ids_2, input_ids_3, **inputs)
        if self.loss is None:
            return SentenceOutput(None, found)
        with torch.autocast(input_ids.device.type, enabled=False):
            return SentenceOutput(self.loss(found, labels), found)

    def embeddings(
        self,
        input_ids: Tensor,
        input_ids_2: Tensor | None = None,
        input_ids_3: Tensor | None = None,
        **inputs: Unpack[EncoderInputs],
    ) -> tuple[Tensor, ...]:
        """Take int64 (N, L) tensors, of the second and third texts int64 (N, L') with [PAD] at padding."""
        found = [self.embed(input_ids, **inputs)]
        for ids in (input_ids_2, input_ids_3):
            if ids is not None:
                found.append(self.embed(ids, attention_mask=(ids != self.config.pad_token_id).long()))
        return tuple(found)

    def embed(self, input_ids: Tensor, **inputs: Unpack[EncoderInputs]) -> Tensor:
        """Return the embeddings, float32 (N, hidden_size), of what the encoder takes."""
        states = self.encoder.encode(input_ids, **inputs).float()
        mask = inputs.get("attention_mask")
        return states.mean(1) if mask is None else mean_over_tokens(states, mask)

    def encode(self, texts: Sequence[str], tokenizer: Tokenizer, batch_size: int = 32) -> NDArray[np.float32]:
        """Return the embeddings of texts, float32 (N, hidden_size), on the device of the weights, in evaluation mode.

        Raises ConfigError for no texts.
        """
        if not texts:
            raise ConfigError("there are no texts to encode; expected at least one")
        rows = encode_sentences(tokenizer, [[text] for text in texts], max_seq_length=self.max_seq_length).columns
        ids, found, was = rows["input_ids"].to_pylist(), [], self.training
        device = next(self.parameters()).device
        self.eval()
        with torch.no_grad():
            for start in range(0, len(ids), batch_size):
                batch = [torch.tensor(row) for row in ids[start : start + batch_size]]
                padded = torch.nn.utils.rnn.pad_sequence(batch, True, self.config.pad_token_id).to(device)
                mask = (padded != self.config.pad_token_id).long()
                found.append(self.embed(padded, attention_mask=mask).cpu().numpy())
        self.train(was)
        return np.concatenate(found)

    def save_pretrained(self, directory: str | os.PathLike[str], extra: Mapping[str, Any] | None = None) -> None:
        """Write what `PreTrainedModel` writes, and the files of sentence-transformers; raises OutputError."""
        super().save_pretrained(directory, extra)
        width, place = self.config.hidden_size, files.path_text(directory)
        kinds = {"": "sentence_transformers.models.Transformer", POOLING: "sentence_transformers.models.Pooling"}
        modules = [
            {"idx": number, "name": str(number), "path": path, "type": kind}
            for number, (path, kind) in enumerate(kinds.items())
        ]
        pooling = {f"pooling_mode_{mode}": mode == "mean_tokens" for mode in _MODES}
        for name, values in {
            MODULES: modules,
            TRANSFORMER: {"max_seq_length": self.max_seq_length, "do_lower_case": False},
            f"{POOLING}/config.json": {"word_embedding_dimension": width, **pooling, "include_prompt": True},
            "config_sentence_transformers.json": {"__version__": {}, "prompts": {}, "similarity_fn_name": "cosine"},
        }.items():
            files.write_json(files.join(place, *name.split("/")), values)

    @classmethod
    def from_pretrained(
        cls,
        directory: str | os.PathLike[str],
        loss: Callable[[Sequence[Tensor], Tensor | None], Tensor] | None = None,
        *,
        max_seq_length: int | None = None,
        config: EncoderConfig | None = None,
    ) -> Self:
        """Load what this class or sentence-transformers saved; raises InputError and ConfigError as `check_pooling`.

        With `max_seq_length`, the encoder of any checkpoint will do, and its pooler is new where it has none.
        """
        place = files.path_text(directory)
        if max_seq_length is None or files.exists(files.join(place, MODULES)):
            check_pooling(place)
        config = config or load_config(directory)
        model = cls(config, loss, max_seq_length=max_seq_length or _saved_length(place, config))
        load(model, directory, optional=(f"{model.config.base_model_prefix}.pooler.",))
        return model


def _saved_length(directory: str, config: EncoderConfig) -> int:
    """Return the length that a model reads: sentence-transformers 6 writes it into the tokenizer's settings alone."""
    for name, key in ((TRANSFORMER, "max_seq_length"), ("tokenizer_config.json", "model_max_length")):
        path = files.join(directory, name)
        found = files.read_json_object(path).get(key) if files.exists(path) else None
        if type(found) is int and 0 < found <= config.max_position_embeddings:
            return found
    return config.max_position_embeddings


def mean_over_tokens(states: Tensor, attention_mask: Tensor) -> Tensor:
    """Return the mean of states (N, L, H) where a mask (N, L) is 1: (N, H).

    >>> mean_over_tokens(torch.tensor([[[1.0], [3.0], [8.0]]]), torch.tensor([[1, 1, 0]]))
    tensor([[2.]])
    """
    taken = attention_mask[..., None].to(states.dtype)
    return (states * taken).sum(1) / taken.sum(1).clamp(min=1)


def check_pooling(directory: str) -> None:
    """Check that a model of sentence-transformers is an encoder and mean pooling.

    Raises InputError where the directory does not say how it pools, ConfigError for another pooling or other modules.
    """
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
    if names != ["Transformer", "Pooling"] or kinds[0][1]:
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
    modes = [name for name, taken in values.items() if name.startswith("pooling_mode_") and taken]
    mode = values.get("pooling_mode") or ", ".join(name.removeprefix("pooling_mode_") for name in modes)
    if mode not in ("mean", "mean_tokens"):
        raise ConfigError(f"pools by {mode or 'nothing'}; this encoder has only the mean of the tokens", path=place)
