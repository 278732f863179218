"""What `index.json` beside MDS files says of them: their size, and hashes where the writer was asked for some.

MosaicML Streaming writes hashes of its `hashes=[...]`: those of hashlib, and those of the package xxhash. A file that
has others than its index says was cut off or changed.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from contextlib import closing
from functools import lru_cache
from typing import Any

from bertdata.errors import InputError
from bertdata.io import files

INDEX = "index.json"
_LOG = logging.getLogger("bertdata")
_AT_A_TIME = 1 << 20


def check_hashes(path: str) -> None:
    """Raise InputError where a file has another size or hash than the index beside it says.

    A file without an index, or that it does not name, is not read. Hashes of an algorithm that is not installed are not
    compared, which is logged.
    """
    place = path.rpartition("/")[0]
    index = files.join(place, INDEX) if place else INDEX
    entry = _entries(index, files.identity(index)).get(files.name(path)) if files.exists(index) else None
    if entry is None:
        return
    size, hashes = entry
    hashers = dict[str, Any]()
    for algorithm in hashes:
        if (start := _start(algorithm)) is not None:
            hashers[algorithm] = start
    if missing := sorted({*hashes} - {*hashers}):
        _say_missing(index, ", ".join(missing))
    there = files.size(path)
    if size is not None and there != size:
        raise InputError(f"has {there:,} bytes, and {INDEX} beside it says {size:,}; get the file again", path=path)
    if not hashers:
        return
    with closing(files.open_raw(path)) as file:
        while data := file.read(_AT_A_TIME):
            for state in hashers.values():
                state.update(data)
    for algorithm, state in hashers.items():
        if state.hexdigest() != hashes[algorithm]:
            raise InputError(
                f"its {algorithm} is {state.hexdigest()}, and {INDEX} beside it says {hashes[algorithm]}; get the file "
                "again",
                path=path,
            )


@lru_cache(maxsize=1)
def _entries(index: str, stamp: str) -> dict[str, tuple[int | None, dict[str, str]]]:
    """Return the size and the hashes of each file that an index names, by its name.

    stamp: what changes where the index does.
    """
    del stamp
    named: dict[str, tuple[int | None, dict[str, str]]] = {}
    shards = files.read_json_object(index).get("shards")
    for shard in shards if isinstance(shards, list) else []:
        for which in ("raw_data", "zip_data"):
            about = shard.get(which) if isinstance(shard, Mapping) else None
            if isinstance(about, Mapping) and isinstance(about.get("basename"), str):
                size, hashes = about.get("bytes"), about.get("hashes")
                texts = {str(name): value for name, value in hashes.items()} if isinstance(hashes, Mapping) else {}
                if not all(isinstance(value, str) for value in texts.values()):
                    raise InputError(f"has a hash of {about['basename']} that is no text; get it again", path=index)
                named[about["basename"]] = (size if type(size) is int else None, texts)
    return named


def _start(algorithm: str) -> Any:
    """Return a hash of nothing, None where the algorithm is not installed."""
    if algorithm in hashlib.algorithms_available and not algorithm.startswith("shake"):
        return hashlib.new(algorithm, usedforsecurity=False)
    if algorithm.startswith("xxh"):
        try:
            import xxhash
        except ImportError:
            return None
        make = getattr(xxhash, algorithm, None)
        return None if make is None else make()
    return None


@lru_cache(maxsize=64)
def _say_missing(index: str, algorithms: str) -> None:
    """Log once which hashes of an index are not compared."""
    _LOG.warning(
        "%s has hashes of %s, which are not compared: nothing here computes them; for those of xxh: pip install xxhash",
        index,
        algorithms,
    )
