"""Files of rows that lie about themselves are refused with a message, and take no more room than their rows."""

from __future__ import annotations

import io
import json
import struct
import tarfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bertdata.errors import InputError
from bertdata.formats import tokenised
from bertdata.formats.hdf5 import KINDS, read_hdf5
from bertdata.formats.mds_reading import read_mds
from bertdata.formats.tokenised import read_parquet
from bertdata.formats.webdataset import read_webdataset
from bertdata.tokenizers import Tokenizer
from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer


@cache
def tokenizer() -> Tokenizer:
    return WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, "the", "cat"])


IDS = struct.pack("<I", 14) + bytes([4, 3]) + struct.pack("<3i", 2, 5, 3)


def mds(sample: bytes = IDS, **columns: Any) -> bytes:
    """Return an MDS file of one sample, with what is given of its columns in the place of a list of ids."""
    names = {"names": ["input_ids"], "encodings": ["ndarray:int32"], "sizes": [None]} | columns
    header = json.dumps({f"column_{what}": value for what, value in names.items()}).encode()
    begin = 12 + len(header)
    return struct.pack("<3I", 1, begin, begin + len(sample)) + header + sample


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (mds(sizes=["x"]), "does not say its columns"),
        (mds(sizes=[1.5]), "does not say its columns"),
        (mds(sizes=[[1]]), "does not say its columns"),
        (mds(sizes=[-4]), "ends inside its column"),
        (mds(encodings=["ndarray:complex64"]), "it holds no numbers"),
        (mds(encodings=["ndarray:object"]), "it holds no numbers"),
        (mds(IDS[6:], encodings=["ndarray:int16:1000000000000"], sizes=[12]), "its length is not that of its values"),
        (mds(IDS[6:], encodings=["ndarray:int16:-6"], sizes=[12]), "its length is not that of its values"),
        (mds(IDS[6:], encodings=["ndarray:int16:six"], sizes=[12]), "sample 0 has no list in a column"),
        (mds(IDS[6:], encodings=["ndarray:int32:3,1"], sizes=[12]), "it has 2 dimensions"),
        (mds(b"12345678", encodings=["object"], sizes=[8]), "has no column of numbers"),
        (mds(b"123", encodings=["int"], sizes=[3]), "has no column of numbers"),
        (mds(b"", encodings=["int32"], sizes=[0]), "has no column of numbers"),
        (mds(b"12345678", encodings=["str"], sizes=[8]), "has no column of numbers"),
        (struct.pack("<3I", 1, 3012, 3012) + b"[" * 3000, "does not say its columns"),
    ],
)
def test_mds_files_whose_columns_are_no_numbers_are_refused(data: bytes, message: str, tmp_path: Path) -> None:
    fixed = mds(IDS[6:], encodings=["ndarray:int32:3"], sizes=[12])
    for right in (mds(), fixed):
        assert next(read_mds(put(tmp_path, right), tokenizer()))["input_ids"].tolist() == [[2, 5, 3]]
    with pytest.raises(InputError, match=message):
        list(read_mds(put(tmp_path, data), tokenizer()))


def put(folder: Path, data: bytes) -> str:
    (folder / "file").write_bytes(data)
    return str(folder / "file")


@pytest.mark.parametrize(
    "sparse",
    [
        {"GNU.sparse.map": "a,b", "GNU.sparse.size": "9", "GNU.sparse.name": "0.json"},
        {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": "9", "GNU.sparse.name": "0.json"},
        {"GNU.sparse.map": "0,5", "GNU.sparse.size": "x"},
    ],
)
def test_tar_files_with_broken_maps_of_sparse_members_are_refused(sparse: dict[str, str], tmp_path: Path) -> None:
    row, file = b'{"input_ids":[2,5,3]}', io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
        member = tarfile.TarInfo("0.json")
        member.size, member.pax_headers = len(row), sparse
        archive.addfile(member, io.BytesIO(row))
    with pytest.raises(InputError, match="is not a whole tar file"):
        list(read_webdataset(put(tmp_path, file.getvalue()), tokenizer()))


def npy(array: Any) -> bytes:
    np.save(file := io.BytesIO(), array)
    return file.getvalue()


PAIR: dict[str, Any] = {"A": ["the cat"], "B": ["the cat"], "is_random_next": [True]}
MASKED = PAIR | {"masked_lm_positions": [npy(np.array([1], np.uint16))], "masked_lm_labels": ["cat"]}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({key: MASKED[key] for key in MASKED if key != "masked_lm_labels"}, "and no masked_lm_labels"),
        (PAIR | {"is_random_next": ["x"]}, "is_random_next holds string"),
        (PAIR | {"is_random_next": pa.array([None], pa.bool_())}, "is_random_next holds bool"),
        (MASKED | {"masked_lm_positions": [b"PK\3\4" + bytes(30)]}, "no array of numbers"),
        (MASKED | {"masked_lm_positions": [b"\x93NUMPY\1\0\5\0'''(("]}, "no array of numbers"),
        (MASKED | {"masked_lm_positions": [npy(np.array([1], np.uint16)).replace(b"(1,)", b"(9,)")]}, "1 numbers and"),
        ({"input_ids": [[1, 2, 3]], "cu_seqlens": ["a"]}, "after row 0"),
    ],
)
def test_tables_that_are_no_rows_are_refused(columns: dict[str, Any], message: str, tmp_path: Path) -> None:
    pq.write_table(pa.table(MASKED), tmp_path / "good.parquet")
    assert next(read_parquet(str(tmp_path / "good.parquet"), tokenizer()))["masked_lm_positions"].tolist() == [[1]]
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet")
    with pytest.raises(InputError, match=message):
        list(read_parquet(str(tmp_path / "rows.parquet"), tokenizer()))


