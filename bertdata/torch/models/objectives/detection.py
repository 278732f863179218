"""`--training-objective replaced-token-detection`: which class of model it is, and what it is not for."""

from __future__ import annotations

from collections.abc import Sequence

from bertdata.errors import ConfigError
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.torch.models.from_transformers import TransformersModel
from bertdata.torch.models.objectives.replaced_tokens import ReplacedTokenDetection
from bertdata.torch.models.objectives.settings import ObjectiveSettings, TrainingObjective
from bertdata.torch.models.objectives.transformers_detection import TransformersForReplacedTokenDetection
from bertdata.torch.models.weights import PreTrainedModel


def configured(kind: type[ReplacedTokenDetection], settings: ObjectiveSettings) -> type[ReplacedTokenDetection]:
    """Return a class whose models share embeddings, and have a generator, as settings say."""
    if not settings.embedding_sharing and not settings.generator_overrides:
        return kind
    values = {"embedding_sharing": settings.embedding_sharing, "generator_changes": settings.generator_changes}
    return type(kind.__name__, (kind,), {name: value for name, value in values.items() if value})


def _model_class(
    kind: type[PreTrainedModel], infos: Sequence[PretrainingInfo], settings: ObjectiveSettings
) -> type[PreTrainedModel]:
    for info in infos:
        if info.label is not None:
            raise ConfigError(
                f"replaced token detection has no head for pairs, and these shards, for {info.examples.objective}, "
                f"have a {info.label}; build with --objective single-segment or full-sentences"
            )
    if kind is TransformersModel:
        return configured(TransformersForReplacedTokenDetection, settings)
    if not issubclass(kind, ReplacedTokenDetection):
        raise ConfigError(
            f"{kind.__name__} has no discriminator; take --config electra-small, or --library transformers with any "
            "encoder that it has a model for masked tokens of, such as deberta-v2"
        )
    return configured(kind, settings)


OBJECTIVE = TrainingObjective(
    "a generator fills in masked tokens, the model finds which were replaced (ELECTRA, DeBERTaV3)", _model_class
)
