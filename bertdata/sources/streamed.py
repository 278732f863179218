"""Documents that come as a stream, standard input or a data set of the Hugging Face hub: a file beside the build.

    -                                          standard input: JSON lines, plain text or Parquet, by its first bytes
    -.csv                                      the same, of a format that is named by the ending of its files
    hf://OWNER/NAME[@REVISION][?config=NAME&split=NAME&rows=N]     a data set, through `datasets`, streamed

A stream cannot be cut, nor read twice, so it is written to `OUTPUT-documents/` as it comes, and the build reads the
file: ranges, resume and the ledger are those of any file. A data set that was written whole for the same address is not
asked for again. `hf://datasets/OWNER/NAME/PATH` is a file of the hub, which is read where it is.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import IO, Any, BinaryIO
from urllib.parse import parse_qsl

import pyarrow as pa

from bertdata.errors import ConfigError, InputError, MissingExtraError, did_you_mean
from bertdata.io import files
from bertdata.io.compression import compression_of
from bertdata.io.console import counted
from bertdata.sources.handed_over import write_parquet
from bertdata.sources.kinds import format_of
from bertdata.sources.names import named

_HUB = "hf://"
_DATA_SET = re.compile(r"hf://(?:datasets/)?([\w.-]+/[\w.-]+)(?:@([\w./-]+))?(?:\?(.*))?")
_KEYS = ("config", "split", "rows")
_ROWS_AT_A_TIME = 100
_LOOKED_AT = 1 << 16


@dataclass(frozen=True)
class HubDataSet:
    """A data set of the hub: its name, and which part of it is read; rows: the first of these alone, 0 for all."""

    name: str
    revision: str = ""
    config: str = ""
    split: str = ""
    rows: int = 0


def hub_data_set(address: str) -> HubDataSet | None:
    """Return the data set that an address names, None where it is that of a file, or no hf:// at all.

    Raises ConfigError for keys that there are not.

    >>> hub_data_set("hf://allenai/c4?config=en&split=train&rows=1000")
    HubDataSet(name='allenai/c4', revision='', config='en', split='train', rows=1000)
    >>> hub_data_set("hf://datasets/allenai/c4/en/c4-train.00000-of-01024.json.gz")
    """
    match = _DATA_SET.fullmatch(address)
    if not match:
        return None
    keys = dict(parse_qsl(match[3] or "", keep_blank_values=True))
    for key in keys:
        if key not in _KEYS:
            raise ConfigError(
                f"{address} has the key {key!r}{did_you_mean(key, _KEYS)}; expected {', '.join(_KEYS)}, as "
                f"{_HUB}{match[1]}?split=train&rows=100000"
            )
    rows = keys.get("rows", "0")
    if not rows.isascii() or not rows.isdigit():
        raise ConfigError(f"{address} has rows={rows}; expected a whole number, as rows=100000")
    return HubDataSet(match[1], match[2] or "", keys.get("config", ""), keys.get("split", ""), int(rows))


def is_stream(path: str) -> bool:
    """Return whether a path is a stream, not a file.

    >>> is_stream("-"), is_stream("-.csv"), is_stream("a.csv"), is_stream("hf://allenai/c4")
    (True, True, False, True)
    """
    return path == "-" or path.startswith("-.") or hub_data_set(path) is not None


def written(
    documents: Sequence[str],
    output: str,
    *,
    force: bool = False,
    say: Callable[[str], object] = lambda line: None,
    stdin: Callable[[], BinaryIO] = lambda: sys.stdin.buffer,
) -> list[str]:
    """Return the paths of documents with files in the place of streams, which are written to `OUTPUT-documents/`.

    documents: paths as a command line gives them, with NAME= or without; force: data sets are asked for again. Raises
    ConfigError where standard input is named twice, InputError for a stream that cannot be read.
    """
    if sum(named(document, "")[1].partition(".")[0] == "-" for document in documents) > 1:
        raise ConfigError("--documents names standard input (-) twice; it can be read once")
    paths = []
    for document in documents:
        source, path = named(document, "")
        if not is_stream(path):
            paths.append(document)
            continue
        if not output:
            raise ConfigError(f"--documents {path} needs --output: the stream is written beside it")
        folder = f"{output.rstrip('/')}-documents"
        asked = hub_data_set(path)
        place = _from_hub(path, asked, folder, force, say) if asked else _from_stdin(path, source, folder, stdin(), say)
        paths.append(f"{source}={place}" if source else place)
    return paths


def _from_stdin(path: str, source: str, folder: str, stream: BinaryIO, say: Callable[[str], object]) -> str:
    start = stream.read(_LOOKED_AT)
    if not start.strip():
        raise InputError(
            "standard input is empty; expected documents, as in `zcat rows.jsonl.gz | bertdata build "
            "--documents - --output corpus`"
        )
    ending = path.removeprefix("-") or _ending(start)
    place = files.join(folder, f"{source or 'stdin'}{ending}")

    def write(file: IO[bytes]) -> None:
        file.write(start)
        shutil.copyfileobj(stream, file, 1 << 20)

    _replace(place, write)
    say(f"standard input: {files.size(place):,} bytes, read as {format_of(place, 'documents')} ({place})")
    return place


def _ending(start: bytes) -> str:
    """Return how the name of a file with this start ends."""
    if start.startswith(b"PAR1"):
        return ".parquet"
    if kind := compression_of(start):
        raise InputError(
            f"standard input is compressed (.{kind}); decompress it before, as with zcat, or name what is in it: "
            f"--documents -.jsonl.{kind}"
        )
    return ".jsonl" if start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"{", b"[")) else ".txt"


def _replace(place: str, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file; one of the same bytes that is there stays, so that nothing is made from it again."""
    local = None if files.is_remote(place) else os.path.dirname(place)
    if local:
        os.makedirs(local, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=local, prefix=files.TEMPORARY) as file:
        write(file)
        file.flush()
        if files.exists(place) and files.sha256(place) == files.sha256(file.name):
            return
        file.seek(0)
        with files.atomic_write(place) as whole:
            shutil.copyfileobj(file, whole)


