"""URLs of a split in, its shards as they are needed out, in a folder that is bounded in bytes.

`folder` locks and evicts, `fetching` copies a shard or a piece and checks it, `shards` opens a split without its files.
What comes next is planned by `bertdata.loader.read_ahead`.
"""

from bertdata.shards.streaming.folder import CacheFolder
from bertdata.shards.streaming.shards import StreamedShards

__all__ = ["CacheFolder", "StreamedShards"]
