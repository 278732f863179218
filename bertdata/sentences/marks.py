"""End sentences at the marks of scripts that Punkt does not know, after it: of CJK, Devanagari, Urdu and others.

Punkt knows `.`, `?` and `!`. Two kinds of marks are added (Unicode's Sentence_Terminal, without those of Latin text):

    。！？｡               end a sentence where they stand: Japanese and Chinese have no spaces. Closing quotes and
                         brackets after them belong to it, and it goes on where 、 ， or a quoting と or っ comes next.
    । ॥ ۔ ؟ ։ ። ፧ ။ ។ ៕     end a sentence before white space, with closing quotes and brackets between.

`．`, which also divides numbers, and `…` are left to Punkt, which ends no sentence at them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from bertdata.arrays import Bytes
from bertdata.sentences.batch import Spans

REVISION = 1
WITHOUT_SPACE = "。！？｡"
BEFORE_SPACE = "।॥۔؟։።፧။។៕"
_CLOSERS = re.escape("」』）】》〉〕］”’\"'»)]")
_END = re.compile(
    rf"(?<![{WITHOUT_SPACE}])[{WITHOUT_SPACE}]++(?:[{_CLOSERS}]++(?![とっ、，])|(?![{_CLOSERS}]))|"
    rf"(?<![{BEFORE_SPACE}])[{BEFORE_SPACE}]++[{_CLOSERS}]*+(?=\s|\Z)"
)
_ANY = re.compile("|".join(WITHOUT_SPACE + BEFORE_SPACE).encode())


def split_at_marks(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the (start, end) spans of sentences, in characters, cut after the marks in them.

    >>> text = "雨が降った。「帰ろう。」と彼は言った。"
    >>> [text[start:stop] for start, stop in split_at_marks(text, [(0, len(text))])]
    ['雨が降った。', '「帰ろう。」と彼は言った。']
    >>> text = "वर्षा हुई। हम घर गए।"
    >>> [text[start:stop] for start, stop in split_at_marks(text, [(0, len(text))])]
    ['वर्षा हुई।', 'हम घर गए।']
    """
    return [piece for start, stop in spans for piece in _pieces(text, start, stop)]


def split_batch_at_marks(data: Bytes, spans: Spans) -> Spans:
    """Return the spans of many rows, in bytes, cut as `split_at_marks` cuts them."""
    whole = data.tobytes()
    if not _ANY.search(whole):
        return spans
    starts: list[int] = []
    stops: list[int] = []
    numbers = np.ones(len(spans.starts), np.int64)
    for number, (start, stop) in enumerate(zip(spans.starts.tolist(), spans.stops.tolist(), strict=True)):
        if not _ANY.search(whole, start, stop):
            starts.append(start)
            stops.append(stop)
            continue
        text = whole[start:stop].decode("utf-8", "surrogateescape")
        pieces = list(_pieces(text, 0, len(text)))
        numbers[number] = len(pieces)
        last, offset = 0, start
        for begin, end in pieces:
            offset += len(text[last:begin].encode("utf-8", "surrogateescape"))
            starts.append(offset)
            offset += len(text[begin:end].encode("utf-8", "surrogateescape"))
            stops.append(offset)
            last = end
    ends = np.concatenate([[0], np.cumsum(numbers)])
    rows = np.concatenate([[0], np.cumsum(spans.counts)])
    counts = np.diff(ends[rows]).astype(spans.counts.dtype)
    return Spans(np.array(starts, spans.starts.dtype), np.array(stops, spans.stops.dtype), counts)


def _pieces(text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    begin = start
    for match in _END.finditer(text, start, stop):
        after = match.end()
        while after < stop and text[after].isspace():
            after += 1
        if after < stop:
            yield begin, match.end()
            begin = after
    if begin < stop:
        yield begin, stop
