"""How tokens are masked: settings, checked when made."""

from __future__ import annotations

from dataclasses import dataclass

from bertdata.masking import MASK_UNITS
from bertdata.options.option import Settings, option, require

REPLACE_UNITS = ("token", "unit")
RANDOM_TOKENS = ("ordinary", "vocabulary")


@dataclass(frozen=True)
class MaskingConfig(Settings):
    """How tokens are masked (BERT section 3.1 and appendix A.1)."""

    masked_lm_prob: float = option(
        0.15, "share of the tokens that are predicted; special tokens do not count", above=0, below=1
    )
    mask_token_prob: float = option(0.8, "share of the predicted tokens that become [MASK]", at_least=0, at_most=1)
    random_token_prob: float = option(
        0.1, "share that become a random token; the rest are unchanged", at_least=0, at_most=1
    )
    max_predictions_per_seq: int = option(0, "most predictions in one example; 0: no limit", at_least=0)
    mask_unit: str = option("token", "what is predicted as a whole", MASK_UNITS)
    replace_unit: str = option(
        "token",
        "draw [MASK], a random token or no change for each token (BERT, ALBERT), or once for a unit (SpanBERT)",
        REPLACE_UNITS,
    )
    max_ngram: int = option(
        3, "most words of an n-gram; n is drawn with weight 1/n (ALBERT: 3)", at_least=1, at_most=100
    )
    span_prob: float = option(0.2, "probability that a span ends after a word (SpanBERT: 0.2)", above=0, below=1)
    max_span: int = option(10, "most words of a span (SpanBERT: 10)", at_least=1, at_most=100)
    random_tokens: str = option(
        "ordinary",
        "ids that a random token is drawn from. ordinary: neither special nor [unused]; vocabulary: any (BERT's code)",
        RANDOM_TOKENS,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        share = self.mask_token_prob + self.random_token_prob
        require(
            share <= 1 + 1e-9,
            f"--mask-token-prob {self.mask_token_prob} and --random-token-prob {self.random_token_prob} "
            f"add up to {share:g}; expected two shares that add up to at most 1",
        )
