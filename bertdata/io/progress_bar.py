"""Progress bars, by tqdm.auto: a widget in a notebook, a line that moves on a terminal, lines of text elsewhere."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from typing import Any

PLAIN_SECONDS = 30.0
"""How often there is a new line where a line cannot move."""
NO_WIDGETS = "progress is shown as lines of text; pip install ipywidgets to see bars in notebooks"


def progress_bar(rows: Iterable[Any] | None = None, *, lines: bool = False, **options: Any) -> Any:
    """Return a bar of tqdm, with the options of `tqdm.tqdm`; it is over `rows`, if there are any.

    Where there is neither a terminal nor a notebook with ipywidgets, it prints `lines` to stderr, or shows nothing.

    >>> list(progress_bar(["a", "b"], desc="check files"))
    ['a', 'b']
    """
    kind, is_widget = _kind()
    if is_widget:
        return kind(rows, **options)
    if sys.stderr.isatty() or not lines:
        return kind(rows, dynamic_ncols=True, disable=None, **options)
    return kind(rows, file=_Lines(), ascii=True, **options | {"mininterval": PLAIN_SECONDS})


def _kind() -> tuple[Any, bool]:
    """Return the class of bars for here, and whether they are widgets; says once where widgets lack a package."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        from tqdm.auto import tqdm
    if any("IProgress" in str(warning.message) for warning in caught):
        print(NO_WIDGETS, file=sys.stderr)
    return tqdm, any(one.__module__ == "tqdm.notebook" for one in tqdm.__mro__)


class _Lines:
    """A stream for tqdm that prints each state on its own line, from when something is done; the last one once."""

    def __init__(self) -> None:
        self._last = ""

    def write(self, text: str) -> None:
        text = text.strip("\r\n ")
        state = text.partition(" [")[0]
        if not text or " 0%|" in text or ("100%|" in text and state == self._last):
            return
        self._last = state
        print(text, file=sys.stderr, flush=True)

    def flush(self) -> None:
        """Do nothing: each line is flushed."""
