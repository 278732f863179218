"""A shard is copied from its URL and checked: its bytes by size and SHA-256, then its rows.

What a store refuses or cuts off is asked for again, a little later each time. So is a copy that is not what the
manifest says; where it stays so, it is refused by its name.
"""

from __future__ import annotations

import contextlib
import os
import time

import pyarrow as pa

from bertdata.errors import BertDataError, InputError
from bertdata.io.store_errors import store_problem
from bertdata.shards.cache import ShardFile, fetch, require_same
from bertdata.shards.reader import read_info
from bertdata.shards.schema import ShardInfo
from bertdata.shards.valid_rows import problem_of

ATTEMPTS = 4
_WAIT = 0.2


def copy_shard(shard: ShardFile, info: ShardInfo, path: str) -> None:
    """Copy a shard to a local path, and check it; raises InputError, which names it, after some attempts."""
    for attempt in range(ATTEMPTS):
        try:
            _copy(shard, path)
            require_same(path, shard)
            break
        except InputError as error:
            if attempt == ATTEMPTS - 1 or isinstance(error.__cause__, FileNotFoundError):
                raise
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        time.sleep(_WAIT * 4**attempt)
    _require_rows(path, shard, info)


def _copy(shard: ShardFile, path: str) -> None:
    try:
        fetch(shard.url, path)
    except (BertDataError, OSError):
        raise
    except Exception as error:  # whatever a client of a store raises
        raise InputError(store_problem(error, shard.url), path=shard.url) from error


def _require_rows(path: str, shard: ShardFile, info: ShardInfo) -> None:
    try:
        table = pa.ipc.open_stream(pa.memory_map(path)).read_all()
        has_settings = read_info(table.schema, shard.url).of_rows() == info.of_rows()
        problem = problem_of(table, info) if has_settings else "it was made with other settings than manifest.json says"
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        problem = f"it is not an Arrow stream ({error})"
    if problem:
        raise InputError(
            f"{problem}: this shard was not written by the build of its manifest.json, or was changed; copy it again "
            "from where it was built, or build again",
            path=shard.url,
        )
