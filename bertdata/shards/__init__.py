"""Shards: planned (`plan`), made from a token store (`token_store`, `writer`), described, read and verified."""

from bertdata.shards.reader import Shards, open_shards

__all__ = ["Shards", "open_shards"]
