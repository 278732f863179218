"""What is done to texts where documents are written: cleaners change them, then filters drop some."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from bertdata.curation.cleaners import cleaned
from bertdata.curation.document_rules import rules_of
from bertdata.curation.filters import filtered, measured
from bertdata.documents import TextRules
from bertdata.engine.parts import Counters, Task


def text_rules(task: Task) -> TextRules | None:
    """Return the cleaners and filters of a task for a `DocumentWriter`; None without any."""
    rules = rules_of(task)
    return RulesOfTask(rules.cleaners, rules.filters) if rules.cleaners or rules.filters else None


@dataclass(frozen=True)
class RulesOfTask:
    """The cleaners and filters of a task, by their names."""

    cleaners: Sequence[str]
    filters: Sequence[str]

    def __call__(self, texts: pa.StringArray, counters: Counters) -> tuple[pa.StringArray, pa.StringArray]:
        """Return what becomes of texts, and why each is dropped, null where it is kept."""
        texts, reasons = cleaned(texts, self.cleaners, counters)
        if reasons.null_count == len(reasons):
            return filtered(texts, self.filters, counters)
        not_dropped = pc.is_null(reasons)
        filtered_texts, dropped = filtered(texts.filter(not_dropped), self.filters, counters)
        return pc.replace_with_mask(texts, not_dropped, filtered_texts), pc.replace_with_mask(
            reasons, not_dropped, dropped
        )

    def measured(self, text: str, reason: str) -> str:
        """Return what the filter that dropped a text measured, beside its threshold."""
        return measured(text, reason, self.filters)
