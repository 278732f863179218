"""A shard, or a piece of one, is copied from its URL and checked: its bytes by size and SHA-256, then its rows.

What a store refuses or cuts off is asked for again, a little later each time. So is a copy that is not what the
manifest says; where it stays so, it is refused by its name.
"""

from __future__ import annotations

import contextlib
import os
import time

import pyarrow as pa

from bertdata.errors import BertDataError, InputError
from bertdata.io.arrow_messages import read_uncompressed
from bertdata.io.store_errors import store_problem
from bertdata.shards.cache import ShardFile, fetch, require_same
from bertdata.shards.pieces import batches_in
from bertdata.shards.reader import read_info
from bertdata.shards.schema import ShardInfo
from bertdata.shards.valid_rows import problem_of

ATTEMPTS = 4
_WAIT = 0.2


def copy_shard(shard: ShardFile, info: ShardInfo, path: str) -> None:
    """Copy a shard or a piece to a local path, and check it; raises InputError, which names it, after some attempts."""
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
        fetch(shard.url, path, shard.begin, shard.size)
    except (BertDataError, OSError):
        raise
    except Exception as error:  # whatever a client of a store raises
        raise InputError(store_problem(error, shard.url), path=shard.url) from error


def batches_of(memory: pa.Buffer, shard: ShardFile, info: ShardInfo) -> list[pa.RecordBatch]:
    """Return the record batches of a shard, or of a piece of one, without a copy; raises ArrowException or OSError."""
    if shard.begin is not None:
        return batches_in(memory, pa.schema(info.columns()))
    batches: list[pa.RecordBatch] = read_uncompressed(memory).to_batches()
    return batches


def _require_rows(path: str, shard: ShardFile, info: ShardInfo) -> None:
    try:
        memory, has_settings = pa.memory_map(path).read_buffer(), True
        if not shard.begin:  # else it has no schema
            has_settings = read_info(pa.ipc.open_stream(memory).schema, shard.url).of_rows() == info.of_rows()
        table = pa.Table.from_batches(batches_of(memory, shard, info), pa.schema(info.columns()))
        problem = problem_of(table, info) if has_settings else "it was made with other settings than manifest.json says"
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        problem = f"it is not an Arrow stream ({error})"
    if problem:
        raise InputError(
            f"{problem}: this shard was not written by the build of its manifest.json, or was changed; copy it again "
            "from where it was built, or build again",
            path=shard.shown,
        )
