"""Arrow files as documents: those of a folder that `datasets` wrote by `save_to_disk`, and any others with a text.

A range is a run of record batches of one file, an IPC stream as `datasets` writes it, or an IPC file. In a folder of
`datasets` its state.json tells them from the caches of `map`.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial, reduce
from typing import Any

import pyarrow as pa

from bertdata.documents import cut, row_bytes
from bertdata.errors import InputError
from bertdata.io import files
from bertdata.io.arrow_data import checked, reading_arrow
from bertdata.io.checksums import checksums_of
from bertdata.io.paths import folder as folder_of
from bertdata.io.patterns import ends_in
from bertdata.sources.formats import FileRange, Layout, Request, SourceFile
from bertdata.sources.tabular import TableFormat, columns_read, require_strings

_FILE_SIGN, _STREAM_SIGN = b"ARROW1", b"\xff\xff\xff\xff"
_FEATHER_1 = b"FEA1"
_STATE = "state.json"
_OF_A_SPLIT = {"train", "validation", "test", "dev", "eval"}
Batches = Iterator[pa.RecordBatch]


class ArrowFormat(TableFormat):
    """Arrow streams and files; a range is a run of record batches."""

    name = "arrow"
    suffixes = (".arrow", ".feather")
    signatures = (_FILE_SIGN, _STREAM_SIGN)
    described = "a folder of datasets' save_to_disk (.arrow, .feather)"
    revision: int | str = 2
    settings = TableFormat.settings

    def select(self, paths: Sequence[str]) -> list[str]:
        """Return the files without the Arrow files that are parts of bertdata's, or caches of `datasets`."""
        listed: dict[str, set[str] | None] = {}
        chosen = []
        for path in paths:
            if ends_in(path, (".arrow",)):
                folder = folder_of(path)
                if folder not in listed:
                    listed[folder] = _data_files(folder)
                names = listed[folder]
                if files.exists(files.join(folder, files.name(path)[: -len(".arrow")] + ".json")):
                    continue
                if names is not None and files.name(path) not in names:
                    continue
            chosen.append(path)
        if paths and not chosen:
            raise InputError(
                "these Arrow files are parts that bertdata wrote on its way; expected documents: those they were made "
                "from",
                path=paths[0],
            )
        return chosen

    def layout(self, source: SourceFile, request: Request) -> Layout:
        """Return the column of the text; raises InputError where it does not hold strings."""
        layout = super().layout(source, request)
        with _opened(source.path) as (schema, _):
            require_strings(schema, layout, source.path)
        split = files.name(folder_of(source.path))
        above = folder_of(folder_of(source.path))
        if split not in _OF_A_SPLIT or not files.exists(files.join(above, "dataset_dict.json")):
            return layout
        note = f"is of the split {split}; to take one split alone name its folder"
        return Layout(layout.text_column, layout.form, layout.rules, layout.made_from, layout.note or note)

    def names_of(self, path: str) -> list[str]:
        """Return the columns of a file."""
        with _opened(path) as (schema, _):
            names: list[str] = schema.names
        if "input_ids" in names and "text" not in names:
            raise InputError(
                f"holds tokens ({', '.join(names[:4])}, ...) and no text; expected documents: those it was made from",
                path=path,
            )
        return names

    columns_of = names_of

    def ranges(self, path: str, target_bytes: int, text_column: str) -> Iterator[tuple[int, int, int]]:
        """Yield runs of record batches."""
        first, run_bytes, number = 0, 0, -1
        with _opened(path) as (_, batches):
            for number, batch in enumerate(batches):
                batch.validate()  # its lengths, by which `nbytes` counts
                run_bytes += batch.nbytes
                if run_bytes >= target_bytes:
                    yield first, number + 1, run_bytes
                    first, run_bytes = number + 1, 0
        if first <= number:
            yield first, number + 1, run_bytes

    def rows(self, chosen: FileRange) -> Iterator[tuple[int, dict[str, Any] | str]]:
        """Yield the rows of a range."""
        read, checksum = checksums_of(chosen.path), 0
        for place, batch in _batches_of(chosen):
            if read:
                checksum = _checksum(batch, checksum)
            with _whole(chosen.path):
                selected, row = checked(batch), place
            for rows in cut(selected, row_bytes(selected), place, chosen.path):
                yield from enumerate(rows.to_pylist(), row)
                row += len(rows)
        if read:
            read.add_mapped(chosen.path, checksum, partial(_checksum_of, chosen))


ARROW = ArrowFormat()


def _batches_of(chosen: FileRange) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield the record batches of a range with the place of their first rows, of the columns that are read."""
    place = 0
    with _opened(chosen.path) as (schema, batches):
        names = columns_read(chosen, schema.names)
        for number, batch in enumerate(batches):
            if number >= chosen.end:
                break
            if number >= chosen.start:
                yield place, batch.select(names)
            place += len(batch)


def _checksum(batch: pa.RecordBatch, before: int) -> int:
    """Return the CRC-32 of the buffers of a batch after those `before`."""
    for column in batch.columns:
        for buffer in filter(None, column.buffers()):
            before = zlib.crc32(buffer, before)
    return before


def _checksum_of(chosen: FileRange) -> int:
    """Return the CRC-32 of the buffers of a range, as they are now."""
    return reduce(lambda before, placed: _checksum(placed[1], before), _batches_of(chosen), 0)


def _data_files(folder: str) -> set[str] | None:
    """Return the names of the data files that the state of a folder of `datasets` has, None in other folders."""
    place = files.join(folder, _STATE)
    if not files.exists(place):
        return None
    state = files.read_json(place)
    listed = state.get("_data_files") if isinstance(state, dict) else None
    return {entry["filename"] for entry in listed} if listed else None


def _whole(path: str) -> AbstractContextManager[None]:
    """Raise InputError, which names the file, where what is read of it in the block is not whole Arrow data."""
    remedy = "expected one as datasets' save_to_disk writes it: save it again, or as Parquet"
    return reading_arrow(path, "is not a whole Arrow file", remedy)


@contextmanager
def _opened(path: str) -> Iterator[tuple[pa.Schema, Batches]]:
    """Open an Arrow stream or file, a local one by a memory map; yields its schema and its record batches.

    Raises InputError where the bytes are neither, or end too early, and for what is raised by pyarrow in the block.
    """
    with (
        _whole(path),
        files.open_raw(path) if files.is_remote(path) else pa.memory_map(path) as raw,
    ):
        start = raw.read(len(_FILE_SIGN))
        if start.startswith(_FEATHER_1):
            raise InputError(
                "is Feather of version 1, which pyarrow reads as a whole only; write it anew, as with pandas: "
                "pandas.read_feather(FILE).to_parquet(NEW)",
                path=path,
            )
        is_file = start == _FILE_SIGN
        raw.seek(0)
        if is_file:
            reader = pa.ipc.open_file(raw)
            yield reader.schema, (reader.get_batch(number) for number in range(reader.num_record_batches))
        else:
            stream = pa.ipc.open_stream(raw)
            yield stream.schema, iter(stream)
