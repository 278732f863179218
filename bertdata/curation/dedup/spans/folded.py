"""The form in which spans are compared: their words, folded, with a space between them.

Words are those of decontamination (its module `ngram_words`): case, punctuation and white space make no difference,
digits and accents do. datatrove's `simplify_text` (0.10) and the paper on CCNet (Wenzek et al., 2020,
section 3.1) also take all numbers for one and accents away; C4's code and Dolma's do neither. Here a text with another
number is another text: it did not occur before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertdata.curation.decontamination.ngram_words import folding, normalised
from bertdata.curation.dedup.spans.text_units import Places, Units


@dataclass(frozen=True)
class Folded:
    """The words of units: those of unit u are data[begins[u] : ends[u]], and words[u] is their number.

    Those of units one after another are the bytes from the first's to the last's. A unit without words ends before it
    begins.
    """

    data: bytes
    begins: Places
    ends: Places
    words: Places

    def of(self, first: int, last: int) -> bytes:
        """Return the words of the units from `first` to `last`."""
        return self.data[self.begins[first] : self.ends[last]]


def fold(units: Units) -> Folded:
    """Return the words of units, folded, by the kernel.

    >>> import pyarrow as pa
    >>> from bertdata.curation.dedup.spans.text_units import paragraph_units
    >>> folded = fold(paragraph_units(pa.array(["The SEA,\\n\\n***\\n\\nthe sea! 日本"])))
    >>> folded.words.tolist(), folded.of(0, 0), folded.of(2, 2).decode(), folded.of(0, 2).decode()
    ([2, 0, 4], b'the sea', 'the sea 日 本', 'the sea the sea 日 本')
    """
    from bertdata.curation.dedup.spans.folded_kernel import fold_units

    size, count = int((units.ends - units.begins).sum()), len(units.begins)
    given = np.stack([units.begins, units.ends], axis=1)
    places, words = np.zeros((count, 2), np.int64), np.zeros(count, np.int64)
    out = np.empty(2 * size + count + 8, np.uint8)
    length = fold_units(units.data, given, folding(), out, places, words)
    assert length >= 0, "the words of a text are longer than twice the text"
    return Folded(out[:length].tobytes(), places[:, 0].copy(), places[:, 1].copy(), words)


def fold_plainly(units: Units) -> list[str]:
    """Return the words of each unit, folded, in plain Python: what `fold` is tested against."""
    spans: NDArray[np.int64] = np.stack([units.begins, units.ends], axis=1)
    return [normalised(units.data[begin:end].tobytes().decode()) for begin, end in spans.tolist()]
