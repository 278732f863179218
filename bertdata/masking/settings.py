"""How tokens are masked: settings, checked when made."""

from __future__ import annotations

from dataclasses import dataclass

from bertdata.masking import MASK_UNITS
from bertdata.options.option import check_types, choice, option, require

REPLACE_UNITS = ("token", "unit")
RANDOM_TOKENS = ("ordinary", "vocabulary")


@dataclass(frozen=True)
class MaskingConfig:
    """How tokens are masked (BERT section 3.1 and appendix A.1)."""

    masked_lm_prob: float = option(0.15, "share of the tokens that are predicted; special tokens do not count")
    mask_token_prob: float = option(0.8, "share of the predicted tokens that become [MASK]")
    random_token_prob: float = option(0.1, "share that become a random token; the rest are unchanged")
    max_predictions_per_seq: int = option(0, "most predictions in one example; 0: no limit")
    mask_unit: str = option("token", "what is predicted as a whole", MASK_UNITS)
    replace_unit: str = option(
        "token",
        "draw [MASK], a random token or no change for each token (BERT, ALBERT), or once for a unit (SpanBERT)",
        REPLACE_UNITS,
    )
    max_ngram: int = option(3, "most words of an n-gram; n is drawn with weight 1/n (ALBERT: 3)")
    span_prob: float = option(0.2, "probability that a span ends after a word (SpanBERT: 0.2)")
    max_span: int = option(10, "most words of a span (SpanBERT: 10)")
    random_tokens: str = option(
        "ordinary",
        "ids that a random token is drawn from. ordinary: neither special nor [unused]; vocabulary: any (BERT's code)",
        RANDOM_TOKENS,
    )

    def __post_init__(self) -> None:
        check_types(self)
        require(
            0 < self.masked_lm_prob < 1, f"--masked-lm-prob is {self.masked_lm_prob}; expected between 0 and 1, as 0.15"
        )
        share = self.mask_token_prob + self.random_token_prob
        require(
            min(self.mask_token_prob, self.random_token_prob) >= 0 and share <= 1 + 1e-9,
            f"--mask-token-prob {self.mask_token_prob} and --random-token-prob {self.random_token_prob} "
            f"add up to {share:g}; expected two shares of 0 or more that add up to at most 1",
        )
        require(
            self.max_predictions_per_seq >= 0,
            f"--max-predictions-per-seq is {self.max_predictions_per_seq}; expected 0 (no limit) or more",
        )
        choice("--mask-unit", self.mask_unit, MASK_UNITS)
        choice("--replace-unit", self.replace_unit, REPLACE_UNITS)
        require(1 <= self.max_ngram <= 100, f"--max-ngram is {self.max_ngram}; expected 1 to 100, as 3")
        require(0 < self.span_prob < 1, f"--span-prob is {self.span_prob}; expected between 0 and 1, as 0.2")
        require(1 <= self.max_span <= 100, f"--max-span is {self.max_span}; expected 1 to 100, as 10")
        choice("--random-tokens", self.random_tokens, RANDOM_TOKENS)
