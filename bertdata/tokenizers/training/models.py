"""The registry of models of vocabularies; each says how words are counted, and what is trained from the counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from bertdata.text_arrays import Texts

if TYPE_CHECKING:
    from bertdata.tokenizers.base import Tokenizer
    from bertdata.tokenizers.settings import VocabularyConfig


LONGEST_WORD = 4192
"""Most bytes of a word that a vocabulary is trained from.

As many as SentencePiece takes of a line by default (`max_sentence_length`); it leaves longer ones out, too.
"""


class VocabularyModel(ABC):
    """A model that a vocabulary is trained for. Its methods are functions of what they are given."""

    help: ClassVar[str]
    suffix: ClassVar[str]
    """The end of the name of the one file that a trained vocabulary is kept in between stages."""
    longest_word: ClassVar[int] = LONGEST_WORD
    """The longest word that a vocabulary is trained from, as `length` counts it."""
    settings: ClassVar[frozenset[str]] = frozenset()
    """The settings of `VocabularyConfig` that this model takes, of those that some do not."""

    @abstractmethod
    def check(self, config: VocabularyConfig) -> None:
        """Raise ConfigError where settings do not suit the model."""

    def counted_by(self, config: VocabularyConfig) -> list[Any]:
        """Return what the counts depend on, for their fingerprint."""
        return [config.model]

    @abstractmethod
    def count(self, texts: Texts, config: VocabularyConfig) -> pa.Table:
        """Return the words of texts with their counts: word (string), count (int64), sorted by word."""

    def length(self, words: pa.ChunkedArray) -> pa.ChunkedArray:
        """Return the length of each word, in bytes."""
        return pc.binary_length(words)

    @abstractmethod
    def train(self, words: pa.Table, config: VocabularyConfig) -> tuple[bytes, int]:
        """Return the file of a vocabulary trained from such a table, and how many tokens it has."""

    @abstractmethod
    def load(self, path: str, config: VocabularyConfig) -> Tokenizer:
        """Return the tokenizer of what `train` returned, written to a file."""
