"""One finished sample build for the tests that only look at it; no Beam where a test does not need it."""

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


@pytest.fixture(scope="module", autouse=True)
def choose_runner(request: pytest.FixtureRequest) -> None:
    """Run the builds of a module without Beam, unless it has `WITH_BEAM`."""
    if not getattr(request.module, "WITH_BEAM", False):
        request.getfixturevalue("without_beam")
