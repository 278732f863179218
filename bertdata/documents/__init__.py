"""Documents: what one is (`document`), how a part of them is written (`writer`) and read in ranges (`ranges`),
its texts from the part or from its source (`reread`).

`dropped` has those that rules and later stages leave out.
"""

from bertdata.documents.document import (
    BYTES_LEFT_OUT,
    BYTES_REMOVED,
    CHANGED,
    COLUMNS,
    DOCUMENT_LANGUAGES,
    LEFT_OUT,
    SCHEMA,
    SLOTS,
    DocumentCount,
    paragraphs,
    slot,
    storable,
)
from bertdata.documents.dropped import (
    DROPPED_TEXTS,
    MEASURED,
    SAMPLE_CHARACTERS,
    SAMPLES,
    Dropped,
    DroppedSamples,
    dropped_texts,
    without_rows,
)
from bertdata.documents.groups import ROW_GROUP_BYTES, DocumentGroups, escaped
from bertdata.documents.hashed_ids import id_bits, slots
from bertdata.documents.paragraph_texts import paragraphs_of
from bertdata.documents.ranges import (
    RANGE_BYTES,
    DocumentRange,
    cut_ranges,
    first_rows,
    range_tasks,
    read_range,
)
from bertdata.documents.reread import ROWS_OF, SourceRows
from bertdata.documents.row_batches import (
    BATCH_BYTES,
    LONGEST_ROW,
    cut,
    open_parquet,
    read_batches,
    row_bytes,
)
from bertdata.documents.writer import AddLanguages, DocumentWriter, TextRules

__all__ = [
    "BATCH_BYTES",
    "BYTES_LEFT_OUT",
    "BYTES_REMOVED",
    "CHANGED",
    "COLUMNS",
    "DOCUMENT_LANGUAGES",
    "DROPPED_TEXTS",
    "LEFT_OUT",
    "LONGEST_ROW",
    "MEASURED",
    "RANGE_BYTES",
    "ROWS_OF",
    "ROW_GROUP_BYTES",
    "SAMPLES",
    "SAMPLE_CHARACTERS",
    "SCHEMA",
    "SLOTS",
    "AddLanguages",
    "DocumentCount",
    "DocumentGroups",
    "DocumentRange",
    "DocumentWriter",
    "Dropped",
    "DroppedSamples",
    "SourceRows",
    "TextRules",
    "cut",
    "cut_ranges",
    "dropped_texts",
    "escaped",
    "first_rows",
    "id_bits",
    "open_parquet",
    "paragraphs",
    "paragraphs_of",
    "range_tasks",
    "read_batches",
    "read_range",
    "row_bytes",
    "slot",
    "slots",
    "storable",
    "without_rows",
]
