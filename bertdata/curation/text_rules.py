"""What is done to texts where documents are written: cleaners change them, then filters drop some."""

from __future__ import annotations

from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from bertdata.curation.cleaners import cleaned
from bertdata.curation.filters import filtered
from bertdata.documents import TextRules
from bertdata.engine.parts import Counters, Task


def text_rules(task: Task) -> TextRules | None:
    """Return the cleaners and filters of a task for a `DocumentWriter`; None without any."""
    return partial(_apply, task=task) if task.cleaners or task.filters else None


def _apply(texts: pa.StringArray, counters: Counters, *, task: Task) -> tuple[pa.StringArray, pa.StringArray]:
    texts, reasons = cleaned(texts, task.cleaners, counters)
    kept = pc.is_null(reasons)
    left, dropped = filtered(texts.filter(kept), task.filters, counters)
    return pc.replace_with_mask(texts, kept, left), pc.replace_with_mask(reasons, kept, dropped)
