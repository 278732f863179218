"""The description of published rows in Croissant 1.1 (https://mlcommons.org/croissant/1.1).

It is JSON-LD, which search engines and loaders of data sets read.

Its context is that of mlcroissant 1.1.1, which validates and reads it in the tests.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files as resources
from typing import Any

import pyarrow as pa

CONFORMS_TO = "http://mlcommons.org/croissant/1.1"
PARQUET = "application/x-parquet"
ARROW = "application/vnd.apache.arrow.stream"


@dataclass(frozen=True)
class PublishedFile:
    """A file of rows: its path below the folder, its bytes, its SHA-256, and the configuration and split it is of."""

    path: str
    bytes: int
    sha256: str
    config: str
    split: str

    @property
    def of(self) -> str:
        """The name of the set of files of its split."""
        return f"{self.config}/{self.split}" if self.config else self.split


def croissant(
    name: str,
    description: str,
    license_: str,
    languages: Sequence[str],
    files: Sequence[PublishedFile],
    schemas: Mapping[str, pa.Schema],
    made_by: str,
) -> dict[str, Any]:
    """Return the description of files of rows: one file object each, a file set and, of Parquet, a record set a split.

    schemas: the columns of the rows by `PublishedFile.of`. The version is that of the contents: a digest of the files.
    """
    parquet = all(file.path.endswith(".parquet") for file in files)
    sets: dict[str, list[PublishedFile]] = {}
    for file in files:
        sets.setdefault(file.of, []).append(file)
    version = hashlib.sha256("".join(file.sha256 for file in files).encode()).hexdigest()
    values: dict[str, Any] = {
        "@context": json.loads((resources("bertdata.formats") / "croissant_context.json").read_text("utf-8")),
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": name,
        "description": description,
        "license": license_,
        "version": f"0.0.0+{version[:12]}",
        "keywords": ["BERT", "pretraining", "bertdata"],
        "creator": {"@type": "sc:Organization", "name": made_by},
        "distribution": [
            *(_file_object(file, parquet) for file in files),
            *(_file_set(of, of_set, parquet) for of, of_set in sets.items()),
        ],
        "recordSet": [_record_set(of, schemas[of]) for of in sets] if parquet else [],
    }
    return values | ({"inLanguage": list(languages)} if languages else {})


def _file_object(file: PublishedFile, parquet: bool) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": file.path,
        "name": file.path,
        "contentUrl": file.path,
        "contentSize": f"{file.bytes} B",
        "encodingFormat": PARQUET if parquet else ARROW,
        "sha256": file.sha256,
    }


def _file_set(of: str, of_set: Sequence[PublishedFile], parquet: bool) -> dict[str, Any]:
    folder, _, name = of_set[0].path.rpartition("/")
    suffix = name.rpartition(".")[2]
    return {
        "@type": "cr:FileSet",
        "@id": f"files-of-{of}",
        "name": f"files-of-{of}",
        "encodingFormat": PARQUET if parquet else ARROW,
        "includes": f"{folder}/data-*.{suffix}",
    }


def _record_set(of: str, schema: pa.Schema) -> dict[str, Any]:
    return {"@type": "cr:RecordSet", "@id": of, "name": of, "field": [_field(of, column) for column in schema]}


def _field(of: str, column: pa.Field) -> dict[str, Any]:
    is_list = pa.types.is_list(column.type)
    kind = column.type.value_type if is_list else column.type
    data_type = "sc:Boolean" if pa.types.is_boolean(kind) else "sc:Integer" if pa.types.is_integer(kind) else "sc:Float"
    source = {"fileSet": {"@id": f"files-of-{of}"}, "extract": {"column": column.name}}
    values = {
        "@type": "cr:Field",
        "@id": f"{of}/{column.name}",
        "name": column.name,
        "dataType": data_type,
        "source": source,
    }
    return values | ({"isArray": True, "arrayShape": "-1"} if is_list else {})
