"""`train_wordpiece`: a WordPiece vocabulary from word counts.

A word begins as its characters, all but the first marked ##. The best pair of neighbouring symbols is joined
everywhere and becomes a piece, again and again, until the vocabulary is full. The three criteria differ in what "best"
means. `kernel.py` does it fast; `_educational.py` is the same in forty lines, and the oracle of its tests.
Counting words is not done here: see `counting.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.errors import ConfigError, InputError
from bertdata.wordpiece.chunks import check_text
from bertdata.wordpiece.criteria import CODES, Criterion
from bertdata.wordpiece.state import N_SYMBOLS, TOTAL, State, empty_state
from bertdata.wordpiece.vocabulary import CONTINUATION, SPECIAL_TOKENS, unused_tokens

WordCounts: TypeAlias = Mapping[str, int] | pa.Table | Iterable[tuple[str, int]]
_EXACT = 1 << 53
_FIRST_PAIRS = 1 << 16


def train_wordpiece(
    word_counts: WordCounts,
    vocab_size: int = 30_000,
    *,
    criterion: Criterion = "likelihood",
    min_frequency: int = 2,
    limit_alphabet: int = 1000,
    special_tokens: Sequence[str] = SPECIAL_TOKENS,
    unused: int = 0,
) -> tuple[str, ...]:
    """Return a vocabulary: tokens in the order of their ids, for `WordPieceTokenizer.from_tokens`.

    `word_counts` is a mapping, pairs, or a table of word and count, as `count_words` gives. The order of ids is
    `special_tokens`, `unused` slots ([unused0] ...), single characters by code point, ## characters by code point,
    then the pieces in the order in which they were found.

    Among the pairs ab that stand side by side `min_frequency` times or more, the best has the largest

    - likelihood: f(ab) log(f(ab) N / (f(a) f(b))), by how much joining a and b raises the log likelihood of the corpus
      under a unigram model of its symbols, to first order (Schuster and Nakajima 2012, section 3). f counts symbols
      as they stand now and N is their number. Training ends early where no merge raises the likelihood.
    - frequency: f(ab), as byte pair encoding (Sennrich et al. 2016) and `tokenizers`' WordPieceTrainer do; as in the
      latter, a pair that comes up again after it was merged keeps the count of those merges.
    - score: f(ab) / (f(a) f(b)), as tutorials describe WordPiece.

    Overlapping pairs all count, as in `tokenizers`; a run such as "aaa" is joined from the left. On ties the lower id
    of a wins, then the lower id of b, so the same counts give the same vocabulary on every run and machine. Only the
    `limit_alphabet` most frequent characters are kept (on ties the lower code point); others are taken out of their
    words. Counts are 64-bit. A corpus with too few pairs gives fewer than `vocab_size` tokens; the caller should tell.

    Raises ConfigError where a setting is out of range, or where `vocab_size` is less than special tokens, slots and
    characters need; InputError where a word holds white space, ## or a lone surrogate, or a count is no whole number
    from 0, or all of them together are over 2**53 characters.

    >>> train_wordpiece({"low": 5, "lower": 2, "newer": 6}, 22, criterion="frequency")[-4:]
    ('ne', 'newer', 'low', 'lower')
    """
    _check_settings(vocab_size, criterion, min_frequency, limit_alphabet, unused)
    reserved = (*special_tokens, *unused_tokens(unused))
    for token, times in Counter(reserved).items():
        if not token or times > 1:
            raise ConfigError(f"the special token {token!r} is given twice or is blank; give each once")
    corpus = _Corpus(*_columns(word_counts), limit_alphabet)
    initial = dict.fromkeys([*reserved, *corpus.characters, *(CONTINUATION + c for c in corpus.continuing)])
    if len(initial) > vocab_size:
        raise ConfigError(
            f"vocab_size is {vocab_size}, but {len(special_tokens)} special tokens, {unused} unused slots and the "
            f"characters, {len(corpus.characters)} at the start of words and {len(corpus.continuing)} after it, "
            f"make {len(initial)}; raise vocab_size or lower limit_alphabet"
        )
    tokens = list(initial)
    if len(corpus.code_points) == 0 or len(tokens) == vocab_size:
        return tuple(tokens)
    return tuple(tokens + _merge(corpus, tokens, vocab_size, CODES[criterion], min_frequency))


def _check_settings(vocab_size: int, criterion: str, min_frequency: int, limit_alphabet: int, unused: int) -> None:
    if criterion not in CODES:
        raise ConfigError(f"criterion is {criterion!r}; expected one of {', '.join(CODES)}")
    for name, value, least in (
        ("vocab_size", vocab_size, 1),
        ("min_frequency", min_frequency, 1),
        ("limit_alphabet", limit_alphabet, 1),
        ("unused", unused, 0),
    ):
        if value < least:
            raise ConfigError(f"{name} is {value}; expected a whole number from {least}")


def _columns(word_counts: WordCounts) -> tuple[list[str], NDArray[np.int64]]:
    if isinstance(word_counts, pa.Table):
        if not {"word", "count"} <= set(word_counts.column_names):
            raise ConfigError(f"the table has the columns {word_counts.column_names}; expected word and count")
        words, counts = word_counts["word"].to_pylist(), word_counts["count"].to_pylist()
    else:
        pairs = list(word_counts.items() if isinstance(word_counts, Mapping) else word_counts)
        words, counts = [word for word, _ in pairs], [count for _, count in pairs]
    for word, count in zip(words, counts, strict=True):
        if not isinstance(word, str):
            raise InputError(f"a word is {word!r}; expected a string")
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
            raise InputError(f"the count of {word!r} is {count!r}; expected a whole number from 0")
    if sum(len(word) * int(count) for word, count in zip(words, counts, strict=True)) > _EXACT:
        raise InputError("the words stand for over 2**53 characters, which cannot be counted exactly; scale them down")
    found = [(word, count) for word, count in zip(words, counts, strict=True) if count and word]
    return [word for word, _ in found], np.array([count for _, count in found], np.int64)


class _Corpus:
    """Words as one array of code points, with the rare characters taken out."""

    def __init__(self, words: list[str], counts: NDArray[np.int64], limit_alphabet: int) -> None:
        for word in words:
            if "##" in word:
                raise InputError(f"the word {word!r} holds ##; words are what BERT's pre-tokenizer gives, # by itself")
            if not word.isascii():
                check_text(word, f"the word {word!r}")
        points = np.frombuffer("".join(words).encode("utf-32-le"), np.uint32).astype(np.int32)
        lengths = np.fromiter(map(len, words), np.int64, len(words))
        if len(points) > np.iinfo(np.int32).max:
            raise InputError("the distinct words have over 2**31 - 1 characters; leave out the rarest words")
        word_here = np.repeat(np.arange(len(words), dtype=np.int32), lengths)
        inside = np.ones(len(points), np.bool_)
        inside[np.cumsum(lengths) - lengths] = False
        seen, index = np.unique(points, return_inverse=True)
        for point in seen.tolist():
            if chr(point).isspace():
                raise InputError(f"a word holds white space (U+{point:04X}); words are what BERT's pre-tokenizer gives")
        frequency = np.bincount(index, counts[word_here], len(seen))
        kept = np.zeros(len(seen), np.bool_)
        kept[np.lexsort((seen, -frequency))[:limit_alphabet]] = True
        here = kept[index]
        self.code_points, self.word, self.inside = points[here], word_here[here], inside[here]
        self.counts = counts
        self.characters = [chr(point) for point in seen[kept].tolist()]
        self.continuing = [chr(point) for point in np.unique(self.code_points[self.inside]).tolist()]


def _merge(corpus: _Corpus, tokens: list[str], vocab_size: int, criterion: int, min_frequency: int) -> list[str]:
    from bertdata.wordpiece import kernel

    state = _state(corpus, tokens, vocab_size)
    kernel.add_symbols(state)
    while kernel.count_pairs(state, criterion, min_frequency) == kernel.GROW:
        state = kernel.grow(state, 2 * len(state.pairs))
    while kernel.merge_pairs(state, vocab_size, criterion, min_frequency) == kernel.GROW:
        state = kernel.grow(state, 2 * len(state.pairs))
    pieces = []
    for symbol in range(len(tokens), int(state.counters[N_SYMBOLS])):
        start, length = state.symbols.start[symbol], state.symbols.length[symbol]
        piece = "".join(map(chr, state.chars[start : start + length].tolist()))
        pieces.append(CONTINUATION + piece if state.symbols.continues[symbol] else piece)
    return pieces


def _state(corpus: _Corpus, tokens: list[str], vocab_size: int) -> State:
    n, n_tokens = len(corpus.code_points), len(tokens)
    n_symbols = min(vocab_size, n_tokens + n)
    state = empty_state(n, n_symbols, _FIRST_PAIRS)
    bodies = [token.removeprefix(CONTINUATION) for token in tokens]
    lengths = np.array([len(body) for body in bodies], np.int32)
    tail = np.frombuffer("".join(bodies).encode("utf-32-le"), np.uint32).astype(np.int32)
    ids = {token: token_id for token_id, token in enumerate(tokens)}
    seen, index = np.unique(corpus.code_points, return_inverse=True)
    at_start = np.array([ids[chr(point)] for point in seen.tolist()], np.int32)
    inside = np.array([ids.get(CONTINUATION + chr(point), -1) for point in seen.tolist()], np.int32)

    text, symbols = state.text, state.symbols
    text.symbol = np.where(corpus.inside, inside[index], at_start[index])
    text.word, text.pair_here = corpus.word, -1
    joined = np.zeros(n + 1, np.bool_)
    joined[1:n] = corpus.word[1:] == corpus.word[:-1]
    text.following = np.where(joined[1:], np.arange(1, n + 1), -1)
    text.preceding = np.where(joined[:-1], np.arange(-1, n - 1), -1)
    symbols.first_left = symbols.first_right = -1
    symbols.start[:n_tokens], symbols.length[:n_tokens] = n + np.cumsum(lengths) - lengths, lengths
    symbols.continues[:n_tokens] = [token.startswith(CONTINUATION) for token in tokens]
    symbols.count = np.bincount(text.symbol, corpus.counts[corpus.word], n_symbols)
    state.counters[N_SYMBOLS], state.counters[TOTAL] = n_tokens, symbols.count.sum()
    return state._replace(chars=np.concatenate([corpus.code_points, tail]), weight=corpus.counts)
