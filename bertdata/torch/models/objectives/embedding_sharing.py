"""How generator and discriminator share their embeddings: the same ones, or gradient-disentangled (GDES).

ELECTRA's are the same (Clark et al. 2020, section 3.2), so the discriminator's loss also moves the embeddings that the
generator learns. In DeBERTaV3 (He et al. 2021, section 3, "Gradient-Disentangled Embedding Sharing") the discriminator
has the generator's, through which no gradient of its loss flows, plus a difference that begins at 0. As in the authors'
code, each table is shared (words, positions, token types), and the norm after them is the discriminator's own; weight
decay pulls the difference to 0.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from bertdata.errors import ConfigError


class DisentangledEmbedding(nn.Module):
    """The discriminator's embedding: stop_gradient(generator's) + difference, for ids (...) a tensor (..., width).

    Its state dict has the sum as `weight`, as that of an `nn.Embedding`. A loaded `weight` sets the difference, up to
    rounding, to what is left after subtracting the generator's.

    >>> table = nn.Embedding.from_pretrained(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), freeze=False)
    >>> shared = DisentangledEmbedding(table)
    >>> shared(torch.tensor([1])).sum().backward()
    >>> table.weight.grad is None, shared.difference.grad.tolist(), list(shared.state_dict())
    (True, [[0.0, 0.0], [1.0, 1.0]], ['weight'])
    """

    def __init__(self, generator: nn.Embedding, weight: Tensor | None = None) -> None:
        super().__init__()
        self._generator = (generator,)  # in a tuple: it is no part of this module
        self.num_embeddings, self.embedding_dim = generator.num_embeddings, generator.embedding_dim
        self.padding_idx = generator.padding_idx
        start = torch.zeros_like(generator.weight) if weight is None else weight - generator.weight
        self.difference = nn.Parameter(start.detach().clone())

    @property
    def weight(self) -> Tensor:
        """The sum of both tables."""
        return self._generator[0].weight.detach() + self.difference

    def forward(self, ids: Tensor) -> Tensor:
        generator = functional.embedding(ids, self._generator[0].weight.detach(), self.padding_idx)
        return generator + functional.embedding(ids, self.difference, self.padding_idx)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        destination[f"{prefix}weight"] = self.weight if keep_vars else self.weight.detach()

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing_keys: list[str], *others: Any
    ) -> None:
        name = f"{prefix}weight"
        if name in state_dict:
            with torch.no_grad():
                self.difference.copy_(state_dict[name] - self._generator[0].weight)
        elif strict:
            missing_keys.append(name)


def embeddings_name(encoder: nn.Module, word_embeddings: nn.Module) -> str:
    """Return the name of the part of an encoder that has its word embeddings; raises ConfigError where it has none."""
    for name, part in encoder.named_children():
        if part is not word_embeddings and any(module is word_embeddings for module in part.modules()):
            return name
    raise ConfigError(
        f"{type(encoder).__name__} has no module of embeddings that generator and discriminator could share; take "
        "--embedding-sharing none"
    )


def share(discriminator: nn.Module, generator: nn.Module, how: str, *, keep: bool = False) -> nn.Module:
    """Return the module of embeddings that a discriminator gets: the generator's, or its own with shared tables.

    discriminator, generator: their modules of embeddings; how: shared, gdes or none. keep: under gdes the
    discriminator's tables keep their values, as those of a saved model do; else its differences begin at 0. Raises
    ConfigError where the weights of the two are of other shapes.
    """
    if how == "none":
        return discriminator
    check_shapes(discriminator, generator, how)
    if how == "shared":
        return generator
    for name, table in generator.named_children():
        if isinstance(table, nn.Embedding):
            weight = getattr(discriminator, name).weight if keep else None
            setattr(discriminator, name, DisentangledEmbedding(table, weight))
    return discriminator


def check_shapes(discriminator: nn.Module, generator: nn.Module, how: str) -> None:
    """Raise ConfigError where the weights of two modules of embeddings are of other shapes."""
    of_discriminator, others = (
        {name: tuple(parameter.shape) for name, parameter in both.named_parameters()}
        for both in (discriminator, generator)
    )
    for name in {**of_discriminator, **others}:
        if of_discriminator.get(name) != others.get(name):
            raise ConfigError(
                f"the discriminator's {name} is {of_discriminator.get(name, 'missing')}, the generator's "
                f"{others.get(name, 'missing')}, so their embeddings cannot be shared; give both the same width of "
                f"embeddings, or take --embedding-sharing none in place of {how}"
            )
