"""What is read of the forward pass of a student or a teacher: logits, hidden states, queries, keys and values.

`reader_of` has a reader for bertdata's own models, and one for those of transformers, which shows no queries and keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from torch import Tensor, nn

from bertdata.errors import ConfigError
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.torch.models.attention import AttentionFunction, PackedSequences, packed_sequences
from bertdata.torch.models.encoder import Blocks
from bertdata.torch.models.from_transformers import TransformersForPermutationLM, TransformersModel
from bertdata.torch.models.pretraining import MaskedLanguageModel
from bertdata.torch.models.weights import PreTrainedModel

_LABELS = ("next_sentence_label", "sentence_order_label")


@dataclass(frozen=True)
class Rows:
    """A batch of padded or packed rows.

    inputs: what an encoder takes; labels: int64 (N, L); pair_label: (N,) or None; real: bool (N, L), where there is a
    token, not padding; packed: the sequences of packed rows, None for padded ones.
    """

    inputs: Mapping[str, Tensor]
    labels: Tensor
    pair_label: Tensor | None
    real: Tensor
    packed: PackedSequences | None

    @classmethod
    def of(cls, batch: Mapping[str, Tensor], pad_token_id: int) -> Rows:
        """Return the rows of a `PretrainingCollator` batch.

        >>> import torch
        >>> batch = {"input_ids": torch.tensor([[2, 7, 0]]), "attention_mask": torch.tensor([[1, 1, 0]])}
        >>> Rows.of(batch | {"labels": torch.tensor([[-100, 9, -100]])}, 0).real
        tensor([[ True,  True, False]])
        """
        rest = {name: value for name, value in batch.items() if name not in ("labels", *_LABELS)}
        pair_label = next((batch[name] for name in _LABELS if name in batch), None)
        mask, ends = batch.get("attention_mask"), batch.get("cu_seqlens")
        real = batch["input_ids"] != pad_token_id if mask is None else mask.bool()
        return cls(rest, batch["labels"], pair_label, real, None if ends is None else packed_sequences(ends))

    @property
    def labelled(self) -> Tensor:
        """Where there is a label, bool (N, L)."""
        return self.labels != IGNORE_INDEX

    @property
    def taken(self) -> Tensor:
        """Where there is a token in rows side by side, bool (N, L), also for packed ones."""
        return self.real if self.packed is None else self.real[0][self.packed.places] & self.packed.taken

    def side_by_side(self, states: Tensor) -> Tensor:
        """Return states of heads, (N, heads, L, d), in rows side by side, also for packed ones, (1, heads, T, d)."""
        return states if self.packed is None else states[0].transpose(0, 1)[self.packed.places].transpose(1, 2)


class Attended(NamedTuple):
    """The queries, keys and values of a layer, each (N, heads, L, d), with rotary positions where there are any."""

    query: Tensor
    key: Tensor
    value: Tensor


@dataclass
class States:
    """What was read of a forward pass.

    hidden: of the last layer, (N, L, hidden_size); logits: over the vocabulary at the chosen tokens, (M, vocab_size);
    pairs: (N, 2), None without a head for them; embeddings: (N, L, embedding_size), and layers: the hidden states of
    each, where `need_layers` was called; attention: of each layer, where `need_attention` was.
    """

    hidden: Tensor
    logits: Tensor
    pairs: Tensor | None
    embeddings: Tensor | None = None
    layers: list[Tensor] = field(default_factory=list)
    attention: list[Attended] = field(default_factory=list)


class Reader:
    """Reads the forward passes of a model. role: "student" or "teacher", for messages.

    layers, heads, width, embedding_width, vocab_size: the sizes of the model; kinds: of each layer, such as
    `sliding_attention`, None where all are of one; hooked: whether layers have hooks, which compiled ones do not call.
    """

    hooked: bool = False

    layers: int
    heads: int
    kinds: list[str] | None

    def __init__(self, model: Any, role: str) -> None:
        self.model, self.role = model, role
        self.width: int = model.config.hidden_size
        self.vocab_size: int = model.config.vocab_size
        self.embedding_width: int = getattr(model.config, "embedding_size", self.width)

    def need_layers(self) -> None:
        """Have embeddings and hidden states of all layers read; raises ConfigError where they cannot be."""
        raise NotImplementedError

    def need_attention(self) -> None:
        """Have queries, keys and values read; raises ConfigError where they cannot be."""
        raise NotImplementedError

    def read(self, rows: Rows, chosen: Tensor) -> States:
        """Return what is read of the forward pass of some rows; chosen: the tokens for logits, bool (N, L)."""
        raise NotImplementedError


class OwnReader(Reader):
    """Reads bertdata's own models, by hooks on their modules."""

    def __init__(self, model: MaskedLanguageModel, role: str) -> None:
        super().__init__(model, role)
        self.layers, self.heads = (
            getattr(model.config, f"num_{what}", 0) for what in ("hidden_layers", "attention_heads")
        )
        self.kinds = getattr(model.config, "layer_types", None)
        self._embeddings: list[Tensor] = []
        self._layers: list[Tensor] = []
        self._attention: list[Attended] = []

    def need_layers(self) -> None:
        encoder = self.model.encoder
        blocks = [module for module in encoder.modules() if isinstance(module, Blocks)]
        if len(blocks) != 1 or not hasattr(encoder, "embeddings"):
            raise self._unreadable("layers", "Blocks and embeddings")
        self.hooked = True
        encoder.embeddings.register_forward_hook(lambda _, __, output: self._embeddings.append(output))
        for layer in dict.fromkeys(blocks[0].layers_in_order()):
            layer.register_forward_hook(self._note_layer)

    def need_attention(self) -> None:
        modules = [module for module in self.model.encoder.modules() if isinstance(module, AttentionFunction)]
        if not modules:
            raise self._unreadable("attention", "AttentionFunction")
        self.hooked = True
        for module in modules:
            module.register_forward_hook(self._note_attention)

    def _note_layer(self, module: nn.Module, inputs: tuple[Any, ...], output: Tensor) -> None:
        self._layers.append(output)

    def _note_attention(self, module: nn.Module, inputs: tuple[Any, ...], output: Tensor) -> None:
        self._attention.append(Attended(*inputs[:3]))

    def _unreadable(self, what: str, expected: str) -> ConfigError:
        return ConfigError(
            f"the {what} of the {self.role}, of the family {self.model.config.model_type}, cannot be read: its encoder "
            f"has no {expected}; take --distillation distilbert"
        )

    def read(self, rows: Rows, chosen: Tensor) -> States:
        for noted in (self._embeddings, self._layers, self._attention):
            noted.clear()
        hidden = self.model.encoder.encode(**rows.inputs)
        logits = self.model.predict(hidden[chosen])
        pairs = self.model.predict_pairs(hidden, rows.inputs.get("cu_seqlens"))
        layers = [*self._layers[:-1], hidden] if self._layers else []
        states = States(hidden, logits, pairs, next(iter(self._embeddings), None), layers, [*self._attention])
        for noted in (self._embeddings, self._layers, self._attention):
            noted.clear()
        return states


