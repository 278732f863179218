"""Builds that the tests of training share."""

from __future__ import annotations

from pathlib import Path

import pytest

from bertdata.io import files
from bertdata.objectives.settings import ExamplesConfig
from tests.torch.build import write_build


@pytest.fixture(scope="module")
def two_lengths(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of rows of 16 and of 48 tokens."""
    place = tmp_path_factory.mktemp("lengths")
    for length in (16, 48):
        write_build(place / str(length), ExamplesConfig(max_seq_length=length))
    files.write_json(str(place / "manifest.json"), {"phases": ["16", "48"]})
    return place
