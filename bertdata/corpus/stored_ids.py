"""The ids that documents brought along, in the place of those of their text, where both are of one tokenizer.

The ends of sentences and the beginnings of words are found in the text. They move to the ids by how many characters
other than white space are before them, since that is what a text and the ids that it was made of have in common.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.documents import COLUMNS
from bertdata.engine.parts import Counters
from bertdata.sources.token_ids import TOKEN_IDS, IdsOf, unpacked
from bertdata.tokenizers.base import Tokenizer
from bertdata.tokenizers.loading import load_tokenizer

Longs = NDArray[np.int64]
READ_BY_IDS, IDS_TAKEN = "documents_read_by_ids", "tokens_read_by_ids"
"""The counts of documents that kept their ids, and of these."""
_BLANKS = str.maketrans("", "", "\u0120\u010a\u0109\u010d\u2581 \n\t\r")
"""How byte-level and SentencePiece tokens write white space, and how others do."""


def keys_of(folders: Sequence[str], tokenizer: Tokenizer) -> tuple[str, ...]:
    """Return the keys of the ids that a build takes as they are: of those folders with its own tokenizer."""
    same = [folder for folder in folders if load_tokenizer(folder).fingerprint == tokenizer.fingerprint]
    return tuple(sorted({IdsOf.named(folder).sha256[:16] for folder in same}))


def with_stored_ids(
    documents: pa.Table,
    borders: NDArray[np.int32],
    encoded: pa.ListArray,
    starts: pa.Array | None,
    tokenizer: Tokenizer,
    keys: frozenset[str],
    counters: Counters,
) -> tuple[pa.ListArray, pa.Array | None]:
    """Return the ids of sentences, and whether each begins a word, with the ids that documents have of their own.

    borders: the first sentence of each document, and their number; encoded, starts: those of the text.
    """
    ids_of = [
        unpacked(value, text, keys) if (value := json.loads(row or "{}").get(TOKEN_IDS)) else None
        for row, text in zip(documents[COLUMNS].to_pylist(), documents["text"].to_pylist(), strict=True)
    ]
    tokens, ends = encoded.flatten().to_numpy(), encoded.offsets.to_numpy().astype(np.int64)
    begins = None if starts is None else starts.to_numpy(zero_copy_only=False)
    sizes = sizes_of(tuple(tokenizer.tokens))
    parts: list[Longs] = []
    flags: list[NDArray[np.bool_]] = []
    new_ends, total = [np.zeros(1, np.int64)], 0
    for number, ids in enumerate(ids_of):
        of_document = ends[borders[number] : borders[number + 1] + 1]
        first, last = (int(of_document[0]), int(of_document[-1])) if len(of_document) else (0, 0)
        text_ids = tokens[first:last].astype(np.int64)
        text_begins = None if begins is None else begins[first:last]
        if ids is None or last == first:
            ids, cuts, moved = text_ids, of_document[1:] - first, text_begins  # noqa: PLW2901
        else:
            cuts, moved = aligned(text_ids, ids, of_document[1:] - first, text_begins, sizes)
            counters.add_all(**{READ_BY_IDS: 1, IDS_TAKEN: len(ids)})
        parts.append(ids)
        flags += [] if moved is None else [moved]
        new_ends.append(cuts + total)
        total += len(ids)
    values = pa.array(np.concatenate([np.zeros(0, np.int64), *parts]), encoded.type.value_type)
    offsets = pa.array(np.concatenate(new_ends), pa.int32())
    words = None if starts is None else pa.array(np.concatenate([np.zeros(0, np.bool_), *flags]))
    return pa.ListArray.from_arrays(offsets, values), words


def aligned(
    text_ids: Longs, ids: Longs, ends: Longs, begins: NDArray[np.bool_] | None, sizes: Longs
) -> tuple[Longs, NDArray[np.bool_] | None]:
    """Return where the sentences of a text end in other ids, and which of these begin words.

    sizes: of each token, how many characters other than white space it has.

    >>> sizes = np.array([0, 1, 1, 2])
    >>> aligned(np.array([3, 1]), np.array([0, 1, 2, 1]), np.array([1, 2]), np.array([True, True]), sizes)
    (array([3, 4]), array([ True, False, False,  True]))
    """
    before_text, before = (np.concatenate([[0], np.cumsum(sizes[row])]) for row in (text_ids, ids))
    cuts = np.searchsorted(before, before_text[ends])
    cuts[-1:] = len(ids)
    if begins is None:
        return np.minimum(cuts, len(ids)).astype(np.int64), None
    follows_blank = np.diff(before[:-1], prepend=-1) == 0  # white space is of the word after it
    flags = np.isin(before[:-1], before_text[:-1][begins]) & ~follows_blank
    return np.minimum(cuts, len(ids)).astype(np.int64), flags


@lru_cache(maxsize=2)
def sizes_of(tokens: tuple[str, ...]) -> Longs:
    """Return how many characters (of byte-level tokens bytes) other than white space each token has.

    >>> sizes_of(("##ed", "\u0120the", "\u2581"))
    array([2, 3, 0])
    """
    return np.fromiter((len(token.removeprefix("##").translate(_BLANKS)) for token in tokens), np.int64)
