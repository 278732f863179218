"""Replaced token detection with encoders of transformers, as DeBERTaV3 is trained (He et al. 2021, section 3).

The generator is what `AutoModelForMaskedLM` makes of the config with half the layers and the same width (section 3.1);
for ELECTRA, of a quarter of the width. The discriminator is what `AutoModel` makes of the config, with ELECTRA's head
for each token; ELECTRA's own model has that head. The discriminator is saved as transformers opens it, its head beside
it, the generator in `generator/`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Self

from torch import Tensor, nn

from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.torch.models.config import EncoderConfig
from bertdata.torch.models.encoder import sequential
from bertdata.torch.models.from_transformers import TransformersModel
from bertdata.torch.models.objectives.embedding_sharing import embeddings_name, share
from bertdata.torch.models.objectives.replaced_tokens import GENERATOR, ReplacedTokenDetection, of_generator
from bertdata.torch.models.transformers_config import TransformersConfig
from bertdata.torch.models.transformers_library import with_changes


def generator_config(config: TransformersConfig, changes: Mapping[str, Any]) -> TransformersConfig:
    """Return the generator's config: half the layers, or ELECTRA's quarter of the width, and then other values by name.

    Lists with an item for each layer are cut. Raises ConfigError for a name that the config does not have.

    >>> from transformers import DebertaV2Config
    >>> deberta = TransformersConfig.of(DebertaV2Config(num_hidden_layers=12, hidden_size=768))
    >>> small = generator_config(deberta, {"intermediate_size": "1024"}).peer
    >>> small.num_hidden_layers, small.hidden_size, small.intermediate_size
    (6, 768, 1024)
    """
    peer = config.peer
    layers, heads = (getattr(peer, f"num_{name}", None) for name in ("hidden_layers", "attention_heads"))
    if not isinstance(layers, int) or not isinstance(heads, int) or heads < 1:
        raise ConfigError(f"a {peer.model_type} config has no number of layers and heads that could be cut for it")
    values: dict[str, Any] = {"num_hidden_layers": max(1, layers // 2)}
    if peer.model_type == "electra":
        fewer = max(1, heads // 4)
        values = {"num_attention_heads": fewer, "hidden_size": peer.hidden_size // 4 // fewer * fewer}
        values["intermediate_size"] = peer.intermediate_size // 4
    return TransformersConfig.of(with_changes(peer, values | dict(changes), "--generator-overrides"))


class TransformersDiscriminator(TransformersModel):
    """An encoder of transformers with ELECTRA's head: dense, GELU, and a logit for each token, (N, L)."""

    auto = "AutoModel"

    def __init__(self, config: TransformersConfig, model: Any = None) -> None:
        super().__init__(config, model)
        dense, prediction = nn.Linear(config.hidden_size, config.hidden_size), nn.Linear(config.hidden_size, 1)
        for layer in (dense, prediction):
            nn.init.normal_(layer.weight, std=getattr(config.peer, "initializer_range", 0.02))
            nn.init.zeros_(layer.bias)
        self.head = sequential(dense=dense, activation=nn.GELU(), dense_prediction=prediction)

    def forward(self, input_ids: Tensor, **inputs: Tensor) -> Tensor:  # type: ignore[override]
        """Take the tensors of a padded batch."""
        hidden = self.model(input_ids=input_ids, **self.taken(inputs)).last_hidden_state
        logits: Tensor = self.head(hidden)
        return logits.squeeze(-1)


class TransformersElectraDiscriminator(TransformersModel):
    """transformers' `ElectraForPreTraining`, which has the head: ids to a logit for each token, (N, L)."""

    auto = "AutoModelForPreTraining"

    def forward(self, input_ids: Tensor, **inputs: Tensor) -> Tensor:  # type: ignore[override]
        """Take the tensors of a padded batch."""
        logits: Tensor = self.model(input_ids=input_ids, **self.taken(inputs)).logits
        return logits


class TransformersForReplacedTokenDetection(ReplacedTokenDetection):
    """A generator and a discriminator of transformers; embeddings are shared under gdes, ELECTRA's are the same."""

    has_unused = True
    generator: TransformersModel
    discriminator: TransformersModel

    def __init__(
        self,
        config: TransformersConfig,
        generator: TransformersModel | None = None,
        discriminator: TransformersModel | None = None,
    ) -> None:
        super().__init__(config)
        electra, saved = config.values["model_type"] == "electra", discriminator is not None
        if generator is None:
            with of_generator():
                generator = TransformersModel(generator_config(config, self.generator_changes))
        self.generator = generator
        self.discriminator = discriminator or discriminator_class(config)(config)
        how = self.embedding_sharing or ("shared" if electra else "gdes")
        if how != "none":
            of_discriminator, others = self.discriminator.encoder, self.generator.encoder
            name = embeddings_name(of_discriminator, self.discriminator.word_embeddings)
            setattr(
                of_discriminator, name, share(getattr(of_discriminator, name), getattr(others, name), how, keep=saved)
            )

    def apart(self) -> dict[str, nn.Parameter]:
        """Return the parameters that the saved models do not have: differences of embeddings, and the head."""
        parameters = dict(self.named_parameters())
        return super().apart() | {
            name: parameters[name] for name in parameters if name.startswith("discriminator.head.")
        }

    @classmethod
    def from_pretrained(cls, directory: str | os.PathLike[str], *, config: EncoderConfig | None = None) -> Self:
        """Load what `save_pretrained` wrote, as float32; raises ConfigError where there is no generator.

        config: another one than that of the directory, for the discriminator.
        """
        place = files.path_text(directory)
        beside = files.join(place, GENERATOR)
        if not files.exists(files.join(beside, "config.json")):
            raise ConfigError(
                f"has no generator in {GENERATOR}/; expected a model that replaced token detection trained, or a "
                "folder with a config.json alone, for fresh weights",
                path=place,
            )
        shape = config if isinstance(config, TransformersConfig) else TransformersConfig.load(place)
        generator = TransformersModel.from_pretrained(beside)
        model = cls(shape, generator, discriminator_class(shape).from_pretrained(place, config=shape))
        model.load_apart(place)
        return model


def discriminator_class(config: TransformersConfig) -> type[TransformersModel]:
    """Return the class of discriminator for a config: ELECTRA has one of its own."""
    electra = config.values["model_type"] == "electra"
    return TransformersElectraDiscriminator if electra else TransformersDiscriminator
