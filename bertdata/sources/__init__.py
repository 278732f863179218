"""Files in many formats in, documents out."""

from __future__ import annotations

from typing import Any

from bertdata.registry import Registry

SOURCE_FORMATS: Registry[Any] = Registry(
    "source format",
    {
        "wikipedia": "bertdata.sources.wikipedia.format:WIKIPEDIA",
        "books": "bertdata.sources.books.format:BOOKS",
        "parquet": "bertdata.sources.parquet:PARQUET",
        "json-lines": "bertdata.sources.json_lines:JSON_LINES",
        "csv": "bertdata.sources.separated:CSV",
        "tsv": "bertdata.sources.separated:TSV",
        "mds": "bertdata.sources.mds:MDS",
        "arrow": "bertdata.sources.arrow_tables:ARROW",
        "plain-text": "bertdata.sources.plain_text:PLAIN_TEXT",
        "text-files": "bertdata.sources.text_files:TEXT_FILES",
    },
    "bertdata.sources.own_formats:own_format",
)
"""What sources are read as, each a `formats.SourceFormat`."""