def test_one_long_row_does_not_widen_those_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenised, "_ROOM", 10_000)
    rows = [[5] * 30, [5] * 30, [5] * 3000, [5] * 30, [5] * 20]
    table = pa.record_batch({"input_ids": pa.array(rows, pa.list_(pa.int32()))})
    batches = list(tokenised.record_fields([table, table.slice(0, 0)], "", tokenizer()))
    assert [batch["input_ids"].shape for batch in batches] == [(2, 30), (1, 3000), (2, 30)]


Put = Callable[[Any, str], object]


def write_hdf5(path: Path, name: str, put_data_set: Put) -> str:
    """Write a file of NVIDIA's layout with one data set put otherwise."""
    import h5py

    with h5py.File(path, "w") as file:
        for other in KINDS:
            if other == name:
                put_data_set(file, other)
            else:
                file.create_dataset(other, data=np.ones(3 if other == "next_sentence_labels" else (3, 4), "i4"))
    return str(path)


def _put_ones(file: Any, name: str) -> None:
    file.create_dataset(name, data=np.ones((3, 4), "i4"))


def _put_of_other_file(file: Any, name: str) -> None:
    path = Path(file.filename).with_name("beside")
    path.write_bytes(bytes(48))
    file.create_dataset(name, (3, 4), "i4", external=[(str(path), 0, 48)])


def _put_link(file: Any, name: str) -> None:
    import h5py

    file[name] = h5py.ExternalLink("beside.hdf5", "/input_ids")


def _put_view(file: Any, name: str) -> None:
    import h5py

    layout = h5py.VirtualLayout((3, 4), "i4")
    layout[:] = h5py.VirtualSource("beside.hdf5", "input_ids", (3, 4))
    file.create_virtual_dataset(name, layout)


@pytest.mark.parametrize(
    ("put_data_set", "message"),
    [
        (_put_of_other_file, "no data set 'input_ids' in itself"),
        (_put_link, "no data set 'input_ids' in itself"),
        (_put_view, "no data set 'input_ids' in itself"),
        (lambda file, name: file.create_group(name), "no data set 'input_ids' in itself"),
        (lambda file, name: file.create_dataset(name, data=5), "in the shape \\(\\)"),
        (lambda file, name: file.create_dataset(name, data=np.ones(3, "i4")), "expected whole numbers in 2 dimensions"),
        (lambda file, name: file.create_dataset(name, data=np.ones((3, 4))), "of float64"),
        (lambda file, name: file.create_dataset(name, (3, 1 << 20), "i4", chunks=(1, 64)), "rows of 1,048,576 numbers"),
        (lambda file, name: file.create_dataset(name, (3, 4), "i4", chunks=(1, 4)), "never written"),
        (lambda file, name: file.create_dataset(name, (3, 4), "i4"), "never written"),
    ],
)
def test_hdf5_files_whose_numbers_are_not_in_them_are_refused(put_data_set: Put, message: str, tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    assert len(list(read_hdf5(write_hdf5(tmp_path / "good.hdf5", "input_ids", _put_ones)))) == 1
    write_hdf5(tmp_path / "beside.hdf5", "input_ids", _put_ones)
    with pytest.raises(InputError, match=message):
        list(read_hdf5(write_hdf5(tmp_path / "lying.hdf5", "input_ids", put_data_set)))
