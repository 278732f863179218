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

    metric: str = option("original", "what is hidden while a token is scored", METRICS, items=METRICS)
    reduction: str = option(
        "sum",
        "of the log-probabilities of a sentence's tokens; mean: does not favour short sentences, but sentences of rare "
        "words, which have many tokens",
        REDUCTIONS,
    )
    base_two: bool = option(False, "logarithms to the base 2 (bits) in place of natural ones")
    batch_tokens: int = option(16384, "tokens of a batch, with padding: less takes less memory", at_least=1)
    device: str = option("auto", "auto, cpu or cuda")
