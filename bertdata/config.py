"""Settings: frozen dataclasses, checked when made, each default with its reason.

They make the command-line flags (`flags`) and go into fingerprints and the manifest (`asdict`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from bertdata.errors import ConfigError

MIB = 1 << 20


def _option(
    default: Any,
    help: str,  # noqa: A002
    choices: Sequence[str] | None = None,
    *,
    several: bool = False,
) -> Any:
    return field(default=default, metadata={"help": help, "choices": choices, "several": several})


def require(condition: bool, message: str) -> None:
    """Raise ConfigError with a message unless a condition holds."""
    if not condition:
        raise ConfigError(message)


_KINDS: dict[str, tuple[type, ...]] = {"int": (int,), "float": (int, float), "str": (str,), "bool": (bool,)}


def check_types(settings: Any) -> None:
    """Raise ConfigError where a setting is of another type than its field says; an int may stand for a float."""
    for one in fields(settings):
        value = getattr(settings, one.name)
        kinds = _KINDS[str(one.type)]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            flag = "--" + one.name.replace("_", "-")
            raise ConfigError(f"{flag} is of the type {type(value).__name__}; expected {one.type}")


@dataclass(frozen=True)
class CleaningConfig:
    """How sources become documents."""

    range_bytes: int = _option(
        0, "stored bytes one worker takes at a time; 0: a 64th of the input, at least 1 MiB, at most 16 MiB"
    )
    split_chapters: bool = _option(False, "make a document of each chapter of a book, not of each book")
    min_words: int = _option(0, "articles with fewer words are stubs and dropped; 0: none is")
    templates: str = _option(
        "", "file of lines `name, name = text with {1}`: templates of your wiki that carry text (see own_templates)"
    )
    rejects: str = _option("", "folder that gets, for each part, a .jsonl file of the pages dropped and the reasons")

    def __post_init__(self) -> None:
        check_types(self)
        require(self.range_bytes >= 0, f"--range-bytes is {self.range_bytes}; give 0 or a number of bytes")
        require(self.min_words >= 0, f"--min-words is {self.min_words}; give 0 (keep stubs) or a number of words")

    def target_bytes(self, total: int) -> int:
        """Return the bytes of one range for an input of `total` bytes; a function of the input alone.

        >>> CleaningConfig().target_bytes(22 << 30) >> 20, CleaningConfig().target_bytes(5 << 20) >> 20
        (16, 1)
        """
        return self.range_bytes or min(16 * MIB, max(MIB, total // 64))


DEDUPS = ("none", "exact", "near")


@dataclass(frozen=True)
class DedupConfig:
    """Which duplicate documents are dropped."""

    dedup: str = _option(
        "none",
        "none; exact: of equal texts all but one; near: of texts much alike all but the longest "
        "(stages/duplicates/duplicates.parquet names them)",
        DEDUPS,
    )
    dedup_threshold: float = _option(
        0.8, "near: share of their runs of five words that two texts have in common, from which on they are alike"
    )

    def __post_init__(self) -> None:
        check_types(self)
        _choice("--dedup", self.dedup, DEDUPS)
        require(
            0.3 <= self.dedup_threshold <= 1,
            f"--dedup-threshold is {self.dedup_threshold}; expected 0.3 to 1, as 0.8",
        )


@dataclass(frozen=True)
class VocabularyConfig:
    """How a WordPiece vocabulary is trained."""

    vocab_size: int = _option(30_000, "pieces, special tokens included (BERT section 3: 30,000)")
    do_lower_case: bool = _option(True, "lower-case and strip accents, as BERT uncased")
    criterion: str = _option(
        "likelihood", "what a merge is chosen by (see train_wordpiece)", ("likelihood", "frequency", "score")
    )
    min_frequency: int = _option(2, "a pair must occur this often to be merged")
    limit_alphabet: int = _option(1000, "most frequent characters kept; rarer ones become [UNK]")
    unused_tokens: int = _option(0, "[unused0] and so on, slots for words of your own behind the special tokens")
    max_words: int = _option(
        5_000_000,
        "distinct words that the trainer gets at most: the rarest counts are left out, of the whole corpus, so that "
        "no range or worker decides (a million takes about half a gigabyte)",
    )

    def __post_init__(self) -> None:
        check_types(self)
        require(self.vocab_size >= 10, f"--vocab-size is {self.vocab_size}; expected at least 10")
        require(self.min_frequency >= 1, f"--min-frequency is {self.min_frequency}; expected at least 1")
        require(self.limit_alphabet >= 1, f"--limit-alphabet is {self.limit_alphabet}; expected at least 1")
        require(self.unused_tokens >= 0, f"--unused-tokens is {self.unused_tokens}; expected 0 (none) or more")
        require(self.max_words >= 1, f"--max-words is {self.max_words}; expected at least 1, as 5000000")
        _choice("--criterion", self.criterion, ("likelihood", "frequency", "score"))


@dataclass(frozen=True)
class ShardsConfig:
    """How documents are dealt to shards."""

    shard_bytes: int = _option(64 * MIB, "text bytes of one shard: a worker holds one shard's tokens in memory")
    validation_fraction: float = _option(0.01, "share of the documents held out, chosen by the hash of their id")

    def __post_init__(self) -> None:
        check_types(self)
        require(self.shard_bytes >= 1024, f"--shard-bytes is {self.shard_bytes}; expected at least 1024")
        require(
            0 <= self.validation_fraction < 1,
            f"--validation-fraction is {self.validation_fraction}; expected 0 (none) or more, and less than 1",
        )


@dataclass(frozen=True)
class SentencesConfig:
    """Where a sentence ends."""

    sentences: str = _option(
        "english", "Punkt parameters: english, nltk:LANGUAGE, or a folder, as train-sentences writes one"
    )
    join_references: bool = _option(
        False, "a mark like [3] behind a sentence stays with it (Punkt begins the next sentence with it)"
    )


MASK_UNITS = ("token", "word", "ngram", "span")
REPLACE_UNITS = ("token", "unit")
RANDOM_TOKENS = ("ordinary", "vocabulary")


@dataclass(frozen=True)
class MaskingConfig:
    """How tokens are masked (BERT section 3.1 and appendix A.1)."""

    masked_lm_prob: float = _option(0.15, "share of the tokens that are predicted; special tokens do not count")
    mask_token_prob: float = _option(0.8, "share of the predicted tokens that become [MASK]")
    random_token_prob: float = _option(0.1, "share that become a random token; the rest stay as they are")
    max_predictions_per_seq: int = _option(0, "most predictions in one example; 0: no limit")
    mask_unit: str = _option(
        "token",
        "what is predicted together: a token (BERT); a whole word; an n-gram of words (ALBERT); a span (SpanBERT)",
        MASK_UNITS,
    )
    replace_unit: str = _option(
        "token",
        "what [MASK], a random token or neither is drawn for: each token (BERT, ALBERT), or a whole unit (SpanBERT)",
        REPLACE_UNITS,
    )
    max_ngram: int = _option(3, "most words of an n-gram; n is drawn with weight 1/n (ALBERT: 3)")
    span_prob: float = _option(0.2, "a span ends after each of its words with this chance (SpanBERT: 0.2)")
    max_span: int = _option(10, "most words of a span (SpanBERT: 10)")
    random_tokens: str = _option(
        "ordinary",
        "what a random token is drawn from: pieces that are neither special nor [unused], or any (as BERT's code)",
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
        _choice("--mask-unit", self.mask_unit, MASK_UNITS)
        _choice("--replace-unit", self.replace_unit, REPLACE_UNITS)
        require(1 <= self.max_ngram <= 100, f"--max-ngram is {self.max_ngram}; expected 1 to 100, as 3")
        require(0 < self.span_prob < 1, f"--span-prob is {self.span_prob}; expected between 0 and 1, as 0.2")
        require(1 <= self.max_span <= 100, f"--max-span is {self.max_span}; expected 1 to 100, as 10")
        _choice("--random-tokens", self.random_tokens, RANDOM_TOKENS)


OBJECTIVES = ("nsp", "sentence-pair-nsp", "sop", "doc-sentences", "full-sentences", "single-segment")
NSP_OBJECTIVES = ("nsp", "sentence-pair-nsp")
LABELS = {"nsp": "next_sentence_label", "sentence-pair-nsp": "next_sentence_label", "sop": "sentence_order_label"}
LABEL_NAMES = {"next_sentence_label": ("IsNext", "NotNext"), "sentence_order_label": ("in order", "swapped")}
"""The pair label of each objective that has one, and what its 0 and 1 are called."""
MASKINGS = ("dynamic", "static")
MOST_BINS = 64


@dataclass(frozen=True)
class ExamplesConfig:
    """What an example is made of."""

    objective: str = _option(
        "nsp",
        "nsp: BERT's pairs of segments; sentence-pair-nsp: pairs of sentences; sop: ALBERT's sentence order; "
        "doc-sentences, full-sentences: RoBERTa's rows without pairs; single-segment: ELECTRA's rows",
        OBJECTIVES,
    )
    masking: str = _option(
        "dynamic", "dynamic: masks are drawn by the loader; static: written into the shards", MASKINGS
    )
    max_seq_length: int = _option(
        128,
        "tokens in a row, special tokens included; several numbers give a build of each, in folders of that name "
        "(BERT: 128 512)",
        several=True,
    )
    short_seq_prob: float = _option(0.1, "share of the rows that are made shorter on purpose")
    dupe_factor: int = _option(1, "copies of the corpus, each with its own pairs and masks (BERT's code: 10, static)")
    seed: int = _option(0, "every draw is a function of it")
    single_segment_prob: float = _option(
        0.1, "share of the rows of single-segment that are one segment; the others are two, without a label (ELECTRA)"
    )
    bin_size: int = _option(
        0,
        "tokens by which length bins are apart: each shard holds rows of one bin, so that batches pad little; 0: none",
    )
    pack: bool = _option(False, "put several short examples into one row, their borders beside them")
    pack_length: int = _option(0, "with --pack, tokens in a row; 0: as --max-seq-length")

    def __post_init__(self) -> None:
        check_types(self)
        _choice("--objective", self.objective, OBJECTIVES)
        _choice("--masking", self.masking, MASKINGS)
        require(
            8 <= self.max_seq_length <= 65536,
            f"--max-seq-length is {self.max_seq_length}; expected 8 to 65536, as 128 or 512",
        )
        require(0 <= self.short_seq_prob <= 1, f"--short-seq-prob is {self.short_seq_prob}; expected 0 to 1")
        require(self.dupe_factor >= 1, f"--dupe-factor is {self.dupe_factor}; expected at least 1")
        require(
            0 <= self.single_segment_prob <= 1,
            f"--single-segment-prob is {self.single_segment_prob}; expected 0 to 1",
        )
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

    @property
    def bins(self) -> tuple[int, ...]:
        """The longest row of each length bin; one bin of all rows where there are none.

        >>> ExamplesConfig(max_seq_length=100, bin_size=32).bins, ExamplesConfig().bins
        ((32, 64, 96, 100), (128,))
        """
        step = self.bin_size or self.max_seq_length
        return (*range(step, self.max_seq_length, step), self.max_seq_length)

    @property
    def row_length(self) -> int:
        """The most tokens of a row: those of one example, or of all that are packed into it."""
        return self.pack_length or self.max_seq_length


def _choice(flag: str, value: str, choices: Sequence[str]) -> None:
    require(value in choices, f"{flag} is {value!r}; expected one of {', '.join(choices)}")


__all__ = [
    "DEDUPS",
    "LABELS",
    "LABEL_NAMES",
    "MASKINGS",
    "MASK_UNITS",
    "NSP_OBJECTIVES",
    "OBJECTIVES",
    "RANDOM_TOKENS",
    "REPLACE_UNITS",
    "CleaningConfig",
    "DedupConfig",
    "ExamplesConfig",
    "MaskingConfig",
    "SentencesConfig",
    "ShardsConfig",
    "VocabularyConfig",
    "asdict",
]
