"""Imports large packages sooner: the garbage collector would go through all that they make, again and again."""

from __future__ import annotations

import contextlib
import gc
import sys
from collections.abc import Iterator

_OF_BEAM = ("pandas", "google.cloud.storage", "boto3", "pymongo", "bson", "hdfs", "apache_beam.io.gcp.bigquery")
"""What Beam imports for its own data frames and stores if it is installed; bertdata uses none of it."""

is_command = False
"""Whether this process runs a command of bertdata, so that no other code in it uses Beam."""


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """Stop the garbage collector until the context is left, which is for imports: what these make stays.

    Apache Beam is imported in 0.7 s of processor time rather than 0.9.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


@contextlib.contextmanager
def without_packages_of_beam() -> Iterator[None]:
    """Let Beam be imported as if what it does without were not installed: in 0.5 s of processor time rather than 0.8.

    For a process of which it is known that no other code uses Beam. What was hidden can be imported afterwards.
    """
    hidden = [name for name in _OF_BEAM if name not in sys.modules]
    sys.modules |= dict.fromkeys(hidden)  # type: ignore[arg-type]  # None: importing it raises ImportError
    try:
        yield
    finally:
        for name in hidden:
            if sys.modules.get(name) is None:
                sys.modules.pop(name, None)
