"""`--training-objective` and its settings, and `model_class`, which finds the class of model for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bertdata.options.option import Settings, flag_of, option, require
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.torch.models.objectives import TRAINING_OBJECTIVES
from bertdata.torch.models.weights import PreTrainedModel

DETECTION, RETROMAE = "replaced-token-detection", "retromae"
SHARING = ("shared", "gdes", "none")


@dataclass(frozen=True)
class ObjectiveSettings(Settings):
    """What a model is trained for. Raises ConfigError for settings that the objective does not have."""

    training_objective: str = option(
        "",
        "what the model is trained for, if it is not what its config implies (masked tokens; ELECTRA's, replaced ones)",
        TRAINING_OBJECTIVES,
        items=TRAINING_OBJECTIVES,
        later=True,
    )
    embedding_sharing: str = option(
        "",
        "replaced-token-detection: shared: generator and discriminator have the same embeddings (default of ELECTRA); "
        "gdes: the discriminator's are the generator's, without gradient, and a difference (default of the others); "
        "none: each has its own",
        SHARING,
        later=True,
    )
    generator_overrides: tuple[str, ...] = option(
        (),
        "replaced-token-detection: values of the generator's config, as num_hidden_layers=6 (default: half the layers; "
        "ELECTRA: a quarter of the width)",
        metavar="NAME=VALUE",
        later=True,
    )
    decoder_masked_lm_prob: float = option(
        0.0,
        "retromae: share of the tokens of a row that its decoder does not see, others at each position (default: 0.5)",
        at_least=0,
        below=1,
        later=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for given in self.generator_overrides:
            require("=" in given, f"--generator-overrides {given!r} has no value; expected NAME=VALUE")
        if self.training_objective not in ("", DETECTION):
            check_without_detection(self, f"--training-objective {self.training_objective}")
        require(
            not self.decoder_masked_lm_prob or self.training_objective == RETROMAE,
            f"--decoder-masked-lm-prob {self.decoder_masked_lm_prob:g} is for the decoder of --training-objective "
            f"{RETROMAE}; give both, or leave it out",
        )

    @property
    def generator_changes(self) -> dict[str, str]:
        """The values of `generator_overrides` by name.

        >>> ObjectiveSettings(generator_overrides=("num_hidden_layers=6",)).generator_changes
        {'num_hidden_layers': '6'}
        """
        return dict(given.split("=", 1) for given in self.generator_overrides)


@dataclass(frozen=True)
class TrainingObjective:
    """What a model is trained for.

    model_class: returns the class of model for the class that the config implies, what the shards of all phases say of
    themselves, and settings; raises ConfigError where there is none.
    """

    help: str
    model_class: Callable[[type[PreTrainedModel], Sequence[PretrainingInfo], ObjectiveSettings], type[PreTrainedModel]]


def model_class(
    kind: type[PreTrainedModel], infos: Sequence[PretrainingInfo], settings: ObjectiveSettings
) -> type[PreTrainedModel]:
    """Return the class that is trained for an objective, given the class that the config implies.

    infos: what the shards of each phase say of themselves. Raises ConfigError where the model or the shards are not for
    the objective, before any weight is made.
    """
    name = settings.training_objective or kind.objective
    if not name:
        check_without_detection(settings, "a masked language model")
        return kind
    objective: TrainingObjective = TRAINING_OBJECTIVES[name]
    return objective.model_class(kind, infos, settings)


def check_without_detection(settings: ObjectiveSettings, what: str) -> None:
    """Raise ConfigError where settings of replaced token detection are given for another objective."""
    for name in ("embedding_sharing", "generator_overrides"):
        require(
            not getattr(settings, name),
            f"{flag_of(name)} is for a generator and a discriminator, and {what} has none; leave it out, or take an "
            f"ELECTRA config or --training-objective {DETECTION}",
        )
