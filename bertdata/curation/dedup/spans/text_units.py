"""The units that texts are made of, paragraphs or sentences, as places in their bytes; and texts without some of them.

Between two units there is only white space.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.text_arrays import offsets_of, text_of

Places = NDArray[np.int64]
_BORDER = re.compile(rb"\n[^\S\n]*\n\s*")


class FindsSentences(Protocol):
    """What finds sentences: a `bertdata.sentences.SentenceSegmenter`."""

    @property
    def fingerprint(self) -> str:
        """What identifies all that its sentences depend on."""

    def spans_batch(self, texts: Any) -> pa.ListArray:
        """Return the sentences of each text, as list<struct<start, end>> in bytes."""


@dataclass(frozen=True)
class Units:
    """The units of texts: unit u is data[begins[u] : ends[u]], text t has those from borders[t] to borders[t + 1].

    data: the UTF-8 bytes of all texts; begins, ends: int64 (units,); borders: int64 (texts + 1,).
    """

    data: NDArray[np.uint8]
    begins: Places
    ends: Places
    borders: Places


def whole_units(texts: pa.StringArray) -> Units:
    """Return each text as one unit."""
    offsets = offsets_of(texts).astype(np.int64)
    return Units(text_of(texts), offsets[:-1], offsets[1:], np.arange(len(texts) + 1))


def paragraph_units(texts: pa.StringArray) -> Units:
    r"""Return the paragraphs of texts: what blank lines separate, without the white space around it.

    >>> units = paragraph_units(pa.array(["One.\n\nTwo\nlines.", "", "\n \r\n\n Three. "]))
    >>> units.borders.tolist(), [bytes(units.data[b:e]) for b, e in zip(units.begins, units.ends)]
    ([0, 2, 2, 3], [b'One.', b'Two\nlines.', b'Three.'])
    """
    data = text_of(texts)
    content = data.tobytes()
    begins: list[int] = []
    ends: list[int] = []
    borders = [0]
    offsets = offsets_of(texts).tolist()
    for begin, end in pairwise(offsets):
        place = begin
        for border in [*(match.span() for match in _BORDER.finditer(content, begin, end)), (end, end)]:
            paragraph = content[place : border[0]]
            if stripped := paragraph.strip():
                first = place + len(paragraph) - len(paragraph.lstrip())
                begins.append(first)
                ends.append(first + len(stripped))
            place = border[1]
        borders.append(len(begins))
    return Units(data, *(np.array(values, np.int64) for values in (begins, ends, borders)))


def sentence_units(texts: pa.StringArray, segmenter: FindsSentences) -> Units:
    """Return the sentences of texts."""
    sentences = segmenter.spans_batch(texts)
    borders = np.asarray(sentences.offsets, np.int64) - sentences.offsets[0].as_py()
    spans, base = sentences.flatten(), np.repeat(offsets_of(texts)[:-1].astype(np.int64), np.diff(borders))
    begins, ends = (np.asarray(spans.field(i), np.int64) + base for i in (0, 1))
    return Units(text_of(texts), begins, ends, borders)


def text_without(units: Units, text: int, left_out: NDArray[np.bool_]) -> str:
    r"""Return one text without some of its units, bool (its units,): the others, with what stood before each of them.

    Where units are left out between two, there is a blank line if there was one.

    >>> units = paragraph_units(pa.array(["One.\n\nTwo.\n\n\nThree.\n"]))
    >>> text_without(units, 0, np.array([False, True, False]))
    'One.\n\nThree.'
    """
    first = int(units.borders[text])
    begins, ends = (positions[first : units.borders[text + 1]].tolist() for positions in (units.begins, units.ends))
    pieces: list[bytes] = []
    last = -1
    for unit in np.flatnonzero(~left_out).tolist():
        if pieces:
            between = [units.data[ends[k] : begins[k + 1]].tobytes() for k in range(last, unit)]
            blank = len(between) > 1 and any(map(_BORDER.search, between))
            pieces.append(b"\n\n" if blank else between[-1])
        pieces.append(units.data[begins[unit] : ends[unit]].tobytes())
        last = unit
    return b"".join(pieces).decode()
