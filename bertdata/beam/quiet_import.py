"""Imports Beam quietly: its modules log where packages of other runners are missing, and Dask how long that takes."""

from __future__ import annotations

import contextlib
import logging
import warnings

from bertdata.errors import MissingExtraError
from bertdata.io.imports import collector_paused, keep_pandas_out_of_pyarrow, without_packages_of_beam


def import_beam(*, without_packages: bool = False) -> None:
    """Import Beam; raises MissingExtraError where it is not installed.

    without_packages: hide from it what `without_packages_of_beam` hides, and pandas from pyarrow.
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
    if without_packages:
        keep_pandas_out_of_pyarrow()


def quiet_dask_worker() -> None:
    """Import Beam in a worker of Dask before a job does, and hide what reads as a fault in its log.

    That is what Beam logs, and "Event loop was unresponsive", which is so while packages and kernels are loaded.
    """
    import_beam()
    logger = logging.getLogger("distributed.core")
    if _is_no_pause not in logger.filters:
        logger.addFilter(_is_no_pause)


def _is_no_pause(record: logging.LogRecord) -> bool:
    return not str(record.msg).startswith("Event loop was unresponsive")
