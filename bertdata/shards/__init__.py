"""The format of shards: their columns, what stands beside them, reading, checks, streaming; `corpus` makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bertdata.registry import Registry, loading

if TYPE_CHECKING:
    from bertdata.shards.reader import Shards, open_shards

__all__ = ["KINDS", "Shards", "open_shards"]

KINDS: Registry[Any] = Registry(
    "kind of shards",
    {
        "pretraining": "bertdata.shards.pretraining_info:PretrainingInfo",
        "task": "bertdata.finetune.task_info:TaskInfo",
    },
)
"""What shards are for, each a class of `schema.ShardInfo`."""

__getattr__ = loading(
    __name__,
    {
        "Shards": "reader",
        "open_shards": "reader",
    },
)
