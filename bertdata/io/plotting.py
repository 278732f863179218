"""Pictures by matplotlib: SVG whose bytes are those of the figure alone."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from typing import Any

from bertdata.errors import MissingExtraError

_STYLE = {"svg.fonttype": "none", "font.size": 9.0, "axes.formatter.useoffset": False}


def matplotlib() -> Any:
    """Return the module; raises MissingExtraError where it is not installed."""
    try:
        import matplotlib.style
    except ModuleNotFoundError as error:
        raise MissingExtraError("matplotlib", "report") from error
    return matplotlib


@contextlib.contextmanager
def plain_style(salt: str = "bertdata") -> Iterator[None]:
    """Draw in the block by the defaults of matplotlib, whatever the user's settings are; `salt` makes the ids."""
    library = matplotlib()
    with library.style.context("default"), library.rc_context(_STYLE | {"svg.hashsalt": salt}):
        yield


def svg_bytes(figure: Any) -> bytes:
    """Return a figure as SVG, without the date and the version of matplotlib."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()
