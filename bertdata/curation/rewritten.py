"""Parts of documents that a stage writes anew take the place of those they were made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bertdata.documents import BYTES_REMOVED, DOCUMENT_LANGUAGES, DROPPED_TEXTS, ROWS_OF, DocumentCount, dropped_texts
from bertdata.engine.parts import PartResult, add_counts


def with_rewritten(documents: PartResult, written: PartResult, carried: Sequence[str]) -> PartResult:
    """Return a part of documents with the file, the documents, the drops and the samples of the one written anew.

    Where it says the documents of each language, so must the new one.

    What else was counted of it, and what is known of its sources, stays; of the counts of the new part those of the
    names in `carried` are added, and the bytes it removed.
    """
    (task, record), (new, made) = documents, written
    counts = dict(record.counts)
    for count in (DocumentCount.DOCUMENTS, DocumentCount.TEXT_BYTES):
        counts[str(count)] = made.counts.get(count, 0)
    for name in [*carried, *(name for name in made.counts if name.startswith(BYTES_REMOVED))]:
        if number := made.counts.get(name, 0):
            counts[name] = counts.get(name, 0) + number
    details = {name: value for name, value in record.details.items() if name not in ("dropped", ROWS_OF)}
    counted = {"row_groups", "slots", *({DOCUMENT_LANGUAGES} & details.keys())}
    details |= {name: made.details[name] for name in sorted(counted)}
    if samples := dropped_texts([record, made]):
        details[DROPPED_TEXTS] = samples
    new_record = replace(made, counts=counts, drops=add_counts([record.drops, made.drops]), details=details)
    return replace(
        task, directory=new.directory, name=new.name, suffix=new.suffix, records="", fingerprint=new.fingerprint
    ), new_record
