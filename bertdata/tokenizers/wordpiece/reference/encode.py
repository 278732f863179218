"""The tokenizer as its definition reads: normalise, cut into words, take the longest piece, begin again after it.

Slow on purpose; for reading, and for checking the kernel. The words are those of `tokenizers`; the matching is here.
"""

from __future__ import annotations

from bertdata.tokenizers.wordpiece.formats import MAX_WORD_CHARACTERS, Parts
from bertdata.tokenizers.wordpiece.vocabulary import CONTINUATION, UNK


def encode_slowly(parts: Parts, text: str) -> list[int]:
    """Return the ids that `WordPieceTokenizer.encode` returns."""
    ids = {token: token_id for token_id, token in enumerate(parts.tokens)}
    return [ids[piece] for word in parts.normalizer.words(text) for piece in pieces_of(word, ids)]


def pieces_of(word: str, ids: dict[str, int]) -> list[str]:
    """Return the pieces of a word, or [UNK] alone where it is too long or has a rest that no piece begins.

    >>> pieces_of("unable", {"un": 0, "una": 1, "##able": 2, "##ble": 3})
    ['una', '##ble']
    >>> pieces_of("unable!", {"un": 0, "##able": 2})
    ['[UNK]']
    """
    if len(word) > MAX_WORD_CHARACTERS:
        return [UNK]
    pieces: list[str] = []
    start = 0
    while start < len(word):
        prefix = CONTINUATION if start else ""
        ends = [end for end in range(len(word), start, -1) if prefix + word[start:end] in ids]
        if not ends:
            return [UNK]
        pieces.append(prefix + word[start : ends[0]])
        start = ends[0]
    return pieces
