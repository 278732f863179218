"""How a vocabulary is trained: settings, checked when made."""

from __future__ import annotations

from dataclasses import dataclass

from bertdata.options.option import Settings, flag_of, option, require
from bertdata.tokenizers.training import VOCABULARY_MODELS


@dataclass(frozen=True)
class VocabularyConfig(Settings):
    """How a vocabulary is trained."""

    vocab_size: int = option(30_000, "tokens, special tokens included (BERT section 3: 30,000)", at_least=10)
    do_lower_case: bool = option(
        True, "lower-case and strip accents, as BERT uncased; unigram folds case alone, bpe keeps text as it is"
    )
    criterion: str = option(
        "likelihood",
        "wordpiece: the score that chooses a merge (see train_wordpiece)",
        ("likelihood", "frequency", "score"),
    )
    min_frequency: int = option(2, "wordpiece, bpe: least occurrences of a pair that is merged", at_least=1)
    limit_alphabet: int = option(1000, "wordpiece: most frequent characters kept; rarer ones become [UNK]", at_least=1)
    unused_tokens: int = option(
        0, "[unused0] and so on, reserved for your own words, after the special tokens", at_least=0
    )
    max_words: int = option(
        5_000_000,
        "most distinct words that the trainer gets: pruning happens after counts are merged and drops the rarest words "
        "of the whole corpus (a million words take about half a gigabyte)",
        at_least=1,
    )
    model: str = option("wordpiece", "the model that the vocabulary is for", VOCABULARY_MODELS, later=True)
    special_tokens: tuple[str, ...] = option(
        (),
        "special tokens by role, as pad=<pad> unk=<unk> cls=<s> sep=</s> mask=<mask> (unk= for none), or without one, "
        "as [ENT]; others are [PAD] [UNK] [CLS] [SEP] [MASK]",
        metavar="TOKEN",
        later=True,
    )
    add_tokens: tuple[str, ...] = option(
        (), "words that become tokens, though they are rare in the corpus", metavar="WORD", later=True
    )
    pad_to_multiple_of: int = option(
        1, "the vocabulary is filled up to a multiple of it with unused tokens (64 suits GPUs)", at_least=1, later=True
    )
    vocab_temperature: float = option(
        1.0,
        "raise the share of each source in the counted words to this power, so that small languages get tokens too "
        "(multilingual BERT: 0.7, XLM-R: 0.3); 1: keep the shares",
        at_least=0,
        at_most=1,
        later=True,
    )
    normalization: str = option(
        "nmt_nfkc",
        "unigram: SentencePiece's normalization; with --do-lower-case the form of it that folds case",
        ("nmt_nfkc", "nfkc", "identity"),
        later=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        model = VOCABULARY_MODELS[self.model]
        for name in ("criterion", "min_frequency", "limit_alphabet", "normalization"):
            value, default = getattr(self, name), getattr(type(self), name)
            require(
                name in model.settings or value == default,
                f"{flag_of(name)} is {value!r}, which --model {self.model} does not take; leave it out",
            )
        for word in self.add_tokens:
            require(self.add_tokens.count(word) == 1, f"--add-tokens has {word!r} twice; give each word once")
        model.check(self)

    @property
    def method(self) -> str:
        """What a vocabulary is trained by, in a word."""
        return self.criterion if "criterion" in VOCABULARY_MODELS[self.model].settings else self.model

    @property
    def padded_size(self) -> int:
        """The number of tokens that is asked for: `vocab_size`, up to a multiple of `pad_to_multiple_of`."""
        return -(-self.vocab_size // self.pad_to_multiple_of) * self.pad_to_multiple_of
