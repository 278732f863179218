"""Which documents are in the shards, and how they are assigned to them: settings, checked when made."""

from __future__ import annotations

from dataclasses import dataclass

from bertdata.curation.where import parse_condition
from bertdata.options.option import MIB, Settings, option, require


@dataclass(frozen=True)
class ShardsConfig(Settings):
    """How documents are assigned to shards."""

    shard_bytes: int = option(
        64 * MIB, "text bytes of one shard: a worker holds one shard's tokens in memory", at_least=1024
    )
    validation_fraction: float = option(
        0.01, "share of the documents held out, chosen by the hash of their id", at_least=0, below=1
    )


@dataclass(frozen=True)
class SelectionConfig(Settings):
    """Which documents are in the shards.

    Raises ConfigError for a condition that cannot be parsed.
    """

    sources: tuple[str, ...] = option(
        (), "only the documents of these sources are in the shards (default: all)", metavar="NAME", later=True
    )
    where: str = option(
        "",
        "only documents for which a condition holds, as \"score >= 3 and language == 'en'\": of the columns of "
        "--documents, and of source, id, title, url, characters, sentences and tokens",
        later=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require(len(set(self.sources)) == len(self.sources), f"--sources {' '.join(self.sources)} names one twice")
        if self.where:
            parse_condition(self.where)

    @property
    def reads(self) -> tuple[str, ...]:
        """All columns of documents that the condition reads."""
        return parse_condition(self.where).names if self.where else ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of documents that the condition reads, beside those that every document has."""
        return parse_condition(self.where).columns if self.where else ()
