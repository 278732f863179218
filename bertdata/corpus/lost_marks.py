"""Letters that a tokenizer which strips accents makes others of: が becomes か, and कु becomes क.

In Latin, Greek and Cyrillic letters an accent lost is what "uncased" means, and Hebrew and Arabic leave out points
themselves. The vowels of Indic, Thai, Khmer and Burmese script and the voiced kana are letters by their marks; without
them words cannot be told apart. They are counted at the beginnings of the texts of each source, for a warning.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

from bertdata.engine.parts import Counters, PartMetadata, add_counts
from bertdata.tokenizers.base import Tokenizer

BEGINNING = 512
"""The characters of a text that are looked at."""
_SCRIPTS = (range(0x0900, 0x10A0), range(0x1780, 0x1800), range(0x3040, 0x3100))
_VOICED = "\u3099\u309a"
PROBES = (("が", "か"), ("कु", "क"), ("কু", "ক"), ("తి", "త"), ("தீ", "த"), ("กิ", "ก"), ("កិ", "ក"))
"""Texts with marks, and what they are without them."""


def _pattern() -> str:
    """Return what matches a letter with a mark, or the mark, that makes another letter."""
    letters = [chr(code) for script in _SCRIPTS for code in script]
    marked = [
        letter
        for letter in letters
        if unicodedata.category(letter) == "Mn" or any(mark in unicodedata.normalize("NFD", letter) for mark in _VOICED)
    ]
    return f"[{''.join(map(re.escape, marked))}]"


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
    beginnings = pc.utf8_slice_codeunits(texts, 0, BEGINNING)
    signs = Counter(counters.details.get("signs", {}))
    signs["characters_at_beginnings"] += pc.sum(pc.utf8_length(beginnings)).as_py() or 0
    signs["lost_marks"] += pc.sum(pc.count_substring_regex(beginnings, _PATTERN)).as_py() or 0
    counters.details["signs"] = dict(signs)


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


_PATTERN = _pattern()
