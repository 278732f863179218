"""The format of shards: their columns, what stands beside them, reading, checks, streaming; `corpus` makes them."""

from bertdata.shards.reader import Shards, open_shards

__all__ = ["Shards", "open_shards"]
