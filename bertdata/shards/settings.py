"""How documents are assigned to shards: settings, checked when made."""

from __future__ import annotations

from dataclasses import dataclass

from bertdata.options.option import MIB, check_types, option, require


@dataclass(frozen=True)
class ShardsConfig:
    """How documents are assigned to shards."""

    shard_bytes: int = option(64 * MIB, "text bytes of one shard: a worker holds one shard's tokens in memory")
    validation_fraction: float = option(0.01, "share of the documents held out, chosen by the hash of their id")

    def __post_init__(self) -> None:
        check_types(self)
        require(self.shard_bytes >= 1024, f"--shard-bytes is {self.shard_bytes}; expected at least 1024")
        require(
            0 <= self.validation_fraction < 1,
            f"--validation-fraction is {self.validation_fraction}; expected 0 (none) or more, and less than 1",
        )
