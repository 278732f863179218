"""What all tests share: nothing reaches for a network, and Beam keeps its import-time remarks to itself.

An interrupt raises KeyboardInterrupt, also where the shell that started the tests has it ignored (`nohup`, `&`). What a
test consents to (plugins, names of modules) ends with it.

Examples of hypothesis have no deadline: the first one may load or compile kernels, and a machine may be busy. The
garbage collector passes over modules and tests, which live as long as the process; this saves 5 to 10% of the time.
"""

from __future__ import annotations

import gc
import os
import signal
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import settings

from bertdata import plugins
from tests.generated import examples
from tests.server import Server, serve
from tests.turns import of_other_days

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_DATASETS_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["BERTDATA_CACHE"] = os.path.join(tempfile.gettempdir(), f"bertdata-tests-{os.getuid()}")

plugins.consent_to("tests:OBJECTS")  # tests name objects of their own modules, as a user would type them

settings.register_profile("bertdata", deadline=None, max_examples=examples(100))
settings.load_profile("bertdata")


if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the costly tests of other days, where `scripts/test` says which day it is."""
    if day := os.environ.get("BERTDATA_TEST_DAY"):
        later = of_other_days(items, int(day))
        config.hook.pytest_deselected(items=later)
        left_out = set(later)
        items[:] = [item for item in items if item not in left_out]


def pytest_collection() -> None:
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(5_000, 20, 20)
    gc.enable()


@pytest.fixture(scope="module", autouse=True)
def pass_over_what_a_module_leaves() -> Iterator[None]:
    """Collect the garbage of a module, and let later collections pass over what is left, as over modules and tests.

    Trainers of other packages collect all garbage of the process each time that they begin or end.
    """
    yield
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def consent_of_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one test consents to is not what the next one does: workers of its loaders would look for its modules."""
    for names in ("_typed", "_plugins", "_unnamed"):
        monkeypatch.setattr(plugins, names, set(getattr(plugins, names)))


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


@pytest.fixture(scope="module", autouse=True)
def choose_runner(request: pytest.FixtureRequest) -> None:
    """Run the builds of a module without Beam, unless it has `WITH_BEAM`."""
    if not getattr(request.module, "WITH_BEAM", False):
        request.getfixturevalue("without_beam")
