"""WordPiece as a model of vocabularies: what `train-vocab` trains if not told otherwise, kept as a `vocab.txt`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from bertdata.errors import ConfigError
from bertdata.io.console import counted
from bertdata.text_arrays import Texts
from bertdata.tokenizers.base import SpecialTokens
from bertdata.tokenizers.training.models import VocabularyModel
from bertdata.tokenizers.training.reserved import special_tokens, unused_to
from bertdata.tokenizers.wordpiece.normalizer import Normalizer
from bertdata.tokenizers.wordpiece.tokenizer_json import MAX_WORD_CHARACTERS
from bertdata.tokenizers.wordpiece.train.counting import count_words
from bertdata.tokenizers.wordpiece.train.trainer import train_wordpiece
from bertdata.tokenizers.wordpiece.vocabulary import SPECIAL_TOKENS, format_vocabulary, read_vocabulary

if TYPE_CHECKING:
    from bertdata.tokenizers.settings import VocabularyConfig
    from bertdata.tokenizers.wordpiece.tokenizer import WordPieceTokenizer


class WordPiece(VocabularyModel):
    """BERT's WordPiece: its words and its five special tokens, to which others can be added.

    A vocabulary is trained from words of at most 100 characters, as any longer one is [UNK] to BERT.
    """

    help = "BERT's"
    suffix = ".txt"
    longest_word = MAX_WORD_CHARACTERS
    settings = frozenset({"criterion", "min_frequency", "limit_alphabet"})

    def check(self, config: VocabularyConfig) -> None:
        special = special_tokens(config, SpecialTokens())
        if special.names[: len(SPECIAL_TOKENS)] != SPECIAL_TOKENS:
            raise ConfigError(
                f"--special-tokens {' '.join(config.special_tokens)} renames or leaves out a token of BERT's, which "
                f"WordPiece has as {' '.join(SPECIAL_TOKENS)}; name further ones alone, or take --model bpe"
            )
        _added(config)

    def length(self, words: pa.ChunkedArray) -> pa.ChunkedArray:
        """Return the length of each word, in characters."""
        return pc.utf8_length(words)

    def counted_by(self, config: VocabularyConfig) -> list[Any]:
        return [config.do_lower_case]

    def count(self, texts: Texts, config: VocabularyConfig) -> pa.Table:
        return count_words(texts, do_lower_case=config.do_lower_case)

    def train(self, words: pa.Table, config: VocabularyConfig) -> tuple[bytes, int]:
        tokens = train_wordpiece(
            words,
            vocab_size=config.vocab_size,
            criterion=config.criterion,  # type: ignore[arg-type]
            min_frequency=config.min_frequency,
            limit_alphabet=config.limit_alphabet,
            special_tokens=special_tokens(config, SpecialTokens()).names,
            unused=config.unused_tokens,
            added=_added(config),
        )
        tokens += tuple(unused_to(config.pad_to_multiple_of, len(tokens), config.unused_tokens))
        return format_vocabulary(tokens), len(tokens)

    def load(self, path: str, config: VocabularyConfig) -> WordPieceTokenizer:
        from bertdata.tokenizers.wordpiece.tokenizer import WordPieceTokenizer

        return WordPieceTokenizer.from_tokens(
            read_vocabulary(path),
            do_lower_case=config.do_lower_case,
            special_tokens=special_tokens(config, SpecialTokens()).names,
        )


WORDPIECE = WordPiece()


def _added(config: VocabularyConfig) -> list[str]:
    """Return the added words as BERT's normaliser gives them; ConfigError where it cuts one or leaves nothing."""
    words = []
    for word in config.add_tokens:
        parts = list(Normalizer(config.do_lower_case, None, True).words(word))
        if len(parts) != 1:
            raise ConfigError(
                f"--add-tokens {word!r} is {counted(len(parts), 'word')} to BERT, {parts}; give words without white "
                "space and punctuation"
            )
        words += parts
    return words
