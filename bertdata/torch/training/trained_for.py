"""Which models are trained on causal rows, and with labels at the position before: those for masked tokens alone."""

from __future__ import annotations

from collections.abc import Sequence

from bertdata.errors import ConfigError
from bertdata.masking.training import Training
from bertdata.shards.pretraining_info import check_masking
from bertdata.torch.models.weights import PreTrainedModel
from bertdata.torch.training.phases import Phase

_LEARNS = {
    "a student of --teacher": "what a teacher says that sees both sides of a token",
    "replaced-token-detection": "which tokens were replaced, of which causal rows have none",
    "retromae": "a row from what a second mask leaves of it",
    "span-boundary": "masked spans from both of their borders",
    "TransformersForPermutationLM": "tokens in orders that are drawn",
}
"""Why models have no place for causal rows, or for labels at the position before."""


def check_training(phases: Sequence[Phase], kind: type[PreTrainedModel], *, taught: bool) -> bool:
    """Return whether phases have causal rows; raises ConfigError where a model or shards have no place for them.

    kind: the class of the model; taught: whether the model learns of a teacher.
    """
    for phase in phases:
        masking, info = phase.masking(phase.dataset), phase.dataset.shards.expect_pretraining()
        if masking.trained_for == Training():
            continue
        check_masking(info.examples, masking)
        if taught or not kind.takes_causal_rows:
            what = "a student of --teacher" if taught else kind.objective or kind.__name__
            raise ConfigError(
                f"rows are trained for {masking.training} (--training of the build, or --phase-training), and {what} "
                f"learns {_LEARNS.get(what, 'from both sides of a token')}; take a model for masked tokens alone, such "
                "as a BERT or ModernBERT config, or give --phase-training masked for each phase",
                path=phase.dataset.shards.build,
            )
    return any(phase.masking(phase.dataset).trained_for.causal_share for phase in phases)
