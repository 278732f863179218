"""The kernel's BLAKE2b is that of `hashlib`, for texts of any number of blocks."""

from __future__ import annotations

import hashlib
import random

import numpy as np

from bertdata.kernels.blake2b import WORDS, hash_texts


def test_hashes_of_texts_of_each_length_are_those_of_hashlib() -> None:
    texts = [random.Random(length).randbytes(length) for length in range(400)]
    ends = np.cumsum([0, *map(len, texts)]).astype(np.int32)
    hashes = np.zeros(len(texts), np.uint64)
    hash_texts(np.frombuffer(b"".join(texts), np.uint8), ends, np.zeros(WORDS, np.uint64), hashes)
    digests = [hashlib.blake2b(text, digest_size=8).digest() for text in texts]
    assert hashes.tolist() == [int.from_bytes(digest, "little") for digest in digests]
