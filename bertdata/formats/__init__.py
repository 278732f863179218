"""Shards in the formats of others, and back: a build in, one file for each shard out; files in, shards out.

registry        ExportFormat, ImportFormat and the formats by name
exporting       every shard becomes one file, written whole or not at all
importing       every file becomes one shard, its rows checked
shard           a shard as an export format gets it
static          rows with static masks, padded, in the fields of Google's create_pretraining_data
parquet, jsonl, hf, mds, tfrecord, hdf5
                one format each (`tfrecord` with `example`, its protobuf, and `crc32c`; `mds` with `mds_dialects`)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bertdata.registry import Registry, loading

if TYPE_CHECKING:
    from bertdata.formats.base import ExportFormat, ImportFormat
    from bertdata.formats.exporting import export
    from bertdata.formats.importing import import_shards
    from bertdata.formats.shard import ExportedShard

__all__ = [
    "EXPORT_FORMATS",
    "IMPORT_FORMATS",
    "ExportFormat",
    "ExportedShard",
    "ImportFormat",
    "export",
    "import_shards",
]

EXPORT_FORMATS: Registry[Any] = Registry(
    "export format",
    {
        "parquet": "bertdata.formats.parquet:PARQUET",
        "jsonl": "bertdata.formats.jsonl:JSONL",
        "hf": "bertdata.formats.hf:HF",
        "mds": "bertdata.formats.mds_dialects:MDS",
        "tfrecord": "bertdata.formats.tfrecord:TFRECORD",
        "hdf5": "bertdata.formats.hdf5:HDF5",
        "webdataset": "bertdata.formats.webdataset:WEBDATASET",
        "megatron": "bertdata.formats.token_files:MEGATRON",
        "ds": "bertdata.formats.token_files:DS",
    },
)
"""What `bertdata export` writes, each a `base.ExportFormat`."""

IMPORT_FORMATS: Registry[Any] = Registry(
    "import format",
    {
        "tfrecord": "bertdata.formats.tfrecord:TFRECORD_IMPORT",
        "hdf5": "bertdata.formats.hdf5:HDF5_IMPORT",
        "parquet": "bertdata.formats.tokenised:PARQUET_IMPORT",
        "hf": "bertdata.formats.tokenised:ARROW_IMPORT",
        "arrow": "bertdata.formats.tokenised:ARROW_FILE_IMPORT",
        "jsonl": "bertdata.formats.tokenised:JSONL_IMPORT",
        "mds": "bertdata.formats.mds_reading:MDS_IMPORT",
        "webdataset": "bertdata.formats.webdataset:WEBDATASET_IMPORT",
    },
)
"""What `bertdata import` reads, each a `base.ImportFormat`."""

__getattr__ = loading(
    __name__,
    {
        "ExportFormat": "base",
        "ImportFormat": "base",
        "ExportedShard": "shard",
        "export": "exporting",
        "import_shards": "importing",
    },
)
