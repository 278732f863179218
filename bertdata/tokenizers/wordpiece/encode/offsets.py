"""Which characters of its text each id covers, and which word it belongs to, found by a kernel (`kernels/offsets.py`).

The kernel reports the texts that it cannot handle, such as one with a mark that reordering moves; the caller then asks
`tokenizers`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.text_arrays import offsets_of, text_of
from bertdata.tokenizers.wordpiece.encode.characters import CharacterTable
from bertdata.tokenizers.wordpiece.encode.kernels import offsets as kernel
from bertdata.tokenizers.wordpiece.vocabulary import CONTINUATION, UNK


def characters_taken(tokens: Sequence[str]) -> NDArray[np.int32]:
    """Return how many characters of a word the token of each id takes, and 0 for [UNK], which takes them all: int32.

    >>> characters_taken(["[UNK]", "un", "##able"]).tolist()
    [0, 2, 4]
    """
    return np.array([0 if token == UNK else len(token.removeprefix(CONTINUATION)) for token in tokens], np.int32)


@dataclass(frozen=True)
class Places:
    """Of each id, all rows' one after the other, `characters` from and to (int32, ids by 2) and `words` (int32).

    They hold for the rows that are `located` (bool); `ends` (int64, rows + 1) says where each row's ids begin and end.
    """

    characters: NDArray[np.int32]
    words: NDArray[np.int32]
    located: NDArray[np.bool_]
    ends: NDArray[np.int64]

    def put(self, row: int, encoding: Any) -> None:
        """Take for a row what `tokenizers` says of it."""
        ids = slice(self.ends[row], self.ends[row + 1])
        self.characters[ids] = np.array(encoding.offsets, np.int32).reshape(-1, 2)
        self.words[ids] = encoding.word_ids

    def columns(self) -> dict[str, pa.Array]:
        """Return `offset_mapping` and `word_ids`, a list for each row."""
        ends = pa.array(self.ends.astype(np.int32))
        pairs = pa.FixedSizeListArray.from_arrays(pa.array(self.characters.ravel()), 2)
        return {
            "offset_mapping": pa.ListArray.from_arrays(ends, pairs),
            "word_ids": pa.ListArray.from_arrays(ends, pa.array(self.words)),
        }


def locate(
    strings: pa.ChunkedArray,
    ids: pa.ListArray,
    taken: NDArray[np.int32],
    continues: NDArray[np.bool_],
    characters: CharacterTable,
) -> Places:
    """Return the characters and words of the ids of each string; `characters` is not shared with other calls.

    strings: UTF-8, as many as `ids` has lists. taken, continues: of each token, `characters_taken` and whether it
    continues a word.
    """
    values, ends = ids.values.to_numpy(), ids.offsets.to_numpy().astype(np.int64)
    places = Places(
        np.zeros((len(values), 2), np.int32), np.zeros(len(values), np.int32), np.zeros(len(strings), np.bool_), ends
    )
    first = 0
    for rows in strings.chunks:
        text, bounds, registers = text_of(rows), offsets_of(rows), np.zeros(2, np.int64)
        outputs = places.characters, places.words, places.located[first:], registers
        while True:
            codes = characters.arrays.codes
            if kernel.locate(text, bounds, codes, values, ends[first:], taken, continues, *outputs) == kernel.DONE:
                break
            characters.add_new(text, int(registers[kernel.CHARACTER]), int(bounds[-1]))
        first += len(rows)
    return places
