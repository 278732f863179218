"""HDF5 in the layout of NVIDIA's BERT: a data set for each of Google's fields, gzip-compressed, a row for each example.

input_ids, masked_lm_positions and masked_lm_ids are int32; input_mask, segment_ids and next_sentence_labels int8. There
are no weights: a row's predictions end at the first position that is 0.
"""

from __future__ import annotations

import math
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from bertdata.errors import ConfigError, InputError, MissingExtraError
from bertdata.formats.base import ExportFormat, ImportFormat
from bertdata.formats.shard import ExportedShard
from bertdata.formats.static import Fields
from bertdata.io import files

KINDS = {
    "input_ids": "i4",
    "input_mask": "i1",
    "segment_ids": "i1",
    "masked_lm_positions": "i4",
    "masked_lm_ids": "i4",
    "next_sentence_labels": "i1",
}
_OPTIONAL = ("segment_ids", "next_sentence_labels")
_CHUNK_ROWS = 1000
_MOST_COLUMNS = 1 << 16
"""Numbers of a row at most."""


def _h5py() -> Any:
    try:
        import h5py
    except ImportError as error:
        raise MissingExtraError("h5py", "hdf5") from error
    return h5py


def write_hdf5(shard: ExportedShard, file: BinaryIO) -> None:
    """Write a shard as an HDF5 file; raises ConfigError where rows begin with text."""
    static, total = shard.static, shard.rows
    assert static is not None
    template = static.info.row_template
    if not template.prefix:
        raise ConfigError(
            "HDF5 ends the predictions of a row at the first position that is 0, and rows of this tokenizer begin with "
            "text, which may be predicted; use --to tfrecord",
            path=shard.path,
        )
    there = {"next_sentence_labels": bool(static.info.label), "segment_ids": template.has_types}
    with tempfile.TemporaryDirectory(prefix="bertdata-hdf5-") as folder:
        place = Path(folder) / "shard.hdf5"
        with _h5py().File(place, "w") as out:
            for name, kind in KINDS.items():
                width = static.max_predictions_per_seq if "masked" in name else static.info.max_seq_length
                inner = () if name == "next_sentence_labels" else (width,)
                if there.get(name, True):
                    chunked = {"chunks": (min(_CHUNK_ROWS, total), *inner), "compression": "gzip"} if total else {}
                    out.create_dataset(name, (total, *inner), dtype=kind, **chunked)
            begin = 0
            for fields in _blocks(shard.fields()):
                end = begin + len(fields["input_ids"])
                for name in out:
                    out[name][begin:end] = fields[name]
                begin = end
        with place.open("rb") as written:
            shutil.copyfileobj(written, file)


def _blocks(batches: Iterator[Fields]) -> Iterator[Fields]:
    """Yield as many rows at a time as a chunk of the file has, so that its bytes do not depend on the batches."""
    blocks: list[Fields] = []
    waiting = 0
    for fields in batches:
        blocks.append(fields)
        waiting += len(fields["input_ids"])
        if waiting >= _CHUNK_ROWS:
            joined = {name: np.concatenate([block[name] for block in blocks]) for name in fields}
            whole = waiting - waiting % _CHUNK_ROWS
            for begin in range(0, whole, _CHUNK_ROWS):
                yield {name: values[begin : begin + _CHUNK_ROWS] for name, values in joined.items()}
            blocks, waiting = [{name: values[whole:] for name, values in joined.items()}], waiting - whole
    if waiting:
        yield {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


def read_hdf5(path: str, batch: int = 1000) -> Iterator[Fields]:
    """Yield the rows of a file of this layout as Google's fields, weights made of the positions, `batch` at a time.

    Raises InputError where the file is cut off, damaged or has not the data sets, MissingExtraError without h5py.
    """
    with files.open_raw(path) as raw:
        try:
            file = _h5py().File(raw, "r")
        except (OSError, RuntimeError) as error:
            raise InputError(
                f"is not a whole HDF5 file ({error}); check its size with where it is from", path=path
            ) from error
        with file:
            names = [name for name in KINDS if name in file]
            missing = [name for name in KINDS if name not in file and name not in _OPTIONAL]
            if missing:
                there = ", ".join(file) or "nothing"
                raise InputError(f"has no data set {missing[0]!r}, it has {there}; expected NVIDIA's layout", path=path)
            _check(file, names, path)
            sizes = {name: len(file[name]) for name in names}
            if len(set(sizes.values())) > 1:
                raise InputError(
                    f"has data sets of different lengths: {sizes}; expected as many rows in each", path=path
                )
            for begin in range(0, sizes["input_ids"], batch):
                try:
                    fields = {name: file[name][begin : begin + batch].astype(np.int64) for name in names}
                except (OSError, RuntimeError, ValueError) as error:
                    raise InputError(
                        f"cannot be read after row {begin} ({error}); write it again with what made it", path=path
                    ) from error
                ended = np.cumsum(fields["masked_lm_positions"] == 0, axis=1) > 0
                yield fields | {"masked_lm_weights": (~ended).astype(np.float32)}


def _check(file: Any, names: Sequence[str], path: str) -> None:
    """Raise InputError for a data set that is not whole numbers, all of which are in the file itself.

    HDF5 can take the numbers of a data set from any other file of the machine, and rows that were never written take no
    room in a file, however many there are.
    """
    h5py = _h5py()
    for name in names:
        dimensions = 1 if name == "next_sentence_labels" else 2
        data_set = file[name] if isinstance(file.get(name, getlink=True), h5py.HardLink) else None
        if not isinstance(data_set, h5py.Dataset) or data_set.external or data_set.is_virtual:
            problem = f"has no data set {name!r} in itself: a link, or numbers of another file"
            raise InputError(f"{problem}; expected NVIDIA's layout", path=path)
        if data_set.dtype.kind not in "iub" or len(data_set.shape) != dimensions:
            raise InputError(
                f"has {name!r} of {data_set.dtype} in the shape {data_set.shape}; expected whole numbers in "
                f"{dimensions} {'dimension' if dimensions == 1 else 'dimensions'}",
                path=path,
            )
        if dimensions == 2 and data_set.shape[1] > _MOST_COLUMNS:
            raise InputError(
                f"has rows of {data_set.shape[1]:,} numbers in {name!r}; expected {_MOST_COLUMNS:,} at most", path=path
            )
        if chunks := data_set.chunks:
            sizes = zip(data_set.shape, chunks, strict=True)
            is_whole = data_set.id.get_num_chunks() == math.prod(-(-size // step) for size, step in sizes)
        else:
            is_whole = data_set.id.get_storage_size() == data_set.size * data_set.dtype.itemsize
        if not is_whole:
            raise InputError(f"has rows of {name!r} that were never written; write it again", path=path)


HDF5 = ExportFormat(
    help="the data sets of NVIDIA's BERT, gzip",
    suffix=".hdf5",
    write=write_hdf5,
    static=True,
    check=_h5py,
    extra="hdf5",
)
HDF5_IMPORT = ImportFormat(
    help="HDF5 files of NVIDIA's BERT", suffixes=(".hdf5", ".h5"), read=read_hdf5, signature=b"\x89HDF\r\n\x1a\n"
)
