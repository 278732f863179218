"""The similar words of a build, kept beside its shards, so that a loader anywhere draws the same masks.

`similar_words/table.arrow` holds the ids of the words and of their similar words. The masking settings of the shards
have the fingerprint of the table in place of the path that it was made from, and so has the fingerprint of each shard.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from bertdata.io import files
from bertdata.io.console import counted
from bertdata.masking.settings import MaskingConfig
from bertdata.shards.mask_tables import load
from bertdata.tokenizers.base import Tokenizer

if TYPE_CHECKING:
    from bertdata.masking.similar_words import SimilarWords

FOLDER = "similar_words"


Fingerprinted = tuple[MaskingConfig, "SimilarWords | None", dict[str, int]]
"""Masking settings as shards hold them, the table of similar words that they name, and its counts."""


def with_fingerprint(masking: MaskingConfig, tokenizer: Tokenizer) -> Fingerprinted:
    """Return settings as shards hold them, the table of similar words that they name, None for none, and its counts.

    Raises InputError and ConfigError as `bertdata.masking.similar_words.table_for` does.
    """
    if not masking.similar_words:
        return masking, None, {}
    from bertdata.masking.similar_words import table_for

    table, counts = table_for(masking.similar_words, tokenizer)
    return replace(masking, similar_words=table.fingerprint), table, counts


def check_table(masking: MaskingConfig) -> str:
    """Return the SHA-256 of the table that settings name, "" for none; raises InputError where it cannot be read."""
    if not masking.similar_words:
        return ""
    from bertdata.masking.similar_words import read_table

    read_table(masking.similar_words)
    return files.sha256(masking.similar_words)


def similar_words_for(
    masking: MaskingConfig, tokenizer: Tokenizer, build: str, own: MaskingConfig
) -> SimilarWords | None:
    """Return the similar words of masking settings, None where these name none.

    Those of the settings `own` of a build are read from beside its shards; others have the path of a table. Raises
    ConfigError where the table there is not that of the shards, and InputError where there is none.
    """
    if not masking.similar_words:
        return None
    if masking.similar_words != own.similar_words:
        return with_fingerprint(masking, tokenizer)[1]
    from bertdata.masking.similar_words import SimilarWords

    return load(SimilarWords.from_arrow, build, FOLDER, "similar words", own.similar_words)


def note(counts: Mapping[str, int]) -> str:
    """Return a message on the counts of a table.

    >>> note({"words": 1200, "similar_words": 5000, "dropped_same": 2})
    'similar words: 5,000 of 1,200 words; left out, same: 2'
    """
    dropped = [
        f"{name.removeprefix('dropped_').replace('_', ' ')}: {number:,}"
        for name, number in counts.items()
        if name.startswith("dropped_")
    ]
    text = f"similar words: {counts['similar_words']:,} of {counted(counts['words'], 'word')}"
    return "; left out, ".join([text, ", ".join(dropped)] if dropped else [text])
