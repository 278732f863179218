"""Byte-level BPE for the encoder: merges in a hash table, and the words that its kernel does not encode."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.tokenizers.encode.kernels import byte_pair as kernel
from bertdata.tokenizers.encode.kernels import merge_table as table
from bertdata.tokenizers.encode.kernels.id_cache import MAX_KEY
from bertdata.tokenizers.encode.kernels.merge_table import ID_BITS, Merges
from bertdata.tokenizers.encode.kernels.word_cache import NewWords
from bertdata.tokenizers.encode.tables import room
from bertdata.tokenizers.encode.word_cache import Answer, WordCache
from bertdata.tokenizers.json_format import byte_letters, bytes_of_token
from bertdata.tokenizers.late_model import MergedIds

_COMMON = re.compile(r"^(?:\u0120?[A-Za-z]{1,15}|[.,;:()\"'-]|\u0120?[0-9]{1,4})$", re.MULTILINE)
"""Words that are common, in the letters that stand for bytes; U+0120 is a space."""


class BytePairModel:
    """Byte-level BPE, in which every byte has a token.

    vocabulary: tokens, in the letters that stand for bytes, with their ids. merges: the first to be merged first.
    whole_words: whether a word that is a token is that token, whatever the merges (`ignore_merges`).
    """

    write_known = staticmethod(kernel.write_known)

    def __init__(
        self, vocabulary: Mapping[str, int], merges: MergedIds, reference: Any, dtype: type[Any],
        *, whole_words: bool = False,
    ) -> None:  # fmt: skip
        letters = byte_letters()
        first = np.array([vocabulary.get(letters[byte], 0) for byte in range(256)], np.uint32)
        self._merges = merges_of(*merges, first)
        self._reference, self.dtype, self._letters = reference, dtype, letters
        common = "\n".join(_COMMON.findall("\n".join(vocabulary)))
        self.common = common.replace("\u0120", " ").encode().split(b"\n") if common else []
        self.whole = self._unlike_merges(vocabulary) if whole_words else {}

    def _unlike_merges(self, vocabulary: Mapping[str, int]) -> dict[bytes, int]:
        """Return the tokens that merging their bytes does not give."""
        words = ((bytes_of_token(token), token_id) for token, token_id in vocabulary.items())
        return {word: token_id for word, token_id in words if word and self._merged(word).tolist() != [token_id]}

    def arrays(self) -> kernel.Model:
        """Return what the kernels need, with room that no other call has."""
        return kernel.Model(self._merges, *self._room(MAX_KEY))

    def encode_left(self, cache: WordCache, new: NewWords) -> None:
        """Give ids to new words that are left."""
        kernel.encode_left(cache.arrays, new, self.arrays())

    def encode_long(self, text: Any, start: int, end: int) -> Answer:
        """Return the ids of a word of a text."""
        word = text[start:end].tobytes()
        if word in self.whole:
            return Answer([self.whole[word]])
        if len(word) <= kernel.LONGEST:
            return Answer(self._merged(word))
        letters = "".join(map(self._letters.__getitem__, word))
        return Answer([token.id for token in self._reference.model.tokenize(letters)])

    def _merged(self, word: bytes) -> NDArray[Any]:
        ids, others = self._room(len(word))
        n = kernel.encode_word(
            np.frombuffer(word + bytes(kernel.STEP), np.uint8), 0, len(word), self._merges, ids, others
        )
        return ids[:n]

    def _room(self, n: int) -> tuple[NDArray[Any], NDArray[np.uint32]]:
        """Return room for the ids of `n` bytes and for what the kernel needs."""
        return np.empty(n, self.dtype), np.empty((kernel.N_ROOM, n + kernel.BESIDE), np.uint32)


def merges_of(left: NDArray[np.uint64], right: NDArray[np.uint64], made: NDArray[np.uint64], of_bytes: Any) -> Merges:
    """Return the table of pairs of ids in the order of their ranks, with what each makes; a pair's last rank counts.

    of_bytes: the id of each byte, uint32 (256,).
    """
    shift = np.uint64(ID_BITS)
    pairs = left << shift | right
    ranks = np.sort(len(pairs) - 1 - np.unique(pairs[::-1], return_index=True)[1])
    records = room(len(pairs) + 1, np.uint64)
    records[:-1] = pairs << shift | made
    hashes = np.empty(len(ranks), np.uint64)
    table.hash_pairs(left[ranks], right[ranks], hashes)
    bits = max(4, (len(ranks) * 5 // 4 - 1).bit_length())
    while True:
        slots, seeds = room(1 << bits, np.uint32), room(1 << bits >> 3, np.uint16)
        slots[:], seeds[:] = ~np.uint32(0), 0
        bucket_shift, slot_shift = np.uint64(64 - bits + 3), np.uint64(64 - bits)
        merges = Merges(slots, seeds, records, of_bytes, room(1 << 16, np.uint32), bucket_shift, slot_shift)
        buckets = (hashes >> bucket_shift).astype(np.int64)
        sizes = np.bincount(buckets, minlength=len(seeds))
        if table.find_seeds(hashes, ranks, np.lexsort((buckets, -sizes[buckets])), merges):
            break
        bits += 1
    table.rank_bytes(merges)
    return merges
