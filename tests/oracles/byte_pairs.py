"""Added tokens, words, merges and the best path in plain Python: the oracle of the kernels of `tokenizers/encode`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

import regex

CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""The pattern of cl100k (OpenAI's tiktoken), which Llama 3, EuroBERT and OLMo 2 have too."""


def cut_at_added(text: str, tokens: Mapping[str, Collection[str]]) -> list[str]:
    """Return a text cut at added tokens: text, token, text, ..., text, of which the texts may be empty.

    tokens: each with those of `single_word`, `lstrip`, `rstrip` and `special` that it has. The leftmost goes first, and
    of those that begin there the longest. One that `single_word` rules out, or that is special and so text, covers its
    bytes nevertheless; white space that `rstrip` takes may be the next token's too, but not that of one with `lstrip`,
    which is none where nothing is left of it. So has it `find_matches` in added_vocabulary.rs of `tokenizers`, which
    panics where such a token would end before the one before it; here that raises ValueError.

    >>> cut_at_added("a    bc", {"  ": [], "   ": [], "b": ["single_word"], "c": ["lstrip"]})
    ['a', '   ', ' b', 'c', '']
    """
    parts: list[str] = []
    at = done = 0
    while at < len(text):
        token = max((token for token in tokens if token and text.startswith(token, at)), key=len, default=None)
        if token is None:
            at += 1
            continue
        start = at
        stop = at = start + len(token)
        flags = tokens[token]
        if "special" in flags:
            continue
        if "single_word" in flags and regex.search(r"\w", text[max(0, start - 1) : start] + text[stop : stop + 1]):
            continue
        if "lstrip" in flags:
            while start > done and regex.match(r"\p{White_Space}", text, pos=start - 1):
                start -= 1
            start = max(start, done)
        if "rstrip" in flags:
            stop += len(regex.match(r"\p{White_Space}*", text, pos=stop)[0])
        if start > stop:
            raise ValueError(f"{token!r} would end before it begins")
        if start == stop:
            continue
        parts += [text[done:start], token]
        done = stop
    return [*parts, text[done:]]


def words_of(pattern: str, text: str) -> list[str]:
    """Return the words that a pattern cuts a text into.

    >>> words_of(CL100K, "x=2024\\n")
    ['x', '=', '202', '4', '\\n']
    """
    words: list[str] = regex.findall(pattern, text)
    return words


def merge(word: bytes, vocabulary: Mapping[bytes, int], ranks: Mapping[tuple[bytes, bytes], int]) -> list[int]:
    """Return the ids of a word in byte-level BPE: of all pairs the one of the lowest rank is merged, leftmost first.

    >>> merge(b"abab", {b"a": 0, b"b": 1, b"ab": 2}, {(b"a", b"b"): 0})
    [2, 2]
    """
    parts = [bytes([byte]) for byte in word]
    while True:
        pairs = [(ranks[pair], at) for at, pair in enumerate(pairwise(parts)) if pair in ranks]
        if not pairs:
            return [vocabulary[part] for part in parts]
        _, at = min(pairs)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]


def best_path(word: str, pieces: Sequence[tuple[str, float]], unknown: int, penalty: float = 10.0) -> list[int]:
    """Return the ids of a word in Unigram: the pieces whose scores add up to most; unknown characters are fused.

    A character without a piece of its own has the lowest of all scores, less `penalty`. Of paths with the same score
    the first piece that reaches a place is kept, the one that began first and is shortest.

    >>> best_path("abx", [("a", -1.0), ("ab", -1.5), ("b", -1.0), ("<unk>", 0.0)], unknown=3)
    [1, 3]
    """
    numbers = {piece: number for number, (piece, _) in enumerate(pieces)}
    worst = min(score for _, score in pieces) - penalty
    best: list[tuple[float, list[int]] | None] = [(0.0, []), *[None] * len(word)]
    for start in range(len(word)):
        score, ids = best[start] or (0.0, [])
        ends = [end for end in range(start + 1, len(word) + 1) if word[start:end] in numbers]
        steps = [(end, numbers[word[start:end]], pieces[numbers[word[start:end]]][1]) for end in ends]
        if start + 1 not in ends:
            steps.append((start + 1, unknown, worst))
        for end, number, added in steps:
            best_here = best[end]
            if best_here is None or added + score > best_here[0]:
                fused = number == unknown and ids[-1:] == [unknown]
                best[end] = (added + score, ids if fused else [*ids, number])
    path = best[len(word)]
    return path[1] if path else []
