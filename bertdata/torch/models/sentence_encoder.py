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

from bertdata.errors import ConfigError, shortened
from bertdata.finetune.sentence_embedding import encode_sentences
from bertdata.io import files
from bertdata.tokenizers.base import Tokenizer
from bertdata.torch.models import FAMILIES
from bertdata.torch.models.config import EncoderConfig
from bertdata.torch.models.configs import load_config
from bertdata.torch.models.encoder import EncoderInputs, without_unknown_types
from bertdata.torch.models.sentence_folder import SentenceSettings, saved_length, settings_beside, settings_of
from bertdata.torch.models.weights import PreTrainedModel, load


class SentenceOutput(NamedTuple):
    """loss: scalar, None without a loss function; embeddings: float32 (N, hidden_size) of each text of the examples."""

    loss: Tensor | None
    embeddings: tuple[Tensor, ...]


class SentenceEncoder(PreTrainedModel):
    """An encoder and the mean over the tokens of a text, special ones among them.

    loss: of the embeddings of each text of the examples, the labels, which may be None, and the ids of each text, by
    which copies are known. max_seq_length: the tokens
    that are read of a text. settings: prompts, and what else sentence-transformers saves of how texts become vectors.

    >>> from bertdata.torch import BertConfig
    >>> model = SentenceEncoder(BertConfig.tiny(vocab_size=100))
    >>> model(torch.tensor([[2, 7, 3]])).embeddings[0].shape
    torch.Size([1, 128])
    """

    def __init__(
        self,
        config: EncoderConfig,
        loss: Callable[[Sequence[Tensor], Tensor | None, Sequence[Tensor]], Tensor] | None = None,
        *,
        max_seq_length: int = 128,
        settings: SentenceSettings | None = None,
    ) -> None:
        super().__init__(config)
        family = FAMILIES[config.model_type]
        setattr(self, config.base_model_prefix, family.encoder(config, pooler=True))
        family.initialize(self, config)
        self.loss, self.max_seq_length, self.settings = loss, max_seq_length, settings or SentenceSettings()

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
        vectors = self.embeddings(input_ids, input_ids_2, input_ids_3, **inputs)
        if self.loss is None:
            return SentenceOutput(None, vectors)
        with torch.autocast(input_ids.device.type, enabled=False):
            ids = [text_ids for text_ids in (input_ids, input_ids_2, input_ids_3) if text_ids is not None]
            return SentenceOutput(self.loss(vectors, labels, ids), vectors)

    def embeddings(
        self,
        input_ids: Tensor,
        input_ids_2: Tensor | None = None,
        input_ids_3: Tensor | None = None,
        **inputs: Unpack[EncoderInputs],
    ) -> tuple[Tensor, ...]:
        """Take int64 (N, L) tensors, of the second and third texts int64 (N, L') with [PAD] at padding."""
        vectors = [self.embed(input_ids, **inputs)]
        for ids in (input_ids_2, input_ids_3):
            if ids is not None:
                vectors.append(self.embed(ids, attention_mask=(ids != self.config.pad_token_id).long()))
        return tuple(vectors)

    def states(self, input_ids: Tensor, **inputs: Unpack[EncoderInputs]) -> Tensor:
        """Return the states of the encoder, (N, L, hidden_size)."""
        states: Tensor = self.encoder.encode(input_ids, **without_unknown_types(inputs, self.config))
        return states

    def embed(self, input_ids: Tensor, **inputs: Unpack[EncoderInputs]) -> Tensor:
        """Return the embeddings, float32 (N, hidden_size), of what the encoder takes."""
        states = self.states(input_ids, **inputs).float()
        mask = inputs.get("attention_mask")
        return states.mean(1) if mask is None else mean_over_tokens(states, mask)

    def encode(
        self,
        texts: Sequence[str],
        tokenizer: Tokenizer,
        batch_size: int = 32,
        *,
        prompt: str | None = None,
        prompt_name: str | None = None,
    ) -> NDArray[np.float32]:
        """Return the embeddings of texts, float32 (N, hidden_size), on the device of the weights, in evaluation mode.

        prompt: what goes in front of each text; prompt_name: the name of one that is saved with the model. Without
        both, the model's default prompt does, if it has one, as in sentence-transformers. Raises ConfigError for no
        texts, and for a prompt that there is not.
        """
        if not texts:
            raise ConfigError("there are no texts to encode; expected at least one")
        before = self.settings.prompt(prompt, prompt_name)
        if spelt := next((token for token in tokenizer.special_tokens if token in before), ""):
            raise ConfigError(f"the prompt {shortened(before)} spells {spelt}, a special token; take another prompt")
        ids = self._ids([f"{before}{text}" for text in texts], tokenizer)
        skipped = 0 if self.settings.include_prompt or not before else self._length_of_prompt(before, tokenizer)
        parts, was = [], self.training
        device = next(self.parameters()).device
        self.eval()
        with torch.no_grad():
            for start in range(0, len(ids), batch_size):
                batch = [torch.tensor(row) for row in ids[start : start + batch_size]]
                padded = torch.nn.utils.rnn.pad_sequence(batch, True, self.config.pad_token_id).to(device)
                mask = (padded != self.config.pad_token_id).long()
                states = self.states(padded, attention_mask=mask).float()
                mask[:, :skipped] = 0
                parts.append(mean_over_tokens(states, mask).cpu().numpy())
        self.train(was)
        return np.concatenate(parts)

    def _ids(self, texts: Sequence[str], tokenizer: Tokenizer) -> list[list[int]]:
        """Return the ids of rows of one text, special ones included."""
        if self.settings.do_lower_case:  # letter by letter, as tokenizers does it: Greek has no final sigma then
            texts = ["".join(map(str.lower, text)) for text in texts]
        rows = encode_sentences(tokenizer, [[text] for text in texts], max_seq_length=self.max_seq_length)
        ids: list[list[int]] = rows.columns["input_ids"].to_pylist()
        return ids

    def _length_of_prompt(self, prompt: str, tokenizer: Tokenizer) -> int:
        """Return how many tokens of a row its prompt takes: as many as alone, without the special one at the end."""
        alone = self._ids([prompt], tokenizer)[0]
        return len(alone) - int(alone[-1] in tokenizer.special_ids)

    def save_pretrained(self, directory: str | os.PathLike[str], extra: Mapping[str, Any] | None = None) -> None:
        """Write what `PreTrainedModel` writes, and the files of sentence-transformers; raises OutputError."""
        super().save_pretrained(directory, extra)
        place = files.path_text(directory)
        for name, values in self.settings.files(self.config.hidden_size, self.max_seq_length).items():
            files.write_json(files.join(place, *name.split("/")), values)

    @classmethod
    def from_pretrained(
        cls,
        directory: str | os.PathLike[str],
        loss: Callable[[Sequence[Tensor], Tensor | None, Sequence[Tensor]], Tensor] | None = None,
        *,
        max_seq_length: int | None = None,
        config: EncoderConfig | None = None,
    ) -> Self:
        """Load what this class or sentence-transformers saved; raises InputError and ConfigError as `settings_of`.

        With `max_seq_length`, the encoder of any checkpoint will do, and its pooler is new where it has none.
        """
        place = files.path_text(directory)
        settings = settings_of(place) if max_seq_length is None else settings_beside(place)
        config = config or load_config(directory)
        length = max_seq_length or saved_length(place, config.max_position_embeddings)
        model = cls(config, loss, max_seq_length=length, settings=settings)
        load(model, directory, optional=(f"{model.config.base_model_prefix}.pooler.",))
        return model


def mean_over_tokens(states: Tensor, attention_mask: Tensor) -> Tensor:
    """Return the mean of states (N, L, H) where a mask (N, L) is 1: (N, H).

    >>> mean_over_tokens(torch.tensor([[[1.0], [3.0], [8.0]]]), torch.tensor([[1, 1, 0]]))
    tensor([[2.]])
    """
    taken = attention_mask[..., None].to(states.dtype)
    return (states * taken).sum(1) / taken.sum(1).clamp(min=1)
