"""Tar files of webdataset: a JSON file for each row, with its columns, under the number of its example as the key."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterator
from itertools import islice
from typing import Any, BinaryIO

from bertdata.errors import InputError
from bertdata.formats.base import ExportFormat, ImportFormat
from bertdata.formats.shard import ExportedShard
from bertdata.formats.static import Fields
from bertdata.formats.tokenised import parsed_row, rows_as_fields
from bertdata.io import files
from bertdata.tokenizers.base import Tokenizer

_LONGEST = 64 << 20
_ROWS = 1000


def write_webdataset(shard: ExportedShard, file: BinaryIO) -> None:
    """Write a shard as a tar file, a member KEY.json for each row; the same rows give the same bytes."""
    with tarfile.open(fileobj=file, mode="w|", format=tarfile.USTAR_FORMAT) as out:
        number = 0
        for batch in shard.batches():
            for row in batch.select(shard.schema.names).to_pylist():
                data = json.dumps(row, separators=(",", ":")).encode()
                member = tarfile.TarInfo(f"{number:09d}.json")
                member.size = len(data)
                out.addfile(member, io.BytesIO(data))
                number += 1


def read_webdataset(path: str, tokenizer: Tokenizer) -> Iterator[Fields]:
    """Yield the rows of a tar file; members that are no .json, as texts beside them, are passed over.

    Raises InputError where it has members, and none is .json.
    """
    with files.open_raw(path) as raw:
        rows = _rows(raw, path)
        begin = 0
        while block := list(islice(rows, _ROWS)):
            yield from rows_as_fields(block, range(begin, begin + len(block)), path, tokenizer)
            begin += len(block)


def _rows(raw: Any, path: str) -> Iterator[dict[str, Any]]:
    try:
        with tarfile.open(fileobj=raw, mode="r|") as archive:
            number, passed = 0, ""
            for member in archive:
                if not member.isreg() or not member.name.endswith(".json"):
                    passed = passed or member.name
                    continue
                if member.size > _LONGEST:
                    raise InputError(f"has a row of {member.size:,} bytes; expected {_LONGEST:,} at most", path=path)
                part = archive.extractfile(member)
                assert part is not None
                yield parsed_row(part.read(), number, path)
                number += 1
            if passed and not number:
                raise InputError(f"has {passed!r}, and no .json; expected a JSON file for each row", path=path)
    except (
        tarfile.TarError,
        EOFError,
        ValueError,
        OverflowError,
        RecursionError,
    ) as error:  # ValueError: of sparse files
        raise InputError(f"is not a whole tar file ({error}); expected one of webdataset", path=path) from error


WEBDATASET = ExportFormat(
    help="tar files of webdataset: the rows, a JSON file for each", suffix=".tar", write=write_webdataset
)
WEBDATASET_IMPORT = ImportFormat(help="webdataset's tar files of JSON", suffixes=(".tar",), read_tokens=read_webdataset)
