"""The settings of examples, and of how much of each source they are made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bertdata.errors import ConfigError
from bertdata.objectives import OBJECTIVES
from bertdata.options.option import Settings, option, require

MASKINGS = ("dynamic", "static")
MOST_BINS = 64

SHORTEST_ROW = 8
"""The fewest tokens that `max_seq_length` may be."""


@dataclass(frozen=True)
class ExamplesConfig(Settings):
    """How rows are made of documents.

    Raises ConfigError for values out of bounds.
    """

    objective: str = option("nsp", "which tokens make a row, and its label", OBJECTIVES)
    masking: str = option(
        "dynamic", "dynamic: masks are drawn by the loader; static: written into the shards", MASKINGS
    )
    max_seq_length: int = option(
        128,
        "tokens in a row, special tokens included; several numbers give a build of each, in folders of that name "
        "(BERT: 128 512)",
        at_least=SHORTEST_ROW,
        at_most=65_536,
        several=True,
    )
    short_seq_prob: float = option(0.1, "share of the rows that are shortened at random", at_least=0, at_most=1)
    dupe_factor: int = option(
        1, "copies of the corpus, each with its own pairs and masks (BERT's code: 10, static)", at_least=1
    )
    seed: int = option(0, "all random numbers are functions of it")
    single_segment_prob: float = option(
        0.1,
        "share of the rows of single-segment that are one segment; the others are two, without a label (ELECTRA)",
        at_least=0,
        at_most=1,
    )
    bin_size: int = option(
        0,
        "width of a length bin, in tokens: each shard holds rows of one bin, so batches need little padding; 0: none",
    )
    pack: bool = option(False, "put several short examples into one row, with their offsets (cu_seqlens)")
    pack_length: int = option(0, "with --pack, tokens in a row; 0: as --max-seq-length")
    min_seq_length: int = option(
        0,
        "the length of each row of doc-chunks and joined-chunks is drawn evenly from it to --max-seq-length "
        "(EuroBERT: 12); 0: rows are as long as they can be",
        at_least=8,
        later=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            self.bin_size == 0 or 8 <= self.bin_size < self.max_seq_length <= MOST_BINS * self.bin_size,
            f"--bin-size is {self.bin_size}; expected 0 (no bins), or 8 to less than the {self.max_seq_length} tokens "
            f"of a row, with at most {MOST_BINS} bins",
        )
        require(
            not (self.bin_size and self.pack),
            f"--bin-size {self.bin_size} and --pack were given, but packed rows are all of about one length; "
            "give one of them",
        )
        require(
            self.pack_length == 0 or (self.pack and self.max_seq_length <= self.pack_length <= 1 << 20),
            f"--pack-length is {self.pack_length}; expected 0, or with --pack a number from the {self.max_seq_length} "
            f"tokens of an example to {1 << 20}",
        )

        require(
            self.min_seq_length <= self.max_seq_length,
            f"--min-seq-length is {self.min_seq_length}; expected 0 (no draw), or 8 to the {self.max_seq_length} "
            "tokens of --max-seq-length",
        )

    @property
    def bins(self) -> tuple[int, ...]:
        """The longest row of each length bin; one bin of all rows without --bin-size.

        >>> ExamplesConfig(max_seq_length=100, bin_size=32).bins, ExamplesConfig().bins
        ((32, 64, 96, 100), (128,))
        """
        step = self.bin_size or self.max_seq_length
        return (*range(step, self.max_seq_length, step), self.max_seq_length)

    @property
    def least_drawn(self) -> int:
        """The shortest length that is drawn for a row; the longest where none is drawn.

        >>> ExamplesConfig(max_seq_length=100, min_seq_length=12).least_drawn, ExamplesConfig().least_drawn
        (12, 128)
        """
        return self.min_seq_length or self.max_seq_length

    @property
    def row_length(self) -> int:
        """The most tokens of a row: of one example, or of those packed into it."""
        return self.pack_length or self.max_seq_length


@dataclass(frozen=True)
class MixingConfig(Settings):
    """How much of each source is in train.

    Raises ConfigError for what is not SOURCE=WEIGHT, or is given twice.

    >>> MixingConfig(mix=("wikipedia=3", "books=1.5")).weights
    {'wikipedia': 3.0, 'books': 1.5}
    """

    mix: tuple[str, ...] = option(
        (),
        "the share of each source in the text of train, as wikipedia=3 books=1; a source with a larger share than in "
        "the corpus gets more epochs, with a smaller one fewer (default: one epoch of each)",
        metavar="SOURCE=WEIGHT",
    )
    mix_temperature: float = option(
        0.0,
        "weight each source by its share of the tokens, raised to this power, so that small ones get more "
        "(multilingual BERT: 0.7, XLM-R: 0.3); 0: none",
        at_least=0,
        at_most=1,
        later=True,
    )
    train_tokens: int = option(
        0,
        "tokens of text in train, of all sources and epochs together; 0: as many as they have",
        at_least=0,
        later=True,
    )
    train_epochs: float = option(
        0.0,
        "tokens of text in train, as epochs of the text of its sources: 1.5, or 0.25 for a part; 0: --dupe-factor",
        at_least=0,
        later=True,
    )
    max_epochs: float = option(
        0.0,
        "most epochs of a source in a mixture; the other sources fill the rest; 0: no limit",
        at_least=0,
        later=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_mix(self.mix)
        require(
            not (self.mix and self.mix_temperature),
            f"--mix {' '.join(self.mix)} and --mix-temperature {self.mix_temperature} both weight the sources; "
            "give one of them",
        )
        require(
            self.is_mixed or not self.max_epochs,
            f"--max-epochs {self.max_epochs:g} has no effect without --mix, --mix-temperature, --train-tokens or "
            "--train-epochs",
        )
        require(
            not (self.train_tokens and self.train_epochs),
            f"--train-tokens {self.train_tokens} and --train-epochs {self.train_epochs:g} both say how much text train "
            "has; give one of them",
        )

    @property
    def is_mixed(self) -> bool:
        """Whether sources have epochs of their own."""
        return bool(self.mix or self.mix_temperature or self.train_tokens or self.train_epochs)

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each source that has one."""
        return parse_mix(self.mix)


def parse_mix(given: Sequence[str]) -> dict[str, float]:
    """Return the weights that `--mix` gives; raises ConfigError for what is not SOURCE=WEIGHT or is given twice."""
    weights: dict[str, float] = {}
    for entry in given:
        name, _, text = entry.partition("=")
        try:
            weight = float(text)
        except ValueError:
            weight = math.nan
        if not name or not 0 < weight < math.inf:
            raise ConfigError(
                f"--mix {entry} is not a source and its weight; expected as wikipedia=3, with a weight over 0"
            )
        if name in weights:
            raise ConfigError(f"--mix names {name} twice; give each source once")
        weights[name] = weight
    return weights
