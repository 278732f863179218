"""`bertdata show`: examples of a build as text, with the predicted tokens marked.

Static masks are read from the shards; dynamic ones are drawn as the loader draws them for an epoch. A mark shows the
token in the row and the one to predict: [MASK→word] masked, [other→word] replaced, [word=] kept.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from bertdata.errors import printable
from bertdata.inspect.examples import Example, ShownToken, words
from bertdata.tokenizers.base import Tokenizer

BYTES = "\\xE2: a byte of a character that takes several tokens"
SIMILAR = "[other→word] is a token of a similar word, too: these masks have similar words in place of [MASK]"
LEGEND = (
    ("mask", "[MASK→word]", "to predict, masked"),
    ("random", "[other→word]", "to predict, replaced by a random token"),
    ("kept", "[word=]", "to predict, kept"),
)
"""The kinds of marks, how each looks, and what it means."""

_COLOURS = {"mask": "1;33", "random": "1;31", "kept": "1;32", "special": "2", "head": "1"}


def columns(text: str) -> int:
    """Return how many columns of a terminal a text takes.

    >>> columns("salt"), columns("塩"), columns("e\u0301")
    (4, 2, 1)
    """
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def render(example: Example, total: int, width: int, *, color: bool) -> str:
    """Return one example as lines of at most `width` columns; a longer word has a line of its own."""
    label = f", {printable(example.label)}" if example.label else ""
    head = f"example {example.number} of {total:,}: {example.tokens} tokens, {example.predictions} to predict{label}"
    lines = [_painted(head, "head", color)]
    for number, segment in enumerate(example.segments):
        name = "AB"[number % 2] if len(example.segments) > 1 else " "
        lines += _wrapped(segment, f"{name}  ", width, color=color)
    return "\n".join(lines)


def _wrapped(segment: Sequence[ShownToken], name: str, width: int, *, color: bool) -> Iterator[str]:
    line, used = name, len(name)
    for word in words(segment):
        size = sum(columns(token.text) for token in word)
        space = used > len(name)
        if space and used + 1 + size > width:
            yield line
            line, used, space = " " * len(name), len(name), False
        line += " " * space + "".join(_painted(token.text, token.kind, color) for token in word)
        used += space + size
    yield line


def _painted(text: str, kind: str, color: bool) -> str:
    return f"\x1b[{_COLOURS[kind]}m{text}\x1b[0m" if color and kind in _COLOURS else text


def notations(tokenizer: Tokenizer) -> list[str]:
    """Return lines for a legend on how tokens are written: the `NOTATION`, and bytes where there are such."""
    has_bytes = any("\\x" in text for text in tokenizer.token_texts)
    return [*([tokenizer.NOTATION] if tokenizer.NOTATION else []), *([BYTES] if has_bytes else [])]


def legend(notations: Sequence[str] = (), *, color: bool) -> str:
    """Return the meaning of the marks, a line each, and after them how tokens are written."""
    width = max(len(mark) for _, mark, _ in LEGEND)
    lines = [_painted(mark, kind, color) + " " * (width - len(mark)) + "  " + text for kind, mark, text in LEGEND]
    return "\n".join([*lines, *notations])