def _from_hub(path: str, asked: HubDataSet, folder: str, force: bool, say: Callable[[str], object]) -> str:
    stem = re.sub(r"[^\w.-]+", "-", path.removeprefix(_HUB).removeprefix("datasets/"))
    place, record_path = files.join(folder, f"{stem}.parquet"), files.join(folder, f"{stem}.address")
    record = json.dumps({"address": path})
    if not force and files.exists(place) and files.read_if_there(record_path) == record.encode():
        say(f"{path}: as it was fetched before ({place}); --force fetches it again")
        return place
    rows = 0

    def write(file: IO[bytes]) -> None:
        nonlocal rows
        rows = write_parquet(_tables(path, asked), file)

    _replace(place, write)
    if not rows:
        files.remove(place)
        raise InputError("this data set has no rows; expected documents", path=path)
    with files.atomic_write(record_path) as whole:
        whole.write(record.encode())
    say(f"{path}: {counted(rows, 'row')}, in {place}")
    return place


def _tables(path: str, asked: HubDataSet) -> Iterator[pa.Table]:
    """Yield the rows of a data set as they come; raises InputError where there is none, or which is not clear."""
    try:
        import datasets
    except ImportError as error:
        raise MissingExtraError("datasets", "hub") from error
    try:
        data_set: Any = datasets.load_dataset(
            asked.name, asked.config or None, split=asked.split or None, revision=asked.revision or None, streaming=True
        )
        if not hasattr(data_set, "iter"):
            splits = list(data_set)
            if len(splits) > 1:
                example = f"{path}{'&' if '?' in path else '?'}split={splits[0]}"
                raise InputError(f"has the splits {', '.join(splits)}; name one: {example}", path=path)
            data_set = data_set[splits[0]]
        if asked.rows:
            data_set = data_set.take(asked.rows)
        tables = iter(data_set.with_format("arrow").iter(_ROWS_AT_A_TIME))
        first = next(tables, None)
        if first is not None:
            yield from (table.cast(first.schema) for table in chain([first], tables))
    except InputError:
        raise
    except Exception as error:  # datasets raises its own, those of hub and server, and ValueError
        reason = " ".join(str(error).split())[:300]
        hint = (
            "check the name and the network; of several configs name one, as ?config=en; a data set that is not public "
            "needs: hf auth login"
        )
        raise InputError(f"datasets cannot read it ({type(error).__name__}: {reason}); {hint}", path=path) from error
