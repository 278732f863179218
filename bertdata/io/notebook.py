"""HTML in a notebook: whether this is one, an output that changes in place, and tables."""

from __future__ import annotations

import html
import sys
from collections.abc import Callable, Sequence

from bertdata.errors import printable


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook, as tqdm and transformers tell it."""
    try:
        return "IPKernelApp" in sys.modules["IPython"].get_ipython().config
    except (KeyError, AttributeError):
        return False


def live_output() -> Callable[[str], None]:
    """Return a function that shows HTML below the cell that runs, in the place of what it showed before."""
    from IPython.display import HTML, display

    handle = display(HTML(""), display_id=True)
    return lambda text: handle.update(HTML(text))


def html_table(rows: Sequence[Sequence[str]], header: Sequence[str] = ()) -> str:
    """Return rows as an HTML table, their texts escaped; texts in the first column are names, and numbers go right.

    >>> html_table([["pages", "12"]], ["what", "how many"])[:46]
    '<table><thead><tr><th style="text-align:left">'
    """
    head = "".join(f'<th style="text-align:left">{escaped(text)}</th>' for text in header)
    lines = ["".join(f'<td style="text-align:left">{escaped(text)}</td>' for text in row) for row in rows]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table>{f'<thead><tr>{head}</tr></thead>' if header else ''}<tbody>{body}</tbody></table>"


def escaped(text: str) -> str:
    """Return a text for HTML, with leading spaces that stay.

    >>> escaped("  a < b")
    '&nbsp;&nbsp;a &lt; b'
    """
    visible = printable(text)
    rest = visible.lstrip(" ")
    return "&nbsp;" * (len(visible) - len(rest)) + html.escape(rest)
