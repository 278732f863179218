"""Builds that the tests of this folder share; a test that changes one takes a copy."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bertdata.objectives.settings import ExamplesConfig
from tests.shards.build import write_build


@pytest.fixture(scope="session")
def dynamic_build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished NSP build of several shards, masks left to the loader."""
    return write_build(tmp_path_factory.mktemp("dynamic"), ExamplesConfig(max_seq_length=32), documents=80, shards=3)


@pytest.fixture(scope="session")
def static_build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished NSP build with two copies, masks written in."""
    config = ExamplesConfig(masking="static", max_seq_length=32, dupe_factor=2)
    return write_build(tmp_path_factory.mktemp("static"), config)


@pytest.fixture
def own_build(dynamic_build: Path, tmp_path: Path) -> Path:
    """A copy of the dynamic build, to be damaged."""
    return Path(shutil.copytree(dynamic_build, tmp_path / "build"))


@pytest.fixture
def own_static_build(static_build: Path, tmp_path: Path) -> Path:
    """A copy of the static build, to be damaged."""
    return Path(shutil.copytree(static_build, tmp_path / "build"))
