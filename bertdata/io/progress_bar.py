"""Progress bars, by tqdm.auto: a widget in a notebook, a line that moves on a terminal."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from typing import Any

from bertdata.io import log
from bertdata.io.stage_log import BYTES, LoggedBar

NO_WIDGETS = "progress is shown as lines of text; pip install ipywidgets to see bars in notebooks"


def is_shown() -> bool:
    """Tell whether bars are shown here: on a terminal or in a notebook with widgets."""
    return not log.is_json() and (_kind()[1] or sys.stderr.isatty())


def progress_bar(rows: Iterable[Any] | None = None, **options: Any) -> Any:
    """Return a bar of tqdm, with the options of `tqdm.tqdm`; it is over `rows`, if there are any.

    Where there is neither a terminal nor a notebook with ipywidgets, or the log is JSON, it shows nothing.

    >>> list(progress_bar(["a", "b"], desc="check files"))
    ['a', 'b']
    """
    kind, is_widget = _kind()
    if is_widget:
        return kind(rows, **options)
    return kind(rows, dynamic_ncols=True, disable=None, **options)


def byte_progress(title: str, total: int | None = None, initial: int = 0) -> Any:
    """Return a bar of bytes where bars are shown, else what writes a line when they are done."""
    if not is_shown():
        return LoggedBar(title, total, initial)
    options: dict[str, Any] = {
        "total": total,
        "initial": initial,
        "unit": BYTES,
        "unit_scale": True,
        "mininterval": 0.2,
    }
    return progress_bar(desc=title, **options)


def _kind() -> tuple[Any, bool]:
    """Return the class of bars for here, and whether they are widgets; says once where widgets lack a package."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        from tqdm.auto import tqdm
    if any("IProgress" in str(warning.message) for warning in caught):
        print(NO_WIDGETS, file=sys.stderr)
    return tqdm, any(base.__module__ == "tqdm.notebook" for base in tqdm.__mro__)
