"""MDS files for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import zstandard

from bertdata.formats.mds import write_samples


def write_mds(path: Path, columns: Mapping[str, Sequence[Any]]) -> str:
    """Write columns as an MDS file, compressed by its name; lists of numbers are uint32."""
    arrays = {
        name: pa.array(values, pa.list_(pa.uint32())) if isinstance(values[0], list) else pa.array(values)
        for name, values in columns.items()
    }
    batch = pa.record_batch(arrays)
    with open(path, "wb") as file:
        write_samples([batch], batch.schema, file, str(path))
    if path.suffix == ".zstd":
        path.write_bytes(zstandard.compress(path.read_bytes()))
    return str(path)
