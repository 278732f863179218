"""Which documents are in the shards, and how they are assigned to them: settings, checked when made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bertdata.curation.where import OF_ALL, Condition, parse_condition
from bertdata.options.option import MIB, Settings, option, require
from bertdata.shards.kept_columns import parse_kept
from bertdata.sources.names import is_source_name


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
    """Which documents are in the shards, and as documents of which source.

    Raises ConfigError for a condition that cannot be parsed.
    """

    sources: tuple[str, ...] = option(
        (), "only the documents of these sources are in the shards (default: all)", metavar="NAME", later=True
    )
    where: str = option(
        "",
        "only documents for which a condition holds, as \"score >= 3 and language == 'en'\": of the columns of "
        "--documents, and of source, id, title, url, characters, sentences and tokens; column('Assigned to') is one "
        "whose name has blanks; a comparison does not "
        "hold for a document without a value, so write owner is None or owner != 'lee' to keep documents without "
        "an owner",
        later=True,
    )

    source_where: tuple[str, ...] = option(
        (),
        "move documents for which a condition holds, as long='tokens >= 1024', to the source of this name, which "
        "has its own weight in --mix; the last condition that holds counts",
        metavar="NAME=CONDITION",
        later=True,
    )

    sample: tuple[str, ...] = option(
        (),
        "a share of the documents, as 0.1, or of those of one source, as news=0.1, by the hash of their ids: a larger "
        "share has the documents of a smaller one",
        metavar="SHARE",
        later=True,
    )

    keep: tuple[str, ...] = option(
        (),
        "columns of numbers that each row takes over from the document of its first token, as score=float or year=int",
        metavar="COLUMN=TYPE",
        later=True,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.shares, self.kept
        require(len(set(self.sources)) == len(self.sources), f"--sources {' '.join(self.sources)} names one twice")
        names: set[str] = set()
        for text in self.source_where:
            name, _, condition = text.partition("=")
            require(
                is_source_name(name) and bool(condition) and not condition.startswith("="),
                f"--source-where {text!r} is not the name of a source and a condition; expected as "
                "long='tokens >= 1024'",
            )
            require(name not in names, f"--source-where names the source {name} twice; join its conditions by `or`")
            names.add(name)
        _ = self.reads

    @property
    def shares(self) -> dict[str, float]:
        """The share of the documents that is taken, by source; "" for those of all other sources.

        >>> SelectionConfig(sample=("0.1", "news=0.5")).shares
        {'': 0.1, 'news': 0.5}
        """
        shares: dict[str, float] = {}
        for share_text in self.sample:
            name, sign, text = share_text.rpartition("=")
            share = share_of(text)
            require(
                share is not None and (is_source_name(name) if sign else True),
                f"--sample {share_text!r} is not a share above 0 and up to 1, nor one of a source; expected as 0.1 or "
                "news=0.1",
            )
            require(name not in shares, f"--sample names {f'the source {name}' if name else 'a share of all'} twice")
            shares[name] = share or 0.0
        return shares

    @property
    def regrouped(self) -> dict[str, Condition]:
        """The conditions of `source_where`, by the names of the sources that documents then are of."""
        pairs = (condition_text.partition("=") for condition_text in self.source_where)
        return {name: parse_condition(text, f"--source-where {name}=") for name, _, text in pairs}

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """All conditions: that of `where`, and those of `source_where`."""
        return (*([parse_condition(self.where)] if self.where else []), *self.regrouped.values())

    @property
    def reads(self) -> tuple[str, ...]:
        """All columns of documents that conditions read, a sample, and rows."""
        sampled = {"id"} if self.sample else set()
        return tuple(
            sorted({name for condition in self.conditions for name in condition.names} | sampled | {*self.kept})
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of documents that conditions and rows read, beside those that every document has."""
        carried = {*self.kept} - {*OF_ALL}
        return tuple(sorted({name for condition in self.conditions for name in condition.columns} | carried))

    @property
    def kept(self) -> dict[str, str]:
        """The columns that rows carry, and their types, as {"score": "float"}."""
        return parse_kept(self.keep)

    def names(self, sources: Sequence[str]) -> list[str]:
        """Return the names of sources with those that `source_where` adds to them.

        >>> SelectionConfig(source_where=("long=tokens >= 1024",)).names(["web", "books"])
        ['web', 'books', 'long']
        """
        return [*sources, *(name for name in self.regrouped if name not in sources)]


def share_of(text: str) -> float | None:
    """Return the share that a text is, above 0 and up to 1, None where it is none."""
    try:
        share = float(text)
    except ValueError:
        return None
    return share if 0 < share <= 1 else None
