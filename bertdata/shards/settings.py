"""How documents are assigned to shards: settings, checked when made."""

from __future__ import annotations

from dataclasses import dataclass

from bertdata.options.option import MIB, Settings, option


@dataclass(frozen=True)
class ShardsConfig(Settings):
    """How documents are assigned to shards."""

    shard_bytes: int = option(
        64 * MIB, "text bytes of one shard: a worker holds one shard's tokens in memory", at_least=1024
    )
    validation_fraction: float = option(
        0.01, "share of the documents held out, chosen by the hash of their id", at_least=0, below=1
    )