class TransformersReader(Reader):
    """Reads models of transformers."""

    def __init__(self, model: TransformersModel, role: str) -> None:
        super().__init__(model, role)
        peer = model.model.config
        self.layers, self.heads = peer.num_hidden_layers, peer.num_attention_heads
        self.kinds = getattr(peer, "layer_types", None)

    def need_layers(self) -> None:
        """Do nothing: hidden states are always read."""

    def need_attention(self) -> None:
        raise ConfigError(
            f"the queries and keys of a {self.role} of transformers cannot be read; give the weight 0 to what needs "
            "them (--distillation-weights attention=0), or take --distillation distilbert, or bertdata's own model"
        )

    def read(self, rows: Rows, chosen: Tensor) -> States:
        output = self.model.outputs(rows.inputs, output_hidden_states=True)
        logits, pairs = self.model.logits_of(output)
        embeddings, *layers = output.hidden_states
        return States(layers[-1], logits[chosen], pairs, embeddings, layers)


def reader_of(model: PreTrainedModel, role: str) -> OwnReader | TransformersReader:
    """Return the reader of a model; raises ConfigError for what is no masked language model or has another loss too."""
    forward = type(model).forward
    if isinstance(model, MaskedLanguageModel) and forward is MaskedLanguageModel.forward:
        return OwnReader(model, role)
    permuted = isinstance(model, TransformersForPermutationLM)
    if isinstance(model, TransformersModel) and forward is TransformersModel.forward and not permuted:
        return TransformersReader(model, role)
    raise ConfigError(
        f"the {role} is of the class {type(model).__name__}; distillation is for masked language models with a head "
        "over the vocabulary and no further loss, such as BERT, RoBERTa and ModernBERT"
    )
