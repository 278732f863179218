"""Builds that the tests of this folder share; none of them writes into one."""

from __future__ import annotations

from pathlib import Path

import pytest

from bertdata.objectives.settings import ExamplesConfig
from tests.many_shards import cut
from tests.torch.build import write_build


@pytest.fixture(scope="session")
def dynamic_build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An NSP build without masks."""
    return write_build(tmp_path_factory.mktemp("dynamic"))


@pytest.fixture(scope="session")
def static_build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SOP build, two copies, with masks written in."""
    config = ExamplesConfig(objective="sop", masking="static", max_seq_length=32, dupe_factor=2)
    return write_build(tmp_path_factory.mktemp("static"), config)


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of many small shards."""
    folder = tmp_path_factory.mktemp("streamed")
    return cut(write_build(folder / "build", documents=60), folder / "corpus", rows=12)


@pytest.fixture(scope="session")
def shard_bytes(corpus: Path) -> int:
    """The bytes of its largest shard."""
    return max(path.stat().st_size for path in (corpus / "train").iterdir())
