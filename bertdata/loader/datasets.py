"""Shard sets that are read together: opened, and checked that they fit.

Sets fit where a model that learns from one can learn from the other in the same batch: one vocabulary, the same pair
label, masks drawn or written in both.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from bertdata.errors import ConfigError
from bertdata.shards import Shards, open_shards
from bertdata.shards.schema import ShardInfo

Source = str | os.PathLike[str] | Shards
"""Where shards are, or shards that are open."""


def opened(shards: Source | Sequence[Source], split: str | None = None) -> tuple[Shards, ...]:
    """Open one set of shards or several; raises ConfigError for an empty list."""
    several = isinstance(shards, Sequence) and not isinstance(shards, str | bytes | Shards)
    given: list[Source] = list(shards) if several else [shards]  # type: ignore[arg-type, list-item]
    if not given:
        raise ConfigError("no set of shards is given; expected at least one")
    return tuple(one if isinstance(one, Shards) else open_shards(one, split) for one in given)


def common_info(sets: Sequence[Shards]) -> ShardInfo:
    """Return how the shards of all sets were made, with the longest row of any; raises ConfigError where they differ.

    What may differ are seeds, row lengths, copies, and how sentences are put together where no pair label tells.
    """
    first = sets[0].info
    for other in sets[1:]:
        found = other.info.shared()
        for what, ours in first.shared().items():
            if ours != (theirs := found.get(what)):
                raise ConfigError(
                    f"has another {what} than {sets[0].build}: {theirs} here, {ours} there; "
                    "shards that are read together must agree: build one of them again",
                    path=other.build,
                )
    return first.with_length(max(one.info.max_seq_length for one in sets))
