"""How tokens are masked: settings, checked when made."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from bertdata.masking import MASK_UNITS
from bertdata.masking.rate_draws import covers_all, find_draw
from bertdata.masking.schedule import LEVELS, Point, parse_points, shares_at
from bertdata.masking.training import MASKED, Training, find_training
from bertdata.options.option import Settings, option, require

REPLACE_UNITS = ("token", "unit")
RANDOM_TOKENS = ("ordinary", "vocabulary")
SHAPES = ("linear", "step")
MASK_NUMBERS = ("rounded", "independent")
MOST_IN_TURN = 0.5
"""The highest rate at which all rounds have at least two epochs (`bertdata.masking.turns`)."""


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
    mask_schedule: tuple[str, ...] = option(
        (),
        "rates by the position in the run instead of --masked-lm-prob, with dynamic masks: points AT=RATE or "
        "AT=RATE,MASK,RANDOM, AT a share of the run, as 0=0.30 1=0.15 (GPT-BERT); MASK and RANDOM stand for "
        "--mask-token-prob and --random-token-prob there",
        metavar="AT=RATE",
        later=True,
    )
    mask_schedule_shape: str = option(
        "linear", "linear: the rates change evenly between the points; step: at the points", SHAPES, later=True
    )
    eval_masked_lm_prob: float = option(
        0.0,
        "--masked-lm-prob in the validation split; 0: as in train, at the end of a schedule (ModernBERT: 0.15)",
        at_least=0,
        below=1,
        later=True,
    )
    ngram_weights: tuple[str, ...] = option(
        (),
        "relative frequencies of n-grams of 1, 2, ... words, instead of 1/n up to --max-ngram (MacBERT: 40 30 20 10)",
        metavar="W",
        later=True,
    )
    similar_words: str = option(
        "",
        "a table whose lines are a word and its similar words, separated by tabs: they replace words instead of "
        "[MASK], and random tokens where there is none (MacBERT)",
        later=True,
    )
    mask_smoothing: float = option(
        0.0,
        "predict rare tokens more often: draw tokens by their frequency in train to the power of minus this number "
        "(DistilBERT: 0.7, XLM: 0.5); 0: each token has the same chance",
        at_least=0,
        at_most=1,
        later=True,
    )
    mask_in_turn: bool = option(
        False,
        "mask each position of a row once before any is masked again, epoch by epoch (GPT-BERT prefers those masked "
        "least); for rates up to 0.5; in train only",
        later=True,
    )

    mask_rate_draw: str = option(
        "",
        "draw the rate of each row and epoch, for masked diffusion, with weights of its loss: uniform, cosine or bell, "
        "from 0 to 1, or A-B, evenly between two rates, as 0.15-0.45",
        metavar="DRAW",
        later=True,
    )
    mask_number: str = option(
        "rounded",
        "with --mask-rate-draw. rounded: as many tokens of a row as its rate says, at least one; independent: each by "
        "itself, at times none (MDLM, LLaDA)",
        MASK_NUMBERS,
        later=True,
    )
    training: str = option(
        MASKED,
        "what rows are trained for, with dynamic masks. masked; masked-next-token: masked tokens are predicted at the "
        "position before them; causal: no mask, each token is predicted from those before it; or the share of causal "
        "rows beside masked-next-token ones, as 0.0625 (GPT-BERT)",
        metavar="KIND",
        later=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_rate_draw(self)
        require(
            not (self.trained_for.causal_share and self.mask_rate_draw),
            f"--mask-rate-draw {self.mask_rate_draw} weighs the loss of masked tokens, and --training {self.training} "
            "has rows without any; leave one of them out",
        )
        require(
            not self.mask_smoothing or MASK_UNITS[self.mask_unit].is_token(self),
            f"--mask-smoothing {self.mask_smoothing:g} weighs single tokens, and --mask-unit {self.mask_unit} predicts "
            "several together, for which no weight is published; take --mask-unit token, or leave it out",
        )
        check_weights(self.ngram_weights)
        object.__setattr__(self, "ngram_weights", tuple(map(str, self.ngram_weights)))
        require(
            not self.similar_words or MASK_UNITS[self.mask_unit].whole_words,
            f"--similar-words replaces whole words, and --mask-unit {self.mask_unit} is not of whole words; take "
            "--mask-unit word or ngram",
        )
        share = self.mask_token_prob + self.random_token_prob
        require(
            share <= 1 + 1e-9,
            f"--mask-token-prob {self.mask_token_prob} and --random-token-prob {self.random_token_prob} "
            f"add up to {share:g}; expected two shares that add up to at most 1",
        )
        require(
            bool(self.mask_schedule) or self.mask_schedule_shape == "linear",
            f"--mask-schedule-shape {self.mask_schedule_shape} has no effect without --mask-schedule; give points, as "
            "--mask-schedule 0=0.30 1=0.15, or leave it out",
        )
        require(
            not self.mask_schedule or self.masked_lm_prob == MaskingConfig.masked_lm_prob,
            f"--masked-lm-prob {self.masked_lm_prob} has no effect with --mask-schedule, whose points have the rates; "
            "leave one of them out",
        )
        require(
            not (self.mask_in_turn and self.max_predictions_per_seq),
            f"--max-predictions-per-seq {self.max_predictions_per_seq} would leave out positions whose turn it is with "
            "--mask-in-turn; leave one of them out",
        )
        require(
            not (self.mask_in_turn and self.mask_smoothing),
            f"--mask-smoothing {self.mask_smoothing:g} masks some tokens more often than others, and --mask-in-turn "
            "all equally often; leave one of them out",
        )
        points = self.points
        highest = max([point.predicted for point in points] or [self.masked_lm_prob])
        require(
            not self.mask_in_turn or highest <= MOST_IN_TURN,
            f"--mask-in-turn was given with {highest:g} of the tokens predicted, so that a round of one epoch would "
            f"predict all tokens of a row; expected a rate of at most {MOST_IN_TURN}",
        )
        require(
            any("," not in text for text in self.mask_schedule)
            or not points
            or share == MaskingConfig.mask_token_prob + MaskingConfig.random_token_prob,
            "--mask-token-prob and --random-token-prob have no effect where each point of --mask-schedule has its own; "
            "leave them out",
        )

    @property
    def points(self) -> tuple[Point, ...]:
        """The points of the schedule, none without one."""
        return parse_points(self.mask_schedule, self.mask_token_prob, self.random_token_prob)

    @property
    def mean_rate(self) -> float:
        """The share of the tokens that is predicted, in the mean over the run.

        >>> round(MaskingConfig(mask_schedule=("0=0.3", "1=0.1")).mean_rate, 6)
        0.2
        """
        if self.mask_rate_draw:
            return find_draw(self.mask_rate_draw).mean
        if not self.mask_schedule:
            return self.masked_lm_prob
        points, levels = self.points, range(LEVELS + 1)
        rates = [shares_at(points, self.mask_schedule_shape, level)[0] for level in levels]
        return math.fsum(rates) / len(rates)

    def at(self, level: int) -> MaskingConfig:
        """Return the settings at a level of the run, 0 to 1000, without the schedule.

        >>> MaskingConfig(mask_schedule=("0=0.3", "1=0.1")).at(500).masked_lm_prob
        0.2
        """
        if not self.mask_schedule:
            return self
        predicted, mask, random = shares_at(self.points, self.mask_schedule_shape, level)
        return replace(
            self,
            masked_lm_prob=predicted,
            mask_token_prob=mask,
            random_token_prob=random,
            mask_schedule=(),
            mask_schedule_shape="linear",
        )

    def for_split(self, split: str) -> MaskingConfig:
        """Return the settings of a split: in validation `eval_masked_lm_prob`, or the rate at the end of the run.

        Without `eval_masked_lm_prob`, rates that are drawn are drawn in validation, too. Validation is masked in one
        epoch, so not in turn.

        >>> MaskingConfig(mask_schedule=("0=0.3", "1=0.1")).for_split("validation").masked_lm_prob
        0.1
        """
        if split != "validation":
            return self
        last = self.at(LEVELS)
        if self.mask_rate_draw and self.eval_masked_lm_prob:
            last = replace(last, mask_rate_draw="", mask_number="rounded")
        rate = self.eval_masked_lm_prob or last.masked_lm_prob
        return replace(last, masked_lm_prob=rate, eval_masked_lm_prob=0.0, mask_in_turn=False)

    @property
    def trained_for(self) -> Training:
        """What rows are trained for; raises ConfigError where `training` does not say it."""
        return find_training(self.training)

    @property
    def has_bound(self) -> bool:
        """Whether the weighted loss bounds the negative log-likelihood: tokens masked alike, at rates from 0 to 1."""
        return covers_all(self.mask_rate_draw) and not self.mask_smoothing

    @property
    def rate_draw_text(self) -> str:
        """How the rates of rows are drawn, for a reader; "" where they are not."""
        if not self.mask_rate_draw:
            return ""
        number = ", each token by itself" if self.mask_number == "independent" else ""
        return f"a rate drawn for each row by --mask-rate-draw {self.mask_rate_draw}{number}"

    @property
    def rate_text(self) -> str:
        """How the rate changes, for a reader; "" without a schedule."""
        return f"{self.mask_schedule_shape} by --mask-schedule {' '.join(self.mask_schedule)}" * bool(
            self.mask_schedule
        )


def check_rate_draw(config: MaskingConfig) -> None:
    """Raise ConfigError for rates to be drawn that are not known, and for settings that do not go with them."""
    if not config.mask_rate_draw:
        require(
            config.mask_number == MaskingConfig.mask_number,
            f"--mask-number {config.mask_number} has no effect without --mask-rate-draw; leave it out",
        )
        return
    find_draw(config.mask_rate_draw)
    given = f"--mask-rate-draw {config.mask_rate_draw}"
    require(
        config.masked_lm_prob == MaskingConfig.masked_lm_prob,
        f"--masked-lm-prob {config.masked_lm_prob} has no effect with {given}, which draws the rates; leave one of "
        "them out",
    )
    require(
        not config.mask_schedule,
        f"--mask-schedule and {given} both set the rates; leave one of them out",
    )
    require(
        not config.max_predictions_per_seq,
        f"--max-predictions-per-seq {config.max_predictions_per_seq} would cut off the high rates of {given}, whose "
        "rows then have fewer masked tokens than their weights are for; leave one of them out",
    )
    require(
        not config.mask_in_turn,
        f"--mask-in-turn masks each position equally often by a rate that is known beforehand, and {given} draws "
        "another one in each epoch; leave one of them out",
    )
    require(
        MASK_UNITS[config.mask_unit].is_token(config),
        f"{given} weighs tokens that are masked by themselves, and --mask-unit {config.mask_unit} masks several "
        "together, for which no weights are published; take --mask-unit token, or leave it out",
    )
    require(
        not covers_all(config.mask_rate_draw) or (config.mask_token_prob == 1 and config.random_token_prob == 0),
        f"{given} is for masked diffusion, in which every predicted token is [MASK], and --mask-token-prob is "
        f"{config.mask_token_prob:g}, --random-token-prob {config.random_token_prob:g}; give --mask-token-prob 1 "
        "--random-token-prob 0, or rates A-B, which are for any",
    )
    require(
        not (config.mask_smoothing and config.mask_number == "independent"),
        f"--mask-smoothing {config.mask_smoothing:g} draws as many tokens as are wanted one after another, and "
        "--mask-number independent each by itself; take --mask-number rounded, or leave --mask-smoothing out",
    )


def check_weights(weights: tuple[str, ...]) -> None:
    """Raise ConfigError unless the weights of n-grams, if there are any, are finite numbers of 0 or more, not all 0."""
    try:
        numbers = [float(weight) for weight in weights]
    except (TypeError, ValueError):
        numbers = [-1.0]
    require(
        not numbers or (all(0 <= number < math.inf for number in numbers) and any(numbers)),
        f"--ngram-weights is {' '.join(map(str, weights))}; expected numbers of 0 or more, one of them above 0, as "
        "40 30 20 10",
    )
