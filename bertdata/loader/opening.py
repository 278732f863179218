"""Sets of shards are opened for a loader, and whether they may be read together."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.options.option import require
from bertdata.shards import Shards, open_shards
from bertdata.shards.pretraining_info import OF_MASKS
from bertdata.shards.schema import ShardInfo
from bertdata.shards.streaming.folder import CacheFolder
from bertdata.shards.streaming.shards import StreamedShards, stream_shards

Source = str | os.PathLike[str] | Shards
"""The path or URL of shards, or open shards."""


def opened(
    shards: Source | Sequence[Source],
    split: str | None = None,
    folder: CacheFolder | None = None,
    by_pieces: bool = False,
) -> tuple[Shards, ...]:
    """Open one set of shards or several, those at URLs to be streamed where a folder is given.

    by_pieces: whether pieces are fetched of all shards that have any (`bertdata.shards.pieces`). Raises ConfigError for
    an empty list.
    """
    several = isinstance(shards, Sequence) and not isinstance(shards, str | bytes | Shards)
    given: list[Source] = list(shards) if several else [shards]  # type: ignore[arg-type, list-item]
    if not given:
        raise ConfigError("no set of shards is given; expected at least one")

    def opened_one(source: Source) -> Shards:
        if isinstance(source, StreamedShards) and by_pieces and not source.by_pieces:
            return StreamedShards(source.build, source.split, source.manifest, source.folder, by_pieces)
        if isinstance(source, Shards):
            return source
        path = files.path_text(source)
        return open_shards(path, split) if folder is None else stream_shards(path, split, folder, by_pieces)

    return tuple(map(opened_one, given))


def cache_folder(cache: str | os.PathLike[str] | None, cache_bytes: float | None) -> CacheFolder | None:
    """Return the folder that shards are streamed through, None for none; raises ConfigError where a part is missing."""
    require(
        (cache is None) == (cache_bytes is None),
        "streaming takes both --cache, a folder on a fast disk, and --cache-bytes, how much it may hold, as 200e9",
    )
    if cache is None or cache_bytes is None:
        return None
    require(cache_bytes >= 1, f"--cache-bytes is {cache_bytes}; expected a number of bytes, as 200e9")
    folder = files.path_text(cache)
    require(not files.is_remote(folder), f"--cache is {folder}; expected a folder of this machine")
    return CacheFolder(folder, int(cache_bytes))


def difference(
    ours: Mapping[str, Any], theirs: Mapping[str, Any], without: Sequence[str] = ()
) -> tuple[str, Any, Any] | None:
    """Return the first name with another value in what two sets of shards have to share, and both; None for none.

    Of settings, the values are those that differ.

    >>> difference({"vocabulary": "a", "objective": "nsp"}, {"vocabulary": "a", "objective": "sop"})
    ('objective', 'nsp', 'sop')
    """
    for name, value in ours.items():
        other = theirs.get(name)
        if value == other or name in without:
            continue
        if not (isinstance(value, Mapping) and isinstance(other, Mapping)):
            return name, value, other
        names = [key for key in {**value, **other} if value.get(key) != other.get(key)]
        return name, {key: value.get(key) for key in names}, {key: other.get(key) for key in names}
    return None


def common_info(sets: Sequence[Shards], *, masks: bool = True) -> ShardInfo:
    """Return how the shards of all sets were made, with the longest row of any; raises ConfigError where they differ.

    Seeds, row lengths, copies, and objectives without a pair label may differ, and without `masks`, as where sets are
    read one after another, the masking too.
    """
    first = sets[0].info
    for other in sets[1:]:
        without = () if masks else OF_MASKS
        if (differs := difference(first.shared(sets[0].split), other.info.shared(other.split), without)) is not None:
            what, ours, theirs = differs
            raise ConfigError(
                f"has another {what} than {sets[0].build}: {theirs} here, {ours} there; "
                "shards that are read together must agree: build one of them again",
                path=other.build,
            )
    return first.with_length(max(shard_set.info.max_seq_length for shard_set in sets))
