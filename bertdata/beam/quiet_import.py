"""Imports Beam quietly: its modules log where packages of other runners are missing."""

from __future__ import annotations

import logging
import warnings

from bertdata.errors import MissingExtraError
from bertdata.imports import collector_paused


def import_beam() -> None:
    """Import Beam; raises MissingExtraError where it is not installed."""
    logging.getLogger("apache_beam").setLevel(logging.CRITICAL)
    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), collector_paused():
            warnings.simplefilter("ignore")
            import apache_beam  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("apache-beam", "beam") from error
    finally:
        root.setLevel(level)
