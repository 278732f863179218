"""What all tests share: nothing reaches for a network, and Beam keeps its import-time remarks to itself.

Examples of hypothesis have no deadline: the first one may load or compile kernels, and a machine may be busy. The
garbage collector passes over modules and tests, which live as long as the process; this saves 5 to 10% of the time.
"""

from __future__ import annotations

import gc
import os
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import settings

from bertdata.plugins import consent_to
from tests.generated import examples
from tests.server import Server, serve

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_DATASETS_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["BERTDATA_CACHE"] = os.path.join(tempfile.gettempdir(), f"bertdata-tests-{os.getuid()}")

consent_to("tests:OBJECTS")  # tests name objects of their own modules, as a user would type them

settings.register_profile("bertdata", deadline=None, max_examples=examples(100))
settings.load_profile("bertdata")


def pytest_collection() -> None:
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(5_000, 20, 20)
    gc.enable()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server on this machine, which no proxy stands before."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serve() as running:
        yield running


@pytest.fixture(scope="module")
def without_beam() -> Iterator[None]:
    """Builds of this process make their parts without Beam, where one worker would make them."""
    from bertdata.beam.runner import Runner
    from tests.without_beam import run

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Runner, "run", run)
        yield
