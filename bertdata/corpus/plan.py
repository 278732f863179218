"""How documents are assigned to shards: runs of slots, planned from the records of documents before tokenizing.

A slot is the top bits of the hash of a document's id, so every shard is an even sample of the whole corpus, and a
document stays in its split when others are added or removed. The first slots are the validation split.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertdata.documents import SLOTS
from bertdata.engine.int_rows import columns
from bertdata.engine.parts import PartMetadata
from bertdata.io.console import counted
from bertdata.shards.settings import ShardsConfig

DOCUMENTS_PER_SHARD = 16
LARGEST_SHARD = 4


@dataclass(frozen=True)
class ShardPlan:
    """Shard s has the slots from ends[s - 1] to ends[s]; the first `validation` shards are the validation split."""

    ends: tuple[int, ...]
    validation: int
    notes: tuple[str, ...] = ()

    def split(self, shard: int) -> str:
        """Return the split of a shard."""
        return "validation" if shard < self.validation else "train"

    def file(self, shard: int, length_bin: int = 0, bins: int = 1) -> str:
        """Return the path below the output of a shard, or of one of its length bins.

        >>> ShardPlan((100, 65536), 1).file(1), ShardPlan((100, 65536), 1).file(1, 2, bins=4)
        ('train/data-00000-of-00001.arrow', 'train/data-00002-of-00004.arrow')
        """
        first, count = (0, self.validation) if shard < self.validation else (self.validation, len(self.ends))
        number, total = (shard - first) * bins + length_bin, (count - first) * bins
        return f"{self.split(shard)}/data-{number:05d}-of-{total:05d}.arrow"


def plan_shards(records: Iterable[PartMetadata], config: ShardsConfig) -> ShardPlan:
    """Plan shards of about `shard_bytes` of text with at least two documents each.

    A function of the documents alone.
    """
    documents, sizes = np.zeros(SLOTS, np.int64), np.zeros(SLOTS, np.int64)
    for record in records:
        slots, counts, bytes_of = columns(record.details["slots"], 3).T
        np.add.at(documents, slots, counts)
        np.add.at(sizes, slots, bytes_of)
    border, notes = _validation_border(documents, config.validation_fraction)
    validation = _cut(documents[:border], sizes[:border], config.shard_bytes, 0)
    train = _cut(documents[border:], sizes[border:], config.shard_bytes, border)
    return ShardPlan((*validation, *train), len(validation), notes)


def _validation_border(documents: NDArray[np.int64], fraction: float) -> tuple[int, tuple[str, ...]]:
    if not fraction:
        return 0, ()
    total = int(documents.sum())
    wanted = max(1, round(fraction * SLOTS))
    cumulative = np.cumsum(documents)
    lowest, highest = int(np.searchsorted(cumulative, 2)) + 1, int(np.searchsorted(cumulative, total - 2, side="right"))
    if lowest <= wanted <= highest:
        return wanted, ()
    if total < 20 or lowest > highest:
        few = "is too few" if total == 1 else "are too few" if total < 20 else "have too few different ids"
        return 0, (f"{counted(total, 'document')} {few} to hold some out: no validation split",)
    border = lowest if wanted < lowest else highest
    reason = "would be fewer than 2" if wanted < lowest else "would leave fewer than 2 for training"
    return border, (
        f"validation gets {cumulative[border - 1]} of {counted(total, 'document')}: --validation-fraction "
        f"{fraction:g} {reason}",
    )


def _cut(documents: NDArray[np.int64], sizes: NDArray[np.int64], shard_bytes: int, first: int) -> list[int]:
    """Divide a run of slots into shards of similar size; returns the slot after each.

    A shard has `shard_bytes` of text, or up to four times that if it would have less than 16 documents.
    """
    total, count = int(sizes.sum()), int(documents.sum())
    if not len(documents):
        return []
    even, smallest = count // DOCUMENTS_PER_SHARD, -(-total // (LARGEST_SHARD * shard_bytes))
    shards = max(1, min(-(-total // shard_bytes), max(even, smallest)))
    cumulative = np.cumsum(sizes)
    ends = [int(np.searchsorted(cumulative, total * number / shards)) + 1 for number in range(1, shards)]
    ends.append(len(documents))
    before = np.concatenate([[0], np.cumsum(documents)])
    ends_of_shards = [0]
    for end in ends:
        if before[end] - before[ends_of_shards[-1]] >= 2:
            ends_of_shards.append(end)
    if len(ends_of_shards) == 1:
        ends_of_shards.append(len(documents))
    ends_of_shards[-1] = len(documents)
    return [first + end for end in ends_of_shards[1:]]
