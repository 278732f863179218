"""What the tests of files share."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import fsspec
import pytest


@pytest.fixture
def memory() -> Iterator[str]:
    """A fresh folder of fsspec's file system in memory."""
    folder = f"memory://{uuid.uuid4().hex}"
    yield folder
    fs = fsspec.filesystem("memory")
    if fs.exists(folder):
        fs.rm(folder, recursive=True)
