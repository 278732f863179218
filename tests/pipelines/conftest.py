"""One finished sample build for the tests that only look at it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pipelines.builds import build


@pytest.fixture(scope="session")
def sample_build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample corpus built in this process."""
    output = tmp_path_factory.mktemp("sample") / "corpus"
    build(output)
    return output
