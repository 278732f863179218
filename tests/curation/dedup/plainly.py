"""Near duplicates decided on in one place with dictionaries: what the stage is tested against."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import pyarrow as pa

from bertdata.curation.dedup import estimate, signatures
from bertdata.curation.dedup.decide import EXACT, NEAR, NEIGHBOURS
from bertdata.curation.dedup.minhash import EMPTY
from bertdata.curation.dedup.signature_store import rows_of_a_key
from tests.curation.stages import Document

Row = tuple[int, str, str, str, float]
"""The number of a document, its id, why it is dropped, the id of the one that stays for it, and their similarity."""


def dropped_plainly(
    documents: Sequence[Document], threshold: float | None, buckets: tuple[int, int] | None = None
) -> list[Row]:
    """Return which documents are dropped, in their order; the settings are those of `find_dropped`."""
    digests = [blake2b(text.encode(), digest_size=16).digest() for _, text in documents]
    halves = [tuple(int.from_bytes(digest[begin : begin + 8], "little") for begin in (0, 8)) for digest in digests]
    signed = signatures(pa.array([text for _, text in documents], pa.string()), buckets)
    width = rows_of_a_key(threshold, buckets)

    def rank(number: int) -> tuple[int, str, tuple[int, ...], int]:
        name, text = documents[number]
        return -len(text.encode()), name, halves[number], number

    def likeness(one: int, other: int) -> float:
        return 1.0 if threshold is None else float(estimate(signed[one], signed[other]))

    def alike(one: int, other: int) -> bool:
        return digests[one] == digests[other] or (threshold is not None and likeness(one, other) >= threshold)

    members: dict[object, list[int]] = {}
    for number in sorted(range(len(documents)), key=rank):
        members.setdefault(digests[number], []).append(number)
        if threshold is not None and signed[number, 0] != EMPTY:
            for band in range(signed.shape[1] // width):
                numbers = signed[number, band * width : (band + 1) * width].tobytes()
                members.setdefault((band, numbers), []).append(number)
    group = {number: {number} for number in range(len(documents))}
    for ranked in members.values():
        for place, one in enumerate(ranked):
            for other in {ranked[0], *ranked[max(0, place - NEIGHBOURS) : place]} - {one}:
                if other not in group[one] and alike(one, other):
                    group[one] |= group[other]
                    for each in group[one]:
                        group[each] = group[one]
    dropped = []
    for number, (name, _) in enumerate(documents):
        stays = min(group[number], key=rank)
        if stays != number:
            first = min((document for document in group[number] if digests[document] == digests[number]), key=rank)
            reason = NEAR if first == number else EXACT
            dropped.append((number, name, reason, documents[stays][0], round(likeness(number, stays), 5)))
    return dropped
