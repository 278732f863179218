"""`train_bpe`: a byte-level BPE vocabulary and its merges, from counts of pre-tokens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow.compute as pc

from bertdata.errors import ConfigError
from bertdata.text_arrays import offsets_of, text_of
from bertdata.tokenizers.json_format import byte_letters
from bertdata.tokenizers.training.merging.corpus import Corpus, WordCounts, read_counts
from bertdata.tokenizers.training.merging.merge_score import FREQUENCY
from bertdata.tokenizers.training.merging.merging import Merged, merge_symbols

LETTERS = byte_letters()
ALPHABET = sorted(LETTERS.values())
"""The letters that stand for bytes, in the order in which a vocabulary has them."""


def train_bpe(
    word_counts: WordCounts, vocab_size: int = 30_000, *, min_frequency: int = 2, first: Sequence[str] = ()
) -> Merged:
    """Return the tokens of byte pair encoding (Sennrich et al. 2016) in the order of their ids, and its merges.

    `word_counts` is a mapping, pairs, or a table of word and count, as `count_pre_tokens` gives. Tokens have for each
    byte its letter, as GPT-2's do. They are `first`, such as special tokens, then the 256 bytes by their letters, then
    those that merges made. The pair that is most often neighbours is merged; on ties the one with the lower id on the
    left, then on the right. The result is that of `tokenizers`' `BpeTrainer` with the same counts and that alphabet.
    A corpus with too few pairs gives fewer than `vocab_size` tokens.

    Raises ConfigError where `vocab_size` has no room for `first` and the bytes, or `first` has a token twice or a byte;
    and ConfigError and InputError as `read_counts` does.

    >>> tokens, merges = train_bpe({" low": 5, " lower": 2, "new": 6}, 263, first=["[PAD]"])
    >>> tokens[-6:], merges[:3]
    (['lo', 'Ġlo', 'Ġlow', 'ew', 'new', 'er'], [('l', 'o'), ('Ġ', 'lo'), ('Ġlo', 'w')])
    """
    tokens = [*first, *ALPHABET]
    if len(set(tokens)) < len(tokens):
        twice = next(token for token in tokens if tokens.count(token) > 1)
        raise ConfigError(f"the token {twice!r} is given twice, or is the letter of a byte; give each once")
    if len(tokens) > vocab_size:
        raise ConfigError(
            f"vocab_size is {vocab_size}, but {len(first)} special, unused and added tokens and the 256 bytes make "
            f"{len(tokens)}; raise vocab_size"
        )
    return merge_symbols(bytes_of(word_counts), tokens, vocab_size, criterion=FREQUENCY, min_frequency=min_frequency)


def bytes_of(word_counts: WordCounts) -> Corpus:
    """Return the words that occur, as the letters of their bytes; raises as `read_counts` does.

    >>> "".join(map(chr, bytes_of({" é": 1}).points))
    'ĠÃ©'
    """
    words, counts, lengths = read_counts(word_counts, pc.binary_length)
    offsets = offsets_of(words)
    letters = np.array([ord(LETTERS[byte]) for byte in range(256)], np.int32)
    points = letters[text_of(words)[offsets[0] : offsets[-1]]] if len(words) else np.zeros(0, np.int32)
    return Corpus(points, np.zeros(len(points), np.bool_), lengths, counts, ALPHABET, [])


def letters_of(text: str) -> str:
    """Return the letters of a text's bytes.

    >>> letters_of(" né")
    'ĠnÃ©'
    """
    return "".join(LETTERS[byte] for byte in text.encode("utf-8"))
