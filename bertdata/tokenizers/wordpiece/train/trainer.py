"""`train_wordpiece`: a WordPiece vocabulary from word counts.

A word begins as its characters, all but the first marked ##. The best pair of neighbouring symbols is joined
everywhere and becomes a token, again and again, until the vocabulary is full. The three criteria differ in what "best"
means. Merging is done by `training.merging`, counting words by `counting.py`, reading the counts by `corpus.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from numbers import Integral
from typing import Any

from bertdata.errors import ConfigError
from bertdata.tokenizers.training.merging.corpus import WordCounts
from bertdata.tokenizers.training.merging.merge_score import CODES, Criterion
from bertdata.tokenizers.training.merging.merging import merge_symbols
from bertdata.tokenizers.wordpiece.train.corpus import read_corpus
from bertdata.tokenizers.wordpiece.vocabulary import CONTINUATION, SPECIAL_TOKENS, check_special, unused_tokens


def train_wordpiece(
    word_counts: WordCounts,
    vocab_size: int = 30_000,
    *,
    criterion: Criterion = "likelihood",
    min_frequency: int = 2,
    limit_alphabet: int = 1000,
    special_tokens: Sequence[str] = SPECIAL_TOKENS,
    unused: int = 0,
    added: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return a vocabulary: tokens in the order of their ids, for `WordPieceTokenizer.from_tokens`.

    `word_counts` is a mapping, pairs, or a table of word and count, as `count_words` gives. The order of ids is
    `special_tokens`, `unused` slots ([unused0] ...), the words `added`, single characters by code point, ## characters
    by code point, then the tokens in the order in which they were found.

    Among the pairs ab that are neighbours `min_frequency` times or more, the best has the largest

    - likelihood: f(ab) log(f(ab) N / (f(a) f(b))), by how much joining a and b raises the log likelihood of the corpus
      under a unigram model of its symbols, to first order (Schuster and Nakajima 2012, section 3). f counts symbols
      as they are joined so far and N is their number. Training ends early where no merge raises the likelihood.
    - frequency: f(ab), as byte pair encoding (Sennrich et al. 2016) and `tokenizers`' WordPieceTrainer do; as in the
      latter, a pair that occurs again after it was merged keeps the count of those merges.
    - score: f(ab) / (f(a) f(b)), as tutorials describe WordPiece.

    Overlapping pairs all count, as in `tokenizers`; a run such as "aaa" is joined from the left. On ties the lower id
    of a wins, then the lower id of b, so the same counts give the same vocabulary on every run and machine. Only the
    `limit_alphabet` most frequent characters are kept (on ties the lower code point); others are taken out of their
    words. Counts are 64-bit. A corpus with too few pairs gives fewer than `vocab_size` tokens; the caller should tell.

    Raises ConfigError where a setting is out of range, a special token is not valid (`check_special`), one or an added
    word is given twice, or `vocab_size` is less than special tokens, slots and characters need; and ConfigError and
    InputError as `corpus.read_corpus` does, where words or counts are not valid.

    >>> train_wordpiece({"low": 5, "lower": 2, "newer": 6}, 22, criterion="frequency")[-4:]
    ('ne', 'newer', 'low', 'lower')
    """
    _check_settings(vocab_size, criterion, min_frequency, limit_alphabet, unused)
    reserved = (*check_special(special_tokens), *unused_tokens(unused))
    for token, times in Counter([*reserved, *added]).items():
        if times > 1:
            raise ConfigError(f"the special or added token {token!r} is given twice; give each once")
    corpus = read_corpus(word_counts, limit_alphabet)
    initial = dict.fromkeys([*reserved, *added, *corpus.characters, *(CONTINUATION + c for c in corpus.continuing)])
    if len(initial) > vocab_size:
        raise ConfigError(
            f"vocab_size is {vocab_size}, but {len(special_tokens)} special tokens, "
            f"{f'{len(added)} added words, ' if added else ''}{unused} unused slots and the "
            f"characters, {len(corpus.characters)} at the start of words and {len(corpus.continuing)} after it, "
            f"make {len(initial)}; raise vocab_size or lower limit_alphabet"
        )
    merged = merge_symbols(
        corpus, list(initial), vocab_size, criterion=CODES[criterion], min_frequency=min_frequency, mark=CONTINUATION
    )
    return tuple(merged.tokens)


def _check_settings(vocab_size: Any, criterion: Any, min_frequency: Any, limit_alphabet: Any, unused: Any) -> None:
    if criterion not in list(CODES):
        raise ConfigError(f"criterion is {criterion!r}; expected one of {', '.join(CODES)}")
    for name, value, least in (
        ("vocab_size", vocab_size, 1),
        ("min_frequency", min_frequency, 1),
        ("limit_alphabet", limit_alphabet, 1),
        ("unused", unused, 0),
    ):
        if not isinstance(value, Integral) or int(value) < least:
            raise ConfigError(f"{name} is {value!r}; expected a whole number from {least}")
