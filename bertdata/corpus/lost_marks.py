"""Letters that a tokenizer which strips accents makes others of: が becomes か, and कु becomes क.

In Latin, Greek and Cyrillic letters an accent lost is what "uncased" means, and Hebrew and Arabic leave out points
themselves. The vowels of Indic, Thai, Khmer and Burmese script and the voiced kana are letters by their marks; without
them words cannot be told apart. They are counted at the beginnings of the texts of each source, for a warning.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bertdata.arrays import Bytes
from bertdata.engine.parts import Counters, PartMetadata, add_counts
from bertdata.text_arrays import offsets_of, text_of
from bertdata.tokenizers.base import Tokenizer

BEGINNING = 512
"""The characters of a text that are looked at."""
_SCRIPTS = (range(0x0900, 0x10A0), range(0x1780, 0x1800), range(0x3040, 0x3100))
_VOICED = "\u3099\u309a"
PROBES = (("が", "か"), ("कु", "क"), ("কু", "ক"), ("తి", "త"), ("தீ", "த"), ("กิ", "ก"), ("កិ", "ក"))
"""Texts with marks, and what they are without them."""


def _marked() -> NDArray[np.bool_]:
    """Return by code point, up to the last of the scripts, whether it makes another letter: one with a mark, or a mark.

    All of them have three bytes in UTF-8.
    """
    marked = np.zeros(max(script.stop for script in _SCRIPTS), np.bool_)
    for code in itertools.chain(*_SCRIPTS):
        letter = chr(code)
        voiced = any(mark in unicodedata.normalize("NFD", letter) for mark in _VOICED)
        marked[code] = voiced or unicodedata.category(letter) == "Mn"
    return marked


@lru_cache(maxsize=2)
def loses_marks(tokenizer: Tokenizer) -> bool:
    """Return whether a tokenizer gives texts the same ids, ones that it knows, with the marks and without them."""
    for probe in PROBES:
        with_marks, without = tokenizer.encode_batch(pa.array(probe)).to_pylist()
        if with_marks and with_marks == without and tokenizer.unk_token_id not in without:
            return True
    return False


def count_lost_marks(texts: pa.ChunkedArray, tokenizer: Tokenizer, counters: Counters) -> None:
    """Add the letters that lose a mark, and the characters that were looked at, to `signs` of the details."""
    if not len(texts) or not loses_marks(tokenizer):
        return
    signs = Counter(counters.details.get("signs", {}))
    for chunk in pc.utf8_slice_codeunits(texts, 0, BEGINNING).chunks:
        characters, marks = _count_marks(text_of(chunk)[: offsets_of(chunk)[-1]])
        signs["characters_at_beginnings"] += characters
        signs["lost_marks"] += marks
    counters.details["signs"] = dict(signs)


def _count_marks(data: Bytes) -> tuple[int, int]:
    """Return how many characters valid UTF-8 has, and how many of them are in `_MARKED`."""
    first = np.flatnonzero((data & 0xF0) == 0xE0)
    points = (data[first] & 0x0F).astype(np.int32) << 12
    points |= (data[first + 1] & 0x3F).astype(np.int32) << 6 | (data[first + 2] & 0x3F)
    characters = int(np.count_nonzero((data & 0xC0) != 0x80))
    return characters, int(np.count_nonzero(_MARKED[points[points < len(_MARKED)]]))


def lost_marks_of(tokens: Sequence[PartMetadata], sources: Sequence[str]) -> dict[str, float]:
    """Return the share of the characters looked at that lose a mark, by source, the largest first.

    sources: the name of the source of each record of the token store.
    """
    by_source: dict[str, list[PartMetadata]] = {}
    for source, record in zip(sources, tokens, strict=True):
        by_source.setdefault(source, []).append(record)
    shares = {}
    for source, records in by_source.items():
        signs = add_counts(record.details.get("signs", {}) for record in records)
        shares[source] = signs.get("lost_marks", 0) / max(1, signs.get("characters_at_beginnings", 0))
    return dict(sorted(shares.items(), key=lambda item: -item[1]))


_MARKED = _marked()
