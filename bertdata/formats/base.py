"""The formats that rows of shards are exported to and imported from, one file each, listed in a registry.

A package outside bertdata adds one with `EXPORT_FORMATS.add(name, ExportFormat(...))` or
`IMPORT_FORMATS.add(name, ImportFormat(...))` in a module that `bertdata.registry` loads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

from bertdata.errors import ConfigError
from bertdata.formats.shard import ExportedShard
from bertdata.formats.static import Fields

if TYPE_CHECKING:
    from bertdata.shards import Shards
    from bertdata.shards.schema import ShardInfo
    from bertdata.tokenizers.base import Tokenizer


@dataclass(frozen=True, kw_only=True)
class ExportFormat:
    """A format that shards are written to, one file or several for each shard.

    help: what it is, for --help and docs/formats.md; suffix: the ending of its files.
    write: writes a shard to a file, from `shard.batches()`, its rows as they are, or from `shard.fields()`.
    beside: further files of a shard, as an index, by their suffixes, each written in the same way.
    static: whether it takes `shard.fields()`, rows with static masks, padded; such a format has --epoch and
    --max-predictions-per-seq, and cannot hold fine-tuning data.
    finish: called once with the output, the exported splits, and for each split the files written, each with `file`,
    `rows` and `bytes`.
    check: called first; raises MissingExtraError where the format needs what is not installed; `extra` names it.
    examples: whether the examples of packed rows become a row each, as they always do with static masks.
    accepts: raises ConfigError for shards that the format cannot hold.
    dialects: other forms of the same format by the name that --dialect takes.
    """

    help: str
    suffix: str
    write: Callable[[ExportedShard, BinaryIO], object]
    beside: Mapping[str, Callable[[ExportedShard, BinaryIO], object]] = field(default_factory=dict)
    static: bool = False
    finish: Callable[[str, Sequence[Shards], Mapping[str, Any]], None] | None = None
    check: Callable[[], object] | None = None
    extra: str = ""
    examples: bool = False
    accepts: Callable[[ShardInfo], object] | None = None
    dialects: Mapping[str, ExportFormat] = field(default_factory=dict)

    def dialect(self, name: str) -> ExportFormat:
        """Return the dialect of a name, itself for ""; raises ConfigError for one that the format does not have."""
        if name and name not in self.dialects:
            names = ", ".join(self.dialects) or "none"
            raise ConfigError(f"there is no dialect {name!r} of this format; it has {names}")
        return self.dialects[name] if name else self


@dataclass(frozen=True, kw_only=True)
class ImportFormat:
    """A format that pretraining rows are read from.

    read: yields the rows of a file as `Fields`, some at a time; `bertdata import` checks them, so it only raises
    InputError where the file itself is damaged. All rows are padded to one length, and have masks.
    read_tokens: the same, given the tokenizer as well, for rows that may be of any length, and without masks.
    A file is of the format whose `signature` it begins with, the longest if several fit; of formats with the same
    signature, of the one with a suffix that its name ends in (`*` in a suffix matches anything).
    """

    help: str
    suffixes: tuple[str, ...]
    read: Callable[[str], Iterator[Fields]] | None = None
    signature: bytes = b""
    read_tokens: Callable[[str, Tokenizer], Iterator[Fields]] | None = None

    def fields(self, path: str, tokenizer: Tokenizer) -> Iterator[Fields]:
        """Yield the rows of a file as `Fields`, some at a time."""
        if self.read_tokens is not None:
            return self.read_tokens(path, tokenizer)
        assert self.read is not None
        return self.read(path)
