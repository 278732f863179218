"""Imports Beam quietly: its modules log where packages of other runners are missing."""

from __future__ import annotations

import contextlib
import logging
import warnings

from bertdata.errors import MissingExtraError
from bertdata.imports import collector_paused, without_packages_of_beam


def import_beam(*, without_packages: bool = False) -> None:
    """Import Beam; raises MissingExtraError where it is not installed.

    without_packages: hide from it what `without_packages_of_beam` hides.
    """
    hidden = without_packages_of_beam() if without_packages else contextlib.nullcontext()
    logging.getLogger("apache_beam").setLevel(logging.CRITICAL)
    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), collector_paused(), hidden:
            warnings.simplefilter("ignore")
            import apache_beam  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("apache-beam", "beam") from error
    finally:
        root.setLevel(level)
