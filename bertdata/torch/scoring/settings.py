"""The settings of `bertdata score`."""

from __future__ import annotations

from dataclasses import dataclass

from bertdata.options.option import Settings, option
from bertdata.torch.scoring import METRICS

REDUCTIONS = ("sum", "mean")


@dataclass(frozen=True)
class ScoreSettings(Settings):
    """How sentences are scored.

    Raises ConfigError for values out of bounds.
    """

    metric: str = option("original", "the tokens that are hidden while a token is scored", METRICS, items=METRICS)
    reduction: str = option(
        "sum",
        "how the log-probabilities of a sentence's tokens become its score. sum favours short sentences; mean favours "
        "sentences of rare words, which have many tokens",
        REDUCTIONS,
    )
    base_two: bool = option(False, "logarithms to the base 2 (bits) in place of natural ones")
    batch_tokens: int = option(16384, "tokens of a batch, with padding: fewer take less memory", at_least=1)
    device: str = option("auto", "auto, cpu or cuda")
