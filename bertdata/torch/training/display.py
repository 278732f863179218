"""What shows a run: events of a log of JSON, a notebook's output, a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager

from bertdata.io import log
from bertdata.io.notebook import in_notebook
from bertdata.torch.training.notebook_progress import NotebookProgress
from bertdata.torch.training.progress import Bar, Events, PlainLines, Progress


@contextmanager
def shown(*, quiet: bool = False) -> Iterator[Progress]:
    """Yield what shows a run: below the cell of a notebook, else on stderr; nothing if `quiet`."""
    if quiet:
        yield Progress()
    elif log.is_json():
        yield Events()
    elif in_notebook():
        with closing(NotebookProgress()) as progress:
            yield progress
    elif sys.stderr.isatty():
        from tqdm.contrib.logging import logging_redirect_tqdm

        with logging_redirect_tqdm(), closing(Bar()) as bar:
            yield bar
    else:
        yield PlainLines(log.TimedStream(sys.stderr))
