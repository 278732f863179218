"""Pipelines of these tests run through Beam: they are about who runs a build."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="module", autouse=True)
def choose_runner() -> None:
    """Take the place of the fixture that runs builds without Beam."""
