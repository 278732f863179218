"""The tokenizer as its definition reads: normalise, cut into words, take the longest token, go on after it.

Slow on purpose; for reading, and for checking the kernel. The words are those of `tokenizers`; the matching is here.
"""

from __future__ import annotations

from bertdata.tokenizers.wordpiece.tokenizer_json import MAX_WORD_CHARACTERS, Parts
from bertdata.tokenizers.wordpiece.vocabulary import CONTINUATION, UNK


def encode_slowly(parts: Parts, text: str) -> list[int]:
    """Return the ids that `WordPieceTokenizer.encode` returns."""
    ids = {token: token_id for token_id, token in enumerate(parts.tokens)}
    return [ids[token] for word in parts.normalizer.words(text) for token in tokens_of(word, ids)]


def tokens_of(word: str, ids: dict[str, int]) -> list[str]:
    """Return the tokens of a word, or [UNK] alone where it is too long or no token fits the rest.

    >>> tokens_of("unable", {"un": 0, "una": 1, "##able": 2, "##ble": 3})
    ['una', '##ble']
    >>> tokens_of("unable!", {"un": 0, "##able": 2})
    ['[UNK]']
    """
    if len(word) > MAX_WORD_CHARACTERS:
        return [UNK]
    tokens: list[str] = []
    start = 0
    while start < len(word):
        prefix = CONTINUATION if start else ""
        ends = [end for end in range(len(word), start, -1) if prefix + word[start:end] in ids]
        if not ends:
            return [UNK]
        tokens.append(prefix + word[start : ends[0]])
        start = ends[0]
    return tokens
