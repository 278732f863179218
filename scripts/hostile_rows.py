"""Hostile input: the cases of files of rows to be imported, and of the folders of caches, that lie."""

from __future__ import annotations

import io
import json
import struct
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hostile_cases import PROSE, Case, case, counted, lines, put

IDS = [2, 1996, 3]


def imported(folder: Path, name: str, data: bytes) -> Case:
    """Return a case that imports a file of rows."""
    path = put(folder, name, data)
    command = ["import", str(path), "--vocab", "bertdata-30k-uncased", "--output", str(folder / "out")]
    return Case(command)


def mds(sample: bytes, **columns: Any) -> bytes:
    """Return an MDS file of one sample."""
    header = json.dumps({f"column_{what}": value for what, value in columns.items()}).encode()
    begin = 12 + len(header)
    return struct.pack("<3I", 1, begin, begin + len(sample)) + header + sample


def parquet(columns: dict[str, Any]) -> bytes:
    """Return a Parquet file."""
    pq.write_table(pa.table(columns), file := io.BytesIO())
    return file.getvalue()


def tar(data: bytes, headers: dict[str, str]) -> bytes:
    """Return a tar file of one member with further headers."""
    with tarfile.open(fileobj=(file := io.BytesIO()), mode="w", format=tarfile.PAX_FORMAT) as archive:
        member = tarfile.TarInfo("0.json")
        member.size, member.pax_headers = len(data), headers
        archive.addfile(member, io.BytesIO(data))
    return file.getvalue()


@case
def an_mds_file_whose_sizes_are_texts(folder: Path) -> Case:
    return imported(folder, "a.mds", mds(b"12345678", names=["input_ids"], encodings=["int"], sizes=["x"]))


@case
def an_mds_file_of_objects(folder: Path) -> Case:
    return imported(folder, "a.mds", mds(b"12345678", names=["input_ids"], encodings=["object"], sizes=[8]))


@case
def an_mds_file_whose_header_nests(folder: Path) -> Case:
    return imported(folder, "a.mds", struct.pack("<3I", 1, 100_012, 100_012) + b"[" * 100_000)


@case
def a_tar_file_with_a_broken_map_of_a_sparse_member(folder: Path) -> Case:
    row = json.dumps({"input_ids": IDS}).encode()
    return imported(folder, "a.tar", tar(row, {"GNU.sparse.map": "a,b", "GNU.sparse.size": "9"}))


@case
def a_tar_file_with_a_member_of_a_hundred_petabytes(folder: Path) -> Case:
    row = json.dumps({"input_ids": IDS}).encode()
    return imported(folder, "a.tar", tar(row, {"size": str(10**17)}))


@case
def rows_of_ids_of_which_one_is_of_two_million(folder: Path) -> Case:
    rows = [[5] * 2_000_000, *([IDS] * 999)]
    return imported(folder, "a.parquet", parquet({"input_ids": pa.array(rows, pa.list_(pa.int32()))}))


@case
def rows_of_pairs_with_an_array_of_a_million_millions(folder: Path) -> Case:
    np.save(file := io.BytesIO(), np.array([1], np.uint16))
    array = file.getvalue().replace(b"(1,), }" + b" " * 13, b"(1000000000000,), }" + b" ")
    columns = {"A": ["the"], "B": ["the"], "is_random_next": [True]}
    return imported(
        folder, "a.parquet", parquet(columns | {"masked_lm_positions": [array], "masked_lm_labels": ["the"]})
    )


@case
def kept_numbers_that_are_infinite(folder: Path) -> Case:
    rows = [{"id": str(number), "text": f"{number}. {PROSE}", "score": float("inf")} for number in range(8)]
    path = put(folder, "a.jsonl", lines(*rows))
    command = ["build", "--documents", str(path), "--vocab", "bertdata-30k-uncased", "--keep", "score=float"]
    return Case([*command, "--output", str(folder / "out")])


@case
def kept_columns_of_three_megabytes(folder: Path) -> Case:
    rows = [{"id": str(number), "text": f"{number}. {PROSE}", "score": "9" * 3_000_000} for number in range(8)]
    path = put(folder, "a.jsonl", lines(*rows))
    command = ["build", "--documents", str(path), "--vocab", "bertdata-30k-uncased", "--where", "score != '1'"]
    return Case([*command, "--output", str(folder / "out")], counted(8, 0))
