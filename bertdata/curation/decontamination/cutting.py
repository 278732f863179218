"""What is left of a text when the passages around n-grams of test data are cut out, as GPT-3 did.

Brown et al., 2020, "Language Models are Few-Shot Learners", appendix C: 200 characters on either side of an n-gram go
with it; of the pieces that are left those under 200 characters go as well, and a document that is cut into more than 10
pieces is dropped whole. Here the pieces stay one document, in paragraphs of their own, so that its id and the ledger
hold; a passage ends at the border of a word; and pieces are counted before the short ones go.
"""

from __future__ import annotations

from collections.abc import Iterable

MARGIN = 200
SHORTEST_PIECE = 200
MOST_PIECES = 10


def without_passages(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text without the passages around spans, given as UTF-8 bytes (begin, end); "" where it is dropped.

    >>> text = "a " * 300 + "the answer" + " b" * 300
    >>> remaining = without_passages(text, [(600, 610)])
    >>> len(text), [len(piece) for piece in remaining.split("\\n\\n")]
    (1210, [399, 399])
    """
    data = text.encode()
    passages: list[list[int]] = []
    for first, last in sorted(spans):
        begin = _border(text, len(data[:first].decode()) - MARGIN, -1)
        end = _border(text, len(data[:last].decode()) + MARGIN, 1)
        if passages and begin <= passages[-1][1]:
            passages[-1][1] = max(end, passages[-1][1])
        else:
            passages.append([begin, end])
    borders = [0, *(place for passage in passages for place in passage), len(text)]
    pieces = [text[begin:end].strip() for begin, end in zip(borders[::2], borders[1::2], strict=True)]
    pieces = [piece for piece in pieces if piece]
    if len(pieces) > MOST_PIECES:
        return ""
    return "\n\n".join(piece for piece in pieces if len(piece) >= SHORTEST_PIECE)


def _border(text: str, place: int, step: int) -> int:
    """Return the next place in a direction, this one included, that is not inside a word."""
    place = min(max(place, 0), len(text))
    while 0 < place < len(text) and text[place - 1].isalnum() and text[place].isalnum():
        place += step
    return place
