"""Which shards the rows of a batch are of, and whether a collator makes batches of such rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bertdata.errors import ConfigError
from bertdata.loader.opening import difference
from bertdata.masking.settings import MaskingConfig
from bertdata.shards.pretraining_info import OF_MASKS, PretrainingInfo
from bertdata.shards.schema import ShardInfo


@dataclass(frozen=True, eq=False)
class Origin:
    """How the shards of rows were made, and the split that they are."""

    info: ShardInfo
    split: str

    @property
    def masking(self) -> MaskingConfig | None:
        """The masking settings of the split; None for shards of a task."""
        return self.info.masking.for_split(self.split) if isinstance(self.info, PretrainingInfo) else None


def origins_of(examples: Sequence[Mapping[str, Any]]) -> list[Origin]:
    """Return the origins of the examples of a batch, each once; none for rows that others read."""
    if (common := getattr(examples, "origin", None)) is not None:
        return [common]
    each = (getattr(example, "origin", None) for example in examples)
    return list(dict.fromkeys(origin for origin in each if origin is not None))


def check_origin(made_for: Origin, rows: Origin, *, masking_given: bool) -> None:
    """Raise ConfigError for rows that a collator would mask as if they were of the shards that it was made for.

    They may be of another split of the same settings. masking_given: whether the collator has masks of its own.
    """
    shared = made_for.info.shared(rows.split), rows.info.shared(rows.split)
    if (differs := difference(*shared, without=OF_MASKS[1:] if masking_given else ())) is not None:
        what, ours, theirs = differs
        raise ConfigError(
            f"the rows of this batch are of shards with another {what} than those that the collator was made for: "
            f"{theirs} in the rows, {ours} in the collator; make the collator of the data set that is read, and build "
            "what is read together with the same settings (`--vocab`)"
        )
