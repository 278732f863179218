"""What the process that plans a build holds, from the numbers of its documents, ranges and shards.

Pure functions, for plans made before a build. `docs/scale.md` has what they say of corpora, beside what was measured by
`benchmarks/memory.py`; `tests/corpus/estimate/test_memory.py` holds them to the real planning.
"""

from __future__ import annotations

from bertdata.curation.dedup.decide import BYTES_EACH
from bertdata.curation.dedup.links import ROUND_BYTES
from bertdata.curation.dedup.minhash import BINS
from bertdata.curation.dedup.planning import pieces_for
from bertdata.curation.dedup.signature_rows import HELD_BYTES
from bertdata.documents import SLOTS

PLACE_BYTES = 12
"""A row of three int32 in a record: a slot with its documents and bytes, or a shard with its offset and length."""
DROPPED_BYTES = 8
"""A document dropped as a duplicate: its row in its part and in its range, int32."""
SLICE_BYTES = 24
"""A slice of a shard's task: offset, length and source, int32, and the pointer to the name of its file."""
SENT_SLICE_BYTES = 40
"""A slice of a shard's task as it is pickled: offset, length and source, and the name of its file."""
PART_BYTES = 8 << 10
"""A part: its task and its record without rows."""
NAMED_INPUT_BYTES = 1 << 10
"""A file of a source in the manifest: its name and size, also as they are written."""
SIGNED_PAIR_BYTES = 400
"""What a fingerprint takes of a slice while one shard is planned."""

_PAIRS_BYTES, _LINKS_BYTES = 64 << 20, 96 << 20
"""What comparing some pairs, and joining some documents, takes."""


def slots_held(documents: int, parts: int) -> int:
    """Return at most how many slots the records of parts of documents have: one for each document, 65,536 a part.

    >>> slots_held(7_000_000, 2_780), slots_held(7_000_000, 10)
    (7000000, 655360)
    """
    return min(documents, parts * SLOTS)


def slices_held(documents: int, ranges: int, shards: int) -> int:
    """Return at most how many slices token files have: one for each file and shard, and for each document.

    >>> slices_held(7_000_000, 2_780, 785)
    2182300
    """
    return min(documents, ranges * shards)


def record_bytes(documents: int, parts: int, ranges: int, shards: int) -> int:
    """Return at most how many bytes the records of documents and of the token store take.

    >>> record_bytes(7_000_000, 2_780, 2_780, 785) >> 20
    148
    """
    rows = slots_held(documents, parts) + slices_held(documents, ranges, shards)
    return rows * PLACE_BYTES + (parts + ranges) * PART_BYTES


def dropped_bytes(dropped: int) -> int:
    """Return how many bytes the rows of documents take that are dropped as duplicates, in records and in ranges.

    >>> dropped_bytes(1_400_000) >> 20
    10
    """
    return dropped * DROPPED_BYTES


def task_bytes(documents: int, ranges: int, shards: int, phases: int = 1, bins: int = 1) -> int:
    """Return at most how many bytes the tasks of all shards take; phases and length bins share the slices.

    >>> task_bytes(7_000_000, 2_780, 785) >> 20, task_bytes(7_000_000, 2_780, 785, phases=2) >> 20
    (56, 62)
    """
    return slices_held(documents, ranges, shards) * SLICE_BYTES + shards * phases * bins * PART_BYTES


def planning_bytes(documents: int, ranges: int, shards: int) -> int:
    """Return at most how many bytes planning the shards takes beside what it reads and returns.

    All slices are sorted by shard: their places, the number of the file of each, and the order. Those of one shard are
    objects.

    >>> planning_bytes(7_000_000, 2_780, 785) >> 20
    120
    """
    slices = slices_held(documents, ranges, shards)
    return slices * 57 + min(ranges, slices) * SIGNED_PAIR_BYTES + PLACE_BYTES * SLOTS


def manifest_bytes(inputs: int, shards: int, phases: int = 1, bins: int = 1) -> int:
    """Return at most how many bytes the manifest takes while it is made, checked and written.

    By then what planning took is free again.

    >>> manifest_bytes(2_780, 785) >> 20
    8
    """
    return inputs * NAMED_INPUT_BYTES + shards * phases * bins * PART_BYTES


def driver_bytes(documents: int, parts: int, ranges: int, shards: int, phases: int = 1, bins: int = 1) -> int:
    """Return at most how many bytes planning and its results take in the process that starts a build.

    What Python and its packages take by themselves comes on top, with a local runner also `shuffle_bytes`.

    >>> driver_bytes(7_000_000, 2_780, 2_780, 785) >> 20
    325
    """
    of_parts = record_bytes(documents, parts, ranges, shards) + task_bytes(documents, ranges, shards, phases, bins)
    return of_parts + planning_bytes(documents, ranges, shards)


def duplicates_bytes(documents: int, id_bytes: int = 20) -> int:
    """Return at most how many bytes a worker takes to find near duplicates among so many documents.

    Of documents that hang together by shared keys no more than a piece has; what Python takes comes on top.

    >>> duplicates_bytes(7_000_000) >> 20, duplicates_bytes(250_000_000) >> 20
    (207, 1049)
    """
    each = -(-documents // pieces_for(documents))
    piece = each * (BYTES_EACH + 5 * id_bytes) + min(HELD_BYTES, each * 4 * BINS) + _PAIRS_BYTES
    return max(documents * (4 if documents < 1 << 32 else 8) + _LINKS_BYTES, piece, 8 * ROUND_BYTES)


def shuffle_bytes(documents: int, ranges: int, shards: int, phases: int = 1, bins: int = 1) -> int:
    """Return at most how many bytes go through the runner's shuffles between the token store and the shards.

    One reference for each range, with the places of its rows, and one task for each shard, with its slices.

    >>> shuffle_bytes(7_000_000, 2_780, 785) >> 20
    111
    """
    slices = slices_held(documents, ranges, shards)
    sent = slices * (PLACE_BYTES + SENT_SLICE_BYTES * phases * bins)
    return sent + (ranges + shards * phases * bins) * 1024
