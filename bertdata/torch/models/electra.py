"""ELECTRA (Clark et al. 2020): a small generator fills in masked tokens, a discriminator detects which were replaced.

Modules and parameters are named as in transformers. Both consist of BERT's blocks on embeddings of another width, which
they share in pretraining (section 3.2). How they are trained is in `objectives/replaced_tokens.py`. Fine-tuning uses
the discriminator.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, Unpack, cast

from torch import Tensor, nn

from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.torch.models.bert.config import BertConfig, sizes
from bertdata.torch.models.bert.model import BertEncoder, EmbeddingsEncoder, activation_of, transform
from bertdata.torch.models.config import Counts, EncoderConfig, overridden
from bertdata.torch.models.encoder import EncoderInputs, initialize, sequential
from bertdata.torch.models.family import EncoderFamily
from bertdata.torch.models.objectives.embedding_sharing import check_shapes, share
from bertdata.torch.models.objectives.replaced_tokens import GENERATOR, ReplacedTokenDetection, of_generator
from bertdata.torch.models.pretraining import MaskedLanguageModel
from bertdata.torch.models.weights import PreTrainedModel, load


@dataclass
class ElectraConfig(BertConfig):
    """The shape of an ELECTRA discriminator (appendix A); the defaults are ELECTRA-small.

    >>> ElectraConfig.base().hidden_size, ElectraConfig().generator().hidden_size
    (768, 64)
    """

    model_type: ClassVar[str] = "electra"
    family: ClassVar[str] = "Electra"

    hidden_size: int = 256
    num_attention_heads: int = 4
    intermediate_size: int = 1024
    embedding_size: int = 128

    @classmethod
    def base(cls, **changes: Any) -> Self:
        """Return ELECTRA-base: 12 layers of 768, 12 heads, embeddings of 768."""
        return cls(**sizes(12, 768, 12) | {"embedding_size": 768} | changes)

    @classmethod
    def small(cls, **changes: Any) -> Self:
        """Return ELECTRA-small: 12 layers of 256, 4 heads, embeddings of 128."""
        return cls(**changes)

    @classmethod
    def tiny(cls, **changes: Any) -> Self:
        """Return a small ELECTRA: 2 layers of 128, 2 heads, embeddings of 64."""
        return cls(**sizes(2, 128, 2) | {"embedding_size": 64} | changes)

    def generator(self, share: int = 4) -> Self:
        """Return the generator's shape: the same depth and embeddings, a `share`-th of the width (section 3.2).

        It has at least one head, and as many as its width allows.
        """
        hidden = self.hidden_size // share
        heads = max(1, self.num_attention_heads // share)
        return replace(
            self,
            hidden_size=hidden // heads * heads,
            num_attention_heads=heads,
            intermediate_size=self.intermediate_size // share,
        )

    def training_flops(self, counts: Counts) -> float:
        """Return the operations of both models: the generator with its head, the discriminator without."""
        generator = BertConfig.training_flops(self.generator(), counts)
        return generator + super().training_flops(counts._replace(labelled=0))


class ElectraModel(EmbeddingsEncoder):
    """Embeddings and blocks: ids to hidden states (N, L, hidden_size); `pooler` is ignored, there is none."""

    def __init__(self, config: ElectraConfig, *, pooler: bool = False) -> None:
        super().__init__(config, BertEncoder(config))
        if config.embedding_size != config.hidden_size:
            self.embeddings_project = nn.Linear(config.embedding_size, config.hidden_size)

    def project(self, embedded: Tensor) -> Tensor:
        return self.embeddings_project(embedded) if hasattr(self, "embeddings_project") else embedded


class ElectraForMaskedLM(MaskedLanguageModel):
    """The generator: logits over the vocabulary, its decoder the word embedding."""

    tied: ClassVar[Mapping[str, str]] = {"generator_lm_head.weight": "electra.embeddings.word_embeddings.weight"}

    def __init__(self, config: ElectraConfig) -> None:
        super().__init__(config)
        self.electra = ElectraModel(config)
        always_gelu = replace(config, hidden_act="gelu")  # as in transformers
        self.generator_predictions = transform(always_gelu, config.embedding_size)
        self.generator_lm_head = nn.Linear(config.embedding_size, config.vocab_size)
        self.tie()
        initialize(self, config)

    def tie(self) -> None:
        """Make the word embedding the weight of the decoder."""
        self.generator_lm_head.weight = self.electra.embeddings.word_embeddings.weight

    def predict(self, hidden: Tensor) -> Tensor:
        logits: Tensor = self.generator_lm_head(self.generator_predictions(hidden))
        return logits


class ElectraForPreTraining(PreTrainedModel):
    """The discriminator: one logit a token, (N, L); over 0, the token was replaced.

    >>> import torch
    >>> model = ElectraForPreTraining(ElectraConfig.tiny(vocab_size=100))
    >>> model(torch.tensor([[2, 7, 3]])).shape
    torch.Size([1, 3])
    """

    def __init__(self, config: ElectraConfig) -> None:
        super().__init__(config)
        self.electra = ElectraModel(config)
        dense, prediction = nn.Linear(config.hidden_size, config.hidden_size), nn.Linear(config.hidden_size, 1)
        activation = activation_of(config)
        self.discriminator_predictions = sequential(dense=dense, activation=activation, dense_prediction=prediction)
        initialize(self, config)

    def forward(self, input_ids: Tensor, **inputs: Unpack[EncoderInputs]) -> Tensor:
        """Take int64 (N, L) tensors, or those of a packed row."""
        result: Tensor = self.discriminator_predictions(self.electra.encode(input_ids, **inputs)).squeeze(-1)
        return result


class ElectraForReplacedTokenDetection(ReplacedTokenDetection):
    """ELECTRA in pretraining: a generator and a discriminator, which by default have the same embeddings."""

    embedding_sharing = "shared"
    generator: ElectraForMaskedLM
    discriminator: ElectraForPreTraining

    def __init__(self, config: ElectraConfig, generator: ElectraConfig | None = None) -> None:
        super().__init__(config)
        with of_generator():
            shape = overridden(config.generator(), self.generator_changes) if generator is None else generator
        self.generator = ElectraForMaskedLM(shape)
        self.discriminator = ElectraForPreTraining(config)
        of_discriminator, others = self.discriminator.electra, self.generator.electra
        if self.embedding_sharing == "shared":
            check_shapes(of_discriminator.embeddings, others.embeddings, "shared")
            others.embeddings = of_discriminator.embeddings
            self.generator.tie()
        else:
            share(of_discriminator.embeddings, others.embeddings, self.embedding_sharing)

    def training_flops(self, counts: Counts) -> float:
        generator, discriminator = cast("ElectraConfig", self.generator.config), cast("ElectraConfig", self.config)
        of_generator = BertConfig.training_flops(generator, counts)
        return of_generator + BertConfig.training_flops(discriminator, counts._replace(labelled=0))

    @classmethod
    def from_pretrained(cls, directory: str | os.PathLike[str], *, config: EncoderConfig | None = None) -> Self:
        """Load what `save_pretrained` wrote; raises InputError where a weight is missing or misshapen.

        config: another one than that of the directory, for the discriminator.
        """
        beside = files.join(files.path_text(directory), GENERATOR)
        shape: Any = config or ElectraConfig.load(directory)
        model = cls(shape, ElectraConfig.load(beside))
        load(model.generator, beside)
        load(model.discriminator, directory)
        model.load_apart(directory)
        return model


def classifier(config: ElectraConfig, labels: int) -> nn.Sequential:
    """Return dense, GELU and a projection, for the state of [CLS]: (N, hidden_size) to (N, labels)."""
    dense, projection = nn.Linear(config.hidden_size, config.hidden_size), nn.Linear(config.hidden_size, labels)
    dropout = nn.Dropout(config.head_dropout)
    return sequential(dense=dense, activation=nn.GELU(), dropout=dropout, out_proj=projection)


def model_for(config: ElectraConfig, info: PretrainingInfo) -> type[ElectraForReplacedTokenDetection]:
    """Return the class that is pretrained on shards; raises ConfigError for those with a pair label."""
    if info.label is not None:
        raise ConfigError(
            f"ELECTRA has no head for pairs, and these shards, for {info.examples.objective}, have a {info.label}; "
            "build with --objective single-segment, or take a BERT config"
        )
    config.check_token_types(info)
    return ElectraForReplacedTokenDetection


FAMILY = EncoderFamily(
    config=ElectraConfig,
    presets={
        "electra-tiny": ElectraConfig.tiny,
        "electra-small": ElectraConfig.small,
        "electra-base": ElectraConfig.base,
    },
    encoder=ElectraModel,
    pretraining=model_for,
    classifier=classifier,
    tied=ElectraForMaskedLM.tied,
    masked=ElectraForMaskedLM,
)
